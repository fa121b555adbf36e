/** Which addresses the edge calls for an agent. The URL parser is the platform's own, as in the Worker. */
import { describe, expect, it } from "vitest";
import { checkAddress } from "../../../edge/tools/address.ts";

const status = (url: string, loopback = false): string => checkAddress(url, { loopback }).status;

describe("an address", () => {
  it.for([
    "https://api.example.com/tool?x=1", "https://example.com:8443/", "https://93.184.216.34/", "https://[2606:4700::1111]/",
    "https://bücher.example/", "https://example.com./",
  ])("%s is called", (url) => expect(status(url)).toBe("allowed")); // prettier-ignore

  it.for([
    "http://example.com/", "ftp://example.com/", "file:///etc/passwd", "data:text/plain,x", "/tool", "", "javascript:alert(1)",
    "https://user:pass@example.com/", "https://user@example.com/",
    "https://localhost/", "https://localhost./", "https://LOCALHOST/", "https://a.localhost/", "https://printer/", "https://printer.local/",
    "https://metadata.google.internal/", "https://db.corp/", "https://router.home.arpa/", "https://nas.lan/",
    "https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0x7f.1/", "https://0177.0.0.1/", "https://0/",
    "https://①②⑦.⓪.⓪.①/", "https://127。0。0。1/", "https://%31%32%37.0.0.1/", "https://127.0.0.1./",
    "https://10.1.2.3/", "https://172.16.0.1/", "https://172.31.255.255/", "https://192.168.1.1/", "https://169.254.169.254/", "https://100.64.0.1/",
    "https://100.100.100.200/", "https://192.0.0.192/", "https://198.18.0.1/", "https://224.0.0.1/", "https://255.255.255.255/", "https://0.0.0.0/",
    "https://[::1]/", "https://[::]/", "https://[0:0:0:0:0:0:0:1]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[::ffff:169.254.169.254]/",
    "https://[::127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://[64:ff9b:1::7f00:1]/", "https://[2002:7f00:1::]/", "https://[2001::1]/", "https://[2001:db8::1]/",
    "https://[3fff::1]/", "https://[fe80::1]/", "https://[fc00::1]/", "https://[fd00:ec2::254]/", "https://[ff02::1]/", "https://[100::1]/", "https://[5f00::1]/",
  ])("%s is not", (url) => expect(status(url)).toBe("refused")); // prettier-ignore

  it("on this machine is called only where the operator says so, and no other private one then", () => {
    for (const url of ["http://127.0.0.1:8080/", "https://127.0.0.1/", "http://localhost:1/", "http://[::1]:1/", "http://2130706433/"]) {
      expect(status(url, true)).toBe("allowed");
      expect(status(url, false)).toBe("refused");
    }
    for (const url of [
      "http://10.0.0.1/",
      "http://example.com/",
      "https://[::ffff:127.0.0.1]/",
      "http://0.0.0.0/",
      "https://169.254.169.254/",
    ])
      expect(status(url, true)).toBe("refused");
  });

  it("next to a range that is not public is", () => {
    for (const host of [
      "9.255.255.255",
      "11.0.0.0",
      "100.63.255.255",
      "100.128.0.0",
      "172.15.255.255",
      "172.32.0.0",
      "169.253.0.1",
      "223.255.255.255",
    ])
      expect(status(`https://${host}/`)).toBe("allowed");
  });
});
