/**
 * Regular expressions of JSON schemas (ECMA-262 §22.2.1) → trees. Everything that is regular is read, but for what looks behind; groups
 * capture nothing, and lazy repetitions are repetitions.
 */
import { AppError } from "../../errors.ts";
import {
  ANY_POINT,
  type CodePoints,
  complement,
  DIGITS,
  LAST_POINT,
  LINE_ENDS,
  ofProperty,
  onePoint,
  plainOf,
  SPACE,
  union,
  WORD,
} from "./code-points.ts";
import { isNegative, type Node, type Pattern, readAlike, sequence, withLengths } from "./pattern-node.ts";

const MOST_GROUPS = 64; // within each other
const STEPS_PER_PROPERTY = 15_000; // a quarter of a million characters are asked
// What has to be read by code points: characters beyond U+FFFF, as such or escaped, and properties.
const BY_CODE_POINT = /[\u{10000}-\u{10ffff}]|\\u\{|\\u[dD][89a-dA-D]|\\[pP]\{/u;

/** `spend` is told of steps. @throws {input/unsupported} saying what was expected of the pattern, and what it has, and what `spend` throws */
export function readPattern(source: string, spend: (steps: number) => void): Pattern {
  const byCodePoint = BY_CODE_POINT.test(source);
  checkSyntax(source, byCodePoint);
  const read = new PatternReader(source, spend).read();
  if (byCodePoint) return withLengths(read);
  const pattern = withLengths(readAlike(read));
  return isNegative(read) ? { ...pattern, nodes: [...pattern.nodes, PLAIN_TEXT] } : pattern;
}

const PLAIN_TEXT: Node = sequence([
  { kind: "start" },
  { kind: "repeat", body: { kind: "set", points: plainOf(ANY_POINT) }, least: 0, most: Infinity },
  { kind: "end" },
]);

function checkSyntax(source: string, byCodePoint: boolean): void {
  const faults = (byCodePoint ? ["u"] : ["u", ""]).map((flags) => faultOf(source, flags));
  const [fault] = faults;
  if (fault !== undefined && faults.every((each) => each !== undefined))
    throw refused(`a regular expression expected, got one with a fault: ${fault}`);
}

function faultOf(source: string, flags: string): string | undefined {
  try {
    new RegExp(source, flags);
    return undefined;
  } catch (error) {
    // "Invalid regular expression: /…/u: what is wrong"; the source may be long.
    return String(error).split(": ").at(-1) ?? "";
  }
}

export function refused(message: string): AppError {
  return new AppError("input/unsupported", message);
}

const CONTROLS: Readonly<Record<string, number>> = { f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09, v: 0x0b };
const CLASSES: Readonly<Record<string, CodePoints>> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
};

class PatternReader {
  readonly #source: readonly string[];
  readonly #spend: (steps: number) => void;
  #at = 0;
  #depth = 0;

  constructor(source: string, spend: (steps: number) => void) {
    this.#spend = spend;
    this.#source = Array.from(source);
  }

  read(): Node {
    const node = this.#either();
    if (this.#at < this.#source.length) throw refused(`a pattern expected that is read to its end, got ${this.#peek()} at ${this.#at}`);
    return node;
  }

  #peek(ahead = 0): string {
    return this.#source[this.#at + ahead] ?? "";
  }

  #eat(text: string): boolean {
    const characters = Array.from(text);
    if (!characters.every((character, index) => this.#peek(index) === character)) return false;
    this.#at += characters.length;
    return true;
  }

  #either(): Node {
    const options = [this.#sequence()];
    while (this.#eat("|")) options.push(this.#sequence());
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { kind: "either", options };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (!["", "|", ")"].includes(this.#peek())) parts.push(this.#repeated(this.#term()));
    return sequence(parts);
  }

  #repeated(body: Node): Node {
    const counts = this.#counts();
    if (counts === undefined) return body;
    this.#eat("?");
    return { kind: "repeat", body, ...counts };
  }

  #counts(): { least: number; most: number } | undefined {
    if (this.#eat("*")) return { least: 0, most: Infinity };
    if (this.#eat("+")) return { least: 1, most: Infinity };
    if (this.#eat("?")) return { least: 0, most: 1 };
    // A brace that is no count stands for itself, without the flag `u`.
    const [text = "", least = "", comma, most = ""] =
      /^\{(\d+)(,?)(\d*)\}/.exec(this.#source.slice(this.#at, this.#at + 50).join("")) ?? [];
    if (text === "") return undefined;
    this.#at += text.length;
    return { least: Number(least), most: comma === "" ? Number(least) : most === "" ? Infinity : Number(most) };
  }

  #term(): Node {
    if (this.#eat("^")) return { kind: "start" };
    if (this.#eat("$")) return { kind: "end" };
    if (this.#eat(".")) return { kind: "set", points: complement(LINE_ENDS) };
    if (this.#eat("(")) return this.#group();
    if (this.#eat("[")) return { kind: "set", points: this.#class() };
    if (this.#eat("\\b")) return { kind: "boundary", negative: false };
    if (this.#eat("\\B")) return { kind: "boundary", negative: true };
    if (this.#eat("\\")) return { kind: "set", points: this.#escape() };
    return { kind: "set", points: onePoint(this.#character()) };
  }

  #character(): number {
    const point = this.#peek().codePointAt(0);
    if (point === undefined) throw refused("a pattern whose classes and escapes are closed expected");
    this.#at += 1;
    return point;
  }

  #group(): Node {
    this.#depth += 1;
    if (this.#depth > MOST_GROUPS) throw refused(`a pattern of at most ${MOST_GROUPS} groups within each other expected`);
    const look = this.#eat("?=") ? false : this.#eat("?!") ? true : undefined;
    if (look === undefined) this.#skipGroupName();
    const body = this.#either();
    if (!this.#eat(")")) throw refused("a pattern whose groups are closed expected");
    this.#depth -= 1;
    return look === undefined ? body : { kind: "look", body, negative: look };
  }

  #skipGroupName(): void {
    if (this.#peek() !== "?" || this.#eat("?:")) return;
    const looksBehind = this.#peek(1) === "<" && ["=", "!"].includes(this.#peek(2));
    if (looksBehind) throw refused("a pattern that does not look behind expected, got (?<");
    if (this.#peek(1) !== "<") throw refused(`a pattern without flags of its own expected, got (?${this.#peek(1)}`);
    while (!this.#eat(">")) this.#at += 1;
  }

  /** After the backslash. */
  #escape(): CodePoints {
    const letter = this.#peek();
    const points = CLASSES[letter];
    if (points !== undefined) {
      this.#at += 1;
      return points;
    }
    if ((letter === "p" || letter === "P") && this.#peek(1) === "{") return this.#property();
    return onePoint(this.#escapedPoint());
  }

  #property(): CodePoints {
    const negative = this.#peek() === "P";
    const end = this.#source.indexOf("}", this.#at);
    const name = this.#source.slice(this.#at + 2, end).join("");
    this.#at = end + 1;
    this.#spend(STEPS_PER_PROPERTY); // whether it is known or not: what a request is refused for is nobody else's doing
    return ofProperty(name)[negative ? 1 : 0];
  }

  #escapedPoint(): number {
    const letter = this.#peek();
    if (/[1-9k]/.test(letter)) throw refused(`a pattern without back references expected, got \\${letter}`);
    if (letter === "u" || letter === "x") return this.#hex();
    if (letter === "c" && /[A-Za-z]/.test(this.#peek(1))) {
      this.#at += 1;
      return this.#character() % 32;
    }
    if (letter === "0" && !/\d/.test(this.#peek(1))) {
      this.#at += 1;
      return 0;
    }
    const control = CONTROLS[letter];
    if (control === undefined && /[A-Za-z0-9]|^$/.test(letter))
      throw refused(`a pattern with escapes of ECMA-262 alone expected, got \\${letter}`);
    return control === undefined ? this.#character() : ((this.#at += 1), control);
  }

  #hex(): number {
    const text = this.#source.slice(this.#at, this.#at + 12).join("");
    const [whole, braced, pair, plain] =
      /^u\{([0-9a-fA-F]+)\}|^u([dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|^(?:u([0-9a-fA-F]{4})|x[0-9a-fA-F]{2})/.exec(
        text,
      ) ?? [];
    if (whole === undefined) throw refused(`a pattern whose \\${this.#peek()} has its hexadecimal digits behind it expected`);
    this.#at += whole.length;
    if (pair !== undefined) return surrogatePair(Number.parseInt(pair.slice(0, 4), 16), Number.parseInt(pair.slice(6), 16));
    return Number.parseInt(braced ?? plain ?? whole.slice(1), 16);
  }

  /** After the bracket. */
  #class(): CodePoints {
    const negative = this.#eat("^");
    const ranges: (readonly [number, number])[] = [];
    while (!this.#eat("]")) {
      const first = this.#classAtom();
      const isRange = this.#peek() === "-" && !["]", ""].includes(this.#peek(1));
      if (!isRange || typeof first !== "number") {
        ranges.push(...(typeof first === "number" ? onePoint(first) : first));
        continue;
      }
      this.#at += 1;
      const last = this.#classAtom();
      // Beside a class the dash stands for itself, without the flag `u`.
      ranges.push(...(typeof last === "number" ? [[first, last] as const] : [...onePoint(first), ...onePoint(0x2d), ...last]));
    }
    const points = union(ranges);
    return negative ? complement(points) : points;
  }

  #classAtom(): number | CodePoints {
    if (!this.#eat("\\")) return this.#character();
    if (this.#eat("b")) return 0x08;
    if (this.#eat("-")) return 0x2d;
    const points = this.#escape();
    const [[from, to] = [0, LAST_POINT]] = points;
    return points.length === 1 && from === to ? from : points;
  }
}

function surrogatePair(high: number, low: number): number {
  return 0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00);
}
