/**
 * The parts of a message that are corrections by themselves: "make it 2 rooms", "breakfast included". Such a part says a value with its parameter's topic, or a
 * value that only one parameter has, and nothing else. What tells a reason, speaks of other things or asks for something new has other words in it.
 */
import { correctionText, type Hint } from "../../shared/jobs.ts";
import { mentions, namesTopic, wordsBy } from "../../shared/speech/mention.ts";
import { numbersAmong } from "../../shared/speech/numbers.ts";
import { humanise, type Parameter, readParameters } from "../../shared/speech/parameters.ts";
import { isMonth, isNumberWord, writtenForm } from "../../shared/speech/spoken.ts";
import { ORDINALS, INSTEAD } from "../../shared/speech/wanted.ts";
import { sameStem, wordsOf } from "../../shared/speech/words.ts";
import type { Signal } from "../data/exchange.ts";
import { clausesOf, sentencesOf } from "../../shared/speech/sentences.ts";
import { groundedCandidates } from "../../shared/correction/candidates.ts";
import { countedBy } from "../../shared/speech/counted.ts";
import { groundHint, type Grounded, type Stands, parameterOfHint } from "../../shared/correction/ground.ts";
import { openingVerb } from "./standing.ts";
import { isOnce } from "../../shared/correction/once.ts";
import { wishfulWords } from "../../shared/correction/wishful.ts";

type Heard = Pick<Signal, "exchange" | "turn">;

/** The same with a part of the user's words in the place of all that followed. */
export function hearing<Any extends Heard>(signal: Any, words: string): Any {
  return { ...signal, exchange: { ...signal.exchange, nextState: [{ role: "user", content: words }] } };
}

/** What the parts of the message correct, in their order: one value of each parameter, none where they say two. */
export function correctionsIn(signal: Heard): Stands[] {
  const found = segmentsOf(signal)
    .filter((segment) => saysNothingElse(segment, signal))
    .flatMap((segment) => piecesOf(segment, JOINTS, signal))
    .flatMap((piece) => correctionsOf(piece, signal));
  const textOf = ({ hint, toolName }: Stands): string => correctionText(hint, toolName);
  return found.filter((each, at) =>
    found.every(
      (other, index) =>
        other.hint.parameter !== each.hint.parameter || other.toolName !== each.toolName || (textOf(other) === textOf(each) && index >= at),
    ),
  );
}

/** Grounds a hint in the message, or else in a part of it. */
export function groundInPart(hint: Hint, signal: Heard): Grounded {
  const whole = groundHint(hint, signal);
  const parts = whole.status === "grounded" ? [] : partsOf(signal).map((part) => groundHint(hint, hearing(signal, part)));
  return parts.find(({ status }) => status === "grounded") ?? whole;
}

/** The finest last. */
function partsOf(signal: Heard): string[] {
  const segments = segmentsOf(signal);
  return [...segments, ...segments.flatMap((segment) => piecesOf(segment, JOINTS, signal))];
}

const ADDS = /\b(?:and|plus)\b/i;
const JOINTS = /\b(?:with|for)\b/i;
const ASKS_KINDLY = /\b(?:could|can|would|may|please)\b/i;

/** Parts of clauses up to where something new is asked for, without what is asked or meant this once. */
function segmentsOf(signal: Heard): string[] {
  const sentences = sentencesOf(wishfulWords(wordsBy(signal.exchange.nextState, "user")));
  const clauses = sentences.flatMap((sentence, at) =>
    sentence.endsWith("?") && !ASKS_KINDLY.test(sentence) ? [] : clausesOf(sentence).map((clause) => ({ clause, isFirst: at === 0 })),
  );
  const end = clauses.findIndex(({ clause, isFirst }) => isRequest(clause, { signal, isFirst }));
  return clauses
    .slice(0, end < 0 ? undefined : end)
    .filter(({ clause }) => !isOnce(clause))
    .flatMap(({ clause }) => piecesOf(clause.replaceAll(INSTEAD, " "), ADDS, signal));
}

/** Whether a clause opens with the verb of another tool, or once more of the one that was called: who rejects a call says so at once. */
function isRequest(clause: string, { signal: { exchange, turn }, isFirst }: { signal: Heard; isFirst: boolean }): boolean {
  const verb = openingVerb(clause);
  const isOf = (name: string): boolean => verb !== undefined && verb === humanise(name).split(" ")[0];
  if (exchange.tools.some((tool) => isOf(tool.function.name))) return !isFirst;
  return turn.payload.tools.some((tool) => isOf(tool.function.name));
}

/** "not 3 nights and 2 rooms" is one part, as what is refused is refused whole, and "black and white" where that is an option. */
function piecesOf(part: string, joints: RegExp, { exchange: { tools } }: Heard): string[] {
  const joined = tools
    .flatMap(readParameters)
    .some((parameter) => parameter.allowed.some((value) => joints.test(value) && mentions(part, { parameter, value })));
  if (joined || DENIED.test(part)) return [part];
  return part.split(joints).filter((piece) => /\p{L}|\p{N}/u.test(piece));
}

const DENIED = /\b(?:no|not|never|without|than|except|nor)\b|n't\b/i;

const BESIDE = new Set(
  (
    "a actually add all also always am an and are as at be better book but by can change could d do every everything fly for from get give go have how i in include included instead is it it's " +
    "just least like ll m make me must my need never next no normally not now number of ok okay on only or our place plus please pls prefer put rather s seat set should sit so stay switch t " +
    "take than thank thanks that the there they this time times to too travel use usual usually want we were will with without would yes you"
  ).split(" "),
);

/** Whether every word of a part is small, or one of the called tools' schemas, a number, or of a value that the part gives. */
function saysNothingElse(part: string, signal: Heard): boolean {
  const { tools } = signal.exchange;
  const values = groundedCandidates(hearing(signal, part)).flatMap(({ hint }) => wordsOf(hint.value));
  const schema = tools.flatMap((tool) => [
    ...wordsOf(humanise(tool.function.name)),
    ...readParameters(tool).flatMap(({ words, description, allowed }) => [words, description, ...allowed].flatMap(wordsOf)),
  ]);
  const known = [...values, ...schema];
  const isSmall = (word: string): boolean => BESIDE.has(word) || CLOCK.test(word) || isMonth(word) || isNumberWord(word);
  return wordsOf(part).every((word) => isSmall(word) || known.some((each) => sameStem(each, word)));
}

const CLOCK = /^(?:\d.*|am|pm|o|clock|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|today|tomorrow)$/;

type Candidate = { readonly found: Stands; readonly parameter: Parameter };

/** What a piece corrects: each parameter of which it gives one value, which of several parameters that have it the piece names whole. */
function correctionsOf(piece: string, signal: Heard): Stands[] {
  const candidates = groundedCandidates(hearing(signal, piece)).flatMap((found) => candidateIn(piece, found, signal) ?? []);
  const isOne = ({ found, parameter }: Candidate): boolean =>
    candidates.every(
      (other) =>
        other.found === found ||
        (other.parameter.name !== parameter.name &&
          (other.found.hint.value !== found.hint.value || (isWhole(piece, parameter) && !isWhole(piece, other.parameter)))),
    );
  return candidates.filter(isOne).map(({ found }) => found);
}

function candidateIn(part: string, found: Stands, signal: Heard): Candidate | undefined {
  const parameter = parameterOfHint(signal.exchange.tools, found);
  return parameter !== undefined && isSaid(part, { parameter, value: found.hint.value }) ? { found, parameter } : undefined;
}

function isWhole(piece: string, parameter: Parameter): boolean {
  return namesTopic(piece, parameter, { whole: true });
}

/** Whether the piece says so by itself: a number, a name and "first" stand for a parameter only beside its topic. */
function isSaid(piece: string, { parameter, value }: { parameter: Parameter; value: string }): boolean {
  const { kind, allowed } = parameter;
  const named = namesTopic(piece, parameter);
  if (kind === "boolean") return true;
  const form = writtenForm(value);
  if (form === "number")
    return (named || countedBy(piece, value, parameter) === "own") && !DENIED.test(piece) && numbersAmong(wordsOf(piece)).length === 1;
  if (form !== undefined) return !DENIED.test(piece);
  if (allowed.length === 0) return named && !namesTopic(value, parameter);
  return mentions(piece, { parameter, value }) && (named || !ORDINALS.has(value.toLowerCase()));
}
