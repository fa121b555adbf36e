/** Whether a person asks for a value, or only speaks of it: to refuse it, or as a part of something else. Words are matched, never interpreted. */
import type { ChatMessage } from "../chat.ts";
import { argumentText, heldElsewhere, readableCalls, sameText } from "./calls.ts";
import { type MentionedValue, mentions, requestOf, topicWords, wordsBy } from "./mention.ts";
import type { Parameter } from "./parameters.ts";
import { knownForms, writtenForm } from "./spoken.ts";
import { sentencesOf } from "./sentences.ts";
import { phrasesIn, sameStem, tellingWords, TITLES, wordsOf } from "./words.ts";

/**
 * Whether the text speaks of the value otherwise than to refuse it: "not Economy" and "rather than Economy" do not. Of a truth what is said of its topic
 * tells which of the two it is; "one" counts where it is no pronoun.
 */
export function isWanted(text: string, { parameter, value }: MentionedValue, options: readonly string[] = []): boolean {
  const isTruth = parameter.kind === "boolean" || /^(true|false)$/i.test(value);
  // "You picked the wrong wifi, it should be False": who says the word says which.
  const spelt = isTruth ? text.match(SPELT_TRUTH) : null;
  if (spelt !== null) return spelt.some((word) => sameText(word, value));
  const answered = isTruth ? answeredTruth(text, parameter) : undefined;
  if (answered !== undefined) return answered === /^true$/i.test(value);
  return clausesOf(text).some((clause) => {
    if (isTruth)
      return isDenying(parameter) ? mentions(clause, { parameter, value }) : truthSaid(clause, parameter) === /^true$/i.test(value);
    if (writtenForm(value) === "number") return mentions(clause.replaceAll(PRONOUN, " ").replaceAll(INSTEAD, " "), { parameter, value });
    const words = tellingWords(clause);
    const parts = partsOfLonger(words, { value, options });
    return knownForms(value)
      .flatMap((form) => phrasesIn(words, tellingWords(form)).map((at) => ({ at, end: at + tellingWords(form).length })))
      .some(({ at, end }) => !parts.has(at) && !isRefused(words, at) && !isBad(words.slice(end, end + AFTER_WORDS)));
  });
}

const SPELT_TRUTH = /(?<!\b(?:not|n't|than|instead of) )\b(?:true|false)\b/gi;

const ANSWERED_TRUTH = /(?:[:=]|\b(?:be|is|was|to|as))\s*["'“]?(yes|no|on|off)["'”]?(?=\s*(?:[.,;!?\n]|$))/giu;
const MOST_BEFORE = 120; // characters between a topic and its answer

/** "good for kids: no", "wifi should be on": what is said of a topic in one word. The last counts. */
export function answeredTruth(text: string, parameter: MentionedValue["parameter"]): boolean | undefined {
  const answers = [...text.matchAll(ANSWERED_TRUTH)].filter(({ index }) => {
    const before =
      text
        .slice(Math.max(0, index - MOST_BEFORE), index)
        .split(/[.,;!?\n]/)
        .at(-1) ?? "";
    return mentions(before, { parameter, value: "true" }) && !/\b(?:not|never)\b|n't\b/i.test(before);
  });
  const word = answers.at(-1)?.[1]?.toLowerCase();
  return word === undefined ? undefined : word === "yes" || word === "on";
}

/** Where the words are those of a longer option: "Premium Economy" is no Economy. */
function partsOfLonger(words: readonly string[], { value, options }: { value: string; options: readonly string[] }): ReadonlySet<number> {
  const longer = options.map(tellingWords).filter((option) => option.length > tellingWords(value).length);
  return new Set(longer.flatMap((option) => phrasesIn(words, option).flatMap((start) => option.map((_, offset) => start + offset))));
}

// "couldn't you", "shouldn't it be" and "don't forget" refuse nothing.
const ASKING_ANYWAY =
  /\b(?:ca|could|should|would|wo|was|were|is|are|did|does|do)n't (?:you|we|it|that|this|they|he|she|i|there)\b|\b(?:don't|do not) forget\b/gi;

/** "2 rooms instead of 1": what is given up. */
export const INSTEAD = /\b(?:instead of|rather than|in place of)\s+(?:(?:an?|the)\s+)?[\p{L}\p{N}-]+/giu;

export const PRONOUN =
  /\b(?:the|this|that|another|other|next|last|which|each|every|any|no|first|an?|my|your)\s+(?:\w+\s+)?one\b|\bone (?:of|day|that|which|where|who|thing)\b/gi;

const CLAUSE_ENDS = new RegExp(
  `[,;!?\\n–—]|:(?!\\d)|(?<!\\b(?:\\p{L}|${TITLES}))\\.(?=\\s|$)| - |(?<!\\b(?:any\\w*|every\\w*|nothing|all|whatever)(?: \\w+)?) but `,
  "iu",
);

/** Parts of sentences, each of which refuses or asks for itself. */
export function clausesOf(text: string): string[] {
  return text.replaceAll("’", "'").replaceAll(ASKING_ANYWAY, " ").split(CLAUSE_ENDS);
}

const DENIED =
  /\b(?:no|not|without|never|nothing|avoid|skip|drop|remove|hate|stop|exclude|excluding|cancel|cut|enough)\b|n't\b|\b(?:turn|switch) off\b/gi;

const LEFT_OUT = /\b(?:leave|take)\b[^]{0,60}\b(?:out|off)\b/i;

const UNNEEDED = /\b(?:don't|do not|doesn't|does not|didn't|won't) (?:\w+ )?(?:have|own|need|care|require|mind)\b|\bno need\b/i;

// Who misses something, or is asked why it is not there, wants it: what that tells of the parameter depends on what the call had.
const MISSED =
  /\bthere(?:'s| is| was| are|'re| were) (?:no|not|never)\b|\b(?:forgot|missing|no problem)\b|\byou (?:never|didn't|did not|don't|do not)\b/i;

const USELESS = /\b(?:useless|pointless|worthless|no (?:use|good)|unacceptable|unthinkable|out of the question|won't do|a nightmare)\b/i; // "no wifi is useless to me"

/** Which truth a clause tells of a parameter's topic; undefined where it tells none: what is not needed, or is missing, need not be unwanted. */
function truthSaid(clause: string, parameter: MentionedValue["parameter"]): boolean | undefined {
  if (!mentions(clause, { parameter, value: "true" }) || UNNEEDED.test(clause)) return undefined;
  const topic = wordsOf(clause).find((word) => topicWords(parameter).some((each) => sameStem(word, each))) ?? "";
  const before = clause.slice(0, Math.max(0, clause.toLowerCase().indexOf(topic)));
  if (MISSED.test(before)) return undefined;
  const denials = before.match(DENIED)?.length ?? 0;
  // "I can't do without wifi", "don't skip breakfast"
  if (denials > 1) return true;
  if (denials === 1) return USELESS.test(clause);
  if (LEFT_OUT.test(clause)) return false;
  return (clause.match(DENIED)?.length ?? 0) > 0 || USELESS.test(clause) ? undefined : true;
}

// What many truths are called beside what they are about: `good_for_kids`, `smoking_allowed`, `serves_alcohol`.
const GENERIC = new Set("good allowed available included offered needed required wanted preferred enabled".split(" "));
const GENERIC_VERB = new Set("allow allows include includes offer offers serve serves need needs want wants".split(" "));

/** A truth with what it is about for its words: kids, smoking. Any other parameter as it is. */
export function withoutGeneric(parameter: Parameter): Parameter {
  const about = wordsOf(parameter.words).filter((word, at) => !GENERIC.has(word) && !(at === 0 && GENERIC_VERB.has(word)));
  return parameter.kind === "boolean" && isTopic(about) ? { ...parameter, words: about.join(" ") } : parameter;
}

/** Whether one of the words tells what a parameter is about. */
function isTopic(words: readonly string[]): boolean {
  return topicWords({ name: "", kind: "text", words: words.join(" "), description: "" }).length > 0;
}

// "Make sure it's free", "a hotel that offers wifi"; of what is only spoken of ("Breakfast is a waste of money") nothing is told.
const REQUEST =
  /\b(?:with|needs?|want|must|require|includ(?:e|es|ing)|offer(?:s|ing)?|ha(?:s|ve|ving)|owns?|serv(?:es|ing)|make sure|should|find|search|show|book|get|give|prefer|love|like|only)\b/i;
const QUESTION = /^(?!\s*(?:please |and |so |hi |hello |hey )*(?:can|could|would|will|may|might) (?:you|i|we)\b)[^]*\?/i;
const WEIGHED = /\b(?:instead|than|rather|pass on|skip|waste|unless|whether|if(?! (?:possible|available|you can)))\b/i;

/**
 * Which truth the user's words in the request at hand tell of a parameter, by what it is about ("with wifi", "no smoking"); undefined where they tell none,
 * or both, or only ask or speak of it.
 */
export function truthTold(messages: readonly ChatMessage[], declared: Parameter): boolean | undefined {
  const parameter = withoutGeneric(declared);
  const own = wordsOf(parameter.words).filter((word) => declared.ownWords.includes(word));
  const topic = { ...parameter, words: isTopic(own) ? own.join(" ") : parameter.words };
  if (declared.kind !== "boolean" || !isTopic(wordsOf(topic.words))) return undefined;
  const names = (text: string): boolean => mentions(text, { parameter: topic, value: "true" });
  const sentences = sentencesOf(wordsBy(requestOf(messages), "user")).filter(names);
  if (sentences.some((each) => QUESTION.test(each) || WEIGHED.test(each))) return undefined;
  const said = sentences.join(" ");
  if (clausesOf(said).some((clause) => clause.match(SPELT_TRUTH) !== null && !names(clause))) return undefined;
  const told = [true, false].filter((truth) => isWanted(said, { parameter: topic, value: String(truth) }));
  const [only] = told;
  return told.length === 1 && (only === false || REQUEST.test(said)) ? only : undefined;
}

const DENYING_NAME = new Set("no non not avoid exclude without skip drop remove disable".split(" "));

/** Whether a parameter's own name denies: of `avoid_tolls` "no tolls" means true. There both truths stay open. */
function isDenying({ words }: Pick<Parameter, "words">): boolean {
  return wordsOf(words).some((word) => DENYING_NAME.has(word));
}

/**
 * Whether the user named the value before any call had it, for no other argument, and not to refuse it, or told the truth outright: then nobody has made it
 * up. Numbers stand in many requests, and are never known by this.
 */
export function wasAskedFor(
  messages: readonly ChatMessage[],
  { parameter, value, args, tool }: { parameter: Parameter; value: string; args: Readonly<Record<string, unknown>>; tool: string },
): boolean {
  const { name, kind, allowed } = parameter;
  if (kind === "boolean") return sameText(String(truthTold(messages, parameter)), value);
  if (writtenForm(value) === "number" || heldElsewhere(args, { parameter: name, value })) return false;
  const has = (message: ChatMessage): boolean =>
    readableCalls(message).some((call) => call.name === tool && sameText(argumentText(call.arguments[name]), value));
  const made = messages.findIndex(has);
  const words = tellingWords(wordsBy(made < 0 ? messages : messages.slice(0, made), "user"));
  const parts = partsOfLonger(words, { value, options: allowed });
  const asked = knownForms(value).flatMap((form) => phrasesIn(words, tellingWords(form)));
  return asked.some((at) => !parts.has(at) && !isRefused(words, at));
}

// What is said of a value with a thing of its kind between: "low priority tickets are", not "Pool, since Standard is".
const OF_IT =
  "(?:(?!(?:because|since|as|so|and|or|but|if|when|while|which|that|than|instead|rather|for|with|to|please|now|too|next|always|only|even)\\b)\\w+ ){0,3}?";
const BAD =
  "waste|pain|joke|nightmare|nuisance|horror|mess|disaster|hassle|bore|boring|annoying|awful|terrible|horrible|pointless|dreadful|unbearable|overrated|overpriced|uninteresting|irrelevant|unacceptable|beneath me|out of question";
const BAD_AFTER = new RegExp(
  `^${OF_IT}(?:(?:don|doesn|didn|won) t|(?:do|does|did|will) not) (?:really |even |ever )?(?:interest|work|suit|appeal|do it|help|concern|cut it)\\b|^${OF_IT}(?:(?:is|are|s|was|were|re) (?:\\w+ly |just |such |nothing but |only |pure |complete |total |so |too )*(?:${BAD})\\b|(?:sucks?|stinks?)\\b|(?:bores?|annoys?|bothers?) (?:me|us)\\b)`,
);

// "Celsius means nothing to me", "Economy is not for me"
const REFUSED_AFTER =
  /^(?:(?:is|was|are|were|s|means|does|did|will|would) (?:(?!not )\w+ )?(?:not(?! (?:negotiable|optional|what|bad|a problem))|nothing|no|wrong|too|never|useless|bad)|(?:isn|wasn|aren|doesn|didn|won) t(?! (?:negotiable|optional|what|bad|a problem)))\b/;

function isBad(after: readonly string[]): boolean {
  return REFUSED_AFTER.test(after.slice(0, REFUSED_WORDS).join(" ")) || BAD_AFTER.test(after.join(" "));
}

/** Whether the words before one of them refuse it. @param words of a clause, in lower case */
export function isRefused(words: readonly string[], at: number): boolean {
  const before = words.slice(Math.max(0, at - REFUSED_WORDS), at);
  if (DISCLAIMED.test(words.slice(0, Math.min(at, DISCLAIMER_WORDS)).join(" "))) return true;
  // "not Economy, so Business", "it's not Economy, it's Business", whatever stands between
  return REFUSING.test(before.slice(before.findLastIndex((word) => AFRESH.has(word)) + 1).join(" "));
}

// "I don't want Economy", "anything but Economy", "rather than Economy": in the words before a value.
const REFUSING =
  /(?<!\bwhy )\b(?:not|never|without|hate|dislike|despise|detest|loathe|avoid|stop|refuse|t|(?:enough|sick|tired|weary|bored|rid) of|(?:fed up|bored|done) with|(?:keep|stay|steer|shy) away from)\b(?! mind\b)|\b(?:no|no more|than|instead of|too)$|\b(?:any\w*|every\w*|all|whatever)(?: \w+)? (?:but|except|other than)$/;

const REFUSED_WORDS = 4;
const AFTER_WORDS = 8;

const DISCLAIMER_WORDS = 12;
// "Nobody said the cabin should be Business" says it of none.
const DISCLAIMED =
  /^(?:(?:and|but|well|no|hey|wait|oh|sorry) )*(?:nobody|no one|none of us|who|(?:i|we) (?:have |had )?never|(?:i|we) (?:didn|haven|hadn) t|(?:i|we) (?:did|have|had) not) (?:\w+ )?(?:said|say|says|told|tell|asked|ask|mentioned|mention|claimed|claim|wrote|write|wanted|ordered|order|requested|request)\b/;

const AFRESH = new Set(["so", "s", "always", "only", "should", "make"]);

// Options that stand in many sentences: "my first time in Rome", "First, tell me about the luggage."
export const ORDINALS: ReadonlySet<string> = new Set(["first", "second", "third", "last", "next"]);
