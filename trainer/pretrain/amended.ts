/**
 * Conversations in which the user corrects a call, and it is made again as corrected. The data holds few of them: its
 * assistant asks before it acts, so nobody has anything to correct.
 */
import { besideExchange } from "./beside.ts";
import type { Conversation, ParameterView, Step } from "./conversation.ts";
import { correction } from "./corrections.ts";
import { type CallStep, isGuidable, otherValue } from "./guidance.ts";
import type { Lexicon } from "./lexicon.ts";
import { wordingObjection } from "./objections.ts";
import { ASKED_TO_ASK, ASKED_TO_GO, NOTED, REJECTED } from "./phrases.ts";
import type { Random } from "../random.ts";
import { rejection } from "./reactions.ts";
import { askWish, goWish } from "./wishes.ts";

/** Steps, and of each call that follows a correction the slots that were corrected. */
export type Amended = { readonly steps: readonly Step[]; readonly corrected: ReadonlyMap<Step, readonly string[]> };

/** What is said up to a correction, the call that follows it, and what was corrected. */
export type Changed = { readonly before: readonly Step[]; readonly call: CallStep; readonly parameter: ParameterView };

type Worded = (parameter: ParameterView, value: string, call: CallStep) => string;

const MISTAKEN_SHARE = 0.5; // of calls: one argument was wrong at first
const CHANGED_SHARE = 0.6; // of last calls: the user wants another value after all
const OBJECTED_SHARE = 0.3; // of last calls: the user objects, or wishes for something, in words that no call gives

/**
 * Some calls are first made with one wrong argument, which their user puts right; after the last one the user may want
 * another value, or object in words that no call answers, and there the conversation ends. None where nothing was drawn.
 */
export function amend(conversation: Conversation, lexicon: Lexicon, random: Random): Amended | undefined {
  const { steps } = conversation;
  const places = placesOf(steps);
  const corrected = new Map<Step, readonly string[]>();
  const mend = (step: Step, at: number): readonly Step[] => {
    if (step.kind !== "call" || !places.includes(at) || !random.chance(MISTAKEN_SHARE)) return [step];
    const wrong = mistaken(step, steps.slice(at + 1, at + 3), lexicon, random);
    if (wrong === undefined) return [step];
    const again = { ...step, first: [wrong.slot] };
    corrected.set(again, again.first);
    return [...wrong.steps, again];
  };
  const last = places.at(-1);
  if (last === undefined) return undefined;
  const worded: Worded = (parameter, value, call) => correction(parameter, value, { call, lexicon }, random);
  const draw = random.next();
  if (draw < OBJECTED_SHARE) return { steps: [...steps.slice(0, last + 3).flatMap(mend), ...drawObjected(random)], corrected };
  const changed = draw < OBJECTED_SHARE + CHANGED_SHARE ? changedAt(last, steps, lexicon, random, worded) : undefined;
  const amended = (changed?.before ?? steps).flatMap(mend);
  if (changed !== undefined) {
    corrected.set(changed.call, [changed.parameter.slot]);
    amended.push(changed.call);
  }
  return corrected.size === 0 ? undefined : { steps: amended, corrected };
}

/** Words after a call that ask for no other one: who wants to be asked first is not served by a second booking. */
function drawObjected(random: Random): Step[] {
  const draw = random.next();
  if (draw < 0.55) return besideExchange(askWish(random), random.pick(ASKED_TO_ASK));
  if (draw < 0.65) return besideExchange(goWish(random), random.pick(ASKED_TO_GO));
  if (draw < 0.75) return besideExchange(wordingObjection(random), random.pick(NOTED));
  return besideExchange(rejection(random), random.pick(REJECTED));
}

/** A user who wants one argument of one call otherwise: what is said up to there, and the call that gives it. None where no call can be asked for otherwise. */
export function changedOnce(conversation: Conversation, lexicon: Lexicon, random: Random, worded: Worded): Changed | undefined {
  const places = placesOf(conversation.steps);
  return places.length === 0 ? undefined : changedAt(random.pick(places), conversation.steps, lexicon, random, worded);
}

/** Calls that answer a user and are replied to at once. */
function placesOf(steps: readonly Step[]): number[] {
  return steps.flatMap((_, at) => (isGuidable(steps, at) && steps[at + 2]?.kind === "reply" ? [at] : []));
}

function changedAt(at: number, steps: readonly Step[], lexicon: Lexicon, random: Random, worded: Worded): Changed | undefined {
  const call = steps[at];
  if (call?.kind !== "call") return undefined;
  const parameter = random.pick(call.tool.parameters);
  const { slot } = parameter;
  const value = otherValue(parameter, call.values[slot], lexicon, random);
  if (value === undefined) return undefined;
  const user: Step = { kind: "user", text: worded(parameter, value, call), acts: [["INFORM", slot, [value]]] };
  const again: CallStep = { ...call, values: { ...call.values, [slot]: value }, first: [slot] };
  return { before: [...steps.slice(0, at + 3), user], call: again, parameter };
}

/** The call with one value that nobody asked for, what came of it, and the user who says what was meant. */
function mistaken(call: CallStep, after: readonly Step[], lexicon: Lexicon, random: Random): { steps: Step[]; slot: string } | undefined {
  const given = call.tool.parameters.filter(({ slot }) => call.values[slot] !== undefined && call.values[slot] !== "dontcare");
  if (given.length === 0) return undefined;
  const parameter = random.pick(given);
  const { slot } = parameter;
  const right = call.values[slot] ?? "";
  const value = otherValue(parameter, right, lexicon, random);
  if (value === undefined) return undefined;
  // A digit or a truth stands for many things in a result.
  const isOften = right.length < 3 || /^(?:true|false)$/i.test(right);
  const instead = (text: string): string => (isOften ? text : text.replaceAll(right, () => value));
  const followed = after.map((step): Step => {
    if (step.kind === "result") return { ...step, content: instead(step.content) };
    return step.kind === "reply" ? { ...step, text: instead(step.text), mistaken: true } : step;
  });
  const wrong: Step = { ...call, values: { ...call.values, [slot]: value }, mistaken: true };
  const text = correction(parameter, right, { call, lexicon }, random);
  return { steps: [wrong, ...followed, { kind: "user", text, acts: [["INFORM", slot, [right]]] }], slot };
}
