/** Sampled tokens → what a client sees: text in whole characters, cut at stop strings, and tool calls. */
import type { CallMarkers } from "../../shared/grammar/constraint.ts";
import type { AnswerDelta, WrittenCall } from "./completion.ts";
import { StopStrings } from "./stop-strings.ts";
import { TokenText } from "./token-text.ts";
import { CallReader } from "./tool-calls.ts";
import type { Vocabulary } from "../../shared/vocabulary.ts";

export class AnswerReader {
  readonly #vocabulary: Vocabulary;
  readonly #markers: CallMarkers;
  readonly #stops: StopStrings;
  readonly #calls: WrittenCall[] = [];
  readonly #text: TokenText;
  #reader: CallReader | undefined;
  #content = "";

  constructor({ vocabulary, markers, stop }: { vocabulary: Vocabulary; markers: CallMarkers; stop: readonly string[] }) {
    this.#vocabulary = vocabulary;
    this.#markers = markers;
    this.#stops = new StopStrings(stop);
    this.#text = new TokenText(vocabulary.erased);
  }

  /** A stop string has ended the answer. Stop strings are looked for in text, not in calls. */
  get stopped(): boolean {
    return this.#stops.stopped;
  }

  get calls(): readonly WrittenCall[] {
    return this.#calls;
  }

  /** The text so far; null where there are only calls. */
  get content(): string | null {
    return this.#content === "" && this.#calls.length > 0 ? null : this.#content;
  }

  /** What one more token shows; nothing while it may be part of something longer. */
  push(tokenId: number): AnswerDelta[] {
    if (!this.#vocabulary.isSpecial(tokenId)) return this.#read(this.#text.push(this.#vocabulary.bytesOf(tokenId)));
    const deltas = this.#read(this.#text.flush());
    if (tokenId === this.#markers.openId) deltas.push(...this.#release(), ...this.#endCall(false), ...this.#openCall());
    if (tokenId === this.#markers.closeId) deltas.push(...this.#endCall(true));
    return deltas;
  }

  /** What is left when no more tokens come. A call without its end marker is not valid. */
  finish(): AnswerDelta[] {
    return [...this.#read(this.#text.flush()), ...this.#release(), ...this.#endCall(false)];
  }

  #read(text: string): AnswerDelta[] {
    if (text === "") return [];
    return this.#reader === undefined ? this.#show(this.#stops.push(text)) : this.#reader.push(text);
  }

  #show(text: string): AnswerDelta[] {
    this.#content += text;
    return text === "" ? [] : [{ kind: "content", text }];
  }

  #release(): AnswerDelta[] {
    return this.#reader === undefined ? this.#show(this.#stops.flush()) : [];
  }

  #openCall(): AnswerDelta[] {
    this.#reader = new CallReader(this.#calls.length);
    return [];
  }

  #endCall(closed: boolean): AnswerDelta[] {
    if (this.#reader === undefined) return [];
    const ended = this.#reader.finish(closed);
    this.#reader = undefined;
    if (ended === undefined) return [];
    this.#calls.push(ended.call);
    return ended.deltas;
  }
}
