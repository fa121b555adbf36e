/**
 * What somebody will never have, from their words: "Anything but Standard!", "I can't stand Economy". The votes take many of these for a request
 * that goes on, since nothing is said of what it should have been.
 */
import type { Signal } from "../data/exchange.ts";
import { wordsBy } from "../../shared/speech/mention.ts";
import { asksWhat } from "../../shared/correction/wishful.ts";

// Of any value at any time: "not on Monday" and "without breakfast" are what a new request asks for.
const REJECTS = [
  /\b(?:anything|anyone|any (?!other)\w+|everything|whatever) (?:but|except|other than)\b/i,
  /\bnever (?!mind\b)(?:\w+ )?(?:accept|again|book|choose|do|go for|have|like|pick|ride|take|use|want)\b/i,
  /\b(?:can't|cannot|can not) (?:stand|bear|abide)\b|\bI (?:hate|despise|dislike|detest|loathe)\b|\b(?:avoid(?:ing)?|steer clear of|stay away from|keep away from)\b/i,
  /\bI (?:don't|do not) (?:ever )?(?:do|like|accept)\b|\bnot a fan of\b|\b(?:sick of|tired of|fed up with|had enough of)\b/i,
];

/** The clauses in which the user is against something for good. Who asks what there is is against nothing. */
export function rejections({ exchange }: Pick<Signal, "exchange">): string[] {
  const words = wordsBy(exchange.nextState, "user").replaceAll("’", "'");
  const told = words.split(/(?<=[.!?\n])/).filter((sentence) => !asksWhat(sentence));
  return told.flatMap((sentence) => sentence.split(/[,;:–—]/)).filter((clause) => REJECTS.some((each) => each.test(clause)));
}
