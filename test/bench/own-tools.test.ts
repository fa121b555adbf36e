/** Cases about tools of one's own: what each line promises, and that training has none of these agents. */
import { describe, expect, it } from "vitest";
import { OWN_TOOLS, OwnAgent } from "../../bench/eval/own-tools.ts";
import { readJsonLines } from "../../trainer/pretrain/json-lines.ts";
import { expectAllowed, expectUnseen } from "../helpers/own-agents.ts";

const agents = readJsonLines(OWN_TOOLS, OwnAgent);

describe("own-tools.jsonl", () => {
  it("wants calls that the agent's schemas allow, with what they require", () => {
    const due = agents.flatMap((own) => own.cases.flatMap((each) => ("call" in each ? [{ own, call: each.call }] : [])));
    expect(due.length).toBeGreaterThan(0);
    for (const { own, call } of due) expectAllowed(own, call);
  });

  it("has agents that training has not, and no request of its own", () => {
    expectUnseen(
      agents,
      agents.flatMap(({ cases }) => cases.map(({ messages }) => String(messages.at(-1)?.content))),
    );
  });
});
