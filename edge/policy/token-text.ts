/**
 * Bytes of tokens → text as the tokenizer's decoder gives it: whole characters, without the literals that its
 * normalizer put in. What may still be part of a character or of such a literal is held back.
 */
import { overlap } from "./stop-strings.ts";

const UNPRINTABLE = /^\p{Cc}+$/u;

export class TokenText {
  readonly #erased: readonly string[];
  #utf8 = newDecoder();
  #held = "";

  constructor(erased: readonly string[]) {
    this.#erased = erased;
  }

  push(bytes: Uint8Array): string {
    return this.#erase(this.#utf8.decode(bytes, { stream: true }));
  }

  /** What was held back, when something else or nothing follows; a character cut off becomes U+FFFD, a literal cut off that does not print nothing. */
  flush(): string {
    const text = this.#erase(this.#utf8.decode());
    const held = UNPRINTABLE.test(this.#held) ? "" : this.#held;
    this.#utf8 = newDecoder();
    this.#held = "";
    return text + held;
  }

  #erase(text: string): string {
    const { shown, held } = erase(this.#held + text, this.#erased);
    this.#held = held;
    return shown;
  }
}

/** The bytes that each token adds to the text, one character a byte while they are matched; together they spell the text. */
export class ShownBytes {
  readonly #erased: readonly string[];
  #held = "";

  constructor(erased: readonly string[]) {
    this.#erased = erased.map((literal) => toCharacters(new TextEncoder().encode(literal)));
  }

  /** What a token would add if it came next. */
  of(bytes: Uint8Array): Uint8Array {
    return Uint8Array.from(this.#split(bytes).shown, (character) => character.charCodeAt(0));
  }

  /** Takes note of the token that came. */
  push(bytes: Uint8Array): void {
    this.#held = this.#split(bytes).held;
  }

  #split(bytes: Uint8Array): { shown: string; held: string } {
    return erase(this.#held + toCharacters(bytes), this.#erased);
  }
}

/** Text without the literals; `held` is its end where one of them may have begun. */
function erase(text: string, literals: readonly string[]): { shown: string; held: string } {
  const rest = literals.reduce((left, literal) => left.replaceAll(literal, ""), text);
  const safe = rest.length - Math.max(0, ...literals.map((literal) => overlap(rest, literal)));
  return { shown: rest.slice(0, safe), held: rest.slice(safe) };
}

function toCharacters(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

function newDecoder(): TextDecoder {
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
}
