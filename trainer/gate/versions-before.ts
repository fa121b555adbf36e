/**
 * What would go out for an answer by the rule that the edge goes by, too (shared/yield-or-hold.ts): a default yields to what was said, and is held where
 * nobody said otherwise; and what was not learned about is as without anything learned. Versions that knew nothing of it are asked, each for an answer of its own, so that only what seems lost is looked at so closely.
 */
import { invariant } from "../../shared/assert.ts";
import { FREE_FORM } from "../../shared/grammar/answer-form.ts";
import type { Held } from "../../shared/held-notes.ts";
import { withOwnArguments } from "../../shared/own-arguments.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { yieldOrHold } from "../../shared/yield-or-hold.ts";
import type { Heard, WrittenAnswer } from "../../shared/yielding.ts";
import type { EngineCalls } from "../engine/protocol.ts";
import { readAnswer, type ReadAnswer } from "../teacher/answer-text.ts";
import { filled, type GateDefault, type LoadBefore } from "./carried.ts";

type Files = Parameters<LoadBefore>[0];
type Parts = {
  readonly engine: Pick<EngineCalls, "generate" | "loadAdapter" | "dropAdapter">;
  readonly tokenizer: Tokenizer;
  readonly maxTokens: number;
  /** Absent: none can be asked. */
  readonly load: LoadBefore | undefined;
};
const MOST_LOADED = 4; // versions: each takes room for its gradient, too

/** In the engine under a name, or the bare base. */
type Loaded = { readonly adapter?: string };
type Written = ReadAnswer & WrittenAnswer;

export class VersionsBefore {
  readonly #parts: Parts;
  /** Loaded longest ago first. */
  readonly #loaded = new Map<string, Loaded | undefined>();
  #names = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What goes out for the answer of a version that carries these defaults. @param options.outside who answers where nothing was learned; absent where nobody else does */
  async served(
    answer: ReadAnswer,
    { carried, heard, outside }: { carried: readonly GateDefault[]; heard: Heard; outside: GateDefault["before"] },
  ): Promise<Pick<ReadAnswer, "calls" | "text">> {
    const said = new Map<string, Written | undefined>();
    const askOnce = async (files: Files): Promise<Written | undefined> => {
      const key = keyOf(files);
      if (!said.has(key)) said.set(key, await this.#ask(files, heard));
      return said.get(key);
    };
    const ask = async ({ before }: GateDefault): Promise<Written | undefined> =>
      before === undefined ? undefined : askOnce(before.adapter);
    const askBase = (): Promise<Written | undefined> => askOnce(null);
    type Called = ReadAnswer & Pick<WrittenAnswer, "call">;
    const hold = async (passed: readonly Held[], under: Called): Promise<Called> => withCall(filled(under, passed, heard.tools));
    const rules = { defaults: carried, standing: carried, heard, ask, askBase, hold };
    const { answer: held } = await yieldOrHold<GateDefault, Called>(this.#parts.tokenizer, withCall(answer), rules);
    if (outside === undefined) return held;
    return withOwnArguments<Called>(held, { learned: carried, heard, ask: () => askOnce(outside.adapter), hold });
  }

  /** Takes what was loaded out of the engine. */
  async drop(): Promise<void> {
    while (this.#loaded.size > 0) await this.#dropOldest();
  }

  async #ask(files: Files, { messages, tools }: Heard): Promise<Written | undefined> {
    const { engine, tokenizer, maxTokens } = this.#parts;
    const loaded = await this.load(files);
    if (loaded === undefined) return undefined;
    const [written] = await engine.generate({
      prompts: [Int32Array.from(tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true }))],
      forms: [{ tools, form: FREE_FORM }],
      maxTokens,
      stopTokens: tokenizer.endIds,
      temperature: 0,
      seed: 0,
      ...loaded,
    });
    invariant(written !== undefined, "an answer for the prompt expected");
    const tokens = [...written.tokens];
    return { ...withCall(readAnswer(tokenizer, tokens)), tokens, logProbs: written.logProbs };
  }

  /** By the name that the engine has it under, until so many others have been loaded; undefined where its files are gone. */
  async load(files: Files): Promise<Loaded | undefined> {
    const key = keyOf(files);
    if (!this.#loaded.has(key)) {
      while (this.#loaded.size >= MOST_LOADED) await this.#dropOldest();
      this.#loaded.set(key, await this.#open(files));
    }
    return this.#loaded.get(key);
  }

  async #dropOldest(): Promise<void> {
    for (const [key, loaded] of this.#loaded) {
      this.#loaded.delete(key);
      if (loaded?.adapter !== undefined) await this.#parts.engine.dropAdapter(loaded.adapter);
      return;
    }
  }

  async #open(files: Files): Promise<Loaded | undefined> {
    const { engine, load } = this.#parts;
    if (files === null) return {};
    const tensors = await load?.(files);
    if (tensors === undefined) return undefined;
    if (tensors === null) return {};
    const adapter = `gate.before.${this.#names++}`;
    await engine.loadAdapter(adapter, tensors);
    return { adapter };
  }
}

function withCall<Answer extends Pick<ReadAnswer, "calls">>(answer: Answer): Answer & Pick<WrittenAnswer, "call"> {
  return { ...answer, call: answer.calls[0] };
}

function keyOf(files: Files): string {
  return files === null ? "" : `${files.configDigest} ${files.weightsDigest}`;
}
