/** Answers that the engine holds to a form: by the same masks as the edge, with log-probs of what was drawn from. */
import { describe, expect, it } from "vitest";
import { type AnswerForm, FREE_FORM } from "../../../shared/grammar/answer-form.ts";
import { answerMasks } from "../../../shared/grammar/answer-masks.ts";
import { Engine } from "../../../trainer/engine/engine.ts";
import { checkArguments } from "../../../shared/schema-check.ts";
import { maskedLogProbs, scoreRows } from "../../../trainer/learn/lesson/scores.ts";
import { readAnswer } from "../../../trainer/teacher/answer-text.ts";
import { withRandomEngine } from "../../helpers/random-engine.ts";

const TEA = {
  type: "function" as const,
  function: { name: "FindTea", parameters: { type: "object", properties: { cups: { type: "integer" } }, required: ["cups"] } },
};
const FORM: AnswerForm = { ...FREE_FORM, toolChoice: "required", parallelToolCalls: false };

const tiny = withRandomEngine();

describe("an answer's form", () => {
  it("holds some answers of a batch and leaves others free", async () => {
    const prompts = Array.from({ length: 6 }, (_, index) => Int32Array.from(tiny.base.tokenizer.encode(`tea, please ${index}`)));
    const forms = prompts.map((_, index) => (index % 2 === 0 ? { tools: [TEA], form: FORM } : { tools: [], form: FREE_FORM }));
    const asked = { prompts, forms, maxTokens: 200, stopTokens: [tiny.base.tokenizer.eosId], temperature: 1, seed: 3 };
    const answers = await tiny.engine.generate(asked);
    let called = 0;
    for (const [index, { tokens, logProbs }] of answers.entries()) {
      const { finished, valid, calls } = readAnswer(tiny.base.tokenizer, [...tokens]);
      if (index % 2 === 1) expect(calls).toEqual([]);
      else if (finished) {
        called += 1;
        expect(valid).toBe(true);
        expect(calls.map(({ name, arguments: args }) => [name, checkArguments(TEA, args)])).toEqual([["FindTea", []]]);
      }
      const [prompt, answer] = [[...(prompts[index] ?? [])], [...tokens]];
      const { vocabSize } = tiny.base.config;
      const [scored] = await scoreRows(tiny.engine, [{ prompt, answer }], { adapter: undefined, full: true, vocabSize });
      const { tools, form } = forms[index] ?? { tools: [], form: FREE_FORM };
      const masks = answerMasks(tiny.base.grammars, { tools, form, tokens: answer }) ?? [];
      const expected = maskedLogProbs(scored?.full ?? new Float32Array(0), { answer, masks, vocabSize });
      logProbs.forEach((logProb, place) => expect(logProb).toBeCloseTo(expected[place] ?? Number.NaN, 3));
    }
    expect(called).toBeGreaterThan(0);
  });

  it("is one for each prompt", async () => {
    const asked = { prompts: [Int32Array.of(70)], forms: [], maxTokens: 1, stopTokens: [], temperature: 0, seed: 0 };
    await expect(tiny.engine.generate(asked)).rejects.toMatchObject({ code: "train/lengths" });
  });

  it("needs an engine that knows the tokens' text", async () => {
    const bare = await Engine.start({ config: tiny.base.config, threads: 1 });
    const asked = {
      prompts: [Int32Array.of(70)],
      forms: [{ tools: [], form: FREE_FORM }],
      maxTokens: 1,
      stopTokens: [],
      temperature: 0,
      seed: 0,
    };
    await expect(bare.generate(asked)).rejects.toThrow(/started with a tokenizer/);
    await bare.close();
  });
});
