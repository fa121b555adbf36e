/** The prompts of one turn, which differ by the notes that stand in them: a note never costs a request its answer. */
import { agreementTo } from "../../shared/asking.ts";
import { withGuidance } from "../../shared/chat.ts";
import type { ServedNote } from "../../shared/note.ts";
import type { Policy } from "../policy/policy.ts";
import type { TurnSampling } from "../session/port.ts";
import { isRead, type YieldingCompletion } from "../yielding/yielding-turn.ts";
import { overflow } from "./context.ts";
import { encodeAll, encodeWithin } from "./encoded-prompt.ts";
import type { EngineTurn } from "./port.ts";

const ANSWER_ROOM = 128; // that notes leave where the client sets no limit: a call, or a few sentences

type NotedPrompt = Pick<YieldingCompletion, "notes" | "promptTokens">;

export class NotedPrompts {
  readonly #policy: Policy;
  readonly #turn: EngineTurn;
  /** Tokens by the notes that are read in them: others leave a prompt as it is. */
  readonly #known = new Map<string, readonly number[]>();

  constructor(policy: Policy, turn: EngineTurn) {
    this.#policy = policy;
    this.#turn = turn;
  }

  /** With as many of the notes as leave room for an answer, the first ones first. */
  of(notes: readonly ServedNote[]): NotedPrompt {
    const promptTokens = this.#known.get(keyOf(notes));
    if (promptTokens !== undefined) return { notes, promptTokens };
    const encoded = encodeWithNotes(this.#policy, { ...this.#turn, notes });
    this.#known.set(keyOf(encoded.notes), encoded.promptTokens);
    return encoded;
  }

  /** The same, gone on with a question and a yes to it; undefined where that would cost a note its place or the answer its room. */
  after(question: string, notes: readonly ServedNote[]): NotedPrompt | undefined {
    const messages = [...this.#turn.messages, ...agreementTo(question)];
    const encoded = encodeWithNotes(this.#policy, { ...this.#turn, messages, notes });
    const fits = encoded.promptTokens.length <= roomOf(this.#policy, this.#turn.sampling);
    return fits && encoded.notes.length === this.of(notes).notes.length ? encoded : undefined;
  }

  /** @throws {input/invalid} where notes were left out, or too little is left for an answer */
  checkRoom({ notes, promptTokens: { length: promptCount } }: NotedPrompt): void {
    const { contextTokens } = this.#policy;
    const left = this.#turn.notes.filter(isRead).length - notes.filter(isRead).length;
    if (left === 0 && promptCount <= roomOf(this.#policy, this.#turn.sampling)) return;
    const got = `${promptCount} in the prompt, ${left} notes beside it, and room for an answer`;
    throw overflow(this.#turn, { contextTokens, promptCount, got });
  }
}

function encodeWithNotes(
  policy: Policy,
  { messages, tools, notes, sampling }: Pick<EngineTurn, "messages" | "tools" | "notes" | "sampling">,
): NotedPrompt {
  const room = roomOf(policy, sampling);
  const shown = messages.some(({ role }) => role === "user") ? notes : [];
  // What a call is held to need not be read, and this base was never shown it: it takes no room.
  const aspects = shown.filter((note) => !isRead(note));
  const read = shown.filter(isRead);
  for (let count = read.length; count > 0; count -= 1) {
    const kept = [...read.slice(0, count), ...aspects];
    const texts = read.slice(0, count).map(({ text }) => text);
    const prompt = { messages: withGuidance(messages, { notes: texts }), tools, addGenerationPrompt: true };
    const encoded = encodeWithin(policy, prompt, room);
    if (encoded.tokens !== undefined && encoded.tokens.length <= room) return { notes: kept, promptTokens: encoded.tokens };
  }
  return { notes: aspects, promptTokens: encodeAll(policy, { messages, tools, addGenerationPrompt: true }) };
}

/** Tokens that an answer leaves to a prompt of which not all has to be there. */
function roomOf({ contextTokens }: Policy, { answerLimit }: Pick<TurnSampling, "answerLimit">): number {
  return contextTokens - (answerLimit?.tokens ?? ANSWER_ROOM);
}

function keyOf(notes: readonly ServedNote[]): string {
  return JSON.stringify(notes.filter(isRead).map(({ noteId }) => noteId));
}
