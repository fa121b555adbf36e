/**
 * A correction that can be told from its words alone, right after the call that it is about: "No, the number of rooms should be 2.", "Gravel, not city!" Whoever
 * says so much is not to be answered with the same mistake once more, and no judge has heard it by then. What says less is left to the policy, and to the judge
 * afterwards.
 */
import type { ChatMessage, ToolDefinition } from "../chat.ts";
import type { Held } from "../held-notes.ts";
import type { Hint } from "../jobs.ts";
import { escapeRegExp } from "../regexp.ts";
import { type Call, findTool, readableCalls } from "../speech/calls.ts";
import { wasGiven } from "../speech/given.ts";
import { namesTopic, parametersNamed } from "../speech/mention.ts";
import { numbersAmong, wasCounted } from "../speech/numbers.ts";
import { findParameter, type Parameter, readParameters } from "../speech/parameters.ts";
import { clausesOf } from "../speech/sentences.ts";
import { knownForms, writtenForm } from "../speech/spoken.ts";
import { spelledTruth } from "../speech/truth.ts";
import { isWanted } from "../speech/wanted.ts";
import { wordsOf } from "../speech/words.ts";
import type { Heard } from "../yielding.ts";
import { isAgainst } from "./against.ts";
import { type Called, chosenCorrection, correctionsAllowed } from "./chosen.ts";
import { heldText } from "./ground.ts";
import { plainChanges } from "./plain-changes.ts";
import { wishfulWords } from "./wishful.ts";

const LONGEST = 300; // characters: who corrects in so many words needs few, and what is long says more

/**
 * What the last message asks to be otherwise in the last call before it, or to be what it is there; undefined where that is not plain: of the parameter that it
 * names the one value that it has, or, of words that are against the call, the one correction that they allow.
 */
export function heardCorrection(heard: Heard): Held | undefined {
  const said = saidOf(heard);
  return said === undefined ? undefined : oneChange(said);
}

function oneChange({ words, called }: Said): Held | undefined {
  const hint = named(words, called) ?? allowed(words, called) ?? proposed(words, called);
  return hint === undefined ? undefined : heldBy(called, hint);
}

/** The same of several arguments: of words against the call that hold values of several and nothing else each of them; of others what `heardCorrection` hears. */
export function heardCorrections(heard: Heard): Held[] {
  const said = saidOf(heard);
  if (said === undefined) return [];
  const changes = severalChanges(said);
  if (changes.length > 1) return changes.map((hint) => heldBy(said.called, hint));
  const one = oneChange(said);
  return one === undefined ? [] : [one];
}

function severalChanges({ words, called }: Said): Hint[] {
  const isPlainly = isAgainst(words) && !UNPLAIN.test(words) && !EITHER.test(words);
  return isPlainly ? plainChanges(words, called, OBJECTING) : [];
}

const OBJECTING = new Set("no nope not wrong sorry wait actually oops hmm this i d s m want wanted meant said".split(" "));

type Said = { readonly words: string; readonly called: Called };

/** The last message's words, and the call that they may correct; undefined where there is none, or they are long or begin something else. */
function saidOf({ messages, tools }: Heard): Said | undefined {
  const [last, before] = [messages.at(-1), messages.slice(0, -1)];
  if (last?.role !== "user" || (last.content?.length ?? 0) > LONGEST) return undefined;
  const following = before.slice(before.findLastIndex(({ role }) => role === "user") + 1);
  const call = following.flatMap(readableCalls).at(-1);
  const tool = call === undefined ? undefined : findTool(tools, call.name);
  if (tool === undefined) return undefined;
  const words = wishfulWords(last.content ?? "");
  return ANOTHER.test(words) ? undefined : { words, called: { before, answered: following, tool, call } };
}

function heldBy({ tool }: Called, { parameter, value }: Hint): Held {
  return { tool: tool.function.name, parameter, value };
}

/** Of a parameter that the words name: its one value there, or the call's own where they insist on that. */
function named(words: string, called: Called): Hint | undefined {
  const { tool, call } = called;
  if (parametersNamed(words, readParameters(tool)).length === 0) return undefined;
  const [only, ...more] = correctionsAllowed(words, called);
  const hint = only ?? insisted(words, { tool, call });
  const parameter = hint === undefined ? undefined : findParameter(tool, hint.parameter);
  if (hint === undefined || parameter === undefined || more.length > 0) return undefined;
  return isPlain(words, { parameter, value: hint.value }) ? hint : undefined;
}

/** Of words against the call, or that wish for something: the only correction that they allow. */
function allowed(words: string, called: Called): Hint | undefined {
  if (!(isAgainst(words) || WISHES.test(words)) || UNPLAIN.test(words) || EITHER.test(words)) return undefined;
  const hint = chosenCorrection(words, called);
  const parameter = hint === undefined ? undefined : findParameter(called.tool, hint.parameter);
  if (hint === undefined || parameter === undefined) return undefined;
  const isOfFew = parameter.kind === "boolean" || parameter.allowed.length > 0 || writtenForm(hint.value) !== undefined;
  // "They do not serve alcohol" tells of a place, and wishes for the other.
  if (parameter.kind === "boolean" && /^false$/i.test(hint.value) && TELLS_NOT.test(words)) return undefined;
  return (isOfFew && !isBlamed(words, hint.value)) || standsAlone(words, hint.value) ? hint : undefined;
}

/** Of a clause that proposes one value and says nothing else: that. Several such clauses propose several things. */
function proposed(words: string, called: Called): Hint | undefined {
  if (UNPLAIN.test(words) || EITHER.test(words)) return undefined;
  const proposals = clausesOf(words)
    .map((clause) => clause.replace(/[.!\s]+$/, ""))
    .filter((clause) => PROPOSES.test(clause));
  const changes = proposals.map((clause) => plainChanges(clause, called, PROPOSING));
  const [only, ...more] = changes.flat();
  return more.length > 0 || changes.some(({ length }) => length === 0) ? undefined : only;
}

/** What the words ask for that the call has already, of the one parameter that they name: it stays so. */
function insisted(words: string, { tool, call }: { tool: ToolDefinition; call: Call | undefined }): Hint | undefined {
  const [parameter, ...more] = parametersNamed(words, readParameters(tool));
  const value = parameter === undefined ? undefined : heldText(call, parameter.name);
  if (parameter === undefined || value === undefined || more.length > 0 || !INSISTS.test(words) || DENIES.test(words)) return undefined;
  return isWanted(words, { parameter, value }, parameter.allowed) ? { parameter: parameter.name, value } : undefined;
}

/** "That's pretty expensive" wishes for nothing expensive. */
function isBlamed(words: string, value: string): boolean {
  return new RegExp(`\\b(?:too|pretty|so|very|quite|rather|really|bit) ${escapeRegExp(value)}(?![\\p{L}\\p{N}])`, "iu").test(words);
}

const TELLS_NOT = /\b(?:do|does|did)(?:n['’]t| not)\b/i;
const EITHER = /\b(?:or|either|whether|whatever)\b/i;
// Words by which something is wished for that was not asked for yet, and those that begin something else.
const WISHES = /\b(?:always|only|from now on|prefer|want(?:ed)?|need(?:ed)?|please)\b/i;
// By which a clause that holds one value and nothing else proposes it: "make that 4 nights", "editor then", "2 would be better".
const PROPOSES = /\bmake (?:it|that)\b|\bthen$|\bbetter$/i;
const PROPOSING = new Set("then better would is hmm ok okay well so".split(" "));
const ANOTHER =
  /^\W*(?:(?:ok(?:ay)?|great|good|thanks|thank you|perfect|and)\b\W*)*(?:now|next|then|also|another|and)\b|\banother\b|\bas well\b/i;

const INSISTS = /\b(?:should|must|has to|needs to|ought to|keep|leave|stay|stays)\b/i;
const DENIES = /\b(?:not|never|no longer|wrong)\b|n['’]t\b/i;

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
const UNPLAIN =
  /\b(?:if|unless|except|last|least|most|maybe|perhaps)\b|\b(?:was|were)\b(?! (?:supposed|meant|to be|wrong|hoping|expecting|looking|thinking|after)\b)/i;

// What stands before a value that is meant whole, and behind it; "884 Portola Road", "Phone home", "my aunt Jenny" and "Shazam!" go on.
const BEFORE =
  '(?:^|[.,;:!?\\n–—"“]|\\b(?:be|been|is|was|with|use|using|to|meant|mean|want|wanted|say|said|put|choose|pick|make|it))\\s*["“]?';
const BEHIND = '["”]?\\s*(?:$|[.,;:\\n–—]|\\b(?:for|as|would|is|was|please|instead|not|rather)\\b)';

function standsAlone(words: string, value: string): boolean {
  return new RegExp(`${BEFORE}${escapeRegExp(value)}${BEHIND}`, "iu").test(words);
}
