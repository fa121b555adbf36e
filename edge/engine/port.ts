/** The port through which a session gets its answers, whoever makes them. */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import type { HeldDefault } from "../../shared/learned-defaults.ts";
import type { PromptNote, ServedNote } from "../../shared/note.ts";
import type { AnswerDelta, EndStep, TokenLogProb, TokenStep } from "../policy/completion.ts";
import type { TurnPolicy, TurnSampling } from "../session/port.ts";

/** What is to be answered. */
export type EngineTurn = {
  /** The agent's instructions included. */
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** Shown where the engine's prompts have a place for them, as far as there is room; the most telling first. */
  readonly notes: readonly ServedNote[];
  readonly sampling: TurnSampling;
  readonly policy: TurnPolicy;
  readonly seed: number;
  /** The conversation whose KV cache is continued, where the engine keeps one by name. */
  readonly cacheKey: string;
  /** The API key that asks: where answers wait for each other, keys take turns. */
  readonly keyId: string;
  /** A turn of an answer that has begun: it is not refused because many wait. */
  readonly goesOn: boolean;
  /** Whether less of the conversation could be sent instead: then it is refused where one of the notes, or an answer of more than a few words, has no room beside it. */
  readonly isShortenable: boolean;
};

/** Log-prob of a token for the client's eyes, with its alternatives. */
export type ShownLogProb = Omit<TokenLogProb, "tokenId"> & { readonly topLogProbs: readonly Omit<TokenLogProb, "tokenId">[] };

/** Some of an answer, as an engine elsewhere sends it: any number of tokens. */
export type PieceStep = {
  readonly kind: "piece";
  readonly deltas: readonly AnswerDelta[];
  /** Of the piece's tokens, where the client asked for them. */
  readonly logProbs: readonly ShownLogProb[];
};

/** What an engine elsewhere told of an answer's tokens, checked against its own counts. */
export type EngineReport = {
  /** Empty where it did not tell all of them. */
  readonly promptTokens: readonly number[];
  readonly responseTokens: readonly number[];
  /** One per response token and of the distribution sampled from, else none. */
  readonly rolloutLogProbs: readonly number[];
  readonly responseCount: number;
  /** Why this cannot stand in importance ratios; undefined where it can. */
  readonly unusable: string | undefined;
};

/** The end has a report where the engine is elsewhere. */
export type AnswerEnd = EndStep & { readonly report?: EngineReport };
export type AnswerStep = TokenStep | PieceStep | AnswerEnd;

/** What an answer was made of, known once it has come to its end. */
export type Prompted = {
  /** Those that stood in the prompt. */
  readonly notes: readonly PromptNote[];
  /** What the answer was held to beside notes: defaults of the bound version, what was said in their place, and what the user had just put right. */
  readonly heldTo: readonly HeldDefault[];
  /** The policy's own question, with which the prompt goes on, and with a yes that nobody gave. */
  readonly agreedTo?: string | undefined;
  /** The encoded prompt; undefined where the engine encodes it. */
  readonly promptTokens: readonly number[] | undefined;
  /** Under which the answer was drawn; undefined where it is the request's. */
  readonly toolChoice?: TurnSampling["toolChoice"];
  /** Where it is another version's answer: of a tool that the bound one has learned nothing of since, because other arguments are as before, or because a default has yielded. */
  readonly yieldedTo?: { readonly line: string; readonly version: number } | undefined;
};

/** Of an engine elsewhere: its template has no place for notes, and it encodes by itself. */
export const UNKNOWN_PROMPT: Prompted = { notes: [], heldTo: [], promptTokens: undefined };

export type EngineAnswer = {
  /**
   * Any number of steps and one end. Ending the iteration early, or the signal, stops the work wherever it is done.
   * @throws {session/aborted} once the signal has fired, {upstream/…} where an engine fails
   */
  readonly steps: AsyncGenerator<AnswerStep, void, void>;
  readonly prompted: () => Prompted;
};

/** An answer that can be made: everything that may be refused was checked. */
export type PreparedAnswer = { readonly answer: (signal: AbortSignal) => EngineAnswer };

export interface Engine {
  /** @throws {input/invalid} {input/unsupported} for a turn that it cannot answer, {auth/limited} {policy/busy} where too many wait */
  prepare(turn: EngineTurn): Promise<PreparedAnswer>;
}
