/** Whether what a user wishes for is meant for this time, or for some cases, alone: as a default it would be wrong in all others. Words are matched, never interpreted. */
import { escapeRegExp } from "../regexp.ts";
import { type MentionedValue, mentions } from "../speech/mention.ts";
import { clausesOf, sentencesOf } from "../speech/sentences.ts";
import { wordsOf } from "../speech/words.ts";

const ONCE =
  /\b(?:just|only|but) (?:this|that|the) once\b|\bjust once\b|\bthis once\b|^\W*(?:\w+,? ){0,2}this time\b(?! (?:too|as well|you|it|again))|\bthis time (?:only|around)\b|\b(?:only|just) (?:for )?(?:this time|today|tonight|now|this (?:one|trip|order|booking|visit))\b|\bfor (?:this|that) (?:one )?(?:time|trip|order|booking|visit|occasion|once)\b|\bfor (?:tonight|today|now)(?: only)?\b|\b(?:on|take|make) this one\b|\bfor th(?:is|at) one\b(?! (?:tool|argument|parameter|setting))|^\W*this one(?:(?:'s| is) (?:urgent|special|different|an exception)| goes| has to)\b|\b(?:for|only|just) this (?:week|weekend|month|morning|afternoon|evening)\b|\bthis (?:week|weekend|month|morning|afternoon|evening) only\b|\bas an exception\b/i;
// "For this stay 2 rooms", "make it 2 rooms this time", and no "You took Standard this time", "not at this time"
const OF_THIS =
  /\bfor this (?:one )?(?!one\b|reason|matter|purpose|kind|type|sort|tool|function|agent|assistant|field|argument|parameter|setting)\p{L}+|(?<!\bnot )\b(?:today|tonight)\b|^(?!.*\byou\b).*(?<!\b(?:at|by|around|until|till|before|after) )\bthis time(?:,? please)?\W*$/iu;
const SHORT_WORDS = 5; // "For this stay, 2 rooms"
const EVER =
  /\b(?:from now on|from this time on|from here on|always|usually|never|next time|every|all (?:my )?\w+s|every time|each time|in (?:the )?future)\b/i;

// "Never mind" wishes for nothing, and what somebody else always does is no wish either.
const NO_WISH = /\bnever ?mind\b|\byou(?:'re| are)? (?:always|never|usually|every time)\b/gi;

const DENIED_ONCE = /\bnot (?:(?:just|only|even) )?(?:for )?(?:this|today|now|once)\b/i;

/**
 * Whether what is said is meant for this time alone. What always is may go before ("I always go Economy, but just this once …"); behind, it is the last word.
 * @param said what is wished for: "2 hours isn't enough for this flat, book 4" wishes for no exception
 */
export function isOnce(words: string, said?: MentionedValue): boolean {
  if (DENIED_ONCE.test(words)) return false;
  const clauses = clausesOf(words);
  const isOfThis = (clause: string): boolean =>
    OF_THIS.test(clause) && (said === undefined || mentions(clause, said) || wordsOf(clause).length <= SHORT_WORDS);
  const once = clauses.findLastIndex((clause) => ONCE.test(clause) || isOfThis(clause));
  return once >= 0 && !clauses.slice(once).some(isForGood);
}

/** Whether what is said is meant for good. */
export function isForGood(words: string): boolean {
  return EVER.test(words.replace(NO_WISH, " "));
}

// "if possible", "if you can", "as if", "if I say nothing", "when I book" are no conditions that a default could miss.
const NO_CASE =
  "(?! (?:possible|available|needed|necessary|not\\b|so\\b|(?:that|it|this)(?:'s|'d be| is| would be)? (?:ok|okay|fine|possible|alright|all right|not|no|too|available|easy|easier|easiest|up to|works?|helps?|matters?|makes|please|can|could|comes|happens|gets|does|doesn't|isn't)\\b|you(?:'re| are)? (?:can|could|do|don't|please|want|like|may|might|must|ask|asked|would|will|have|need|ever|know|see|say|get|insist|able|going|not|unsure|in doubt)\\b|(?:i|we) (?:may|might|could|can|do|don't|didn't|say|said|haven't|tell|told|ask|mention)\\b|nothing|nobody|anything|any\\b|they(?:'re| (?:do|don't|can't|have|haven't))\\b|there))";
const CONDITION = new RegExp(
  `(?<!\\b(?:as|even|what|see|check|wonder|know|ask|sure|only) )\\b(?:if|in case)\\b${NO_CASE}|\\bunless\\b(?! (?:i|we) (?:say|tell|ask|said|mention)| otherwise)|\\bwhen(?:ever)? (?!i\\b|we\\b|you\\b|it\\b|nothing|nobody|asked|booking|searching|looking|calling|making|in doubt)`,
  "i",
);
const KIND_OF_CASE =
  /\b(?:on|for|during) (?:my |our |the )?(?:business|work|weekend|family|short|long|school|holiday|private|personal) (?:trips?|travels?|stays?|rides?|weekends?|flights?|visits?)\b/i;

/** The sentence that wishes for the value in some cases alone ("only in Portland", "if my kids come along"); undefined where one wishes for it in all. */
export function conditionOf(words: string, said: MentionedValue): string | undefined {
  const only = new RegExp(
    `\\bonly (?:in|for|at|on|to|from|when|if|with) (?!me\\b|us\\b|an?\\b|\\d|(?:the )?${escapeRegExp(said.value)})\\p{L}`,
    "iu",
  );
  // "We work on develop, main is only for releases": what is said of another value limits none.
  const isLimited = (sentence: string): boolean =>
    clausesOf(sentence).some((clause) => only.test(clause) && (mentions(clause, said) || /^\W*(?:but |and )?only\b/i.test(clause)));
  const wishes = sentencesOf(words).filter((sentence) => mentions(sentence, said));
  // What a condition is for stands in its own name: "skip it if it rains" is `skip_if_rain`.
  const isOwn = wordsOf(said.parameter.words).some((word) => /^(?:if|when|unless|whenever)$/.test(word));
  const bound = wishes.filter((sentence) => (!isOwn && CONDITION.test(sentence)) || KIND_OF_CASE.test(sentence) || isLimited(sentence));
  return bound.length === wishes.length ? bound[0] : undefined;
}
