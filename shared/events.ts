/**
 * The event log's entries: what the edge records and the trainer pulls. `eventId` is the natural key, so a second
 * delivery is recognised; `seq` is given by the log, grows monotonically, and is the trainer's cursor.
 */
import { z } from "zod";
import { hintIdOf } from "./hint-id.ts";
import { HeldDefault } from "./learned-defaults.ts";
import { PromptNote } from "./note.ts";
import { Digest, GivenRefusals } from "./policy.ts";
import { AssistantMessage, ChatMessage, ToolDefinition } from "./chat.ts";
import { AnswerForm } from "./grammar/answer-form.ts";
import { Id } from "./wire-limits.ts";

/** How the tokens of a turn were drawn. Log-probs are of this distribution. */
export const Sampling = z.object({
  seed: z.number().int(),
  temperature: z.number(),
  topP: z.number(),
  /** Whether a token mask shaped the distribution, and what, with the turn's tools, it was made of; turns of before it was recorded have none. */
  masked: z.boolean(),
  form: AnswerForm.optional(),
});
export type Sampling = z.infer<typeof Sampling>;

export const Rollout = z.object({
  promptTokens: z.array(z.number().int()),
  responseTokens: z.array(z.number().int()),
  /** Natural log-prob of each response token as reported when sampled; one per response token. */
  rolloutLogProbs: z.array(z.number()),
  sampling: Sampling,
  /**
   * Of an engine that does not tell enough for importance ratios: why, and how many tokens it says there were. What it did not tell
   * is left empty above; nothing is guessed.
   */
  unusable: z.object({ reason: z.string(), promptTokens: z.number().int().min(0), responseTokens: z.number().int().min(0) }).optional(),
});
export type Rollout = z.infer<typeof Rollout>;

export const FinishReason = z.enum(["stop", "length", "tool_calls"]);

/** How the session recognised the turn: see edge/session/pair.ts. */
export const TurnOrigin = z.enum(["opening", "continuation", "regeneration", "branch", "ambiguous"]);
export type TurnOrigin = z.infer<typeof TurnOrigin>;

export const TurnFinished = z.object({
  kind: z.literal("turn:finished"),
  completionId: z.string(),
  turnIndex: z.number().int(),
  turnKind: z.enum(["main", "side"]),
  origin: TurnOrigin,
  /** The line of the version that answered, where it is not the event's own: a user who has no version yet gets the shared line's. */
  policyLine: z.string().optional(),
  policyVersion: z.number().int(),
  policyDigest: z.string(),
  /** The version whose answer it is, where another than the bound one answers for the tool, or a default that was learned yielded to what the user said. */
  yieldedTo: z.strictObject({ line: z.string(), version: z.number().int().min(0) }).optional(),
  /** What the answer was held to beside notes: defaults of the bound version, what was said in their place, and what the user had just put right; absent where none. */
  heldTo: z.array(HeldDefault).optional(),
  /** The policy's own question, where the user is not to be asked: behind the conversation the prompt has it and a yes that nobody gave. */
  agreedTo: z.string().optional(),
  /** Of the base that answered, whose tokens the rollout has; absent in events of before there was more than one. */
  baseDigest: z.string().optional(),
  /** The whole conversation that the policy answered, agent instructions included, as rendered into the prompt. */
  messages: z.array(ChatMessage),
  /** What stood in the prompt beside it, at the last user message, or at the yes that nobody gave; absent where nothing did. */
  notes: z.array(PromptNote).optional(),
  tools: z.array(ToolDefinition),
  answer: ChatMessage,
  finishReason: FinishReason,
  rollout: Rollout,
  /** As the client gave it; absent where it gave none. */
  metadata: z.record(z.string(), z.string()).optional(),
  /** False where the agent's learning was switched off when it was served: such a turn is never trained on, then or later. */
  learning: z.literal(false).optional(),
});

export const TurnAborted = z.object({
  kind: z.literal("turn:aborted"),
  completionId: z.string(),
  /** Absent in events of before it was recorded. */
  turnIndex: z.number().int().optional(),
  policyLine: z.string().optional(),
  policyVersion: z.number().int(),
  reason: z.string(),
});

/** Everything that followed a turn: the user's message, or all the tool results. */
export const NextStateArrived = z.object({
  kind: z.literal("nextState:arrived"),
  completionId: z.string(),
  messages: z.array(ChatMessage),
});

export const FeedbackGiven = z.object({
  kind: z.literal("feedback:given"),
  completionId: z.string(),
  score: z.number().min(-1).max(1).optional(),
  correction: z.string().optional(),
  /** The answer as it should have been. */
  answer: AssistantMessage.optional(),
  comment: z.string().optional(),
  /** Whoever looks after the agent, where it was not given with the user's key. */
  by: z.string().optional(),
});

export const SessionClosed = z.object({ kind: z.literal("session:closed"), reason: z.enum(["idle", "done"]) });

/** What a vote of several calls to a server came to and cost. */
export const Poll = z.object({
  model: z.string(),
  /** Of the instructions that it was asked by, trainer/judge/llm/instructions.txt as it was then; older records have none. */
  promptDigest: Digest.optional(),
  /** Votes asked for. */
  asked: z.number().int(),
  /** Votes and hints that could not be counted, by reason. */
  failed: z.record(z.string(), z.number().int()),
  /** Share of the counted votes that are not the most frequent one, 0 to 1. */
  disagreement: z.number(),
  /** HTTP requests, repeated ones included. */
  requests: z.number().int(),
  /** As the server told; null where an answer did not tell. */
  promptTokens: z.number().int().nullable(),
  completionTokens: z.number().int().nullable(),
});
export type Poll = z.infer<typeof Poll>;

/** Beside the first hint at most so many of one judgement. */
export const MOST_FURTHER = 3;

export const JudgementMade = z.object({
  kind: z.literal("judgement:made"),
  /** The event that was judged. */
  subject: z.string(),
  reward: z.number().int().min(-1).max(1),
  votes: z.array(z.number().int()),
  judge: z.enum(["verifiable", "embedded", "llm", "feedback"]),
  hint: z.string().optional(),
  /** The tool whose parameter the hint names, or that the supplied answer calls. */
  tool: z.string().optional(),
  /** What the tool's call held for it, where it held anything. */
  held: z.string().optional(),
  /** What else the same words say should have been different; absent where nothing. */
  further: z
    .array(z.object({ hint: z.string(), tool: z.string(), held: z.string().optional() }))
    .max(MOST_FURTHER)
    .optional(),
  /** What, beside a hint, an update may learn from it. */
  teaches: z.enum(["answer", "reward"]).optional(),
  /** Why a rejected answer gave no hint. */
  refused: z.object({ code: z.string(), detail: z.string() }).optional(),
  /** Where a server was asked. */
  poll: Poll.optional(),
});

export type JudgementMade = z.infer<typeof JudgementMade>;

/** Every hint of a judgement under its id, the first one first. */
export function hintsOf({
  subject,
  hint,
  tool,
  held,
  further = [],
}: Pick<JudgementMade, "subject" | "hint" | "tool" | "held" | "further">): {
  readonly hintId: string;
  readonly hint: string;
  readonly tool: string | undefined;
  readonly held: string | undefined;
}[] {
  const hints = hint === undefined ? [] : [{ hint, tool, held }, ...further];
  return hints.map((each, at) => ({ hintId: hintIdOf(subject, at + 1), hint: each.hint, tool: each.tool, held: each.held }));
}

/** What is left of an event whose user was deleted: its place. */
export const EventDeleted = z.object({ kind: z.literal("event:deleted") });

/** From here on nothing of the user that came before may be learned from, wherever it is still remembered. */
export const UserDeleted = z.object({ kind: z.literal("user:deleted") });

export const EventPayload = z.discriminatedUnion("kind", [
  TurnFinished,
  TurnAborted,
  NextStateArrived,
  FeedbackGiven,
  SessionClosed,
  JudgementMade,
  EventDeleted,
  UserDeleted,
]);
export type EventPayload = z.infer<typeof EventPayload>;
export type TurnAborted = z.infer<typeof TurnAborted>;
export type TurnFinished = z.infer<typeof TurnFinished>;

/** The version that sampled a turn's answer. */
export function sampledBy({
  line,
  payload: { policyLine = line, policyVersion, yieldedTo },
}: {
  line: string;
  payload: Pick<TurnFinished, "policyLine" | "policyVersion" | "yieldedTo">;
}): { line: string; version: number } {
  return yieldedTo ?? { line: policyLine, version: policyVersion };
}
export type NextStateArrived = z.infer<typeof NextStateArrived>;
export type FeedbackGiven = z.infer<typeof FeedbackGiven>;

/** Who and where, on every event. `user` is already scoped to its API key. */
export const EventHeader = z.object({
  eventId: z.string(),
  agent: z.string(),
  line: z.string(),
  sessionId: z.string(),
  turnId: z.string(),
  user: z.string(),
  /** The API key of the request; absent in events of before keys were recorded. */
  keyId: z.string().optional(),
  createdAt: z.iso.datetime(),
});
export type EventHeader = z.infer<typeof EventHeader>;

/** An event before the log has numbered it. */
export const NewEvent = EventHeader.extend({ payload: EventPayload });
export type NewEvent = z.infer<typeof NewEvent>;

export const LoggedEvent = NewEvent.extend({ seq: z.number().int() });
export type LoggedEvent = z.infer<typeof LoggedEvent>;

/** A page of the feed: events with `seq > cursor` asked for, in order; `cursor` is the last one's seq. */
export const FeedPage = z.object({ events: z.array(LoggedEvent), cursor: z.number().int() });
export type FeedPage = z.infer<typeof FeedPage>;

/** The id of the event that says how a turn went: one each. */
export function finishedIdOf(turnId: string): string {
  return `${turnId}/finished`;
}

/** The id of an event's judgement: one each. */
export function judgementIdOf(eventId: string): string {
  return `${eventId}/judged`;
}

export const CursorAdvance = z.object({
  from: z.number().int(),
  to: z.number().int(),
  refused: GivenRefusals,
});
export type CursorAdvance = z.infer<typeof CursorAdvance>;

/** An event's header as a trainer may write it: an id names rows and files. */
const GivenHeader = EventHeader.extend({ eventId: Id, agent: Id, line: Id, sessionId: Id, turnId: Id, user: Id, keyId: Id.optional() });

export const JudgementBatch = z.object({
  judgements: z.array(GivenHeader.extend({ payload: JudgementMade.extend({ subject: Id }) })).max(100),
});
export type JudgementBatch = z.infer<typeof JudgementBatch>;
