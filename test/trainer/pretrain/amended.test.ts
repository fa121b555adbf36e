/** Conversations in which calls are corrected: what is wrong at first, what its user says, and what a row then teaches. */
import { describe, expect, it } from "vitest";
import { Tokenizer } from "../../../shared/tokenizer.ts";
import { amend, changedOnce } from "../../../trainer/pretrain/amended.ts";
import { plainConversation } from "../../../trainer/pretrain/augment.ts";
import { callArguments, type Step } from "../../../trainer/pretrain/conversation.ts";
import { amendedExample } from "../../../trainer/pretrain/examples.ts";
import { readLexicon } from "../../../trainer/pretrain/lexicon.ts";
import { trainTokenizer } from "../../../trainer/pretrain/tokenizer.ts";
import { Random } from "../../../trainer/random.ts";
import { DIALOGUE, SCHEMAS } from "./dialogue.ts";

const elsewhere = DIALOGUE.turns.map((turn) => ({
  ...turn,
  calls: turn.calls?.map((call) => ({ ...call, parameters: { ...call.parameters, valley: "Birch Valley" } })),
}));
const sgd = { dialogues: [DIALOGUE, { ...DIALOGUE, turns: elsewhere }], schemas: SCHEMAS };
const lexicon = readLexicon(sgd);
const tokenizer = new Tokenizer(trainTokenizer(sgd, { size: 400, seed: 1, context: 4096 }));
const plain = plainConversation(DIALOGUE, SCHEMAS);
const drawn = Array.from({ length: 60 }, (_, seed) => amend(plain, lexicon, new Random(seed))).filter((each) => each !== undefined);

const isWrong = (step: Step | undefined): boolean => step !== undefined && "mistaken" in step && step.mistaken === true;

describe("amend", () => {
  it("puts before a call the same call with one other value, and a user who says the right one", () => {
    const wrong = drawn.flatMap(({ steps }) =>
      steps.flatMap((step, at) => (step.kind === "call" && isWrong(step) ? [{ step, after: steps.slice(at + 1, at + 5) }] : [])),
    );
    expect(wrong.length).toBeGreaterThan(20);
    for (const { step, after } of wrong) {
      const [result, reply, user, again] = after;
      expect([result?.kind, reply?.kind, isWrong(reply), user?.kind]).toEqual(["result", "reply", true, "user"]);
      if (again?.kind !== "call" || user?.kind !== "user") throw new Error("the call again expected");
      const [slot] = again.first ?? [];
      const differing = Object.keys(again.values).filter((each) => again.values[each] !== step.values[each]);
      expect(differing).toEqual([slot]);
      expect(user.acts).toEqual([["INFORM", slot, [again.values[slot ?? ""]]]]);
    }
  });

  it("goes on as the data does where nothing was changed for good, and ends with the call where it was", () => {
    const isChanged = ({ steps }: { steps: readonly Step[] }): boolean => steps.at(-1)?.kind === "call";
    expect([drawn.some(isChanged), drawn.every(isChanged)]).toEqual([true, false]);
    const isObjected = ({ steps }: { steps: readonly Step[] }): boolean => {
      const last = steps.at(-1);
      return last?.kind === "reply" && last.beside === true;
    };
    for (const each of drawn.filter((one) => !isChanged(one) && !isObjected(one))) expect(each.steps.at(-1)).toEqual(plain.steps.at(-1));
    for (const { steps, corrected } of drawn.filter(isChanged)) expect([...corrected.keys()]).toContain(steps.at(-1));
  });
});

describe("words that no call answers", () => {
  it("stand behind the last call, and are answered in words", () => {
    const objected = drawn.filter(({ steps }) => steps.some((step) => step.kind === "reply" && step.beside === true));
    expect(objected.length).toBeGreaterThan(5);
    for (const { steps } of objected) {
      const [reply, said, answer] = steps.slice(-3);
      expect([reply?.kind, said?.kind, answer]).toMatchObject(["reply", "user", { kind: "reply", beside: true }]);
    }
  });
});

describe("changedOnce", () => {
  it("says in the given words what the next call then has, beside what the call before it had", () => {
    const worded = ({ name }: { name: string }, value: string): string => `${name}: ${value}`;
    const all = Array.from({ length: 20 }, (_, seed) => changedOnce(plain, lexicon, new Random(seed), worded)).filter(
      (each) => each !== undefined,
    );
    expect(all).toHaveLength(20);
    for (const { before, call, parameter } of all) {
      expect(before.at(-1)).toMatchObject({ kind: "user", text: `${parameter.name}: ${call.values[parameter.slot]}` });
      const made = before.at(-4);
      expect(made?.kind === "call" && { ...made.values, [parameter.slot]: call.values[parameter.slot] }).toEqual(call.values);
      expect(Object.keys(callArguments(call.tool, call.values, call.first))[0]).toBe(parameter.name);
    }
  });
});

describe("amendedExample", () => {
  it("teaches the call that follows a correction, its corrected argument most, and nothing of what was wrong", () => {
    const corrected = Array.from({ length: 20 }, (_, seed) => seed).filter(
      (seed) => (amend(plain, lexicon, new Random(seed))?.corrected.size ?? 0) > 0,
    );
    expect(corrected.length).toBeGreaterThan(15);
    for (const seed of corrected) {
      const amended = amend(plain, lexicon, new Random(seed));
      const { tokens, weights } = amendedExample(tokenizer, plain, lexicon, 4096, new Random(seed)) ?? { tokens: [], weights: [] };
      const taught = tokenizer.decode(tokens.filter((_, at) => (weights[at] ?? 0) >= 1));
      const right = amended?.steps.filter((step) => step.kind === "call" && !isWrong(step)) ?? [];
      expect(taught.split("<tool_call>").length - 1).toBe(right.length);
      const most = tokenizer.decode(tokens.filter((_, at) => weights[at] === 3));
      for (const [step, slots] of amended?.corrected ?? [])
        for (const slot of slots) expect(most).toContain(step.kind === "call" ? step.values[slot] : slot);
    }
  });
});
