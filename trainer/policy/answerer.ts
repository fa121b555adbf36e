/** Answers prompts with the base or with an adapter, through the engine. */
import type { JobPrompt } from "../../shared/jobs.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import type { Engine } from "../engine/engine.ts";
import type { JobSampler } from "../judge/embedded.ts";

export type Generating = Pick<Engine, "generate">;

/** The base's answers to judge and hint prompts. A prompt that does not fit the context gets an empty answer, which nobody can read as a vote. */
export function createJobSampler({
  engine,
  tokenizer,
  contextTokens,
}: {
  engine: Generating;
  tokenizer: Tokenizer;
  contextTokens: number;
}): JobSampler {
  return {
    async answer(prompts, { maxTokens, temperature, seed }) {
      const encoded = prompts.map((prompt) => encodeJob(tokenizer, prompt));
      const fitting = encoded.filter((tokens) => tokens.length + maxTokens <= contextTokens);
      const answers =
        fitting.length === 0
          ? []
          : await engine.generate({
              prompts: fitting.map((tokens) => Int32Array.from(tokens)),
              maxTokens,
              stopTokens: [tokenizer.eosId],
              temperature,
              seed,
            });
      const texts = answers.map(({ tokens }) => tokenizer.decode([...tokens].filter((token) => token !== tokenizer.eosId)));
      return encoded.map((tokens) => texts[fitting.indexOf(tokens)] ?? "");
    },
  };
}

function encodeJob(tokenizer: Tokenizer, { messages, tools }: JobPrompt): number[] {
  return tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
}
