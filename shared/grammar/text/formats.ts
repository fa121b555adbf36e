/**
 * Formats of JSON schema as patterns (json-schema.org/draft/2020-12, validation §7.3): texts that everybody who checks the format takes. Where checkers
 * differ that is less than the format allows; beside a pattern, which says which of them are meant, it is all of them.
 */
type Format = { readonly pattern: string; readonly besidePattern?: string; readonly mostCharacters?: number };

const DAY = String.raw`(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8])))`;
const CLOCK = String.raw`(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?`;
const ANY_CLOCK = String.raw`(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:\.\d{1,9})?)?`;
const ZONE = String.raw`(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)`;
const LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const DOMAIN_PART = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"; // without its limit, which takes a state for each character
const BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const IPV4 = String.raw`(?:${BYTE}\.){3}${BYTE}`;
const HEX = "[0-9a-fA-F]{1,4}";
/** Eight groups, or fewer around one "::". */
const IPV6 = [
  `(?:${HEX}:){7}${HEX}`,
  `(?:${HEX}:){1,7}:`,
  ...[1, 2, 3, 4, 5, 6].map((after) => `(?:${HEX}:){1,${7 - after}}(?::${HEX}){1,${after}}`),
  `:(?::${HEX}){1,7}`,
  "::",
].join("|");
const URL_TAIL = String.raw`(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*`;

const FORMATS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ["date", { pattern: `^${DAY}$` }],
  // RFC 3339 has an offset behind every time, zod none: without one, Python and zod read it.
  ["time", { pattern: `^${CLOCK}$`, besidePattern: `^${ANY_CLOCK}${ZONE}?$` }],
  ["date-time", { pattern: `^${DAY}T${CLOCK}Z$`, besidePattern: `^${DAY}[T ]${ANY_CLOCK}${ZONE}?$` }],
  [
    "duration",
    {
      pattern: String.raw`^P(?:\d{1,9}W|(?=\d|T)(?:\d{1,9}Y)?(?:\d{1,9}M)?(?:\d{1,9}D)?(?:T(?=\d)(?:\d{1,9}H)?(?:\d{1,9}M)?(?:\d{1,9}S)?)?)$`,
    },
  ],
  [
    "email",
    {
      pattern: String.raw`^[A-Za-z0-9_+-]{1,64}(?:\.[A-Za-z0-9_+-]{1,64})*@(?:${DOMAIN_PART}\.)+[A-Za-z]{2,24}$`,
      // As browsers have it (HTML §4.10.5.1.5).
      besidePattern: String.raw`^[a-zA-Z0-9.!#$%&'*+/=?^_\x60{|}~-]+@${DOMAIN_PART}(?:\.${DOMAIN_PART})*$`,
      mostCharacters: 254,
    },
  ],
  ["hostname", { pattern: String.raw`^${LABEL}(?:\.${LABEL})*$`, mostCharacters: 253 }],
  ["ipv4", { pattern: `^${IPV4}$` }],
  ["ipv6", { pattern: `^(?:${IPV6})$` }],
  ["uuid", { pattern: "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$" }],
  // Addresses of the web: what `new URL` takes, and RFC 3986.
  [
    "uri",
    {
      pattern: String.raw`^https?://(?:(?:${DOMAIN_PART}\.)+[a-zA-Z]{2,24}|localhost|${IPV4})(?::[1-9]\d{0,3})?(?:/${URL_TAIL})?(?:\?${URL_TAIL})?(?:#${URL_TAIL})?$`,
      besidePattern: String.raw`^[A-Za-z][A-Za-z0-9+.-]*:[!#$%&-;=?-Z_a-z~\[\]]*$`,
      mostCharacters: 2_000,
    },
  ],
]);

/** What texts of the format fit, undefined for one that is not held to. */
export function formatNamed(name: string): Format | undefined {
  return FORMATS.get(name);
}

export const FORMAT_NAMES: readonly string[] = [...FORMATS.keys()];

// The others of JSON schema. Whatever else stands beside a pattern is what a library calls it.
const OTHERS = new Set(["idn-email", "idn-hostname", "uri-reference", "iri", "iri-reference", "uri-template", "json-pointer", "relative-json-pointer", "regex"]); // prettier-ignore

/** Whether a format says no more than the pattern beside it: one that is none of JSON schema's. */
export function isLabel(name: string): boolean {
  return !FORMATS.has(name) && !OTHERS.has(name);
}
