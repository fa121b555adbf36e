/**
 * Which addresses the edge calls for an agent: https, and hosts of the public internet. Pure; the URL parser has already
 * turned every spelling of an IPv4 address (`2130706433`, `0x7f.1`, `0177.0.0.1`, full-width digits) into dotted decimals
 * (https://url.spec.whatwg.org/#concept-ipv4-parser).
 *
 * Does not see what a name resolves to: `fetch` neither tells nor takes an address, so nothing that was looked up before holds for the
 * call. On a machine of one's own, workerd itself refuses addresses that are not public (cli/edge-host.ts); on Cloudflare, `fetch` leaves from
 * its network, where nothing private of the operator's is.
 */

/** Of https://www.iana.org/assignments/iana-ipv4-special-registry: none of them is somebody's public server. */
const SPECIAL_IPV4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8], ["10.0.0.0", 8], ["100.64.0.0", 10], ["127.0.0.0", 8], ["169.254.0.0", 16], ["172.16.0.0", 12],
  ["192.0.0.0", 24], ["192.0.2.0", 24], ["192.88.99.0", 24], ["192.168.0.0", 16], ["198.18.0.0", 15], ["198.51.100.0", 24],
  ["203.0.113.0", 24], ["224.0.0.0", 4], ["240.0.0.0", 4],
]; // prettier-ignore

/** Names that stand for this machine or network (RFC 6761, 6762, 8375, 9476), and clouds' own. */
const PRIVATE_SUFFIXES = ["localhost", "local", "internal", "home.arpa", "lan", "intranet", "corp", "home", "onion", "alt"];

/** Where a URL leads, or why it is not called. */
export type Address = { readonly status: "allowed"; readonly url: URL } | { readonly status: "refused"; readonly reason: string };

/** @param loopback whether the operator lets tools be on this machine, http included */
export function checkAddress(text: string, { loopback }: { loopback: boolean }): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return refused(`an absolute URL expected, got ${JSON.stringify(text.slice(0, 80))}`);
  if (url.username !== "" || url.password !== "") return refused("a URL without user name and password expected; name a secret instead");
  const host = url.hostname.replace(/\.$/, "");
  const here = loopback && isLoopback(host);
  if (url.protocol !== "https:" && !(here && url.protocol === "http:")) return refused(`https expected, got ${url.protocol.slice(0, -1)}`);
  if (!here && !isPublic(host)) return refused(`a host of the public internet expected, got ${host}`);
  return { status: "allowed", url };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || (isIpv4(host) && inIpv4(host, "127.0.0.0", 8));
}

function isPublic(host: string): boolean {
  if (host.startsWith("[")) return isPublicIpv6(host.slice(1, -1));
  if (isIpv4(host)) return !SPECIAL_IPV4.some(([network, bits]) => inIpv4(host, network, bits));
  const labels = host.split(".");
  // A name of one label is looked up in the machine's own search domains.
  return labels.length > 1 && !PRIVATE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
}

function isIpv4(host: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(host);
}

function inIpv4(host: string, network: string, bits: number): boolean {
  const size = 2 ** (32 - bits);
  return Math.floor(toNumber(host) / size) === Math.floor(toNumber(network) / size);
}

function toNumber(dotted: string): number {
  return dotted.split(".").reduce((number, part) => number * 256 + Number(part), 0);
}

/**
 * Global unicast is 2000::/3, and not all of it: IPv4 in disguise (mapped, compatible, 64:ff9b::/96) lies outside, 6to4 (2002::/16) and
 * Teredo (2001::/32, with the rest of 2001::/23) inside, as do the documentation ranges (2001:db8::/32, 3fff::/20).
 */
function isPublicIpv6(address: string): boolean {
  // The parser writes the shortest form: groups of zeros left out never stand first in global unicast.
  const [first = 0, second = 0] =
    address
      .split("::", 1)[0]
      ?.split(":")
      .map((group) => Number.parseInt(group, 16)) ?? [];
  if (!(first >= 0x2000 && first <= 0x3fff)) return false;
  if (first === 0x2002 || (first === 0x3fff && second <= 0x0fff)) return false;
  return !(first === 0x2001 && (second <= 0x01ff || second === 0x0db8));
}

function refused(reason: string): Address {
  return { status: "refused", reason };
}
