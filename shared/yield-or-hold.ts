/**
 * What goes out for an answer of a version that has learned defaults. One yields to what somebody has said, where the answer has it or what nobody
 * said. One that the answer passes over although nobody said otherwise is held: weights forget what they learned long ago, and a version keeps what it has learned.
 */
import { isMadeUp, type Passed, passedFor } from "./held-notes.ts";
import { argumentText } from "./speech/calls.ts";
import type { Tokenizer } from "./tokenizer.ts";
import { type CarriedDefault, type Heard, holds, tells, type WrittenAnswer, yields } from "./yielding.ts";

export type YieldedOrHeld<Default, Answer> = {
  readonly answer: Answer;
  /** Those that what was said overrules. */
  readonly yielded: readonly Default[];
  /** Those that the answer was to be held to, whether or not it could be. */
  readonly held: readonly Default[];
};

/**
 * @param options.defaults that the answer's version has in its weights, newest first: the older ones are tried on what one has yielded to
 * @param options.standing that the answer is held to where it passes over them
 * @param options.ask what a version says that has not learned the default; undefined where it cannot be asked
 * @param options.hold the answer again, held to some defaults; undefined where it cannot be
 */
export async function yieldOrHold<Default extends CarriedDefault, Answer extends Pick<WrittenAnswer, "call">>(
  tokenizer: Tokenizer,
  answer: Answer,
  {
    defaults,
    standing,
    heard,
    ask,
    hold,
  }: {
    defaults: readonly Default[];
    standing: readonly Default[];
    heard: Heard;
    ask: (learned: Default, under: Answer) => Promise<(Answer & WrittenAnswer) | undefined>;
    hold: (passed: readonly Default[], under: Answer) => Promise<Answer | undefined>;
  },
): Promise<YieldedOrHeld<Default, Answer>> {
  let chosen = answer;
  const yielded: Default[] = [];
  for (const learned of defaults) {
    if (!holds(learned, chosen)) continue;
    const without = await ask(learned, chosen);
    if (without === undefined || !yields(tokenizer, learned, { under: chosen, without, heard })) continue;
    chosen = without;
    yielded.push(learned);
  }
  const passed: Default[] = [];
  for (const learned of standing) {
    if (learned.held === false || yielded.includes(learned)) continue;
    const used = passedFor(learned, { call: chosen.call, heard });
    if (used === undefined) continue;
    const without = await ask(learned, chosen);
    if (without === undefined) continue;
    if (!tells(tokenizer, learned, { without, heard })) {
      if (isUnsaid(learned, { used, without })) passed.push(learned);
    } else if (argumentText(without.call?.arguments[learned.parameter]) !== used.value) {
      chosen = without;
      yielded.push(learned);
    }
  }
  if (passed.length === 0) return { answer: chosen, yielded, held: [] };
  const after = await hold(passed, chosen);
  return { answer: after?.call !== undefined && after.call.name === chosen.call?.name ? after : chosen, yielded, held: passed };
}

/** Whether the value was made up: because of its kind, or because the version before leaves the argument out, or fills it as it did when it was corrected. */
function isUnsaid({ tool, parameter, corrected }: CarriedDefault, { used, without }: { used: Passed; without: WrittenAnswer }): boolean {
  if (isMadeUp(used, corrected)) return true;
  if (without.call?.name !== tool) return false;
  const before = without.call.arguments[parameter];
  return before === undefined || corrected.includes(argumentText(before));
}
