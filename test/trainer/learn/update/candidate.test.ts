/** Asking a policy: what it is supposed to say is read where it would say it, and written anew where it would not. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { at } from "../../../../shared/assert.ts";
import type { EngineCalls } from "../../../../trainer/engine/protocol.ts";
import { askGreedily } from "../../../../trainer/learn/update/candidate.ts";
import { readCheckpoint } from "../../../../trainer/model/checkpoint.ts";
import { readAnswer, writtenText } from "../../../../trainer/teacher/answer-text.ts";
import { withRandomEngine } from "../../../helpers/random-engine.ts";
import { TOOLS, user } from "../../hotel.ts";

const tiny = withRandomEngine();

it("gives the answers that it would write, and writes none that it is rightly supposed to give", async () => {
  const { engine, base } = tiny;
  const { tokenizer } = base;
  const asked = ["A hotel in Porto.", "The weather in Rome?", "Thank you."].map((said) => ({
    prompt: tokenizer.encodePrompt({ messages: [user(said)], tools: [...TOOLS], addGenerationPrompt: true }),
    tools: TOOLS,
  }));
  let written = 0;
  const counting: Pick<EngineCalls, "generate" | "score"> = {
    score: (batch, options) => engine.score(batch, options),
    generate: (options) => {
      written += options.prompts.length;
      return engine.generate(options);
    },
  };
  const ask = askGreedily(counting, { adapter: undefined, endIds: tokenizer.endIds, seed: 0, maxTokens: 12 });
  const answers = await ask(asked);
  expect(written).toBe(3);
  const supposed = answers.map((answer, index) => (index === 1 ? answer.with(-1, (answer.at(-1) ?? 0) + 1) : answer));
  expect(await ask(asked.map((each, index) => ({ ...each, supposed: supposed[index] })))).toEqual(answers);
  expect(written).toBe(4);
  // Longer than it may be, an answer is none that could be given.
  expect(await ask(asked.map((each, index) => ({ ...each, supposed: [...(answers[index] ?? []), 1] })))).toEqual(answers);
  expect(written).toBe(7);
});

it("stops an answer at each of the tokens that end one", async () => {
  const { engine, base } = tiny;
  const prompt = base.tokenizer.encodePrompt({ messages: [user("A hotel in Porto.")], addGenerationPrompt: true });
  const answerOf = async ({ endIds }: { endIds: readonly number[] }): Promise<readonly number[]> =>
    at(await askGreedily(engine, { adapter: undefined, endIds, seed: 0, maxTokens: 12 })([{ prompt, tools: [] }]), 0);
  const whole = await answerOf(base.tokenizer);
  const end = whole.findIndex((token, index) => index > 0 && whole.indexOf(token) === index);
  expect([whole.length, whole.includes(base.tokenizer.eosId)]).toEqual([12, false]);
  // As Llama 3.1's makers list the ends of text, of a message and of a turn.
  await writeFile(join(base.folder, "generation_config.json"), JSON.stringify({ eos_token_id: [1, at(whole, end), 2] }));
  const { tokenizer } = readCheckpoint(base.folder);
  const answer = await answerOf(tokenizer);
  expect(answer).toEqual(whole.slice(0, end + 1));
  expect([readAnswer(tokenizer, answer).finished, readAnswer(base.tokenizer, answer).finished]).toEqual([true, false]);
  expect(readAnswer(tokenizer, answer).text).toBe(base.tokenizer.decode(whole.slice(0, end)));
  expect(writtenText(tokenizer, answer)).toBe(base.tokenizer.decode(whole.slice(0, end)));
});
