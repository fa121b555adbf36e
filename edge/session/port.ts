/**
 * What a SessionObject is asked and what it answers over RPC. Errors do not survive RPC as classes, so outcomes are
 * unions; an answer travels as a stream of deltas, one JSON object per line.
 */
import type { AssistantMessage, ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import type { EngineSettings } from "../../shared/engine.ts";
import type { ErrorRecord } from "../../shared/errors.ts";
import type { AnswerForm } from "../../shared/grammar/answer-form.ts";
import type { ServedNote } from "../../shared/note.ts";
import type { ServedPolicy } from "../../shared/policy.ts";
import type { Env } from "../env.ts";
import type { Runners } from "../tools/runner.ts";
import type { RetryFacts } from "./retry.ts";
import type { Truncation } from "./shortened.ts";
import type { Scope } from "./transcript.ts";

/** A session: whose it is, and its name within that scope. `sessionId` is a digest of both and names the object. */
export type SessionIdentity = Scope & { readonly sessionId: string; readonly name: string; readonly line: string };

/** The version a turn is bound to when it starts. */
export type TurnPolicy = Readonly<ServedPolicy>;

/** What answers now, for the session to choose from. */
export type OfferedPolicies = {
  readonly stable: TurnPolicy;
  readonly canary: { readonly policy: TurnPolicy; readonly share: number } | null;
  /** By line, versions that were taken back. */
  readonly rolledBack: Readonly<Record<string, readonly number[]>>;
  /** The base that the agent's engine serves; null where the embedded policy answers. */
  readonly engineBase: string | null;
};

export type TurnSampling = AnswerForm & {
  /** Undefined: drawn when the turn opens. */
  readonly seed: number | undefined;
  readonly temperature: number;
  readonly topP: number;
  readonly stop: readonly string[];
  /** Most tokens of the answer and the parameter that says so; undefined: what is left of the context. */
  readonly answerLimit:
    | {
        readonly param: "max_tokens" | "max_completion_tokens" | "max_output_tokens";
        readonly tokens: number;
        /** What is left of a limit that a turn before has been held to; the context may leave less. */
        readonly rest?: boolean;
      }
    | undefined;
  readonly logprobs: boolean;
  readonly topLogprobs: number;
};

export type TurnRequest = {
  readonly session: SessionIdentity;
  readonly turnKind: "main" | "side";
  /** The conversation as the client sent it. */
  readonly messages: readonly ChatMessage[];
  /** Chain digest after each message. */
  readonly digests: readonly string[];
  /** The agent's, put before the client's own system message. */
  readonly instructions: string;
  readonly tools: readonly ToolDefinition[];
  /** How the edge runs those of the tools that are its to run. */
  readonly runners: Runners;
  /** How often in one answer it runs tools before the policy has to answer. */
  readonly maxToolSteps: number;
  /** Put at the last user message, as far as the context has room for them; the most telling first. */
  readonly notes: readonly ServedNote[];
  readonly policies: OfferedPolicies;
  /** The agent's, for versions of its base. */
  readonly engine: EngineSettings;
  readonly sampling: TurnSampling;
  readonly truncation: Truncation;
  readonly metadata: Readonly<Record<string, string>>;
  /** False: nothing but digests is kept. */
  readonly store: boolean;
  /** What `recall` gives back beside messages and answer: JSON, opaque here. Null: the answer is not recalled by its id. */
  readonly asked: string | null;
  /** Whether the agent learns; what is served while it does not is never trained on. */
  readonly learning: boolean;
  /** The turn that the client says it follows; undefined where its transcript alone tells. */
  readonly follows: string | undefined;
  /** Two open sessions hold this conversation. */
  readonly ambiguous: boolean;
  /** The session closes after this turn. */
  readonly closes: boolean;
  readonly retry: RetryFacts;
  /** Only a retry is answered; anything else is `new`. */
  readonly retryOnly: boolean;
};

/** What is known of an answer before its first token. */
export type TurnHead = {
  readonly completionId: string;
  readonly createdAt: number;
  readonly policyLine: string;
  readonly policyVersion: number;
  readonly policyDigest: string;
};

/** As the API reports a token; `bytes` are UTF-8 and need not be a whole character. */
export type TokenLogprob = { readonly token: string; readonly logprob: number; readonly bytes: readonly number[] };
export type ContentLogprob = TokenLogprob & { readonly top_logprobs: readonly TokenLogprob[] };

/** A piece of a turn's answer. The last one is `finished` or `failed`. */
export type TurnDelta =
  | { readonly kind: "content"; readonly text: string; readonly logprobs?: readonly ContentLogprob[] }
  /** `runner`: the label of who runs it on this side; absent where the client does. */
  | { readonly kind: "call"; readonly index: number; readonly id: string; readonly name: string; readonly runner?: string }
  | { readonly kind: "arguments"; readonly index: number; readonly text: string }
  /** What came of a call that was run on this side. */
  | { readonly kind: "result"; readonly index: number; readonly output: string; readonly failed: boolean }
  /** Tools have run, and the next turn of the same answer begins. */
  | { readonly kind: "step" }
  | FinishedDelta
  | { readonly kind: "failed"; readonly error: ErrorRecord };
export type FinishedDelta = {
  readonly kind: "finished";
  readonly finishReason: "stop" | "length" | "tool_calls";
  readonly promptTokens: number;
  /** Prompt tokens that the KV cache held. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** Epoch milliseconds; absent in records of before it was kept. */
  readonly finishedAt?: number;
};

export type AnswerResult =
  | { status: "answering"; head: TurnHead; deltas: ReadableStream<Uint8Array> }
  /** Not a retry of anything in this session. */
  | { status: "new" }
  /** `claimed`: it has a turn all the same that holds the claim under which the request came. */
  | { status: "refused"; error: ErrorRecord; claimed: boolean };

export type FeedbackRequest = {
  readonly completionId: string;
  /** The key that asked for the completion, or a person who looks after the agent. */
  readonly by: { readonly keyId: string } | { readonly agent: string; readonly actor: string };
  readonly score?: number | undefined;
  readonly correction?: string | undefined;
  readonly answer?: AssistantMessage | undefined;
  readonly comment?: string | undefined;
};
export type FeedbackResult =
  | { status: "recorded"; eventId: string }
  | { status: "unknown" }
  /** `most` times it was given, each time another than before; once more is not taken. */
  | { status: "full"; most: number };

/** A finished turn by its id, for who asked for it. */
export type RecallResult =
  | {
      status: "recalled";
      scope: Scope;
      sessionId: string;
      turnId: string;
      head: TurnHead;
      messages: readonly ChatMessage[];
      asked: string;
      deltas: readonly TurnDelta[];
    }
  /** It was answered, and nothing but digests was kept of it. */
  | { status: "unstored" }
  | { status: "unknown" };

export type ForgetResult = { status: "forgotten" } | Exclude<RecallResult, { status: "recalled" }>;

export interface SessionPort {
  /** The session's name within its scope; undefined where it was never begun or is another's. */
  nameFor(scope: Scope): Promise<string | undefined>;
  answer(request: TurnRequest): Promise<AnswerResult>;
  recall(turn: { turnId: string; keyId: string }): Promise<RecallResult>;
  /** Makes a finished turn one that is not recalled any more, for who asked for it; the log has it as before. */
  forget(turn: { turnId: string; keyId: string }): Promise<ForgetResult>;
  /** Forgets everything, where the session is the user's or with the agent; what it still owes to the log goes with it. */
  erase(of: { user: string } | { agent: string }): Promise<void>;
  giveFeedback(request: FeedbackRequest): Promise<FeedbackResult>;
}

/** A session's object. The types of Workers RPC reject arguments with `unknown` inside (JSON schemas), hence the cast. */
export function sessionOf(env: Pick<Env, "SESSIONS">, sessionId: string): SessionPort {
  return env.SESSIONS.getByName(sessionId) as unknown as SessionPort;
}
