/**
 * What was learned earlier in a batch must survive what is learned after it, and all of it together must stay as near to
 * the published parent as one correction must: each is trained and confirmed by itself.
 */
import { hintText } from "../../../shared/jobs.ts";
import type { AskPolicy } from "../../teacher/lead.ts";
import type { LearnerDependencies } from "./candidate.ts";
import { confirmationFailure, look, type HeldBack } from "./confirm.ts";
import { refuse, type RefusedCorrection } from "./result.ts";

/** Why the candidate may not follow those learned before, given what each held back, oldest first; undefined where it may. */
export async function costToEarlier(
  { engine, base, settings }: Pick<LearnerDependencies, "engine" | "base" | "settings">,
  earlier: readonly HeldBack[],
  { tools, adapter, ask }: { /** what was just learned changes */ tools: readonly string[]; adapter: string; ask: AskPolicy },
): Promise<RefusedCorrection | undefined> {
  const { tokenizer, config } = base;
  const [first, ...others] = earlier;
  if (first === undefined) return undefined;
  for (const held of earlier) {
    const lost = await confirmationFailure(held, { ask, base, settings });
    if (lost !== undefined) return refuse("update/forgets", `"${hintText(held.correction.hint)}" was learned first: ${lost.detail}`);
  }
  // The first held its contexts back under the published parent, so their drift is that of the whole batch; but the
  // tools of the later corrections were meant to change.
  const changed = new Set([...others.map(({ correction }) => correction.tool.function.name), ...tools]);
  const staying = { ...first, lessons: first.lessons.filter(({ context }) => !changed.has(context.tool)) };
  const { driftNats } = await look(engine, staying, { adapter, tokenizer, vocabSize: config.vocabSize });
  return driftNats > settings.driftLimitNats
    ? refuse("update/drift", `drift of at most ${settings.driftLimitNats} nats over the batch expected, got ${driftNats.toFixed(4)}`)
    : undefined;
}
