/** Where in a character of a JSON string the next byte stands: whole UTF-8 (RFC 3629 §4) and whole escapes (RFC 8259 §7). */

/** Between characters; after a backslash; among the four digits after `\u`; or in a character of several bytes, by what may come next. */
export type Place =
  | "between"
  | "backslash"
  | `hex${1 | 2 | 3 | 4}`
  | "afterD"
  | `tail${1 | 2 | 3}`
  | "afterE0"
  | "afterED"
  | "afterF0"
  | "afterF4";

type Range = readonly [from: number, to: number, next: Place];

const TAIL = [0x80, 0xbf] as const;

/** A range for each of the characters. */
function ascii(characters: string, next: Place): Range[] {
  return characters.split("").map((character) => [character.charCodeAt(0), character.charCodeAt(0), next]);
}

const NO_D = "0123456789abcefABCEF";
const HEX = `${NO_D}dD`;

// Shortest forms alone, no surrogates, written or escaped, and nothing above U+10FFFF.
const BYTES: Readonly<Record<Place, readonly Range[]>> = {
  between: [
    [0x20, 0x5b, "between"],
    [0x5c, 0x5c, "backslash"],
    [0x5d, 0x7f, "between"],
    [0xc2, 0xdf, "tail1"],
    [0xe0, 0xe0, "afterE0"],
    [0xe1, 0xec, "tail2"],
    [0xed, 0xed, "afterED"],
    [0xee, 0xef, "tail2"],
    [0xf0, 0xf0, "afterF0"],
    [0xf1, 0xf3, "tail3"],
    [0xf4, 0xf4, "afterF4"],
  ],
  tail1: [[...TAIL, "between"]],
  tail2: [[...TAIL, "tail1"]],
  tail3: [[...TAIL, "tail2"]],
  afterE0: [[0xa0, 0xbf, "tail1"]],
  afterED: [[0x80, 0x9f, "tail1"]],
  afterF0: [[0x90, 0xbf, "tail2"]],
  afterF4: [[0x80, 0x8f, "tail2"]],
  backslash: [...ascii('"\\/bfnrt', "between"), ...ascii("u", "hex1")],
  hex1: [...ascii(NO_D, "hex2"), ...ascii("dD", "afterD")],
  afterD: ascii("01234567", "hex3"),
  hex2: ascii(HEX, "hex3"),
  hex3: ascii(HEX, "hex4"),
  hex4: ascii(HEX, "between"),
};

/** The place after a byte that does not end the string; undefined where it does not fit. */
export function nextPlace(place: Place, byte: number): Place | undefined {
  return BYTES[place].find(([from, to]) => byte >= from && byte <= to)?.[2];
}
