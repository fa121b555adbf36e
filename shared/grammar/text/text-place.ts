/**
 * Where in a JSON string the next byte stands, and what its characters so far have led to. Every character has one way to be written, as
 * `JSON.stringify` writes it (RFC 8259 §7): with an escape where it needs one, the short one where there is one.
 */
import { nextPlace, type Place } from "../string-place.ts";
import type { HeldText } from "./held-text.ts";

export type TextPlace = {
  /** Of the text's automaton. */
  readonly state: number;
  /** In code points, as far as it decides anything. */
  readonly length: number;
  /** A character that is begun; undefined between characters. */
  readonly open: Open | undefined;
};

type Open =
  /** What is written of an escape behind its backslash. */
  | { readonly kind: "escape"; readonly written: string }
  /** What the bytes so far say of the code point; undefined where every one that they may become led to `state`, which it is counted in. */
  | { readonly kind: "bytes"; readonly place: Place; readonly begun: number | undefined };

export const BETWEEN: TextPlace = { state: 0, length: 0, open: undefined };

const BACKSLASH = 0x5c;
const FIRST_OF_SEVERAL = 0x80;
const ESCAPES: readonly (readonly [text: string, point: number])[] = [
  ...[0x22, BACKSLASH, ...Array.from({ length: 0x20 }, (_, point) => point)].map((point) => {
    return [JSON.stringify(String.fromCharCode(point)).slice(2, -1), point] as const;
  }),
];

/** The place after a byte that does not end the string; undefined where no text that fits goes on with it. */
export function nextTextPlace(text: HeldText, at: TextPlace, byte: number): TextPlace | undefined {
  const { open } = at;
  if (open?.kind === "escape") return escaped(text, at, open.written + String.fromCharCode(byte));
  if (open?.kind === "bytes") return afterByte(text, at, open, byte);
  if (byte === BACKSLASH) return escaped(text, at, "");
  if (byte >= FIRST_OF_SEVERAL) return begun(text, at, byte);
  return nextPlace("between", byte) === undefined ? undefined : afterPoint(text, at, byte);
}

function afterPoint(text: HeldText, { state, length }: TextPlace, point: number): TextPlace | undefined {
  const to = text.after(state, point, length + 1);
  return to === undefined ? undefined : { state: to, length: text.counted(length + 1), open: undefined };
}

function escaped(text: HeldText, at: TextPlace, written: string): TextPlace | undefined {
  const left = ESCAPES.filter(([escape]) => escape.startsWith(written));
  const whole = left.find(([escape]) => escape === written);
  if (whole !== undefined) return afterPoint(text, at, whole[1]);
  const isPossible = left.some(([, point]) => text.after(at.state, point, at.length + 1) !== undefined);
  return isPossible ? { ...at, open: { kind: "escape", written } } : undefined;
}

function begun(text: HeldText, at: TextPlace, byte: number): TextPlace | undefined {
  const place = nextPlace("between", byte);
  // The bits of the first byte that are the code point's: five, four or three (RFC 3629 §3).
  const bits = byte < 0xe0 ? byte & 0x1f : byte < 0xf0 ? byte & 0x0f : byte & 0x07;
  return place === undefined ? undefined : decided(text, at, { place, begun: bits });
}

function afterByte(
  text: HeldText,
  at: TextPlace,
  { place, begun: bits }: Extract<Open, { kind: "bytes" }>,
  byte: number,
): TextPlace | undefined {
  const next = nextPlace(place, byte);
  if (next === undefined) return undefined;
  if (bits === undefined) return { ...at, open: next === "between" ? undefined : { kind: "bytes", place: next, begun: undefined } };
  const more = bits * 64 + (byte & 0x3f);
  return next === "between" ? afterPoint(text, at, more) : decided(text, at, { place: next, begun: more });
}

/** With the state after the character, where that is the same for all that it may become. */
function decided(text: HeldText, at: TextPlace, { place, begun: bits }: { place: Place; begun: number }): TextPlace | undefined {
  const states = text.afterAny(at.state, pointsOf(place, bits), at.length + 1);
  const [only] = states;
  if (states.size > 1) return { ...at, open: { kind: "bytes", place, begun: bits } };
  return only === undefined
    ? undefined
    : { state: only, length: text.counted(at.length + 1), open: { kind: "bytes", place, begun: undefined } };
}

/** The code points that bytes may become which end at a place. */
function pointsOf(place: Place, bits: number): readonly [from: number, to: number] {
  const bytes = place === "tail1" ? 1 : place === "tail2" || place === "afterE0" || place === "afterED" ? 2 : 3;
  const [from, to] = [bits * 64 ** bytes, (bits + 1) * 64 ** bytes - 1];
  // Shortest forms alone, no surrogates, and nothing above U+10FFFF.
  if (place === "afterED") return [from, 0xd7ff];
  return [place === "afterE0" ? 0x800 : place === "afterF0" ? 0x1_0000 : from, place === "afterF4" ? 0x10_ffff : to];
}

export function placeKey({ state, length, open }: TextPlace): string {
  if (open === undefined) return `${state}:${length}`;
  return `${state}:${length}:${open.kind === "escape" ? `\\${open.written}` : `${open.place}${open.begun ?? ""}`}`;
}
