/** Cases about tools of one's own: what each line promises, that training has none of these agents, and of everyday ones no request. */
import { describe, expect, it } from "vitest";
import { EVERYDAY, OWN_TOOLS, OwnAgent } from "../../bench/eval/own-tools.ts";
import { readJsonLines } from "../../trainer/pretrain/json-lines.ts";
import { expectAllowed, expectUnseen } from "../helpers/own-agents.ts";

const own = readJsonLines(OWN_TOOLS, OwnAgent);
const everyday = readJsonLines(EVERYDAY, OwnAgent);

describe.each([
  { name: "own-tools.jsonl", agents: own, unseen: own },
  { name: "everyday.jsonl", agents: everyday, unseen: [] },
])("$name", ({ agents, unseen }) => {
  it("wants calls that the agent's schemas allow, with what they require", () => {
    const due = agents.flatMap((agent) => agent.cases.flatMap((each) => ("call" in each ? [{ agent, call: each.call }] : [])));
    expect(due.length).toBeGreaterThan(0);
    for (const { agent, call } of due) expectAllowed(agent, call);
  });

  it("has agents that training has not, unless they are everyday ones, and no request of its own", () => {
    expectUnseen(
      unseen,
      agents.flatMap(({ cases }) => cases.map(({ messages }) => String(messages.at(-1)?.content))),
    );
  });
});
