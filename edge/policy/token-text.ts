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

function newDecoder(): TextDecoder {
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
}
