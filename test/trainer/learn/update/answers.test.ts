/** Supplied answers through the real engine on a tiny random base: what is refused, what a pair moves, and that an answer is learnt. */
import { describe, expect, it } from "vitest";
import { at } from "../../../../shared/assert.ts";
import type { AssistantMessage } from "../../../../shared/chat.ts";
import { linearNames } from "../../../../shared/lora.ts";
import { SignalSettings } from "../../../../shared/signal-settings.ts";
import { AppError } from "../../../../shared/errors.ts";
import { answerLoss, answerRows, marginsOf, type PairedRow } from "../../../../trainer/learn/lesson/answer-rows.ts";
import type { SuppliedAnswer, UpdateRequest } from "../../../../trainer/learn/update/learner.ts";
import { scoreRows, totalLogProb } from "../../../../trainer/learn/lesson/scores.ts";
import { OBJECTIVES } from "../../../../trainer/learn/update/objective.ts";
import { trainStep, type Training } from "../../../../trainer/learn/update/train.ts";
import { createLearner } from "../../../../trainer/learn/update/update.ts";
import { LARGE_RATES, withRandomEngine } from "../../../helpers/random-engine.ts";
import { call, SEARCH, turn, user } from "../../hotel.ts";

const tiny = withRandomEngine();
const WORDS: AssistantMessage = { role: "assistant", content: "Y" };

function supplied(answer: AssistantMessage, changes: Partial<SuppliedAnswer> = {}): SuppliedAnswer {
  const messages = [user("Two rooms?")];
  const responseTokens = [...tiny.base.tokenizer.encode("No"), tiny.base.tokenizer.eosId];
  const rollout = {
    promptTokens: tiny.base.tokenizer.encodePrompt({ messages, tools: [SEARCH], addGenerationPrompt: true }),
    responseTokens,
    rolloutLogProbs: responseTokens.map(() => -1),
    sampling: { seed: 1, temperature: 1, topP: 1, masked: false },
  };
  const made = turn(messages, { role: "assistant", content: "No" }, { tools: [SEARCH], rollout });
  return { eventId: `${made.turnId}/feedback`, seq: made.seq, turn: made, answer, share: 1, reference: null, ...changes };
}

function requestOf(answers: readonly SuppliedAnswer[], signals: Partial<SignalSettings> = {}): UpdateRequest {
  const settings = SignalSettings.parse(signals);
  const none = { corrected: [], rewarded: [], replay: [], parent: null, parentVersion: 0, baseline: 0 };
  return { ...none, supplied: answers, signals: settings, objective: "hybrid", seed: 7 };
}

const learner = () => createLearner({ ...tiny, settings: LARGE_RATES, now: () => 0 });

async function training(name: string, lr: number): Promise<Training> {
  await tiny.engine.createAdapter(name, { rank: 4, alpha: 8, targets: linearNames(), invocation: tiny.base.tokenizer.invocation, seed: 1 });
  return { engine: tiny.engine, adapter: name, objective: { ...OBJECTIVES.hybrid, errands: 0 }, vocabSize: tiny.base.config.vocabSize, lr };
}

/** A row whose reference margin is what the base has. */
async function paired(answer: AssistantMessage): Promise<PairedRow> {
  const { rows } = answerRows([supplied(answer)], tiny.base);
  const row = at(rows, 0);
  const [referenceMargin = 0] = await marginsOf(tiny.engine, [row], { adapter: undefined, vocabSize: tiny.base.config.vocabSize });
  return { ...row, referenceMargin };
}

describe("answerRows", () => {
  it("has the tokens that the policy would write, and those that it wrote", () => {
    const answer = call("SearchHotel", { city: "Porto" });
    if (answer.role !== "assistant") throw new Error("an answer expected");
    const { rows } = answerRows([supplied(answer)], tiny.base);
    const { tokenizer } = tiny.base;
    expect(tokenizer.decode(at(rows, 0).chosen.answer)).toBe(
      '<tool_call>{"name": "SearchHotel", "arguments": {"city": "Porto"}}</tool_call><|im_end|>',
    );
    expect(tokenizer.decode(at(rows, 0).rejected.answer)).toBe("No<|im_end|>");
  });

  it.each([
    ["answer/unfit", call("Reserve", {}), "a call of SearchHotel expected, got Reserve"],
    ["answer/unfit", call("SearchHotel", { city: "Porto", number_of_rooms: "9" }), "must be one of"],
    ["answer/unfit", call("SearchHotel", { number_of_rooms: "1" }), "SearchHotel.city must be given"],
    ["answer/held", { role: "assistant", content: " No " }, "another answer"],
  ] as const)("refuses with %s what the policy cannot say or has said", (code, answer, detail) => {
    if (answer.role !== "assistant") throw new Error("an answer expected");
    const { rows, refused } = answerRows([supplied(answer)], tiny.base);
    expect(rows).toEqual([]);
    expect(refused).toMatchObject([{ code, detail: expect.stringContaining(detail) }]);
  });

  it("refuses arguments nested as deep as nobody walks", () => {
    const deep = call("SearchHotel", `{"city": ${"[".repeat(20_000)}${"]".repeat(20_000)}}`);
    if (deep.role !== "assistant") throw new Error("an answer expected");
    expect(answerRows([supplied(deep)], tiny.base).refused).toMatchObject([{ code: "answer/unfit" }]);
  });
});

describe("answerRows of several", () => {
  const wanted = call("SearchHotel", { city: "Porto" });
  if (wanted.role !== "assistant") throw new Error("an answer expected");

  it("gives those that fit the whole share, whatever was refused beside them", () => {
    const { rows, refused } = answerRows(
      [
        supplied(wanted, { share: 0.25 }),
        supplied({ role: "assistant", content: "No" }, { share: 0.5 }),
        supplied(wanted, { share: 0.25 }),
      ],
      tiny.base,
    );
    expect(refused).toHaveLength(1);
    expect(rows.map((row) => row.supplied.share)).toEqual([0.5, 0.5]);
  });

  it("refuses alone what breaks while it is read, and stops for what is no fault of an answer", () => {
    const { tokenizer } = tiny.base;
    const breaking = (error: Error) =>
      Object.create(tokenizer, {
        encodePrompt: {
          value: (asked: Parameters<typeof tokenizer.encodePrompt>[0]) => {
            if (asked.messages.at(-1)?.content === "break") throw error;
            return tokenizer.encodePrompt(asked);
          },
        },
      });
    const answers = [supplied({ role: "assistant", content: "break" }), supplied(wanted)];
    const { rows, refused } = answerRows(answers, { ...tiny.base, tokenizer: breaking(new RangeError("too deep")) });
    expect(rows).toHaveLength(1);
    expect(refused).toMatchObject([{ code: "event/unreadable", detail: "RangeError: too deep" }]);
    const crash = breaking(new AppError("engine/crashed", "gone"));
    expect(() => answerRows(answers, { ...tiny.base, tokenizer: crash })).toThrow("gone");
  });

  it("refuses alone what the base's template does not write", () => {
    const { tokenizer } = tiny.base;
    const twice: AssistantMessage = { ...wanted, tool_calls: [...(wanted.tool_calls ?? []), ...(wanted.tool_calls ?? [])] };
    // As Llama 3.1's template does.
    const oneCall = Object.create(tokenizer, {
      encodePrompt: {
        value: (asked: Parameters<typeof tokenizer.encodePrompt>[0]) => {
          if (asked.messages.some((message) => message.role === "assistant" && (message.tool_calls?.length ?? 0) > 1))
            throw new AppError("input/unsupported", "chat template: One call at a time, please.");
          return tokenizer.encodePrompt(asked);
        },
      },
    });
    const { rows, refused } = answerRows([supplied(twice), supplied(wanted)], { ...tiny.base, tokenizer: oneCall });
    expect(rows).toHaveLength(1);
    expect(refused).toMatchObject([{ code: "answer/unfit" }]);
  });
});

describe("answerLoss", { timeout: 60_000 }, () => {
  it("begins at ln 2 for a preference, and a step raises its margin", async () => {
    const row = await paired(WORDS);
    const prefers = SignalSettings.parse({ answers: "preference" });
    const prepared = await training("prefers", 1e-2);
    const loss = await trainStep(prepared, { step: 0, pace: 1, groups: [], corrected: [], more: [answerLoss([row], prefers)] });
    expect(loss).toBeCloseTo(Math.LN2, 5);
    const [margin = 0] = await marginsOf(tiny.engine, [row], { adapter: "prefers", vocabSize: tiny.base.config.vocabSize });
    expect(margin).toBeGreaterThan(row.referenceMargin);
  });

  it("is the negative log-likelihood for a demonstration, of the supplied answer's tokens alone", async () => {
    const row = await paired(WORDS);
    const [before] = await scoreRows(tiny.engine, [row.chosen], { adapter: undefined, vocabSize: tiny.base.config.vocabSize });
    const prepared = await training("shows", 1e-2);
    const loss = await trainStep(prepared, {
      step: 0,
      pace: 1,
      groups: [],
      corrected: [],
      more: [answerLoss([row], SignalSettings.parse({}))],
    });
    if (before === undefined) throw new Error("a score expected");
    expect(loss).toBeCloseTo(-totalLogProb(before), 3);
  });

  it("moves nothing where both answers of a pair are the same", async () => {
    const row = await paired(WORDS);
    const prepared = await training("equal", 1e-2);
    const prefers = SignalSettings.parse({ answers: "preference" });
    const gradNormOf = async (each: PairedRow): Promise<number> => {
      await answerLoss([each], prefers)(prepared);
      return (await tiny.engine.stepAdapter("equal", { lr: 0 })).gradNorm;
    };
    // What is left is rounding: the two sides are rows of one batch.
    expect(await gradNormOf({ ...row, rejected: row.chosen, referenceMargin: 0 })).toBeLessThan(1e-5 * (await gradNormOf(row)));
  });
});

describe("createLearner, with supplied answers", { timeout: 120_000 }, () => {
  it("learns to say what was supplied, to the same bytes each time", async () => {
    const request = requestOf([supplied(WORDS)]);
    const first = await learner().update(request);
    expect(first).toMatchObject({ status: "learned", changes: [{ before: "No", after: "Y" }], refused: [] });
    expect(await learner().update(request)).toEqual(first);
  });

  it("learns what was supplied in the place of an answer whose tokens nobody told, from its text", async () => {
    const each = supplied(WORDS, {});
    const { payload } = each.turn;
    const { promptTokens, responseTokens, sampling } = payload.rollout;
    const without = (prompt: number): SuppliedAnswer => {
      const unusable = { reason: "it told none", promptTokens: prompt, responseTokens: responseTokens.length };
      const rollout = { promptTokens: [], responseTokens: [], rolloutLogProbs: [], sampling, unusable };
      return { ...each, eventId: `${each.eventId}/${prompt}`, turn: { ...each.turn, payload: { ...payload, rollout } } };
    };
    // The tokens are the same ones here, so what is learned is, too.
    const told = await learner().update(requestOf([each], { answers: "both" }));
    const outcome = await learner().update(requestOf([without(promptTokens.length)], { answers: "both" }));
    expect(outcome).toEqual(told);
    const otherwise = without(promptTokens.length + 1);
    expect(await learner().update(requestOf([otherwise]))).toMatchObject({
      status: "refused",
      refused: [
        { eventId: otherwise.eventId, code: "turn/template", detail: expect.stringContaining(`${promptTokens.length + 1} tokens`) },
      ],
    });
  });

  it("learns what was asked in more than a thousand tokens, as the base's context has them, and refuses what is longer still", async () => {
    const long = (words: number): SuppliedAnswer => {
      const each = supplied(WORDS);
      const messages = [user(`${"x".repeat(words)} Two rooms?`)];
      return { ...each, eventId: `${each.eventId}/${words}`, turn: { ...each.turn, payload: { ...each.turn.payload, messages } } };
    };
    const prompt = (each: SuppliedAnswer): number =>
      tiny.base.tokenizer.encodePrompt({ messages: each.turn.payload.messages, tools: [SEARCH], addGenerationPrompt: true }).length;
    const [fitting, over] = [long(1_200), long(2_000)];
    expect([prompt(fitting) > 1_024, prompt(fitting) < 2_048, tiny.base.rowTokens]).toEqual([true, true, 2_048]);
    const outcome = await learner().update(requestOf([fitting, over]));
    expect(outcome).toMatchObject({
      status: "learned",
      changes: [{ after: "Y" }],
      refused: [
        {
          eventId: over.eventId,
          code: "turn/tooLong",
          detail: `request and answer of at most 2048 tokens expected, got ${prompt(over)} and 3`,
        },
      ],
    });
  });

  it("learns by both, and refuses a preference whose version is gone", async () => {
    const gone = supplied(WORDS, { reference: undefined });
    const outcome = await learner().update(requestOf([gone, supplied(WORDS)], { answers: "both" }));
    expect(outcome).toMatchObject({
      status: "learned",
      changes: [{ after: "Y" }],
      refused: [{ eventId: gone.eventId, code: "answer/reference" }],
    });
  });

  it("takes no policy that only says something else than before", async () => {
    // One that is pushed away from an answer may go to pieces: what it then says is no whole answer.
    const outcome = await learner().update(
      requestOf([supplied(WORDS)], { answers: "preference", preference: { beta: 10, reference: "base" } }),
    );
    if (outcome.status === "refused")
      expect(outcome.refused).toMatchObject([{ code: expect.stringMatching(/^update\/(notLearned|drift)$/) }]);
    else expect(outcome.changes[0]?.after).not.toBe("No");
  });

  it("refuses what it did not learn", async () => {
    const hasty = createLearner({ ...tiny, settings: { ...LARGE_RATES, maxSteps: 1, lr: 1e-6 }, now: () => 0 });
    expect(await hasty.update(requestOf([supplied(WORDS)]))).toMatchObject({ status: "refused", refused: [{ code: "update/notLearned" }] });
  });
});
