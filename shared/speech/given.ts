/** What a user gives an argument: a value by its name or in other words, a number by the argument's name, leave to take any, or that it is not to be one. Words are matched, never interpreted. */
import type { ChatMessage } from "../chat.ts";
import { heldElsewhere, sameText } from "./calls.ts";
import { isOwnWord, mentions, namesTopic, requestOf, topicWords, withoutPronoun, wordsBy } from "./mention.ts";
import { isOfPeople, numbersAmong, wasCounted } from "./numbers.ts";
import type { Parameter } from "./parameters.ts";
import { knownForms, mayMeanDay, mayMeanTime, numberWord, writtenForm } from "./spoken.ts";
import { clausesOf } from "./sentences.ts";
import { truthTold, withoutGeneric } from "./truth.ts";
import { isWanted, PRONOUN } from "./wanted.ts";
import { containsPhrase, phrasesIn, sameStem, wordsOf } from "./words.ts";

/**
 * Whether the user or the assistant has named the value, and for no other argument of the call, or the user has counted so many. What stands beside a word of the
 * argument's own is of that one, whatever others hold: "a 1 star hotel" of `star_rating` where one room is taken, too. Of a truth whatever is said names the
 * topic: "with wifi" names no `False`.
 */
export function wasNamed(
  messages: readonly ChatMessage[],
  { parameter, value, args }: { parameter: Parameter; value: string; args: Readonly<Record<string, unknown>> },
): boolean {
  const truth = truthTold(messages, parameter);
  if (truth !== undefined) return sameText(String(truth), value);
  if (wasCounted(messages, { parameter, value }) || standsBeside(wordsBy(messages, "user"), { parameter, value })) return true;
  const words = `${wordsBy(messages, "user")}\n${wordsBy(messages, "assistant")}`;
  return mentions(withoutPronoun(words, value), { parameter, value }) && !heldElsewhere(args, { parameter: parameter.name, value });
}

/** Whether the text has the value right before or behind a word of the parameter's own: "1 star", "the album Blue". */
function standsBeside(text: string, { parameter, value }: { parameter: Parameter; value: string }): boolean {
  const words = wordsOf(text);
  return knownForms(value)
    .map(wordsOf)
    .some((form) =>
      phrasesIn(words, form).some((at) => isOwnWord(words[at - 1], parameter) || isOwnWord(words[at + form.length], parameter)),
    );
}

/**
 * Whether the user's words may mean the value without naming it, for no other argument: "a table for one", "just me", "my wife and me", "at eight", "on
 * Friday". What may have been said is not taken for made up.
 */
export function mayBeMeant(
  messages: readonly ChatMessage[],
  { parameter: { name }, value, args }: { parameter: Pick<Parameter, "name">; value: string; args: Readonly<Record<string, unknown>> },
): boolean {
  if (heldElsewhere(args, { parameter: name, value })) return false;
  const words = wordsBy(messages, "user").replaceAll("’", "'");
  if (value === "1") return ALONE.test(words) || numbersAmong(wordsOf(words.replaceAll(PRONOUN, " "))).includes("one");
  return (value === "2" && PAIR.test(words)) || mayMeanTime(words, value) || mayMeanDay(words, value, undefined);
}

const ALONE = /\b(?:(?:just|only)(?: for)? (?:me|myself)|(?:for|by) myself|on my own|alone|solo)\b/i;
const PAIR = /\b(?:couple(?! of)|both of us|my (?:\w+ )?\w+ and (?:me|i|myself)|me and my|(?:just|only) us two)\b/i;

/**
 * Whether the value is one of a list of names, such as airlines, of which no message has a word or the initials: what is "cheap" may have been said in many
 * words, but a name of several words has no others.
 */
export function isUnspokenName(
  messages: readonly ChatMessage[],
  { parameter: { allowed }, value }: { parameter: Pick<Parameter, "allowed">; value: string },
): boolean {
  const spelt = wordsOf(value);
  if (allowed.length < 2 || [value, ...allowed].some((each) => wordsOf(each).length < 2)) return false;
  // Whoever it was: of "Book the first one" a tool has told which that is, and instructions may name one.
  const spoken = wordsOf(messages.map(({ content }) => content ?? "").join(" "));
  const initials = spelt.map((word) => word.slice(0, 1)).join("");
  return !spoken.some((word) => word === initials || spelt.some((each) => sameStem(each, word)));
}

/**
 * Whether the number is the last one that the user gave the parameter, and no other: by its name ("5 as the party size"), or in reply to a question that
 * has its name ("What party size do you want?" "Five, please.").
 */
export function wasGiven(
  messages: readonly ChatMessage[],
  { parameter, value }: { parameter: Pick<Parameter, "words">; value: string },
): boolean {
  if (writtenForm(value) !== "number") return false;
  const given = messages.flatMap(({ role, content }, at) => {
    if (role !== "user") return [];
    const text = content ?? "";
    const isReply = isAskedFor(messages[at - 1], parameter);
    const own = clausesOf(text.replaceAll(COLON, " ")).filter((clause) => namesNumberOf(clause, parameter));
    return (own.length > 0 ? own : isReply ? [text] : []).flatMap((clause) => {
      const numbers = numbersAmong(wordsOf(clause.replaceAll(PRONOUN, " ").replaceAll(HOUR, " ")));
      return numbers.length === 1 && !DENIES.test(clause) ? numbers : [];
    });
  });
  const last = given.at(-1);
  return last !== undefined && (last === value || last === numberWord(value));
}

// "Party size: 5", "party size needs fixing: 5"
const COLON = /(?: needs? (?:fixing|changing|correcting|updating|to be (?:fixed|changed|corrected|updated)))?: /gi;

/** Whether the clause has the argument's name; one that is a single word has its number beside it ("rooms: 3"), since that word stands in much else ("rooms for 2"). */
function namesNumberOf(clause: string, { words: name }: Pick<Parameter, "words">): boolean {
  if (!namesTopic(clause, { words: name }, { whole: true })) return false;
  const [words, topics] = [wordsOf(clause), topicWords({ name, words: name, description: "", kind: "number" })];
  const spelt = wordsOf(name);
  if (topics.length > 1 || (spelt.length > 1 && containsPhrase(words, spelt))) return true;
  return words.some((word, at) => {
    if (!topics.some((topic) => sameStem(word, topic))) return false;
    const beside = [words[at - 1], words.slice(at + 1).find((each) => !LINKING.has(each)), setFor(words.slice(0, at).join(" "))];
    return beside.some((each) => each !== undefined && numbersAmong([each]).length > 0);
  });
}

const LINKING = new Set("is are be should must will to of as".split(" "));

/** The word that is put in a name's place, of what comes before the name: "use 2010 for the". What is paid for the rooms is not their number. */
function setFor(before: string): string | undefined {
  return SET_FOR.exec(before)?.[1];
}

const SET_FOR =
  /\b(?:use|using|put|putting|pick|choose|enter|take|set|want|wanted|meant|go with|going with|went with) (\S+) (?:for|as|in|under)(?: (?:the|my))?$/;

const HOUR = /\bat (?:\d[\d:.]*|\p{L}+)(?: ?[ap]\.?m\b\.?)?/giu; // "the same party size at 7"

// Of what was, of a bound and of a condition nothing is given.
const DENIES =
  /\b(?:no|not|never|than|instead of|without|except|was|were|last|under|over|below|above|least|most|limit|if|depends)\b|n't\b/i;

/** Whether a message ends in a question that has the parameter's name. */
function isAskedFor(message: ChatMessage | undefined, parameter: Pick<Parameter, "words">): boolean {
  const asked = message?.role === "assistant" ? (message.content ?? "").trimEnd() : "";
  const question = clausesOf(asked).findLast((clause) => clause.trim() !== "");
  return asked.endsWith("?") && question !== undefined && namesTopic(question, parameter, { whole: true });
}

/** Whether the user, in the request at hand, leaves open what the parameter is to be: "any airline", "I've no preference for the class". */
export function isLeftOpen(messages: readonly ChatMessage[], parameter: Pick<Parameter, "words">): boolean {
  const request = requestOf(messages);
  return request.some(({ role, content }, at) => {
    if (role !== "user") return false;
    const isReply = isAskedFor(request[at - 1], parameter);
    return (
      clausesOf(content ?? "").some((clause) => (isReply ? ANY : OPEN).test(clause) && (isReply || namesTopic(clause, parameter))) ||
      isAny(content ?? "", parameter)
    );
  });
}

/** "Any airline", "any one of the airlines", "the airline can be anything"; "any tables for our party size" leaves no size open. */
function isAny(text: string, parameter: Pick<Parameter, "words">): boolean {
  const before = [...text.matchAll(ANY_OF)].map(([, topic = ""]) => topic);
  const behind = clausesOf(text.replaceAll(": ", " ")).flatMap((clause) => (BARS.test(clause) ? [] : (clause.match(IS_ANY)?.[1] ?? [])));
  return [...before, ...behind].some((topic) => namesTopic(topic, parameter));
}

/** Whether the user, in the request at hand, speaks of the value only to turn it down: "not KLM", "without breakfast"; of so many people: "just me". */
export function isTurnedDown(messages: readonly ChatMessage[], { parameter, value }: { parameter: Parameter; value: string }): boolean {
  const words = wordsBy(requestOf(messages), "user").replaceAll("’", "'");
  if (writtenForm(value) === "number") return value !== "1" && isOfPeople(parameter) && ALONE.test(words);
  // Who only speaks of breakfast turns none down, and asks for none.
  if (parameter.kind === "boolean" && sameText(value, "false")) return truthTold(messages, parameter) === true;
  const said = { parameter: withoutGeneric(parameter), value };
  return mentions(words, said) && !isWanted(words, said, parameter.allowed);
}

const OPEN =
  /\b(?:no (?:strong |particular )?preference|(?:all|both) (?:fine|good|the same)|(?:don't|doesn't|do not|does not) (?:really )?(?:matter|mind|care))\b/i;
const ANY = new RegExp(`${OPEN.source}|\\b(?:any|anything|either|whatever|whichever)\\b`, "i"); // to a question about the parameter
const ANY_OF = /\b(?:any|either|whichever|whatever)(?: one)?(?: of (?:the|your|these|those)| kind of| type of)? (\p{L}+(?: \p{L}+)?)/giu;
// "It should not be anything", "more than anything", "if the class has any"
const BARS = /n['’]t\b|\b(?:not|never|nor|than|has|have|had) (?:\p{L}+ ){0,4}(?:any(?:thing)?|either|whatever|whichever)\b/iu;
// The topic stands in the few words before it, and nothing that the word belongs to behind it: "the class on any flight" is of flights.
const IS_ANY =
  /(?<![\p{L}'])((?:[\p{L}']+ ){1,5})(?:any(?:thing)?|either|whatever|whichever)(?: (?:one|you|is|will|would|works?|goes|suits|does)\b[^]*)?[^\p{L}\p{N}]*$/iu;
