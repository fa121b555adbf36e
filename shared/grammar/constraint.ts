/**
 * What an answer may be, as masks over the next token: calls that fit their tools' schemas, as many as asked for, and text in
 * the format asked for. A mask is part of the distribution sampled from; edge and trainer make the same ones.
 */
import type { State } from "./automaton.ts";
import { alsoAllowing, type TokenGrammar, type TokenMask } from "./token-grammar.ts";

export type CallMarkers = { readonly openId: number; readonly closeId: number };

export type ConstraintOptions = {
  /** Of what stands between the markers; undefined where nothing can be called. */
  readonly calls: TokenGrammar | undefined;
  /** Of an answer in words; undefined where any will do. */
  readonly text: TokenGrammar | undefined;
  /** The answer begins with a call. */
  readonly mustCall: boolean;
  /** One call at most. */
  readonly single: boolean;
  /** Undefined where no token marks calls: then there are neither `calls` nor `mustCall`. */
  readonly markers: CallMarkers | undefined;
  readonly eosId: number;
};

export class Constraint {
  readonly #options: ConstraintOptions;
  #call: State | undefined;
  #text: State | undefined;
  #begun = false;
  #called = false;
  #ended = false;
  #work = 0;

  constructor(options: ConstraintOptions) {
    this.#options = options;
    this.#text = options.text?.start;
  }

  /** Steps that this answer's masks have taken: those that another answer had made before cost it nothing. */
  get work(): number {
    return this.#work;
  }

  /** The mask for the next token, undefined where every token is free. */
  mask(): TokenMask | undefined {
    return this.#counted(() => this.#mask());
  }

  /** Takes note of the token that was chosen. */
  accept(id: number): void {
    this.#counted(() => this.#accept(id));
  }

  /** The grammars are other answers', too, but nobody else's step comes between. */
  #counted<Value>(step: () => Value): Value {
    const { calls, text } = this.#options;
    const before = (calls?.work ?? 0) + (text?.work ?? 0);
    const value = step();
    this.#work += (calls?.work ?? 0) + (text?.work ?? 0) - before;
    return value;
  }

  #mask(): TokenMask | undefined {
    const { calls, text, mustCall, markers, eosId } = this.#options;
    if (this.#call !== undefined) return calls?.mask(this.#call);
    if (this.#ended) return { kind: "allow", ids: [eosId] };
    if (markers === undefined) return this.#text === undefined ? undefined : text?.mask(this.#text);
    if (mustCall && !this.#begun) return { kind: "allow", ids: [markers.openId] };
    if (text === undefined || this.#text === undefined) return this.#mayOpen ? undefined : { kind: "ban", ids: [markers.openId] };
    if (this.#called) return { kind: "allow", ids: [eosId, markers.openId] };
    const mask = text.mask(this.#text);
    return this.#mayOpen && !this.#begun ? alsoAllowing(mask, markers.openId) : mask;
  }

  #accept(id: number): void {
    const { calls, text, single, markers, eosId } = this.#options;
    this.#begun = true;
    if (this.#call !== undefined && calls !== undefined) {
      this.#call = id === markers?.closeId ? undefined : calls.accept(this.#call, id);
      this.#ended = this.#call === undefined && single;
    } else if (id === markers?.openId && calls !== undefined) {
      this.#call = calls.start;
      this.#called = true;
    } else if (this.#text !== undefined && text !== undefined && id !== eosId) {
      this.#text = text.accept(this.#text, id);
    }
  }

  get #mayOpen(): boolean {
    return this.#options.calls !== undefined && !(this.#called && this.#options.single);
  }
}
