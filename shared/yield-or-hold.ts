/**
 * What goes out for an answer of a version that has learned defaults. One that the answer has yields to what somebody has said. Where the answer has neither that
 * nor the default it is held to it: to the default where nobody said otherwise, since weights forget what they learned long ago, and a version keeps what it has
 * learned.
 */
import { isMadeUp, type Passed, passedFor, type Said } from "./held-notes.ts";
import { argumentText, sameText } from "./speech/calls.ts";
import type { Tokenizer } from "./tokenizer.ts";
import {
  askedOption,
  type CarriedDefault,
  type Heard,
  holds,
  type Place,
  tells,
  type Trust,
  type WrittenAnswer,
  yields,
} from "./yielding.ts";

/** Asks a version that has not learned the default, with nothing else about its argument, in the place of an answer. */
type Ask<Default, Answer> = (learned: Default, under: Answer) => Promise<(Answer & WrittenAnswer) | undefined>;

type Rules<Default, Answer> = {
  /** That the answer's version has in its weights, newest first: the older ones are tried on what one has yielded to. */
  readonly defaults: readonly Default[];
  /** That the answer is held to where it passes over them. */
  readonly standing: readonly Default[];
  readonly heard: Heard;
  /** What the version before says that has not learned the default; undefined where it cannot be asked. */
  readonly ask: Ask<Default, Answer>;
  /** What the base says, which no update has led astray: it hears what the version before misses. */
  readonly askBase: Ask<Default, Answer>;
  /** The answer again, held to values in the place of some defaults; undefined where it cannot be. */
  readonly hold: (passed: readonly Default[], under: Answer) => Promise<Answer | undefined>;
};

export type YieldedOrHeld<Default, Answer> = {
  readonly answer: Answer;
  /** Those that what was said overrules, whether or not the answer could be held to that. */
  readonly yielded: readonly Default[];
  /** Those that the answer was to be held to, whether or not it could be. */
  readonly held: readonly Default[];
};

type Answering = Pick<WrittenAnswer, "call"> & Pick<Said, "calls">;

export async function yieldOrHold<Default extends CarriedDefault, Answer extends Answering>(
  tokenizer: Tokenizer,
  answer: Answer,
  rules: Rules<Default, Answer>,
): Promise<YieldedOrHeld<Default, Answer>> {
  const decision = new Decision(tokenizer, answer, rules);
  for (const learned of rules.defaults) await decision.yieldIfOverruled(learned);
  for (const learned of rules.standing) await decision.holdIfPassedOver(learned);
  return decision.outcome();
}

/** Default by default, on what those before it have left of the answer. */
class Decision<Default extends CarriedDefault, Answer extends Answering> {
  readonly #tokenizer: Tokenizer;
  readonly #rules: Rules<Default, Answer>;
  #chosen: Answer;
  readonly #yielded: Default[] = [];
  readonly #held: Default[] = [];
  /** What the answer is to have instead of a default, and whose answer has it. */
  readonly #told: { readonly learned: Default; readonly by: Answer }[] = [];

  constructor(tokenizer: Tokenizer, answer: Answer, rules: Rules<Default, Answer>) {
    this.#tokenizer = tokenizer;
    this.#chosen = answer;
    this.#rules = rules;
  }

  async yieldIfOverruled(learned: Default): Promise<void> {
    const { heard } = this.#rules;
    const under = this.#chosen;
    if (!holds(learned, under)) return;
    const { before, said } = await this.#listen(
      learned,
      (about, without, trust) => !holds(learned, without) && yields(this.#tokenizer, about, { under, without, heard, trust }),
    );
    if (said === undefined) return;
    if (said === before) {
      this.#chosen = said;
      this.#yielded.push(learned);
    } else this.#yieldTo(learned, said);
  }

  async holdIfPassedOver(learned: Default): Promise<void> {
    const { heard } = this.#rules;
    if (learned.held === false || this.#yielded.includes(learned)) return;
    const call = { call: this.#chosen.call, heard };
    const used = passedFor(learned, call);
    if (used === undefined && !missesOption(learned, call)) return;
    const { before, said } = await this.#listen(learned, (about, without, trust) =>
      tells(this.#tokenizer, about, { without, heard, trust }),
    );
    if (said === undefined) {
      if (used !== undefined && before !== undefined && isUnsaid(learned, { used, before })) this.#held.push(learned);
    } else if (filledWith(learned, said) !== filledWith(learned, this.#chosen)) this.#yieldTo(learned, said);
  }

  async outcome(): Promise<YieldedOrHeld<Default, Answer>> {
    const passed = [...this.#held, ...this.#told.map(({ learned }) => learned)];
    const after = passed.length === 0 ? undefined : await this.#rules.hold(passed, this.#chosen);
    const stands = after?.call !== undefined && after.call.name === this.#chosen.call?.name;
    return { answer: stands ? after : (this.#told.at(-1)?.by ?? this.#chosen), yielded: this.#yielded, held: this.#held };
  }

  #yieldTo(learned: Default, by: Answer): void {
    const value = filledWith(learned, by);
    // Of several calls a hold would be on all.
    if (value === undefined || this.#chosen.calls.length > 1) this.#chosen = by;
    else this.#told.push({ learned: { ...learned, value }, by });
    this.#yielded.push(learned);
  }

  /** What the version before says, and the first of it and the base that tells what was said; of an option that was asked for, the first that has heard which. */
  async #listen(
    learned: Default,
    isSaid: (about: CarriedDefault, without: Answer & WrittenAnswer, trust: Trust) => boolean,
  ): Promise<{ before: (Answer & WrittenAnswer) | undefined; said: Answer | undefined }> {
    const { ask, askBase, heard } = this.#rules;
    const asked = askedOption(learned, { args: this.#chosen.call?.arguments ?? {}, heard });
    const hasIt = (by: Answer): boolean => asked === undefined || sameText(filledWith(learned, by) ?? "", asked);
    const before = await ask(learned, this.#chosen);
    const heardBefore = before !== undefined && isSaid(learned, before, "sure") ? before : undefined;
    if (heardBefore !== undefined && hasIt(heardBefore)) return { before, said: heardBefore };
    const base = await askBase(learned, this.#chosen);
    const { byBase } = learned;
    // What a version made up when it was corrected the base may well have heard.
    const about = byBase === undefined ? learned : { ...learned, corrected: byBase };
    const heardByBase = base !== undefined && isSaid(about, base, trustIn(byBase)) ? base : undefined;
    const isBest = heardByBase !== undefined && (heardBefore === undefined || hasIt(heardByBase));
    return { before, said: isBest ? heardByBase : heardBefore };
  }
}

/** How far the base is believed, by what it makes up where nobody speaks of the argument. */
function trustIn(byBase: readonly string[] | undefined): Trust {
  if (byBase === undefined) return "words";
  return byBase.length === 0 ? "filled" : "sure";
}

/** Whether the user asks for an option by its name that the call has another value in the place of, or none. */
function missesOption({ tool, parameter }: Place, { call, heard }: Pick<WrittenAnswer, "call"> & { heard: Heard }): boolean {
  if (call?.name !== tool) return false;
  const asked = askedOption({ tool, parameter }, { args: call.arguments, heard });
  return asked !== undefined && filledWith({ tool, parameter }, { call }) !== asked;
}

/** What a call has for an argument, as text. */
function filledWith({ tool, parameter }: Place, { call }: Pick<WrittenAnswer, "call">): string | undefined {
  const value = call?.name === tool ? call.arguments[parameter] : undefined;
  return value === undefined ? undefined : argumentText(value);
}

/**
 * Whether the value was made up: because of its kind, unless the version before has it, too, and nobody has corrected that; or because that version leaves the
 * argument out, or fills it as it did when it was corrected; or because it was said of another argument.
 */
function isUnsaid(learned: CarriedDefault, { used, before }: { used: Passed; before: WrittenAnswer }): boolean {
  const { tool, corrected } = learned;
  if (used.isOfAnother) return true;
  if (isMadeUp(used, corrected))
    return used.value === undefined || corrected.includes(used.value) || filledWith(learned, before) !== used.value;
  if (before.call?.name !== tool) return false;
  const own = filledWith(learned, before);
  return own === undefined || corrected.includes(own);
}
