/** What a manifest may not say, and by which digest a policy is known. */
import { describe, expect, it } from "vitest";
import { manifestFault, policyDigestOf } from "../../../edge/agent/manifest.ts";
import { lineage, manifestOf } from "../../helpers/call.ts";

const BASE = "b".repeat(64);
const expected = { agent: "a", line: "shared", parent: 0, baseDigest: BASE };

describe("manifestFault", () => {
  it("finds nothing wrong with a manifest of this line, parent and base", () => {
    const events = [lineage("e4", 4), lineage("e6", 6)];
    expect(manifestFault(manifestOf({ agent: "a", baseDigest: BASE, fromSeq: 3, toSeq: 6, events }), expected)).toBeUndefined();
  });

  it("names the member that contradicts the request", () => {
    expect(manifestFault(manifestOf({ agent: "b", baseDigest: BASE }), expected)).toBe("manifest.agent: a expected, got b");
    expect(manifestFault(manifestOf({ agent: "a", baseDigest: BASE, parent: 2 }), expected)).toBe("manifest.parent: 0 expected, got 2");
    expect(manifestFault(manifestOf({ agent: "a", baseDigest: "c".repeat(64) }), expected)).toMatch(
      /^manifest\.baseDigest: b+ expected, got c+$/,
    );
  });

  it("refuses events beyond what the version consumes, and events named twice", () => {
    const range = { agent: "a", baseDigest: BASE, fromSeq: 3, toSeq: 6 };
    // One of before may have been opened again; the line knows.
    expect(manifestFault(manifestOf({ ...range, events: [lineage("e3", 3)] }), expected)).toBeUndefined();
    expect(manifestFault(manifestOf({ ...range, events: [lineage("e7", 7)] }), expected)).toBe(
      "manifest.events: seq up to 6 expected, got 7 (e7)",
    );
    expect(manifestFault(manifestOf({ ...range, events: [lineage("e4", 4), lineage("e4", 5)] }), expected)).toBe(
      "manifest.events: each event once expected, got e4 twice",
    );
  });
});

describe("policyDigestOf", () => {
  it("names the base alone by its own digest, and every adapter on it by another", async () => {
    const adapter = { configDigest: "1".repeat(64), weightsDigest: "2".repeat(64), rank: 8, alpha: 16 };
    const swapped = { ...adapter, configDigest: adapter.weightsDigest, weightsDigest: adapter.configDigest };
    const digests = await Promise.all([policyDigestOf(BASE, null), policyDigestOf(BASE, adapter), policyDigestOf(BASE, swapped)]);
    expect(digests[0]).toBe(BASE);
    expect(new Set(digests).size).toBe(3);
  });
});
