/**
 * What else one message corrects. A judge hears one thing in the whole of it; each part that is a correction by itself (parts.ts) is heard by itself, and tells whether
 * the whole was heard aright: "2 rooms for 3 nights" gives no 3 rooms.
 */
import { isAspect } from "../../shared/aspects.ts";
import { MOST_FURTHER } from "../../shared/events.ts";
import { wordsBy } from "../../shared/speech/mention.ts";
import type { Signal } from "../data/exchange.ts";
import { sentencesOf } from "../../shared/speech/sentences.ts";
import { findWording } from "./aspects.ts";
import { standingHint } from "./hints.ts";
import type { HeardHint, Verdict } from "./judge.ts";
import type { Stands } from "../../shared/correction/ground.ts";
import { correctionsIn, hearing } from "./parts.ts";

/**
 * The same with every hint of the message. What was found first, in the whole of it, is believed of an argument only where a part says so, too, or no part says
 * anything: a reason's number is easily taken for the value.
 */
export function withFurther<Found extends Pick<Verdict, "hint">>(found: Found, signal: Signal): Found & Pick<Verdict, "further"> {
  const { hint } = found;
  // Who would have had another tool called says nothing of this one's arguments.
  if (hint === undefined || hint.hint.parameter === "@tool") return found;
  const standing = [...correctionsIn(signal), ...wordingsIn(signal)]
    .filter(({ toolName }) => toolName === hint.toolName)
    .flatMap((each) => standingHint(each, signal).hint ?? []);
  const first = standing.find((each) => isSame(each, hint)) ?? (isAspect(hint.hint.parameter) ? hint : (standing[0] ?? hint));
  const all = [first, ...standing];
  const further = standing.filter((each, at) => all.findIndex((other) => isSame(other, each)) === at + 1).slice(0, MOST_FURTHER);
  return { ...found, hint: first, ...(further.length > 0 && { further }) };
}

function wordingsIn(signal: Signal): Stands[] {
  return sentencesOf(wordsBy(signal.exchange.nextState, "user")).flatMap((sentence) => findWording(hearing(signal, sentence)) ?? []);
}

function isSame(one: HeardHint, other: HeardHint): boolean {
  return one.toolName === other.toolName && one.hint.parameter === other.hint.parameter;
}
