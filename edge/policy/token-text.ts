/**
 * Bytes of tokens → text as the tokenizer's decoder gives it: whole characters, without the literals that its
 * normalizer put in. What may still be part of a character or of such a literal is held back.
 */
import { overlap } from "./stop-strings.ts";

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

  /** What was held back, when something else or nothing follows; a character cut off becomes U+FFFD. */
  flush(): string {
    const text = this.#erase(this.#utf8.decode()) + this.#held;
    this.#utf8 = newDecoder();
    this.#held = "";
    return text;
  }

  #erase(text: string): string {
    const pending = this.#erased.reduce((rest, literal) => rest.replaceAll(literal, ""), this.#held + text);
    const safe = pending.length - Math.max(0, ...this.#erased.map((literal) => overlap(pending, literal)));
    this.#held = pending.slice(safe);
    return pending.slice(0, safe);
  }
}

/** The bytes that each token adds to the text: without those that belong to a literal the decoder takes out again. */
export class ShownBytes {
  readonly #erased: readonly (readonly number[])[];
  /** The raw bytes before, as many as a literal may have begun with. */
  #before: number[] = [];

  constructor(erased: readonly string[]) {
    this.#erased = erased.filter((literal) => literal !== "").map((literal) => [...new TextEncoder().encode(literal)]);
  }

  /** What a token would add if it came next. */
  of(bytes: Uint8Array): Uint8Array {
    const raw = [...this.#before, ...bytes];
    const kept = raw.map(() => true);
    for (const literal of this.#erased)
      raw.forEach((_, start) => {
        // At the end the literal may have only begun.
        const length = Math.min(literal.length, raw.length - start);
        if (literal.slice(0, length).every((byte, offset) => raw[start + offset] === byte)) kept.fill(false, start, start + length);
      });
    return bytes.filter((_, index) => kept[this.#before.length + index]);
  }

  /** Takes note of the token that came. */
  push(bytes: Uint8Array): void {
    const longest = Math.max(0, ...this.#erased.map(({ length }) => length));
    this.#before = longest > 1 ? [...this.#before, ...bytes].slice(1 - longest) : [];
  }
}

function newDecoder(): TextDecoder {
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
}
