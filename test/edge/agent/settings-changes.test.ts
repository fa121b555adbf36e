/** What the audit says of a change of settings: every setting by its path, excerpts of bounded length, and nothing that could be a secret. */
import { describe, expect, it } from "vitest";
import { settingsChanges } from "../../../edge/agent/settings-changes.ts";

const tool = (name: string, extra: object = {}) => ({ type: "function", function: { name, description: `does ${name}` }, ...extra });

describe("settingsChanges", () => {
  it("names what differs by its path, with what it was and is", () => {
    const before = { instructions: "Be brief.", learning: { enabled: true, minSignals: 1 }, tools: [] };
    const after = { instructions: "Be brief.", learning: { enabled: false, minSignals: 1 }, tools: [tool("book")], added: 1 };
    expect(settingsChanges(before, after)).toEqual([
      { setting: "learning.enabled", before: "true", after: "false" },
      { setting: "tools", before: "[]", after: JSON.stringify([tool("book")]) },
      { setting: "added", before: null, after: "1" },
    ]);
    expect(settingsChanges(before, { ...before })).toEqual([]);
  });

  it("tells tools apart by their names, wherever they stand", () => {
    const before = { tools: [tool("book"), tool("find")] };
    const after = { tools: [tool("find", { endpoint: { url: "https://a.example/find" } }), tool("pay")] };
    expect(settingsChanges(before, after).map(({ setting }) => setting)).toEqual(["tools.book", "tools.find.endpoint", "tools.pay"]);
  });

  it("cuts long texts around the place where they differ, and many settings to a count", () => {
    const words = "word ".repeat(1_000);
    const [change] = settingsChanges({ instructions: `${words}old${words}` }, { instructions: `${words}new${words}` });
    for (const [text, said] of [
      [change?.before, "old"],
      [change?.after, "new"],
    ] as const) {
      expect(text).toContain(`word ${said}word`);
      expect(text?.length).toBeLessThanOrEqual(202);
      expect(text).toMatch(/^….*…$/s);
    }
    const many = (value: number) => Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`s${index}`, value]));
    const changes = settingsChanges(many(1), many(2));
    expect([changes.length, changes.at(-1)]).toEqual([20, { setting: "31 further settings", before: null, after: null }]);
  });

  it("leaves out credentials and query of addresses, where a secret may be, and does not split a character", () => {
    const of = (url: string) => ({ engine: { kind: "openai", url } });
    expect(settingsChanges(of("https://me:pw1@a.example/v1?key=s3cret"), of("https://b.example/v1"))).toEqual([
      { setting: "engine.url", before: '"https://a.example/v1?…"', after: '"https://b.example/v1"' },
    ]);
    const [change] = settingsChanges({ instructions: "😀".repeat(500) }, { instructions: `${"😀".repeat(501)}!` });
    expect(change?.before?.isWellFormed()).toBe(true);
  });
});
