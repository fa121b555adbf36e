/** An answer to corrections that are said outright (heard.ts): the call as the user has put it right, and else as it was. */
import type { Held, Said } from "../held-notes.ts";
import { escapeRegExp } from "../regexp.ts";
import { argumentText, findTool, sameCall, sameText } from "../speech/calls.ts";
import { mayBeMeant } from "../speech/given.ts";
import { type MentionedValue, mentions, namesTopic } from "../speech/mention.ts";
import { findParameter, type Parameter } from "../speech/parameters.ts";
import { clausesOf } from "../speech/sentences.ts";
import { writtenForm } from "../speech/spoken.ts";
import { isWanted } from "../speech/wanted.ts";
import { containsPhrase, tellingWords, wordsOf } from "../speech/words.ts";
import { type Heard, holds, samePlace, type WrittenAnswer } from "../yielding.ts";
import { isAgainst } from "./against.ts";
import { heldText, lastCall } from "./ground.ts";

type Calling = NonNullable<WrittenAnswer["call"]>;

/**
 * The answer with what the user has just put right, where it calls the tool again without that: with the old value, with one that the user has not said, or
 * with none. Where nothing else was said, its other arguments are those of the call that was put right. Several calls are left as they are.
 * @param options.isSettled whether a note, or what was learned, decides on an argument
 * @param options.hold the answer again, held to the correction and else as called; undefined where it cannot be
 */
export async function withCorrection<Answer extends Pick<WrittenAnswer, "call"> & Pick<Said, "calls">>(
  answer: Answer,
  {
    corrected,
    heard,
    isSettled,
    hold,
  }: {
    corrected: readonly Held[];
    heard: Heard;
    isSettled: (parameter: string) => boolean;
    hold: (to: readonly Held[], call: Calling) => Promise<Answer | undefined>;
  },
): Promise<Answer> {
  const { call } = answer;
  if (call === undefined || corrected.length === 0 || corrected.some(({ tool }) => tool !== call.name) || answer.calls.length > 1)
    return answer;
  const isMissed = corrected.some((each) => misses(each, { call, heard }));
  if (!isMissed && !corrected.every((each) => holds(each, answer))) return answer;
  const isOwn = (parameter: string): boolean => corrected.some((each) => samePlace(each, { tool: call.name, parameter }));
  const due = { ...call, arguments: argumentsDue(call, { corrected, heard, isSettled }) };
  const isAsBefore = sameCall(call, due, isOwn);
  // Where it cannot be held to all of that, what was said counts the more.
  const tried = [...(isAsBefore ? [] : [due]), ...(isMissed ? [call] : [])];
  for (const as of tried) {
    const after = await hold(corrected, as);
    if (after?.call !== undefined && corrected.every((each) => holds(each, after)) && sameCall(as, after.call, isOwn)) return after;
  }
  return answer;
}

/** The call's arguments, but for those that nobody has spoken of since the call that was put right, and that nothing decides on: they are as they were there. */
function argumentsDue(
  call: Calling,
  { corrected, heard, isSettled }: { corrected: readonly Held[]; heard: Heard; isSettled: (parameter: string) => boolean },
): Calling["arguments"] {
  const owner = findTool(heard.tools, call.name);
  const called = lastCall({ answered: heard.messages }, call.name);
  const before = called?.arguments;
  const words = heard.messages.at(-1)?.content ?? "";
  if (before === undefined || owner === undefined) return call.arguments;
  const own = corrected.flatMap(({ parameter: name, value }) => {
    const parameter = findParameter(owner, name);
    return parameter === undefined ? [] : [{ parameter, value }];
  });
  if (own.length < corrected.length) return call.arguments;
  const more = whatElse(words, own);
  const values = own.flatMap(({ parameter, value }) => [value, heldText(called, parameter.name) ?? ""]);
  const isSpokenOf = (name: string): boolean => {
    const [parameter, value] = [findParameter(owner, name), argumentText(call.arguments[name])];
    if (parameter === undefined || namesTopic(words, parameter)) return true;
    if (call.arguments[name] === undefined)
      return LEAVES_OUT.test(more) || mentions(words, { parameter, value: argumentText(before[name]) });
    if (isStray(words, { parameter, value }, values)) return false;
    return (more !== "" && mayTell(more, value)) || isTold(words, { parameter, value });
  };
  const names = Object.keys({ ...before, ...call.arguments });
  const source = (name: string): Calling["arguments"] =>
    own.some(({ parameter }) => parameter.name === name) || isSettled(name) || isSpokenOf(name) ? call.arguments : before;
  return Object.fromEntries(names.flatMap((name) => (source(name)[name] === undefined ? [] : [[name, source(name)[name]]])));
}

const LEAVES_OUT = /\b(?:no|not|none|nothing|without|minus|skip|scratch|drop|omit|cancel|leave|remove|forget|never|any)\b|n['’]t\b/i;

/** Whether a clause begins with the value, or one word before it, and goes on: as with who does something there ("skipper just radioed"), not with what is asked for ("with mushrooms"). */
function opensClause(words: string, value: string): boolean {
  return clausesOf(words).some((clause) => {
    const [before, behind] = clause.split(value, 2);
    if (before === undefined || behind === undefined || wordsOf(behind).filter((word) => word !== "please").length === 0) return false;
    return wordsOf(before).length < 2 && !JOINS.test(before);
  });
}

const JOINS = /\b(?:with|to|in|at|for|on|from|by|add|plus|and|of|as|called|named|like|want|need|please|also|make|use)\b/i;

/**
 * Whether a value of free text is words of the correction and nobody's name: of the value that was put right, of the one before it, or others as they stand there in
 * small letters or at a clause's beginning ("the number of rooms"). A small policy that is to call again takes what it finds.
 */
function isStray(words: string, { parameter, value }: MentionedValue & { parameter: Parameter }, corrected: readonly string[]): boolean {
  if (parameter.kind === "boolean" || parameter.allowed.length > 0) return false;
  if (corrected.some((each) => containsPhrase(wordsOf(each), wordsOf(value)))) return true;
  if (writtenForm(value) !== undefined || !words.includes(value)) return false;
  if (!isAgainst(words)) return /^\p{Ll}/u.test(value) && opensClause(words, value);
  return !/^["“]?[\p{Lu}\p{N}]/u.test(value) || !new RegExp(`[\\p{L}\\p{N}"“] ["“]?${escapeRegExp(value)}`, "u").test(words);
}

/** Whether what else is said may tell a value that it does not have: a name or a number by whatever they say ("with my wife"), a day or a time by nothing but days and times. */
function mayTell(words: string, value: string): boolean {
  const form = writtenForm(value);
  return form === "date" || form === "time" ? SPEAKS_OF_TIME.test(words) : true;
}

const SPEAKS_OF_TIME =
  /\d|\b(?:days?|today|tonight|tomorrow|weeks?|weekends?|months?|years?|noon|midnight|dawn|mornings?|afternoons?|evenings?|nights?|hours?|breakfast|lunch|dinner|later|earlier|sooner|soon|asap|next|before|after|half|quarter|christmas|easter|new year|holidays?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:jan(?:uary)?|feb(?:ruary)?|march|mar|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?))\b/i;

/** Whether the words have the value, may mean it ("on Sunday"), or have a word that one of its words begins like: "a comic one" for Comedy. */
function isTold(words: string, { parameter, value }: MentionedValue & { parameter: Parameter }): boolean {
  if (parameter.kind === "boolean") return false;
  if (mentions(words, { parameter, value })) return true;
  if (mayBeMeant([{ role: "user", content: words }], { parameter, value, args: {} })) return true;
  const begins = (word: string): string => word.slice(0, ALIKE);
  const said = new Set(wordsOf(words).map(begins));
  return writtenForm(value) === undefined && wordsOf(value).some((word) => word.length >= ALIKE && said.has(begins(word)));
}

const ALIKE = 4; // letters

/** The clauses about something else than the corrections: what they ask for may be in any argument. */
function whatElse(words: string, said: readonly { parameter: Parameter; value: string }[]): string {
  const isAbout = (clause: string): boolean => said.some((each) => namesTopic(clause, each.parameter) || mentions(clause, each));
  const isElse = (clause: string): boolean => tellingWords(clause).length > SHORT_WORDS && !isAbout(clause) && !COMMENTS.test(clause);
  return clausesOf(words).filter(isElse).join(" ");
}

const SHORT_WORDS = 2; // "No", "sorry", "thank you"
const COMMENTS = /\b(?:wrong|correct|right|mistake|mistaken|meant|misunderstood|sorry|thanks?)\b/i;

function misses({ tool, parameter: name, value }: Held, { call, heard }: { call: Calling; heard: Heard }): boolean {
  const owner = findTool(heard.tools, tool);
  const parameter = owner === undefined ? undefined : findParameter(owner, name);
  if (parameter === undefined) return false;
  const own = call.arguments[name];
  if (own === undefined) return true;
  const used = argumentText(own);
  if (sameText(used, value)) return false;
  // Numbers and truths are said of much else.
  const isCommon = parameter.kind === "boolean" || writtenForm(used) === "number";
  const isTold = !isCommon && isWanted(heard.messages.at(-1)?.content ?? "", { parameter, value: used }, parameter.allowed);
  // "Not 2 rooms, 3" says both.
  return !isTold || sameText(heldText(lastCall({ answered: heard.messages }, tool), name) ?? "", used);
}
