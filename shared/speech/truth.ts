/** Which of two truths a person asks for: by the word itself ("should be no"), or by what is said of what it is about ("with wifi", "no smoking"). Words are matched, never interpreted. */
import type { ChatMessage } from "../chat.ts";
import { type MentionedValue, mentions, requestOf, topicWords, wordsBy } from "./mention.ts";
import type { Parameter } from "./parameters.ts";
import { clausesOf, sentencesOf } from "./sentences.ts";
import { sameStem, wordsOf } from "./words.ts";

/** Whether the words ask for this of the two truths. Who says "true" or "false", or answers with a word, says which; else what is said of the topic tells. */
export function isTruthWanted(text: string, { parameter, value }: MentionedValue): boolean {
  const spelt = truthsSpelt(text);
  if (spelt.size > 0) return spelt.has(value.toLowerCase());
  const answered = answeredTruth(text, parameter);
  if (answered !== undefined) return answered === /^true$/i.test(value);
  return clausesOf(text).some((clause) =>
    isDenying(parameter) ? mentions(clause, { parameter, value }) : truthSaid(clause, parameter) === /^true$/i.test(value),
  );
}

/** Which truth the words spell out: "it should be False", or in answer to its topic "wifi: no"; undefined where none, or both. */
export function spelledTruth(text: string, parameter: MentionedValue["parameter"]): boolean | undefined {
  const spelt = truthsSpelt(text);
  if (spelt.size > 1) return undefined;
  return spelt.size === 1 ? spelt.has("true") : answeredTruth(text, parameter);
}

function truthsSpelt(text: string): ReadonlySet<string> {
  return new Set(text.match(SPELT_TRUTH)?.map((word) => word.toLowerCase()));
}

// "You picked the wrong wifi, it should be False": who says the word says which.
const SPELT_TRUTH = /(?<!\b(?:not|n't|than|instead of) )\b(?:true|false)\b/gi;

const ANSWER = `["'“]?(yes|no|on|off)["'”]?`;
const DONE = "(?=\\s*(?:,\\s*)?(?:please|pls|thanks|thank you)?\\s*(?:[.,;!?\\n]|$))";
// "good for kids: no", "wifi should be on", "go with no"; "No would be right."; "Wifi? No, thanks."
const ANSWERED = [
  new RegExp(`(?:[:=]|\\b(?:be|been|is|was|to|as|with))\\s*${ANSWER}${DONE}`, "giu"),
  new RegExp(
    `(?<=^|[.,;!?\\n–—]\\s*)${ANSWER} (?:would (?:be|have been)|is|was|should (?:be|have been)) (?:the )?(?:right|correct|better|proper)\\b`,
    "giu",
  ),
  new RegExp(`(?<=(?:^|[.!?\\n])\\s*[\\p{L}_-]+(?: [\\p{L}_-]+){0,2})(?:[?,]| [-–—])\\s*${ANSWER}${DONE.replace("?\\n", "\\n")}`, "giu"),
];
const MOST_BEFORE = 120; // characters between a topic and its answer

/** What is said of a topic in one word, in the same clause or in the one after it ("You picked the wrong wifi. It should be no."). The last counts. */
export function answeredTruth(text: string, parameter: MentionedValue["parameter"]): boolean | undefined {
  const answers = ANSWERED.flatMap((form) => [...text.matchAll(form)])
    .filter(({ index }) => {
      const [own = "", ...earlier] = text
        .slice(Math.max(0, index - MOST_BEFORE), index)
        .split(/[.,;!?\n–—]/)
        .toReversed();
      const about = wordsOf(own).every((word) => SPEAKS_BACK.has(word)) ? (earlier.find((clause) => clause.trim() !== "") ?? "") : own;
      return mentions(about, { parameter, value: "true" }) && !/\b(?:not|never)\b|n't\b/i.test(own) && !asksWhether(about, parameter);
    })
    .toSorted((one, other) => one.index - other.index);
  const word = answers.at(-1)?.[1]?.toLowerCase();
  return word === undefined ? undefined : word === "yes" || word === "on";
}

/** Words of a clause that names nothing itself: "it should have been", "the correct one is". */
const SPEAKS_BACK = new Set(
  (
    "it that this the its a go going went correct right proper one value answer setting choice should must has have needs need ought to would could been be is was s " +
    "supposed meant instead really actually simply just and but so set make put change i wanted want"
  ).split(" "),
);

/** "Is there wifi? No." misses it; what a parameter is called, "has wifi", asks nothing. */
function asksWhether(clause: string, { words }: Pick<Parameter, "words">): boolean {
  return ASKED_WHETHER.test(clause) && !clause.trimStart().toLowerCase().startsWith(words.toLowerCase());
}

const ASKED_WHETHER = /^\s*(?:did|do|does|is|are|was|were|have|has|can|could|will|would)\b/i;

const DENIED =
  /\b(?:no|not|without|never|nothing|avoid|skip|drop|remove|hate|stop|exclude|excluding|cancel|cut|enough)\b|n't\b|\b(?:turn|switch) off\b/gi;

const LEFT_OUT = /\b(?:leave|take|(?:turn|switch)(?! to\b))\b[^]{0,60}\b(?:out|off)\b/i;

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
  const told = [true, false].filter((truth) => isTruthWanted(said, { parameter: topic, value: String(truth) }));
  const [only] = told;
  return told.length === 1 && (only === false || REQUEST.test(said)) ? only : undefined;
}

const DENYING_NAME = new Set("no non not avoid exclude without skip drop remove disable".split(" "));

/** Whether a parameter's own name denies: of `avoid_tolls` "no tolls" means true. There both truths stay open. */
function isDenying({ words }: Pick<Parameter, "words">): boolean {
  return wordsOf(words).some((word) => DENYING_NAME.has(word));
}
