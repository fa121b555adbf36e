/** tool_choice and parallel_tool_calls as masks over the next token. A mask is part of the distribution sampled from. */
import type { CallMarkers } from "./answer.ts";
import type { ToolChoice } from "./completer.ts";
import type { Vocabulary } from "./vocabulary.ts";

export type TokenMask = { readonly kind: "allow" | "ban"; readonly ids: readonly number[] };

export type ConstraintOptions = {
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
  readonly vocabulary: Vocabulary;
  readonly markers: CallMarkers;
  readonly eosId: number;
  /** Bytes of the tokens that a text is encoded to, so as the policy has learned to write it. */
  readonly encodeBytes: (text: string) => Uint8Array;
};

export class Constraint {
  readonly #options: ConstraintOptions;
  /** One call at most: as asked, or because a named tool is to be called and no other. */
  readonly #single: boolean;
  /** Bytes that a named call must still begin with. */
  #forced: Uint8Array;
  #mustOpen: boolean;
  #opened = false;
  #ended = false;

  constructor(options: ConstraintOptions) {
    const { toolChoice } = options;
    const named = typeof toolChoice === "object" ? `{"name": ${JSON.stringify(toolChoice.name)}, "arguments": {` : "";
    this.#options = options;
    this.#single = !options.parallelToolCalls || typeof toolChoice === "object";
    this.#forced = options.encodeBytes(named);
    this.#mustOpen = toolChoice === "required" || typeof toolChoice === "object";
  }

  /** The mask for the next token, undefined where every token is free. */
  mask(): TokenMask | undefined {
    const { toolChoice, markers, eosId, vocabulary } = this.#options;
    if (this.#ended) return { kind: "allow", ids: [eosId] };
    if (this.#mustOpen) return { kind: "allow", ids: [markers.openId] };
    // Any split of the forced bytes into tokens is allowed, so the policy chooses the one that it learned.
    if (this.#forced.length > 0) return { kind: "allow", ids: vocabulary.idsTowards(this.#forced) };
    const noCall = toolChoice === "none" || (this.#opened && this.#single);
    return noCall ? { kind: "ban", ids: [markers.openId] } : undefined;
  }

  /** Takes note of the token that was chosen. */
  accept(tokenId: number): void {
    const { markers, vocabulary } = this.#options;
    if (this.#mustOpen) this.#mustOpen = false;
    else if (this.#forced.length > 0) this.#forced = this.#forced.slice(vocabulary.bytesOf(tokenId).length);
    if (tokenId === markers.openId) this.#opened = true;
    // A mark that closes nothing is text like any other.
    if (tokenId === markers.closeId && this.#single && this.#opened) this.#ended = true;
  }
}
