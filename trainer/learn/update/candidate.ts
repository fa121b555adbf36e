/** An update's adapters in the engine: which they are, how they answer, how they are rounded. */
import { FREE_FORM } from "../../../shared/grammar/answer-form.ts";
import { zipStrict } from "../../../shared/assert.ts";
import type { UpdateSettings } from "../../config.ts";
import type { TrainingPort } from "../../engine/training-port.ts";
import type { EngineCalls } from "../../engine/protocol.ts";
import { roundAdapter, type AdapterTensors } from "../../policy/adapter.ts";
import type { Base } from "../../policy/base.ts";
import type { Asked, AskPolicy } from "../../teacher/lead.ts";
import type { ErrandPools } from "../lesson/errand-pool.ts";
import { ANSWER_TOKENS } from "../lesson/lessons.ts";
import { isPackable } from "../lesson/rows.ts";
import { scoreRows } from "../lesson/scores.ts";

export type LearnerDependencies = {
  readonly engine: TrainingPort;
  readonly base: Pick<Base, "tokenizer" | "config" | "grammars" | "rowTokens">;
  readonly errandPools: ErrandPools;
  readonly settings: UpdateSettings;
  /** A monotone clock, ms. */
  readonly now: () => number;
  /** Told how many lessons came of each kind of context and guidance, such as `silent by note`, and how many contexts taught nothing. */
  readonly onTaught?: (counts: Readonly<Record<string, number>>) => void;
  /** Told of every look at the held-back contexts. */
  readonly onLook?: (look: {
    readonly step: number;
    readonly loss: number;
    readonly honoured: number;
    readonly kept: number;
    readonly driftNats: number;
  }) => void;
};

/** The adapters of one update in the engine, by role. `parent` is undefined where the parent is the bare base. */
export type Adapters = { readonly parent: string | undefined; readonly candidate: string };

/** Greedy answers through the engine, held to the tools' schemas unless they are to be `free`. */
export function askGreedily(
  engine: Pick<EngineCalls, "generate" | "score">,
  {
    adapter,
    endIds,
    seed,
    maxTokens = ANSWER_TOKENS,
    free = false,
  }: { adapter: string | undefined; endIds: readonly number[]; seed: number; maxTokens?: number; free?: boolean },
): AskPolicy {
  return async (asked) => {
    const known = await confirmSupposed(engine, asked, { adapter, maxTokens });
    const written = await write(asked.filter((each) => !known.has(each)));
    return asked.map((each) => known.get(each) ?? written.shift() ?? []);
  };

  async function write(asked: readonly Asked[]): Promise<(readonly number[])[]> {
    if (asked.length === 0) return [];
    const answers = await engine.generate({
      prompts: asked.map(({ prompt }) => Int32Array.from(prompt)),
      ...(free ? {} : { forms: asked.map(({ tools, form }) => ({ tools, form: { ...FREE_FORM, ...form } })) }),
      maxTokens,
      stopTokens: endIds,
      temperature: 0,
      seed,
      ...(adapter === undefined ? {} : { adapter }),
    });
    return answers.map(({ tokens }) => [...tokens]);
  }
}

/** The supposed answers of which every token is the likeliest one after those before it: what the policy says greedily. */
async function confirmSupposed(
  engine: Pick<EngineCalls, "score">,
  asked: readonly Asked[],
  { adapter, maxTokens }: { adapter: string | undefined; maxTokens: number },
): Promise<Map<Asked, readonly number[]>> {
  const rows = asked.flatMap((each) => {
    const { prompt, supposed: answer = [] } = each;
    return answer.length > 0 && answer.length <= maxTokens && isPackable(prompt.length, answer.length) ? [{ each, prompt, answer }] : [];
  });
  const scores = await scoreRows(engine, rows, { adapter, vocabSize: 0 });
  return new Map(
    zipStrict(rows, scores).flatMap(([{ each, answer }, { argmax }]) =>
      answer.every((token, index) => argmax[index] === token) ? [[each, answer] as const] : [],
    ),
  );
}

/** Takes weights for the candidate, rounded as they will be stored, so that what is confirmed is what is published. @returns them, and the candidate's greedy answers */
export async function takeCandidate(
  { engine, base }: Pick<LearnerDependencies, "base"> & { engine: Pick<EngineCalls, "generate" | "score" | "loadAdapter"> },
  weights: AdapterTensors,
  { adapters, seed }: { adapters: Adapters; seed: number },
): Promise<{ adapter: AdapterTensors; ask: AskPolicy }> {
  const adapter = roundAdapter(weights);
  await engine.loadAdapter(adapters.candidate, adapter);
  return { adapter, ask: askGreedily(engine, { adapter: adapters.candidate, endIds: base.tokenizer.endIds, seed }) };
}
