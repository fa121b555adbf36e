/** What a bounded map forgets. */
import { expect, it } from "vitest";
import { Recent } from "../../shared/recent.ts";

it("forgets what was set longest ago, and nothing that is only read", () => {
  const recent = new Recent<string, number>(2);
  recent.set("a", 1).set("b", 2);
  recent.get("a");
  recent.set("c", 3);
  expect([...recent]).toEqual([
    ["b", 2],
    ["c", 3],
  ]);
  recent.set("b", 4).set("d", 5);
  expect([...recent]).toEqual([
    ["b", 4],
    ["d", 5],
  ]);
  expect([recent.get("a"), recent.delete("b"), recent.size]).toEqual([undefined, true, 1]);
});
