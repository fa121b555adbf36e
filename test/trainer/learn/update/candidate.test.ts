/** Asking a policy: what it is supposed to say is read where it would say it, and written anew where it would not. */
import { expect, it } from "vitest";
import type { EngineCalls } from "../../../../trainer/engine/protocol.ts";
import { askGreedily } from "../../../../trainer/learn/update/candidate.ts";
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
  const ask = askGreedily(counting, { adapter: undefined, eosId: tokenizer.eosId, seed: 0, maxTokens: 12 });
  const answers = await ask(asked);
  expect(written).toBe(3);
  const supposed = answers.map((answer, index) => (index === 1 ? answer.with(-1, (answer.at(-1) ?? 0) + 1) : answer));
  expect(await ask(asked.map((each, index) => ({ ...each, supposed: supposed[index] })))).toEqual(answers);
  expect(written).toBe(4);
  // Longer than it may be, an answer is none that could be given.
  expect(await ask(asked.map((each, index) => ({ ...each, supposed: [...(answers[index] ?? []), 1] })))).toEqual(answers);
  expect(written).toBe(7);
});
