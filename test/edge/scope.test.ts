/** Which agents a key reaches, and how its limit counts. */
import { describe, expect, it } from "vitest";
import { mergePatch, mergePatchOf } from "../../shared/merge-patch.ts";
import { covers, reaches } from "../../edge/scope.ts";

describe("a scope", () => {
  it("reaches names and what begins as it says", () => {
    const scope = ["desk", "acme-*"];
    expect(["desk", "desk2", "acme-one", "acme-", "acme", "zacme-one"].filter((agent) => reaches(scope, agent))).toEqual([
      "desk",
      "acme-one",
      "acme-",
    ]);
    expect([reaches(null, "anything"), reaches([], "anything")]).toEqual([true, false]);
  });

  it("covers what it reaches and nothing wider", () => {
    expect(covers(null, null)).toBe(true);
    expect(covers(["acme-*"], null)).toBe(false);
    expect(covers(["acme-*"], ["acme-one", "acme-two-*"])).toBe(true);
    expect(covers(["acme-*"], ["acme*"])).toBe(false);
    expect(covers(["acme-*"], ["acme-one", "other"])).toBe(false);
    expect(covers(["desk"], ["desk*"])).toBe(false);
  });
});

it("merges a patch as RFC 7396 does, by its own examples", () => {
  const cases: [unknown, unknown, unknown][] = [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of cases) expect(mergePatch(target, patch)).toEqual(result);
});

it("merges members that are named as what every object inherits", () => {
  const patch: unknown = JSON.parse('{"__proto__": {"a": 1}, "constructor": {"b": 2}, "c": {"__proto__": 3}}');
  expect(JSON.stringify(mergePatch({ c: {} }, patch))).toBe('{"c":{"__proto__":3},"__proto__":{"a":1},"constructor":{"b":2}}');
  expect(mergePatch(JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": null}'))).toEqual({});
});

it("makes a patch of what differs, and of nothing else", () => {
  const before = { a: 1, list: [1, { b: 2 }], in: { c: "x", d: { e: true } }, gone: "y" };
  const after = { a: 1, list: [1, { b: 3 }], in: { c: "x", d: { e: false, f: 0 } }, more: { g: 1 } };
  const patch = mergePatchOf(before, after);
  expect(patch).toEqual({ list: [1, { b: 3 }], in: { d: { e: false, f: 0 } }, gone: null, more: { g: 1 } });
  expect(mergePatch(before, patch)).toEqual(after);
  expect(mergePatchOf(before, structuredClone(before))).toEqual({});
  expect(mergePatchOf({ a: null, b: 2 }, { b: undefined })).toEqual({ b: null });
});
