/**
 * A correction that the user words outright, right after the call that it is about: "No, the number of rooms should be 2." Whoever says so much is not to
 * be answered with the same mistake once more, and no judge has heard it by then. What says less is left to the policy, and to the judge afterwards.
 */
import type { ChatMessage } from "../chat.ts";
import type { Held, Said } from "../held-notes.ts";
import { escapeRegExp } from "../regexp.ts";
import { argumentText, findTool, readableCalls, sameCall, sameText } from "../speech/calls.ts";
import { wasGiven } from "../speech/given.ts";
import { mentions, namesTopic, parametersNamed } from "../speech/mention.ts";
import { numbersAmong, wasCounted } from "../speech/numbers.ts";
import { findParameter, type Parameter, readParameters } from "../speech/parameters.ts";
import { knownForms, writtenForm } from "../speech/spoken.ts";
import { spelledTruth } from "../speech/truth.ts";
import { clausesOf } from "../speech/sentences.ts";
import { tellingWords, wordsOf } from "../speech/words.ts";
import { type Heard, holds, samePlace, type WrittenAnswer } from "../yielding.ts";
import { groundedCandidates } from "./candidates.ts";
import { heldText, lastCall } from "./ground.ts";
import { wishfulWords } from "./wishful.ts";

const LONGEST = 300; // characters: who corrects in so many words needs few, and what is long says more

/** What the last message asks to be otherwise in the last call before it: of the parameter that it names, the one value that it has; undefined where that is not plain. */
export function heardCorrection({ messages, tools }: Heard): Held | undefined {
  const [last, before] = [messages.at(-1), messages.slice(0, -1)];
  if (last?.role !== "user" || (last.content?.length ?? 0) > LONGEST) return undefined;
  const answered = before.slice(before.findLastIndex(({ role }) => role === "user") + 1).filter(({ role }) => role === "assistant");
  const call = answered.flatMap(readableCalls).at(-1);
  const tool = call === undefined ? undefined : findTool(tools, call.name);
  const words = wishfulWords(last.content ?? "");
  if (tool === undefined || parametersNamed(words, readParameters(tool)).length === 0) return undefined;
  const exchange = { nextState: [last], tools: [tool], answered };
  const [only, ...more] = groundedCandidates({ exchange, turn: { payload: { messages: before } } });
  if (only === undefined || more.length > 0) return undefined;
  const { parameter: name, value } = only.hint;
  const parameter = findParameter(tool, name);
  return parameter !== undefined && isPlain(words, { parameter, value }) ? { tool: only.toolName, parameter: name, value } : undefined;
}

/** Whether nothing else can be meant: a truth by its word, a number that is the only one, given to the parameter or counted with its things, a name that stands by itself beside the parameter's whole name. */
function isPlain(words: string, { parameter, value }: { parameter: Parameter; value: string }): boolean {
  const said: ChatMessage[] = [{ role: "user", content: words }];
  if (parameter.kind === "boolean") return spelledTruth(words, parameter) !== undefined;
  const isNamed = namesTopic(words, parameter, { whole: true });
  if (UNPLAIN.test(words)) return false;
  if (writtenForm(value) === "number") {
    if (numbersAmong(wordsOf(words)).length !== 1) return false;
    const isGiven = wasGiven(said, { parameter, value }) || wasCounted(said, { parameter, value });
    return isGiven || (isNamed && knownForms(value).some((form) => standsAlone(words, form)));
  }
  return parameter.allowed.length > 0 || writtenForm(value) !== undefined || (isNamed && standsAlone(words, value));
}

// A condition, a bound, a doubt, and what was once.
const UNPLAIN = /\b(?:if|unless|except|last|least|most|maybe|perhaps)\b|\b(?:was|were)\b(?! (?:supposed|meant|to be|wrong)\b)/i;

// What stands before a value that is meant whole, and behind it; "884 Portola Road", "Phone home", "my aunt Jenny" and "Shazam!" go on.
const BEFORE =
  '(?:^|[.,;:!?\\n–—"“]|\\b(?:be|been|is|was|with|use|using|to|meant|mean|want|wanted|say|said|put|choose|pick|make|it))\\s*["“]?';
const BEHIND = '["”]?\\s*(?:$|[.,;:\\n–—]|\\b(?:for|as|would|is|was|please|instead|not|rather)\\b)';

function standsAlone(words: string, value: string): boolean {
  return new RegExp(`${BEFORE}${escapeRegExp(value)}${BEHIND}`, "iu").test(words);
}

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
    corrected: Held | undefined;
    heard: Heard;
    isSettled: (parameter: string) => boolean;
    hold: (to: Held, call: Calling) => Promise<Answer | undefined>;
  },
): Promise<Answer> {
  const { call } = answer;
  if (corrected === undefined || call?.name !== corrected.tool || answer.calls.length > 1) return answer;
  const isMissed = misses(corrected, { call, heard });
  if (!isMissed && !holds(corrected, answer)) return answer;
  const isOwn = (parameter: string): boolean => samePlace(corrected, { tool: call.name, parameter });
  const due = { ...call, arguments: argumentsDue(call, { corrected, heard, isSettled }) };
  const isAsBefore = sameCall(call, due, isOwn);
  for (const as of isAsBefore ? [call] : isMissed ? [due, call] : [due]) {
    if (as === call && !isMissed) break;
    const after = await hold(corrected, as);
    if (after?.call !== undefined && holds(corrected, after) && sameCall(as, after.call, isOwn)) return after;
  }
  return answer;
}

/** The call's arguments, but for those that nobody has spoken of since the call that was put right, and that nothing decides on: they are as they were there. */
function argumentsDue(
  call: Calling,
  { corrected, heard, isSettled }: { corrected: Held; heard: Heard; isSettled: (parameter: string) => boolean },
): Calling["arguments"] {
  const owner = findTool(heard.tools, corrected.tool);
  const before = lastCall({ answered: heard.messages }, corrected.tool)?.arguments;
  const words = heard.messages.at(-1)?.content ?? "";
  const parameters = new Map((owner === undefined ? [] : readParameters(owner)).map((each) => [each.name, each]));
  const own = parameters.get(corrected.parameter);
  if (before === undefined || own === undefined || saysMore(words, { parameter: own, value: corrected.value })) return call.arguments;
  const isSpokenOf = (name: string): boolean => {
    const parameter = parameters.get(name);
    const value = call.arguments[name] === undefined ? undefined : argumentText(call.arguments[name]);
    if (parameter === undefined || namesTopic(words, parameter)) return true;
    const isTold = value !== undefined && !sameText(value, corrected.value) && mentions(words, { parameter, value });
    return isTold && parameter.kind !== "boolean";
  };
  const names = Object.keys({ ...before, ...call.arguments });
  const source = (name: string): Calling["arguments"] =>
    name === corrected.parameter || isSettled(name) || isSpokenOf(name) ? call.arguments : before;
  return Object.fromEntries(names.flatMap((name) => (source(name)[name] === undefined ? [] : [[name, source(name)[name]]])));
}

/** Whether a clause is about something else than the correction: what it asks for may be in any argument. */
function saysMore(words: string, said: { parameter: Parameter; value: string }): boolean {
  return clausesOf(words).some(
    (clause) =>
      tellingWords(clause).length > SHORT_WORDS && !namesTopic(clause, said.parameter) && !mentions(clause, said) && !COMMENTS.test(clause),
  );
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
  const isTold = !isCommon && mentions(heard.messages.at(-1)?.content ?? "", { parameter, value: used });
  // "Not 2 rooms, 3" says both.
  return !isTold || sameText(heldText(lastCall({ answered: heard.messages }, tool), name) ?? "", used);
}
