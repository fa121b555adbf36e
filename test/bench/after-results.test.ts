/** Cases of what follows a tool's result: what each line promises, and that training has none of these agents. */
import { describe, expect, it } from "vitest";
import { AFTER_RESULTS, AfterResultsAgent, says } from "../../bench/eval/after-results.ts";
import { OWN_TOOLS, OwnAgent } from "../../bench/eval/own-tools.ts";
import { readJsonLines } from "../../trainer/pretrain/json-lines.ts";
import { expectAllowed, expectUnseen } from "../helpers/own-agents.ts";

const agents = readJsonLines(AFTER_RESULTS, AfterResultsAgent);
const cases = agents.flatMap((own) => own.cases.map((given) => ({ own, given })));

describe("after-results.jsonl", () => {
  it("has 150 cases of 30 agents, a third of them for tuning", () => {
    const kinds = Object.groupBy(cases, ({ given }) => given.kind);
    expect(Object.fromEntries(Object.entries(kinds).map(([kind, each]) => [kind, each.length]))).toEqual({
      ...{ approval: 25, remark: 35, answerable: 20, unanswerable: 20, next: 25, correction: 25 },
    });
    expect(agents.map(({ split }) => split).filter((split) => split === "tuning")).toHaveLength(10);
    expect(agents).toHaveLength(30);
  });

  it("makes and wants calls that the agent's schemas allow, with what they require", () => {
    for (const { own, given } of cases) {
      expectAllowed(own, given.made);
      if ("call" in given) expectAllowed(own, given.call);
    }
  });

  it("corrects one value of the call that was made, and next asks for another call", () => {
    for (const { given } of cases) {
      if (!("call" in given)) continue;
      const { made, call } = given;
      expect(call).not.toEqual(made);
      if (given.kind === "next") continue;
      const names = Object.keys(made.arguments);
      expect({ name: call.name, names: Object.keys(call.arguments) }).toEqual({ name: made.name, names });
      const changed = names.filter((name) => JSON.stringify(made.arguments[name]) !== JSON.stringify(call.arguments[name]));
      expect({ next: given.next, changed: changed.length }).toEqual({ next: given.next, changed: 1 });
    }
  });

  it("asks for what the call or its result holds, and the reply before has not said", () => {
    for (const { given } of cases) {
      if (!("tells" in given)) continue;
      const known = `${given.result}\n${Object.values(given.made.arguments).join("\n")}`;
      expect({ next: given.next, known: given.tells.some((value) => says(known, value)) }).toEqual({ next: given.next, known: true });
      expect({ next: given.next, said: given.tells.some((value) => says(given.reply, value)) }).toEqual({ next: given.next, said: false });
    }
  });

  it("has agents that neither training has nor own-tools.jsonl, and no saying twice or of training's own", () => {
    const sayings = cases.flatMap(({ given: { request, next } }) => [request, next]);
    expectUnseen(agents, sayings);
    expect(new Set(sayings).size).toBe(sayings.length);
    const others = new Set(readJsonLines(OWN_TOOLS, OwnAgent).map(({ agent }) => agent));
    expect(agents.filter(({ agent }) => others.has(agent))).toEqual([]);
  });
});

describe("what a reply says", () => {
  it.each([
    ["There are 45g left.", "45", true],
    ["It stands at 1.026.", "1.026", true],
    ["SKYLANDS-0412.zip", "skylands-0412", true],
    ["It cost 300.", "30", false],
    ["2.30 in all", "30", false],
    ["30.5 in all", "30", false],
    ["on the 12 May", "2 May", false],
  ])("%s holds %s: %s", (text, value, expected) => {
    expect(says(text, value)).toBe(expected);
  });
});
