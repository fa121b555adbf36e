/**
 * An answer of a policy that may be under notes. A note is a default: before a call that it is about goes out, the policy is
 * asked without notes, and a note that what was said overrules is taken out of the prompt. Text goes out as it comes.
 */
import { type WrittenAnswer, yieldingNotes } from "../../shared/yielding.ts";
import type { ServedNote } from "../../shared/note.ts";
import type { CompletionRequest, CompletionStep, EndStep } from "../policy/completer.ts";
import type { Policy } from "../policy/policy.ts";

/** `notes` are those that stand in the prompt. */
export type NotedCompletion = CompletionRequest & { readonly notes: readonly ServedNote[] };

export type NotedTurn = {
  readonly policy: Policy;
  readonly completion: NotedCompletion;
  /** The same with fewer notes in its prompt. */
  readonly completionUnder: (notes: readonly ServedNote[]) => NotedCompletion;
};

export class NotedAnswer {
  readonly #prepared: NotedTurn;
  readonly #signal: AbortSignal;
  #completion: NotedCompletion;

  constructor(prepared: NotedTurn, signal: AbortSignal) {
    this.#prepared = prepared;
    this.#signal = signal;
    this.#completion = prepared.completion;
  }

  /** What the steps answer, once they have come to their end. */
  get completion(): NotedCompletion {
    return this.#completion;
  }

  async *steps(): AsyncGenerator<CompletionStep, void, void> {
    if (this.#completion.notes.length === 0) {
      yield* this.#complete(this.#completion);
      return;
    }
    const held: CompletionStep[] = [];
    let shown = false;
    for await (const step of this.#complete(this.#completion)) {
      shown ||= step.deltas.some(({ kind }) => kind === "content"); // what a client has seen stays
      held.push(step);
      if (shown) yield* held.splice(0);
    }
    if (!shown) yield* await this.#settle(held);
  }

  /** The answer that goes out for one that begins with a call. */
  async #settle(under: readonly CompletionStep[]): Promise<readonly CompletionStep[]> {
    const { notes } = this.#completion;
    const written = readSteps(under);
    if (!notes.some(({ tool }) => tool === written.call?.name)) return under;
    const plain = this.#prepared.completionUnder([]);
    const without = await this.#collect(plain);
    const yielding = yieldingNotes(this.#prepared.policy.tokenizer, notes, { under: written, without: readSteps(without) });
    if (yielding.length === 0) return under;
    const kept = notes.filter((note) => !yielding.includes(note));
    this.#completion = kept.length === 0 ? plain : this.#prepared.completionUnder(kept);
    return kept.length === 0 ? without : this.#collect(this.#completion);
  }

  async #collect(completion: NotedCompletion): Promise<CompletionStep[]> {
    const steps: CompletionStep[] = [];
    for await (const step of this.#complete(completion)) steps.push(step);
    return steps;
  }

  #complete(completion: NotedCompletion): AsyncGenerator<CompletionStep, void, void> {
    return this.#prepared.policy.complete({ ...completion, signal: this.#signal });
  }
}

function readSteps(steps: readonly CompletionStep[]): WrittenAnswer {
  const tokens = steps.flatMap((step) => (step.kind === "token" ? [step] : []));
  const end = steps.find((step): step is EndStep => step.kind === "end");
  return { tokens: tokens.map(({ tokenId }) => tokenId), logProbs: tokens.map(({ logProb }) => logProb), call: firstCall(end) };
}

function firstCall(end: EndStep | undefined): WrittenAnswer["call"] {
  const [call] = end?.calls ?? [];
  if (call === undefined || !call.valid) return undefined;
  const parsed: unknown = JSON.parse(call.arguments); // a valid call's arguments are a JSON object
  return { name: call.name, arguments: { ...(parsed as Record<string, unknown>) } };
}
