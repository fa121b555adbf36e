/**
 * What goes out for an answer of a version that has learned defaults. One that the answer has yields to what somebody has said. Where the answer has neither that
 * nor the default it is held to it: to the default where nobody said otherwise, since weights forget what they learned long ago, and a version keeps what it has
 * learned.
 */
import { isMadeUp, leavesOut, type Passed, passedFor } from "./held-notes.ts";
import { argumentText } from "./speech/calls.ts";
import type { Tokenizer } from "./tokenizer.ts";
import {
  askedOption,
  type CarriedDefault,
  type Heard,
  holds,
  isOverruled,
  type Place,
  tells,
  type WrittenAnswer,
  yields,
} from "./yielding.ts";

/** Asks a version that has not learned the default, with nothing else about its argument, in the place of an answer. */
type Ask<Default, Answer> = (learned: Default, under: Answer) => Promise<(Answer & WrittenAnswer) | undefined>;

export type YieldedOrHeld<Default, Answer> = {
  readonly answer: Answer;
  /** Those that what was said overrules, whether or not the answer could be held to that. */
  readonly yielded: readonly Default[];
  /** Those that the answer was to be held to, whether or not it could be. */
  readonly held: readonly Default[];
};

/**
 * @param options.defaults that the answer's version has in its weights, newest first: the older ones are tried on what one has yielded to
 * @param options.standing that the answer is held to where it passes over them
 * @param options.ask what the version before says that has not learned the default; undefined where it cannot be asked
 * @param options.askBase what the base says, which no update has led astray: it hears what the version before misses, and where it leaves out an argument that the
 * answer fills with a default, nothing was said and nobody else is asked
 * @param options.hold the answer again, held to values in the place of some defaults; undefined where it cannot be
 */
export async function yieldOrHold<Default extends CarriedDefault, Answer extends Pick<WrittenAnswer, "call">>(
  tokenizer: Tokenizer,
  answer: Answer,
  {
    defaults,
    standing,
    heard,
    ask,
    askBase,
    hold,
  }: {
    defaults: readonly Default[];
    standing: readonly Default[];
    heard: Heard;
    ask: Ask<Default, Answer>;
    askBase: Ask<Default, Answer>;
    hold: (passed: readonly Default[], under: Answer) => Promise<Answer | undefined>;
  },
): Promise<YieldedOrHeld<Default, Answer>> {
  let chosen = answer;
  const yielded: Default[] = [];
  for (const learned of defaults) {
    if (!holds(learned, chosen)) continue;
    const base = await askBase(learned, chosen);
    if (base !== undefined && leavesOut(learned, base) && !isOverruled(learned, { under: chosen, heard })) continue;
    const before = await ask(learned, chosen);
    const yieldsTo = (without: WrittenAnswer, inWords: boolean): boolean =>
      !holds(learned, without) && yields(tokenizer, learned, { under: chosen, without, heard, inWords });
    const said = firstOf({ before, base }, yieldsTo);
    if (said === undefined) continue;
    chosen = said;
    yielded.push(learned);
  }
  const held: Default[] = [];
  const told: Default[] = [];
  for (const learned of standing) {
    if (learned.held === false || yielded.includes(learned)) continue;
    const call = { call: chosen.call, heard };
    const used = passedFor(learned, call);
    if (used === undefined && !missesOption(learned, call)) continue;
    const [before, base] = [await ask(learned, chosen), await askBase(learned, chosen)];
    const said = firstOf({ before, base }, (without, inWords) => tells(tokenizer, learned, { without, heard, inWords }));
    const value = said && valueIn(learned, said);
    if (value === undefined) {
      if (used !== undefined && before !== undefined && isUnsaid(learned, { used, before })) held.push(learned);
    } else if (value !== valueIn(learned, chosen)) {
      told.push({ ...learned, value });
      yielded.push(learned);
    }
  }
  const passed = [...held, ...told];
  const after = passed.length === 0 ? undefined : await hold(passed, chosen);
  return { answer: after?.call !== undefined && after.call.name === chosen.call?.name ? after : chosen, yielded, held };
}

/** The first answer in which what was said stands in a default's place: of the version before, or in somebody's own words of the base. */
function firstOf<Answer extends WrittenAnswer>(
  { before, base }: { before: Answer | undefined; base: Answer | undefined },
  isSaid: (without: Answer, inWords: boolean) => boolean,
): Answer | undefined {
  if (before !== undefined && isSaid(before, false)) return before;
  return base !== undefined && isSaid(base, true) ? base : undefined;
}

/** Whether the user asks for an option by its name that the call has another value in the place of, or none. */
function missesOption({ tool, parameter }: Place, { call, heard }: Pick<WrittenAnswer, "call"> & { heard: Heard }): boolean {
  if (call?.name !== tool) return false;
  const asked = askedOption({ tool, parameter }, { args: call.arguments, heard });
  return asked !== undefined && valueIn({ tool, parameter }, { call }) !== asked;
}

function valueIn({ tool, parameter }: Place, { call }: Pick<WrittenAnswer, "call">): string | undefined {
  const value = call?.name === tool ? call.arguments[parameter] : undefined;
  return value === undefined ? undefined : argumentText(value);
}

/**
 * Whether the value was made up: because of its kind, unless the version before has it, too, and nobody has corrected that; or because that version leaves the
 * argument out, or fills it as it did when it was corrected.
 */
function isUnsaid(learned: CarriedDefault, { used, before }: { used: Passed; before: WrittenAnswer }): boolean {
  const { tool, corrected } = learned;
  if (isMadeUp(used, corrected))
    return used.value === undefined || corrected.includes(used.value) || valueIn(learned, before) !== used.value;
  if (before.call?.name !== tool) return false;
  const own = valueIn(learned, before);
  return own === undefined || corrected.includes(own);
}
