/** Whether what a user wishes for is meant for this time, or for some cases, alone: as a default it would be wrong in all others. Words are matched, never interpreted. */
import { escapeRegExp } from "../regexp.ts";
import { type MentionedValue, mentions } from "../speech/mention.ts";
import { clausesOf, sentencesOf } from "../speech/sentences.ts";

const ONCE =
  /\b(?:just|only|but) (?:this|that|the) once\b|\bjust once\b|\bthis once\b|^\W*(?:\w+,? ){0,2}this time\b(?! (?:too|as well|you|it|again))|\bthis time (?:only|around)\b|\b(?:only|just) (?:for )?(?:this time|today|tonight|now|this (?:one|trip|order|booking|visit))\b|\bfor (?:this|that) (?:one )?(?:time|trip|order|booking|visit|occasion|once)\b|\bfor this (?:one )?(?!one\b|reason|matter|purpose|kind|type|sort|tool|function|agent|assistant|field|argument|parameter|setting)\p{L}+|\bfor (?:tonight|today|now)(?: only)?\b|\b(?:on|take|make) this one\b|\b(?:for|only|just) this (?:week|weekend|month|morning|afternoon|evening)\b|\bas an exception\b/iu;
// "Make it 2 rooms this time", and no "You took Standard this time"
const AT_LAST = /^(?!.*\byou\b).*\bthis time(?:,? please)?\W*$/i;
const EVER =
  /\b(?:from now on|from this time on|from here on|always|usually|never|next time|every|all (?:my )?\w+s|every time|each time|in (?:the )?future)\b/i;

const DENIED_ONCE = /\bnot (?:(?:just|only|even) )?(?:for )?(?:this|today|now|once)\b/i;

/** Whether what is said is meant for this time alone. What always is may go before ("I always go Economy, but just this once …"); behind, it is the last word. */
export function isOnce(words: string): boolean {
  if (DENIED_ONCE.test(words)) return false;
  const clauses = clausesOf(words);
  const once = clauses.findLastIndex((clause) => ONCE.test(clause) || AT_LAST.test(clause));
  return once >= 0 && !clauses.slice(once).some((clause) => EVER.test(clause));
}

/** Whether what is said is meant for good. */
export function isForGood(words: string): boolean {
  return EVER.test(words);
}

// "if possible", "if you can", "as if", "if I say nothing", "when I book" are no conditions that a default could miss.
const NO_CASE =
  "(?! (?:possible|available|needed|necessary|not\\b|so\\b|that|it|this|you|(?:i|we) (?:may|might|could|can|do|don't|didn't|say|said|haven't|tell|told|ask|mention)\\b|nothing|nobody|anything|any\\b|they're|there))";
const CONDITION = new RegExp(
  `(?<!\\b(?:as|even|what|see|check|wonder|know|ask|sure|only) )\\b(?:if|in case)\\b${NO_CASE}|\\bunless\\b(?! (?:i|we) (?:say|tell|ask|said|mention)| otherwise)|\\b(?:only )?when(?:ever)? (?!i\\b|we\\b|you\\b|it\\b|nothing|nobody|asked|booking|searching|looking|calling|making|in doubt)`,
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
  const wishes = sentencesOf(words).filter((sentence) => mentions(sentence, said));
  const bound = wishes.filter((sentence) => CONDITION.test(sentence) || KIND_OF_CASE.test(sentence) || only.test(sentence));
  return bound.length === wishes.length ? bound[0] : undefined;
}
