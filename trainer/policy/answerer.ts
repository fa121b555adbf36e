/** Does the base's jobs beside acting, through the engine. */
import { UNTHINKING } from "../../shared/engine.ts";
import type { Job, JobPrompt } from "../../shared/jobs.ts";
import { AppError } from "../../shared/errors.ts";
import { FREE_FORM } from "../../shared/grammar/answer-form.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import type { EngineCalls } from "../engine/protocol.ts";
import type { JobSampler } from "../judge/job-sampler.ts";
import type { Base } from "./base.ts";
import { fits } from "../learn/lesson/rows.ts";
import { scoreRows, totalLogProb } from "../learn/lesson/scores.ts";
import { marksCalls, readAnswer } from "../teacher/answer-text.ts";
import { hasJudgeAdapter, JUDGE_ADAPTERS, type JudgeAdapter, readJudgeAdapter } from "./judge-adapter.ts";
import { hasWordModel, readReactionModel, WORD_MODELS } from "./reaction-file.ts";

/** Which adapter of the engine a job is done under; the bare base does the others. */
export type JobAdapters = { [job in Job]?: string };

const JOBS: Readonly<Record<JudgeAdapter, readonly Job[]>> = { judge: ["judge", "hint"], wish: ["wish"] };
const CALL_TOKENS = 96;

export type Answering = Pick<EngineCalls, "generate" | "score">;

/** The base's answers to judge and hint prompts, and its reaction model where it has one. A prompt that does not fit the context gets an empty answer, which nobody can read as a vote. */
export function createJobSampler(
  engine: Answering,
  base: Pick<Base, "folder" | "tokenizer" | "config" | "rowTokens">,
  adapters: JobAdapters = {},
): JobSampler {
  const { rowTokens } = base;
  // These prompts no engine serves, and a thought would take all the tokens that an answer has.
  const tokenizer = base.tokenizer.withTemplateArguments(UNTHINKING);
  const { contextTokens, vocabSize } = base.config;
  const underOf = (job: Job | undefined): { adapter?: string } => {
    const adapter = job === undefined ? undefined : adapters[job];
    return adapter === undefined ? {} : { adapter };
  };
  return {
    knowsWishes: adapters.wish !== undefined,
    reactions: readReactionModel(base),
    corrections: readReactionModel(base, "correction"),
    async answer(prompts, { maxTokens, temperature, seed }) {
      const encoded = prompts.map((prompt) => encodeJob(tokenizer, prompt));
      const fitting = encoded.filter((tokens) => tokens.length + maxTokens <= contextTokens);
      const answers =
        fitting.length === 0
          ? []
          : await engine.generate({
              prompts: fitting.map((tokens) => Int32Array.from(tokens)),
              maxTokens,
              stopTokens: tokenizer.endIds,
              temperature,
              seed,
              ...underOf(prompts[0]?.job),
            });
      const texts = answers.map(({ tokens }) => tokenizer.decode([...tokens].filter((token) => !tokenizer.endIds.includes(token))));
      return encoded.map((tokens) => texts[fitting.indexOf(tokens)] ?? "");
    },
    async score(prompt, answers) {
      const tokens = encodeJob(tokenizer, prompt);
      const rows = answers.map((answer) => ({ prompt: tokens, answer: [...tokenizer.encode(answer), tokenizer.eosId] }));
      if (rows.some((row) => !fits({ rowTokens }, row.prompt.length, row.answer.length)))
        return answers.map(() => Number.NEGATIVE_INFINITY);
      return (await scoreRows(engine, rows, { adapter: adapters[prompt.job], vocabSize })).map(totalLogProb);
    },
    async call({ messages, tools, callable }, { seed }) {
      // Without tokens that mark calls, or in a schema that no text fits, there is nothing to force.
      if (!marksCalls(tokenizer)) return undefined;
      const prompt = tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
      if (!fits({ rowTokens }, prompt.length, CALL_TOKENS)) return undefined;
      const asked = {
        prompts: [Int32Array.from(prompt)],
        forms: [{ tools: callable, form: { ...FREE_FORM, toolChoice: "required" as const } }],
        maxTokens: CALL_TOKENS,
        stopTokens: tokenizer.endIds,
        temperature: 0,
        seed,
      };
      const [answer] = await engine.generate(asked).catch(orNone);
      const { calls, finished, valid } = readAnswer(tokenizer, [...(answer?.tokens ?? [])]);
      const [call] = calls;
      return finished && valid && call !== undefined ? { status: "read", ...call } : undefined;
    },
  };
}

/** A call that no grammar allows is none. */
function orNone(thrown: unknown): [] {
  if (thrown instanceof AppError && thrown.code.startsWith("input/")) return [];
  throw thrown;
}

/** The base's jobs done under its judge adapters, and beside its reaction model, where it has them. */
export async function openJudge(engine: Answering & Pick<EngineCalls, "loadAdapter">, base: Base): Promise<JobSampler> {
  return createJobSampler(engine, base, await loadJudge(engine, base));
}

/** Takes the base's judge adapters into the engine, those that it has. */
export async function loadJudge(engine: Pick<EngineCalls, "loadAdapter">, base: Pick<Base, "folder" | "config">): Promise<JobAdapters> {
  const adapters: JobAdapters = {};
  for (const adapter of JUDGE_ADAPTERS) {
    const tensors = readJudgeAdapter(adapter, base);
    if (tensors === undefined) continue;
    const name = `judge.${adapter}`;
    await engine.loadAdapter(name, tensors);
    for (const job of JOBS[adapter]) adapters[job] = name;
  }
  return adapters;
}

/** What of a judge does not lie beside the base, which judges by itself without it. */
export function lackedForJudging(base: Pick<Base, "folder">): string[] {
  const adapters = JUDGE_ADAPTERS.filter((adapter) => !hasJudgeAdapter(adapter, base)).map((adapter) => `${adapter} adapter`);
  return [...adapters, ...WORD_MODELS.filter((model) => !hasWordModel(base, model)).map((model) => `${model} model`)];
}

function encodeJob(tokenizer: Tokenizer, { messages, tools }: JobPrompt): number[] {
  return tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
}
