/**
 * One byte at a time through a rule. What is still to come is a stack of frames, the innermost on top; a byte turns a stack into
 * all stacks that it may mean (a pushdown automaton, nondeterministic where alternatives begin alike). JSON as `spacedJson`
 * writes it (RFC 8259 with `", "` and `": "`), escapes as they come.
 */
import { holds, mayReach, MOST_DIGITS, type NumberRange } from "./number-range.ts";
import { nextPlace, type Place } from "./string-place.ts";
import type { HeldText } from "./text/held-text.ts";
import { BETWEEN, nextTextPlace, placeKey, type TextPlace } from "./text/text-place.ts";
import { beginningsOf, isPossible, NOTHING, type ArrayRule, type ObjectRule, type Rule } from "./rule.ts";

export type Frame =
  | { readonly kind: "rule"; readonly rule: Rule }
  /** Texts that begin with what was written, of which `at` bytes are. */
  | { readonly kind: "literals"; readonly texts: readonly Uint8Array[]; readonly at: number }
  /** Inside the quotes. */
  | { readonly kind: "string"; readonly minLength: number; readonly maxLength: number; readonly length: number; readonly place: Place }
  /** Inside the quotes of a text that patterns hold. */
  | { readonly kind: "text"; readonly text: HeldText; readonly at: TextPlace }
  /** `text`: what is written of it, where it has bounds; `digits`: how many of them stand in a row, where it has none. */
  | {
      readonly kind: "number";
      readonly integer: boolean;
      readonly range: NumberRange | undefined;
      readonly state: NumberState;
      readonly text: string;
      readonly digits: number;
    }
  /** `begun`: after a member, otherwise after the brace. `used` is sorted. */
  | { readonly kind: "object"; readonly rule: ObjectRule; readonly used: readonly string[]; readonly begun: boolean }
  /** Inside the quotes of a declared member's name. */
  | { readonly kind: "name"; readonly object: ObjectFrame; readonly names: readonly Name[]; readonly at: number }
  /** Inside the quotes of any other name; `names` are the declared ones that begin with what was written, of which `at` bytes are. */
  | {
      readonly kind: "otherName";
      readonly object: ObjectFrame;
      readonly names: readonly Name[];
      readonly at: number;
      readonly place: Place;
    }
  | { readonly kind: "array"; readonly rule: ArrayRule; readonly count: number };

type ObjectFrame = Extract<Frame, { kind: "object" }>;
type Name = { readonly name: string; /** with the closing quote */ readonly bytes: Uint8Array };

/** undefined: nothing is left to come. `key` tells stacks apart. */
export type Stack = { readonly frame: Frame; readonly below: Stack | undefined; readonly key: string };

type NumberState = "start" | "minus" | "zero" | "digits" | "point" | "fraction" | "exponent" | "exponentSign" | "exponentDigits";

type Texts = readonly Uint8Array[];

const [QUOTE, COMMA, SLASH, CLOSE_BRACE, CLOSE_BRACKET] = [0x22, 0x2c, 0x2f, 0x7d, 0x5d];
const encoder = new TextEncoder();
const textsOf = (text: string): Texts => [encoder.encode(text)];
const [QUOTE_TEXT, OPEN_BRACE, OPEN_BRACKET] = [textsOf('"'), textsOf("{"), textsOf("[")];
const [COLON, SPACE, SPACE_QUOTE] = [textsOf(": "), textsOf(" "), textsOf(' "')];

export function stackOf(frame: Frame, below: Stack | undefined): Stack {
  return { frame, below, key: `${frameKey(frame)} ${below?.key ?? ""}` };
}

/** Every stack that `stack` may be after `byte`; none where the byte does not fit. */
export function step(stack: Stack, byte: number): (Stack | undefined)[] {
  const { frame, below } = stack;
  switch (frame.kind) {
    case "rule":
      return begin(frame.rule, below).flatMap((begun) => step(begun, byte));
    case "literals":
      return stepLiterals(frame, below, byte);
    case "string":
      return stepString(frame, below, byte);
    case "text":
      return stepText(frame, below, byte);
    case "number":
      return stepNumber(frame, below, byte);
    case "object":
      return stepObject(frame, below, byte);
    case "name":
      return stepName(frame, below, byte);
    case "otherName":
      return stepOtherName(frame, below, byte);
    case "array":
      return stepArray(frame, below, byte);
  }
}

/** Texts and names that a step of the stack looks at, one by one. */
export function textsTried({ frame }: Stack): number {
  switch (frame.kind) {
    case "rule":
      return textsBegun(frame.rule);
    case "array":
      return textsBegun(frame.rule.items);
    case "literals":
      return frame.texts.length;
    case "name":
    case "otherName":
      return frame.names.length;
    case "object":
      return frame.rule.members.size;
    case "string":
    case "text":
    case "number":
      return 0;
  }
}

const begunTexts = new WeakMap<Rule, number>();

function textsBegun(rule: Rule): number {
  const known = begunTexts.get(rule);
  if (known !== undefined) return known;
  const count = beginningsOf(rule).reduce((sum, each) => sum + (each.kind === "literals" ? each.texts.length : 1), 0);
  begunTexts.set(rule, count);
  return count;
}

/** Whether nothing need follow. */
export function mayEnd(stack: Stack | undefined): boolean {
  if (stack === undefined) return true;
  const { frame, below } = stack;
  if (frame.kind === "number") return isNumber(frame) && mayEnd(below);
  return frame.kind === "literals" && frame.texts.some(({ length }) => length === frame.at) && mayEnd(below);
}

/** The stacks with which a rule can begin, each with a frame on top that reads a byte. */
function begin(rule: Rule, below: Stack | undefined): Stack[] {
  return beginningsOf(rule).map((each) => {
    switch (each.kind) {
      case "literals":
        return textOn(each.texts, below);
      case "number":
        return stackOf({ ...each, state: "start", text: "", digits: 0 }, below);
      case "string":
        return opening(QUOTE_TEXT, { ...each, length: 0, place: "between" }, below);
      case "text":
        return opening(QUOTE_TEXT, { ...each, at: BETWEEN }, below);
      case "object":
        return opening(OPEN_BRACE, { kind: "object", rule: each, used: [], begun: false }, below);
      case "array":
        return opening(OPEN_BRACKET, { kind: "array", rule: each, count: -1 }, below);
      case "sequence":
        return each.parts.reduceRight((rest: Stack | undefined, part) => ruleOn(part, rest), below) ?? ruleOn(each, below);
    }
  });
}

function opening(mark: Texts, frame: Frame, below: Stack | undefined): Stack {
  return textOn(mark, stackOf(frame, below));
}

function ruleOn(rule: Rule, below: Stack | undefined): Stack {
  return stackOf({ kind: "rule", rule }, below);
}

function textOn(texts: readonly Uint8Array[], below: Stack | undefined): Stack {
  return stackOf({ kind: "literals", texts, at: 0 }, below);
}

/** The byte after something that may have ended: what stands below reads it. */
function stepBelow(below: Stack | undefined, byte: number): (Stack | undefined)[] {
  return below === undefined ? [] : step(below, byte);
}

function stepLiterals(
  { texts, at: place }: Extract<Frame, { kind: "literals" }>,
  below: Stack | undefined,
  byte: number,
): (Stack | undefined)[] {
  const ended = texts.some(({ length }) => length === place) ? stepBelow(below, byte) : [];
  const left = texts.filter((text) => text[place] === byte);
  if (left.length === 0) return ended;
  // A text that is written and begins no other has ended; nothing else need be kept of it.
  const whole = left.every(({ length }) => length === place + 1);
  return [...ended, whole ? below : stackOf({ kind: "literals", texts: left, at: place + 1 }, below)];
}

function stepString(frame: Extract<Frame, { kind: "string" }>, below: Stack | undefined, byte: number): (Stack | undefined)[] {
  const { minLength, maxLength, length, place } = frame;
  if (byte === QUOTE && place === "between") return length >= minLength ? [below] : [];
  const next = nextPlace(place, byte);
  if (next === undefined || (place === "between" && length >= maxLength)) return [];
  // A character counts when it begins; beyond what decides anything, counting would only tell states apart.
  const counted = place === "between" ? Math.min(length + 1, maxLength === Infinity ? minLength : maxLength) : length;
  return [stackOf({ ...frame, length: counted, place: next }, below)];
}

function stepText(
  { kind, text, at: place }: Extract<Frame, { kind: "text" }>,
  below: Stack | undefined,
  byte: number,
): (Stack | undefined)[] {
  if (byte === QUOTE && place.open === undefined) return text.mayEnd(place.state, place.length) ? [below] : [];
  const next = nextTextPlace(text, place, byte);
  return next === undefined ? [] : [stackOf({ kind, text, at: next }, below)];
}

const ENDS: ReadonlySet<NumberState> = new Set(["zero", "digits", "fraction", "exponentDigits"]);

type NumberFrame = Extract<Frame, { kind: "number" }>;

function stepNumber(frame: NumberFrame, below: Stack | undefined, byte: number): (Stack | undefined)[] {
  const { integer, range, state } = frame;
  const character = String.fromCharCode(byte);
  const next = nextNumber(state, character);
  if (next === undefined || (integer && !WHOLE.has(next))) return isNumber(frame) ? stepBelow(below, byte) : [];
  if (range === undefined) {
    const digits = next === state ? frame.digits + 1 : 1;
    const most = next === "exponentDigits" ? MOST_EXPONENT_DIGITS : MOST_DIGITS;
    return digits > most ? [] : [stackOf({ ...frame, state: next, digits }, below)];
  }
  const text = frame.text + character;
  // Where there are bounds, numbers are written out: an exponent takes a number anywhere.
  return next === "exponent" || !mayReach(range, text) ? [] : [stackOf({ ...frame, state: next, text }, below)];
}

const MOST_EXPONENT_DIGITS = 2;

function isNumber({ range, state, text }: NumberFrame): boolean {
  return ENDS.has(state) && (range === undefined || holds(range, text));
}

const WHOLE: ReadonlySet<NumberState> = new Set(["minus", "zero", "digits"]);

function nextNumber(state: NumberState, character: string): NumberState | undefined {
  const digit = /\d/.test(character);
  switch (state) {
    case "start":
    case "minus":
      if (state === "start" && character === "-") return "minus";
      return character === "0" ? "zero" : digit ? "digits" : undefined;
    case "zero":
    case "digits":
      if (state === "digits" && digit) return "digits";
      return character === "." ? "point" : /e/i.test(character) ? "exponent" : undefined;
    case "point":
      return digit ? "fraction" : undefined;
    case "fraction":
      return digit ? "fraction" : /e/i.test(character) ? "exponent" : undefined;
    case "exponent":
      return /[+-]/.test(character) ? "exponentSign" : digit ? "exponentDigits" : undefined;
    case "exponentSign":
    case "exponentDigits":
      return digit ? "exponentDigits" : undefined;
  }
}

function stepObject(frame: ObjectFrame, below: Stack | undefined, byte: number): (Stack | undefined)[] {
  const { rule, used, begun } = frame;
  if (byte === CLOSE_BRACE) return [...rule.required].every((name) => used.includes(name)) ? [below] : [];
  if (byte !== (begun ? COMMA : QUOTE)) return [];
  const names = namesOf(rule).filter(({ name }) => !used.includes(name) && isPossible(rule.members.get(name) ?? NOTHING));
  const beginnings = [
    ...(names.length > 0 ? [stackOf({ kind: "name", object: frame, names, at: 0 }, below)] : []),
    ...(rule.rest !== undefined && isPossible(rule.rest)
      ? [stackOf({ kind: "otherName", object: frame, names: namesOf(rule), at: 0, place: "between" }, below)]
      : []),
  ];
  return begun ? beginnings.map((each) => textOn(SPACE_QUOTE, each)) : beginnings;
}

const namesByRule = new WeakMap<ObjectRule, readonly Name[]>();

function namesOf(rule: ObjectRule): readonly Name[] {
  const known = namesByRule.get(rule);
  if (known !== undefined) return known;
  const names = [...rule.members.keys()].map((name) => ({ name, bytes: encoder.encode(JSON.stringify(name).slice(1)) }));
  namesByRule.set(rule, names);
  return names;
}

function stepName(
  { object, names, at: place }: Extract<Frame, { kind: "name" }>,
  below: Stack | undefined,
  byte: number,
): (Stack | undefined)[] {
  const left = names.filter(({ bytes }) => bytes[place] === byte);
  if (left.length === 0) return [];
  const whole = left.find(({ bytes }) => bytes.length === place + 1);
  if (whole === undefined) return [stackOf({ kind: "name", object, names: left, at: place + 1 }, below)];
  return [afterName(object, whole.name, object.rule.members.get(whole.name), below)];
}

/** A name that is not declared. That none comes twice is not seen to: it would take a state for every name there is. */
function stepOtherName(frame: Extract<Frame, { kind: "otherName" }>, below: Stack | undefined, byte: number): (Stack | undefined)[] {
  const { object, at: written, place } = frame;
  const names = frame.names.filter(({ bytes }) => bytes[written] === byte);
  if (byte === QUOTE && place === "between") {
    const declared = names.some(({ bytes }) => bytes.length === written + 1);
    return declared ? [] : [afterName(object, undefined, object.rule.rest, below)];
  }
  const next = nextPlace(place, byte);
  // Every character has one way to be written in a name, so that a declared one cannot come in disguise.
  if (next === undefined || next === "hex1" || (place === "backslash" && byte === SLASH)) return [];
  return [stackOf({ kind: "otherName", object, names, at: names.length === 0 ? 0 : written + 1, place: next }, below)];
}

function afterName(object: ObjectFrame, name: string | undefined, member: Rule | undefined, below: Stack | undefined): Stack {
  const used = name === undefined ? object.used : [...object.used, name].sort();
  const after = stackOf({ ...object, used, begun: true }, below);
  return textOn(COLON, member === undefined ? after : ruleOn(member, after));
}

function stepArray({ rule, count }: Extract<Frame, { kind: "array" }>, below: Stack | undefined, byte: number): (Stack | undefined)[] {
  const begun = count >= 0;
  const written = Math.max(0, count);
  if (byte === CLOSE_BRACKET) return written >= rule.minItems ? [below] : [];
  if (written >= rule.maxItems || !isPossible(rule.items)) return [];
  const limit = rule.maxItems === Infinity ? rule.minItems : rule.maxItems;
  const after = stackOf({ kind: "array", rule, count: Math.min(written + 1, limit) }, below);
  if (!begun) return step(ruleOn(rule.items, after), byte);
  return byte === COMMA ? [textOn(SPACE, ruleOn(rule.items, after))] : [];
}

const ruleIds = new WeakMap<object, number>();
let ruleCount = 0;

function idOf(value: object): number {
  const known = ruleIds.get(value);
  if (known !== undefined) return known;
  ruleIds.set(value, (ruleCount += 1));
  return ruleCount;
}

/** Which members are used, by their places: their names may be long. */
function usedKey({ rule, used }: ObjectFrame): string {
  return used.length === 0
    ? ""
    : namesOf(rule)
        .flatMap(({ name }, place) => (used.includes(name) ? [place] : []))
        .join();
}

function frameKey(frame: Frame): string {
  switch (frame.kind) {
    case "rule":
      return `r${idOf(frame.rule)}`;
    case "literals":
      // Texts that are left begin alike, so the first of them tells which they are.
      return `l${frame.at}:${idOf(frame.texts[0] ?? frame.texts)}`;
    case "string":
      return `s${frame.minLength}:${frame.maxLength}:${frame.length}:${frame.place}`;
    case "text":
      return `t${idOf(frame.text)}:${placeKey(frame.at)}`;
    case "number":
      return `n${frame.integer}:${frame.range === undefined ? "" : idOf(frame.range)}:${frame.state}:${frame.text}:${frame.digits}`;
    case "object":
      return `o${idOf(frame.rule)}:${frame.begun}:${usedKey(frame)}`;
    case "name":
      return `m${frame.at}:${idOf(frame.names[0] ?? frame.names)}:${frameKey(frame.object)}`;
    case "otherName":
      return `f${frame.at}:${frame.names[0] === undefined ? "" : idOf(frame.names[0])}:${frame.place}:${frameKey(frame.object)}`;
    case "array":
      return `a${idOf(frame.rule)}:${frame.count}`;
  }
}

/**
 * The stack without limits that the next `bytes` bytes cannot come to: what follows is the same, and there are fewer such stacks.
 */
export function relaxed(stack: Stack | undefined, bytes: number): Stack | undefined {
  if (stack?.frame.kind === "text") return relaxedText(stack, stack.frame, bytes);
  if (stack?.frame.kind !== "string") return stack;
  const { minLength, maxLength, length } = stack.frame;
  if (maxLength === Infinity || length < minLength || length + bytes > maxLength) return stack;
  return stackOf({ ...stack.frame, minLength: 0, maxLength: Infinity, length: 0 }, stack.below);
}

function relaxedText(stack: Stack, frame: Extract<Frame, { kind: "text" }>, bytes: number): Stack {
  const { text, at: place } = frame;
  if (text.unbounded === text || !text.isFree(place.length, bytes)) return stack;
  return stackOf({ ...frame, text: text.unbounded, at: { ...place, length: 0 } }, stack.below);
}
