/**
 * Which argument a user means who names none: "Wrong, it's for 4." Of the grounded hints those that fit: a number only an argument that holds numbers, a name none
 * that holds times. Of several those weigh most whose argument is named, then those whose wrong value is, then those around which the words sound most like a correction.
 */
import { numbersAmong } from "../../shared/speech/numbers.ts";
import { heldElsewhere } from "../../shared/speech/calls.ts";
import { hintPrompt, hintText } from "../../shared/jobs.ts";
import { escapeRegExp } from "../../shared/regexp.ts";
import { mentions, namesTopic, parametersNamed, wordsBy } from "../../shared/speech/mention.ts";
import { isSmallTalk } from "../../shared/speech/small-talk.ts";
import type { Parameter } from "../../shared/speech/parameters.ts";
import { knownForms, writtenForm } from "../../shared/speech/spoken.ts";
import { wordsOf } from "../../shared/speech/words.ts";
import type { Signal } from "../data/exchange.ts";
import { EXCLAMATIONS, groundedCandidates, isCode } from "../../shared/correction/candidates.ts";
import { countedBy } from "../../shared/speech/counted.ts";
import { inUnitOf } from "../../shared/speech/durations.ts";
import { wasGiven } from "../../shared/speech/given.ts";
import type { JobSampler } from "./job-sampler.ts";
import { framed } from "./framed.ts";
import { heldText, lastCall, type Stands, parameterOfHint } from "../../shared/correction/ground.ts";
import { askedElsewhere, opensElsewhere, spokenBefore } from "./standing.ts";
import { REWARDS } from "./vote.ts";
import { wishfulWords } from "../../shared/correction/wishful.ts";
import { answeredTruth } from "../../shared/speech/truth.ts";
import { ORDINALS } from "../../shared/speech/wanted.ts";

type Heard = Pick<Signal, "exchange" | "turn">;

/** How the words tell which argument is meant: by its whole name, by a word of it, by the value that it had, or by the new value alone, of one that the call had or of one that it left out. */
const TELLS = ["whole", "named", "old", "alone", "absent"] as const;
type Fitting = {
  readonly found: Stands;
  readonly told: (typeof TELLS)[number];
  /** Whether it is an option of the schema, or a truth, in the place of another that the call had. */
  readonly isOption: boolean;
  /** Whether the words are an option of the schema and nothing else, which no approval is: "Express, please." */
  readonly saysNoMore: boolean;
  /** Whether it is a truth that the words answer in one word, "gift wrap: yes": nothing else is meant. */
  readonly answered: boolean;
  /** The words without the value. */
  readonly frame: string;
};

/** `chance`: probability that such words correct a call; undefined where the base has no model of corrections. */
export type Fit = Pick<Fitting, "found" | "told" | "isOption" | "saysNoMore"> & { readonly chance: number | undefined };

const MOST_SAID = 2_000; // characters: who says more is about much else, and each value is looked for in all of it
const ALIKE = 0.3; // of log-odds, nats: such chances tell nothing apart

/** The hint that fits best; of several that sound alike the one that the base finds likeliest. Undefined where none fits, or it cannot weigh them. */
export async function findFit(signal: Heard, sampler: JobSampler): Promise<Fit | undefined> {
  const fits = fitting(signal).map(({ found, told, isOption, saysNoMore, answered, frame }): Fit => ({
    found,
    told,
    isOption,
    saysNoMore,
    chance: answered ? 1 : chanceOf(frame, sampler),
  }));
  const most = Math.max(...fits.map(oddsOf));
  const [first, ...others] = fits.filter((fit) => oddsOf(fit) >= most - ALIKE);
  if (first === undefined || others.length === 0) return first;
  const alike = [first, ...others];
  const scores = await sampler.score(
    hintPrompt(signal.exchange),
    alike.map(({ found }) => hintText(found.hint)),
  );
  const best = Math.max(...scores);
  return Number.isFinite(best) ? alike[scores.indexOf(best)] : undefined;
}

/** Log-odds, nats; 0 where there is no chance. */
function oddsOf({ chance = 0.5 }: Fit): number {
  return Math.log(chance) - Math.log1p(-Math.min(chance, 1 - Number.EPSILON));
}

function chanceOf(frame: string, { corrections }: JobSampler): number | undefined {
  return corrections && Math.exp(corrections.logProbs(frame)[REWARDS.indexOf(-1)] ?? Number.NEGATIVE_INFINITY);
}

/** Those that short enough words tell best; of arguments that the request had told only where nothing else fits, so that it is said why nothing is learned. */
function fitting(signal: Heard): Fitting[] {
  const said = wordsBy(signal.exchange.nextState, "user");
  if (said.length > MOST_SAID) return [];
  const wished = wishfulWords(said);
  const all = groundedCandidates(signal).flatMap((found) => fittingOf(found, { said, wished, signal }) ?? []);
  // "Jonas Weber, not Jonas Klein" is of the argument that had Jonas, whether or not anything may be learned of that.
  const fits = all.filter(
    ({ found, told }) => !all.some((other) => other.found.hint.value === found.hint.value && tells(other) < tells({ told })),
  );
  const standing = fits.filter(({ found }) => spokenBefore(signal, found) === undefined && askedElsewhere(signal, found) === undefined);
  const known = standing.length > 0 ? standing : fits;
  const best = TELLS.find((tell) => known.some(({ told }) => told === tell));
  return known.filter(({ told }) => told === best);
}

/** The less the better. */
function tells({ told }: Pick<Fitting, "told">): number {
  return TELLS.indexOf(told);
}

function fittingOf(
  found: Stands,
  { said, wished, signal }: { said: string; /** Of that what can wish for something. */ wished: string; signal: Heard },
): Fitting | undefined {
  const parameter = parameterOfHint(signal.exchange.tools, found);
  if (parameter === undefined) return undefined;
  const words = inUnitOf(parameter, wished);
  const { value } = found.hint;
  const held = heldText(lastCall(signal.exchange, found.toolName), parameter.name) ?? parameter.fallback;
  const counts = parameter.kind !== "boolean" && writtenForm(value) === "number";
  const use = { words, parameter, value, held, counted: counts ? countedBy(words, value, parameter) : "nothing" } as const;
  if (!isWordOf(use) || (counts && isOfAnother(found, { words, parameter, signal }))) return undefined;
  const told = toldBy(use);
  // "Just comment on WEB-99" is about the ticket that is to be commented on.
  const isListed = parameter.allowed.length > 0;
  if (!isListed && told !== "whole" && told !== "named" && opensElsewhere(signal, found.toolName)) return undefined;
  // A name says nothing of an argument that nobody has spoken of: "I'm Finnish."
  if (told === "absent" && writtenForm(value) === undefined && !/[@/_]/.test(value)) return undefined;
  return {
    found,
    told,
    frame: framed(inUnitOf(parameter, said), { parameter, value, held }),
    isOption: (parameter.kind === "enum" || parameter.kind === "boolean") && held !== undefined,
    saysNoMore: parameter.kind === "enum" && isOptionAlone(words, value),
    answered: parameter.kind === "boolean" && answeredTruth(words, parameter) !== undefined,
  };
}

/** Whether a number is what another argument of the call has, or what the reply has told, and nothing names this one: "90 at six, yes", "64, for a jumper?" Who is asked answers. */
function isOfAnother(
  { hint: { value }, toolName }: Stands,
  { words, parameter, signal }: { words: string; parameter: Parameter; signal: Heard },
): boolean {
  if (namesTopic(words, parameter)) return false;
  const { answer } = signal.turn.payload;
  const reply = "content" in answer ? (answer.content ?? "") : "";
  const isTold = !reply.includes("?") && numbersAmong(wordsOf(reply)).includes(value) && countedBy(words, value, parameter) !== "own";
  return isTold || heldElsewhere(lastCall(signal.exchange, toolName)?.arguments ?? {}, { parameter: parameter.name, value });
}

type SaidOf = {
  readonly words: string;
  readonly parameter: Parameter;
  readonly value: string;
  /** What the call had. */
  readonly held: string | undefined;
  readonly counted: ReturnType<typeof countedBy>;
};

/** Whether the value in the words may be one of the parameter's: no number of other things, no ordinal that only orders, and nothing of another form. */
function isWordOf({ words, parameter, value, held, counted }: SaidOf): boolean {
  if (writtenForm(value) === "number" && beginsName(words, value)) return false;
  const isGiven = wasGiven([{ role: "user", content: words }], { parameter, value });
  if (!isGiven && !holds(parameter, { held, value })) return false;
  if (counted === "other" || (value === "1" && counted !== "own" && !COUNTED_ONE.test(words))) return false;
  return namesTopic(words, parameter) || !isOrdinalAside(words, value);
}

/** "24 Hour Fitness" is no 24, "3 Harbour Street" no 3. */
function beginsName(words: string, value: string): boolean {
  const uses = [
    ...words.matchAll(
      new RegExp(
        `(?<![\\w.,])${escapeRegExp(value)}(?![\\w]|[.,]\\d)(?<name>[^\\S\\n]+(?!I\\b|Please|Thanks|Not\\b)\\p{Lu}\\p{Ll})?`,
        "gu",
      ),
    ),
  ];
  return uses.length > 0 && uses.every(({ groups }) => groups?.name !== undefined);
}

function toldBy({ words, parameter, value, held, counted }: SaidOf): Fitting["told"] {
  if (namesTopic(words, parameter, { whole: true })) return "whole";
  if (counted === "own" || parametersNamed(words, [parameter]).length > 0) return "named";
  const isOld =
    held !== undefined &&
    parameter.kind !== "boolean" &&
    (mentions(words, { parameter, value: held }) || isLonger(value, held) || isLikeCode(value, held));
  if (isOld) return "old";
  return held === undefined && parameter.allowed.length === 0 && parameter.kind !== "boolean" ? "absent" : "alone";
}

// Said of what was done, whatever a schema lists, beside what is called out.
const PRAISES =
  /^(?:accepted|all|any|approved|best|better|booked|closed|complete|completed|confirmed|correct|done|easy|fast|fine|free|fresh|friendly|funny|good|great|high|hot|nice|none|ok|okay|open|paid|perfect|quick|ready|right|sent|smart|smooth|sorted|true|yes)$/i;

function isOptionAlone(words: string, value: string): boolean {
  const said = words
    .trim()
    .replace(/[.!,]+$/, "")
    .replace(/,? (?:please|pls|plz)$/i, "");
  return (
    !PRAISES.test(said) &&
    !EXCLAMATIONS.has(said.toLowerCase()) &&
    !isSmallTalk(words, { asked: false }) &&
    knownForms(value).some((form) => form.toLowerCase() === said.toLowerCase())
  );
}

/** "Dr. Marta Okafor" in the place of "Dr. Okafor". */
function isLonger(value: string, held: string): boolean {
  const [words, others] = [wordsOf(value), wordsOf(held)];
  return writtenForm(value) === undefined && others.length > 0 && others.every((word) => words.includes(word));
}

/** "A-5521" in the place of "A-5530": a code is what has letters and digits, and one of its kind has them in the same places. */
function isLikeCode(value: string, held: string): boolean {
  const shape = (text: string): string => text.replaceAll(/\p{L}/gu, "a").replaceAll(/\d/g, "0");
  return /\p{L}/u.test(value) && /\d/.test(value) && shape(value) === shape(held);
}

/** Whether values written so are what the parameter holds, as its schema or the value that it has tells: no name where that is a code or has strokes. */
function holds({ kind, allowed }: Parameter, { held, value }: { held: string | undefined; value: string }): boolean {
  if (kind === "boolean" || allowed.length > 0) return true;
  const form = writtenForm(value);
  if (kind === "number" || kind === "date" || kind === "time") return form === kind;
  if (held === undefined) return form === undefined;
  const isMarked = (text: string): boolean => /^\S*[/_@]\S*$/.test(text);
  return form === writtenForm(held) && (!isCode(held) || isCode(value)) && (!isMarked(held) || isMarked(value));
}

// "One" is a number where it is counted: "only one", not "one with a motor".
const COUNTED_ONE =
  /\b(?:only|just|exactly|for|it|that|is|be|at least|at most|no more than) one\b(?= (?:please|pls|thanks|only|instead|not|now|then|this time|from now|and|but|is|was|always|usually)\b|\W*$|[^\S\n]*[^\p{L}\s])|(?<![\p{L}\p{N}]|\d[:.])1(?![\p{L}\p{N}]|[:.]\d)/iu;

/** An ordinal is the option where its class is spoken of, or it is wished for: "first class", "second is fine", not "the kids to school first". */
function isOrdinalAside(words: string, value: string): boolean {
  return ORDINALS.has(value.toLowerCase()) && !new RegExp(`\\b${value}(?:[ -]class| (?:is|please|pls|instead|would))\\b`, "i").test(words);
}
