/**
 * Holds an answer to the defaults that stand and that it passes over. What is due comes one after the other, and after each the answer is
 * looked at anew, since a call of another tool may pass over others:
 *
 *   1. notes about arguments, together; then about how replies are worded, together; then about which tool is called and about needless questions,
 *      one by one
 *   2. what the version has learned, which yields to what was said, or is held
 *   3. notes by which the user is asked first: what they are asked about is the call as it would be made (settled-call.ts)
 *
 * Each note is tried once, and each learned default yields or is held once.
 */
import { at } from "../../shared/assert.ts";
import { isAllSaid } from "../../shared/asking.ts";
import { asksFirst, asksNever, type Held, mayHold, passedFor, passesOver, type Said, standsIn } from "../../shared/held-notes.ts";
import type { ServedNote } from "../../shared/note.ts";
import type { ServedDefault } from "../../shared/policy.ts";
import { findTool, sameCall } from "../../shared/speech/calls.ts";
import { isReplyAspect } from "../../shared/wording.ts";
import { yieldOrHold } from "../../shared/yield-or-hold.ts";
import { type Heard, holds, samePlace, type WrittenAnswer } from "../../shared/yielding.ts";
import type { WithoutOverruled } from "./overruled-notes.ts";
import { withSettledArguments } from "./settled-call.ts";
import type { Answer, VersionAnswers } from "./version-answers.ts";
import { type Asked, isRead, standingDefaults } from "./yielding-turn.ts";

export async function holdAnswer(answers: VersionAnswers, { answer: under, standing, told, unread }: WithoutOverruled): Promise<Answer> {
  const { completion, heard } = answers.turn;
  const learned = new LearnedDefaults(answers);
  const tried = new Set<ServedNote>();
  let answer = under;
  let isSettled = false;
  for (;;) {
    const { calls, text } = answer;
    const open = standing.filter((note) => !tried.has(note) && !learned.hasYielded(note) && mayHold(note, completion));
    // What the policy tells by itself is not held.
    const stands = (note: ServedNote): boolean => !told.has(note.noteId) && !isSaidOfAnother(note, { calls, heard });
    const passes = (note: ServedNote): boolean => passesOver(note, { calls, text, heard, unread });
    const due = nextOf(open.filter((note) => stands(note) && passes(note)));
    const isLast = due.every(asksFirst); // or no note is due
    if (isLast) {
      const decided = await learned.yieldOrHold(answer);
      if (decided !== answer) {
        answer = decided;
        continue;
      }
    }
    if (due.length === 0) return answer;
    if (isLast && !isSettled) {
      isSettled = true;
      const settled = await withSettledArguments(answers, answer);
      if (settled !== answer) {
        answer = settled;
        continue;
      }
    }
    for (const note of due) tried.add(note);
    const after = await askHeld(answers, { due, before: answer });
    if (after === undefined) continue;
    answer = after;
    // No other note is about the question, nor about the call that the user has agreed to.
    if (isLast) return answer;
  }
}

/**
 * The answer held to what is due; undefined where it cannot stand in the place of the one before. A call that nobody is to be asked about is made as
 * if the question had been agreed to, which makes it the call that was asked about; where that has what nobody but the question has named, the call that
 * comes to the policy without its question goes before it.
 */
async function askHeld(
  answers: VersionAnswers,
  { due, before }: { due: readonly ServedNote[]; before: Answer },
): Promise<Answer | undefined> {
  const { heard } = answers.turn;
  const hold = async (agreedTo?: string): Promise<Answer | undefined> => {
    const after = await answers.hold(before, due, { agreedTo });
    const stands = after !== undefined && standsIn(due, { before, after, heard, cut: true }) && staysUnasked(after, { before, but: due });
    return stands ? after : undefined;
  };
  if (!due.some(asksNever)) return hold();
  const agreed = await hold(before.text);
  return agreed !== undefined && isNamed(agreed, heard) ? agreed : ((await hold()) ?? agreed);
}

/** Whether somebody has named all that the call has. */
function isNamed({ call }: Answer, { messages, tools }: Heard): boolean {
  if (call === undefined) return false;
  const tool = findTool(tools, call.name);
  return tool !== undefined && isAllSaid(messages, { tool, call });
}

/** Whether a call that nobody was asked about, and that was looked at for that, is still the same but for what it was held to since. */
function staysUnasked({ calls }: Answer, { before, but }: { before: Answer; but: readonly Held[] }): boolean {
  if (!before.completion.held.some(asksNever)) return true;
  const open = (name: string, parameter: string): boolean => but.some((each) => samePlace(each, { tool: name, parameter }));
  return (
    calls.length === before.calls.length &&
    before.calls.every((call, index) => sameCall(call, at(calls, index), (parameter) => open(call.name, parameter)))
  );
}

/** What the versions have learned that an answer is of. */
class LearnedDefaults {
  readonly #answers: VersionAnswers;
  /** What became of those that are done with. */
  readonly #fates = new Map<ServedDefault, "yielded" | "held">();
  /** Those that other versions were asked about, and over which value: what they said goes for the answer that was then held to others. */
  readonly #askedOver = new Set<string>();

  constructor(answers: VersionAnswers) {
    this.#answers = answers;
  }

  /** Lets what the version has learned yield to what was said, and holds the answer to what it passes over, but for what notes are about. */
  async yieldOrHold(under: Answer): Promise<Answer> {
    const answers = this.#answers;
    const { turn } = answers;
    const { policy, heard } = turn;
    const open = (some: readonly ServedDefault[]): ServedDefault[] =>
      some.filter((each) => !this.#fates.has(each) && !this.#askedOver.has(overValue(each, under)));
    const { answer, yielded, held } = await yieldOrHold(policy.tokenizer, under, {
      defaults: open(under.defaults),
      standing: open(standingDefaults(turn)).filter((each) => !isSaidOfAnother(each, { calls: under.calls, heard })),
      heard,
      ask: (learned, before) => answers.askBefore(learned, this.#without(learned, before)),
      askBase: (learned, before) => answers.askBase(this.#without(learned, before)),
      hold: (passed, before) => answers.hold(before, passed),
    });
    for (const each of yielded) this.#fates.set(each, "yielded");
    for (const each of held) this.#fates.set(each, "held");
    return staysUnasked(answer, { before: under, but: turn.defaults }) ? answer : under;
  }

  /** Whether what was said has overruled a default for the same argument. */
  hasYielded(note: ServedNote): boolean {
    return [...this.#fates].some(([each, fate]) => fate === "yielded" && samePlace(each, note));
  }

  /** What a version that has not learned a default is asked: with nothing else about its argument. */
  #without(learned: ServedDefault, { completion: by, ...before }: Answer): Omit<Asked, "by"> {
    this.#askedOver.add(overValue(learned, before));
    const others = <Some extends Held>(some: readonly Some[]): Some[] => some.filter((each) => !samePlace(each, learned));
    // What it had called must not speak for the default that it is asked without.
    const hold = { to: others(by.held), before: { ...before, calls: [] } };
    return { notes: others(by.notes), agreedTo: by.agreedTo, hold };
  }
}

/** Arguments together, then of what is about the whole answer one after the other, since each wants another one; one question about all calls, and one reply. */
function nextOf(passed: readonly ServedNote[]): readonly ServedNote[] {
  const values = passed.filter(isRead);
  if (values.length > 0) return values;
  const worded = passed.filter(({ parameter }) => isReplyAspect(parameter));
  if (worded.length > 0) return worded;
  const first = passed.filter((note) => !asksFirst(note)).slice(0, 1);
  return first.length > 0 ? first : passed;
}

/** Whether another call of the answer has what was said in the place of a default or a note: what is held is held in all calls of a tool. */
function isSaidOfAnother(held: Held, { calls: [, ...others], heard }: Pick<Said, "calls"> & { heard: Heard }): boolean {
  return others.some(
    (call) => isRead(held) && call.name === held.tool && !holds(held, { call }) && passedFor(held, { call, heard }) === undefined,
  );
}

/** A default, the version before it, and what the answer has in its place. */
function overValue({ tool, parameter, before: { policyDigest } }: ServedDefault, { call }: Pick<WrittenAnswer, "call">): string {
  return JSON.stringify([tool, parameter, policyDigest, call?.name === tool ? call.arguments[parameter] : undefined]);
}
