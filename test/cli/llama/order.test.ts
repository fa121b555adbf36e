/** Numbers of adapters over takeovers: one that is still there keeps its own, whatever comes and goes beside it. */
import { describe, expect, it } from "vitest";
import { inOrder } from "../../../cli/llama/order.ts";

describe("inOrder", () => {
  it.for([
    { what: "numbers a first start as they come", before: "", present: "abc", after: "abc" },
    { what: "puts who is new behind the others", before: "ab", present: "cba", after: "abc" },
    { what: "gives who is new the number of one that is gone", before: "abc", present: "bcd", after: "dbc" },
    { what: "fills a number that nobody wants with another adapter", before: "abc", present: "bc", after: "bbc" },
    { what: "moves nobody at the end either", before: "abc", present: "a", after: "aaa" },
    { what: "takes such a number for who comes next", before: "bbc", present: "bcd", after: "bdc" },
    { what: "changes nothing where nothing changed", before: "bdc", present: "bcd", after: "bdc" },
    { what: "has no numbers where no adapter is left", before: "ab", present: "", after: "" },
  ])("$what", ({ before, present, after }) => {
    expect(inOrder(Array.from(before), Array.from(present)).join("")).toBe(after);
  });
});
