/** Everything that a turn needs before it opens, and every reason not to open it. */
import { type ChatMessage, type ToolDefinition, withGuidance } from "../../shared/chat.ts";
import { AppError } from "../../shared/errors.ts";
import type { ServedNote } from "../../shared/note.ts";
import type { Prompt, RenderedPrompt } from "../../shared/tokenizer.ts";
import { getArtifact } from "../artifacts.ts";
import type { Env } from "../env.ts";
import kernelModule from "../kernel/kernel.wasm";
import type { CompletionRequest, ReadFile } from "../policy/completer.ts";
import type { Policy } from "../policy/policy.ts";
import { residentPolicy } from "../policy/resident.ts";
import { newSeed } from "./identity.ts";
import type { TurnPolicy, TurnRequest } from "./port.ts";

const ANSWER_ROOM = 128; // that notes leave where the client sets no limit: a call, or a few sentences
const MAX_RECORD_BYTES = 1_500_000; // a row holds 2 MB, and the answer's tokens stand beside it

export type PreparedTurn = {
  readonly policy: Policy;
  /** The conversation as rendered into the prompt. */
  readonly messages: readonly ChatMessage[];
  readonly completion: NotedCompletion;
  /** The same with fewer notes in its prompt. */
  readonly completionUnder: (notes: readonly ServedNote[]) => NotedCompletion;
};

/** `notes` are those that stand in the prompt. */
export type NotedCompletion = CompletionRequest & { readonly notes: readonly ServedNote[] };

/** @throws {input/invalid} where prompt and answer do not fit the context, {input/unsupported} where the template cannot show them */
export async function prepareTurn(env: Env, request: TurnRequest, chosen: TurnPolicy): Promise<PreparedTurn> {
  const readFile = fileReader(env.ARTIFACTS);
  const policy = await residentPolicy({ kernelModule, baseDigest: chosen.baseDigest, readFile });
  const messages = withInstructions(request.instructions, request.messages);
  const { notes, promptTokens } = encodeWithNotes(policy, { ...request, messages });
  const maxTokens = fitContext({
    promptCount: promptTokens.length,
    answerLimit: request.sampling.answerLimit,
    contextTokens: policy.contextTokens,
  });
  checkRecord({ messages, tools: request.tools, metadata: request.metadata });
  const { temperature, topP, seed = newSeed(), stop, topLogprobs: topLogProbs } = request.sampling;
  const { toolChoice, parallelToolCalls, responseFormat } = request.sampling;
  const { policyDigest, adapter } = chosen;
  const sampling = { maxTokens, temperature, topP, seed, stop, topLogProbs };
  const form = { tools: request.tools, toolChoice, parallelToolCalls, responseFormat };
  const asked = { policyDigest, adapter, readFile, ...sampling, ...form, cacheKey: request.session.sessionId };
  const completion = { ...asked, notes, promptTokens };
  const completionUnder = (fewer: readonly ServedNote[]): NotedCompletion => ({
    ...asked,
    ...encodeWithNotes(policy, { ...request, messages, notes: fewer }),
  });
  return { policy, messages, completion, completionUnder };
}

/** As many notes as leave room for an answer, the first ones first: a note never costs a request its answer. */
function encodeWithNotes(
  policy: Policy,
  { messages, tools, notes, sampling: { answerLimit } }: Pick<TurnRequest, "messages" | "tools" | "notes" | "sampling">,
): { notes: readonly ServedNote[]; promptTokens: readonly number[] } {
  const room = policy.contextTokens - (answerLimit?.tokens ?? ANSWER_ROOM);
  const shown = messages.some(({ role }) => role === "user") ? notes.length : 0;
  for (let count = shown; count > 0; count -= 1) {
    const kept = notes.slice(0, count);
    const prompt = { messages: withGuidance(messages, { notes: kept.map(({ text }) => text) }), tools, addGenerationPrompt: true };
    const encoded = encodeWithin(policy, prompt, room);
    if (encoded.tokens !== undefined && encoded.tokens.length <= room) return { notes: kept, promptTokens: encoded.tokens };
  }
  const { tokens, atLeast } = encodeWithin(policy, { messages, tools, addGenerationPrompt: true }, policy.contextTokens);
  if (tokens === undefined)
    throw overflow({ contextTokens: policy.contextTokens, promptCount: atLeast }, `at least ${atLeast} in the prompt`);
  return { notes: [], promptTokens: tokens };
}

/** The agent's instructions stand before the client's own system text, in one system message. */
export function withInstructions(instructions: string, messages: readonly ChatMessage[]): ChatMessage[] {
  if (instructions === "") return [...messages];
  const [first, ...rest] = messages;
  if (first?.role !== "system") return [{ role: "system", content: instructions }, ...messages];
  return [{ role: "system", content: `${instructions}\n${first.content}` }, ...rest];
}

/** Encodes what may fit `room`; what cannot is seen by its length, and only how many tokens it has at least is told. */
function encodeWithin(
  { tokenizer, contextTokens, longestTokenBytes }: Policy,
  prompt: Prompt,
  room: number,
): { tokens: number[] | undefined; atLeast: number } {
  // A message, a tool and a parameter take a token at least, and a token is at most `longestTokenBytes` of text. The parts are counted
  // first: what a template does with tens of thousands of them takes longer than anybody waits, and a megabyte takes seconds to encode.
  const parts = prompt.messages.length + (prompt.tools ?? []).reduce((sum, tool) => sum + 1 + parameterCount(tool), 0);
  if (parts > contextTokens) return { tokens: undefined, atLeast: parts };
  const { text, encode } = render(tokenizer, prompt);
  const atLeast = Math.ceil(text.length / longestTokenBytes);
  return { tokens: atLeast > room ? undefined : encode(), atLeast };
}

function parameterCount({ function: { parameters } }: ToolDefinition): number {
  const properties = parameters?.["properties"];
  return typeof properties === "object" && properties !== null ? Object.keys(properties).length : 0;
}

/** @throws {input/unsupported} where the base's chat template fails on the conversation */
function render(tokenizer: Policy["tokenizer"], prompt: Prompt): RenderedPrompt {
  try {
    return tokenizer.renderPrompt(prompt);
  } catch (cause) {
    const param = prompt.tools === undefined || prompt.tools.length === 0 ? "messages" : "tools";
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AppError("input/unsupported", `${param}: what the base's chat template can show expected; it says: ${reason}`, {
      details: { param },
      cause,
    });
  }
}

/** What is recorded of a turn must fit a row. Numbers may take many more characters than the client wrote. @throws {input/tooLarge} */
function checkRecord(record: Pick<TurnRequest, "tools" | "metadata"> & { messages: readonly ChatMessage[] }): void {
  const { length } = new TextEncoder().encode(JSON.stringify(record));
  if (length > MAX_RECORD_BYTES)
    throw new AppError(
      "input/tooLarge",
      `body: at most ${MAX_RECORD_BYTES} bytes as it is recorded expected, got ${length}; shorten tools or messages`,
    );
}

/** How many tokens the answer may have: as asked for, else what is left. @throws {input/invalid} with the counts */
function fitContext({
  promptCount,
  answerLimit,
  contextTokens,
}: {
  promptCount: number;
  answerLimit: TurnRequest["sampling"]["answerLimit"];
  contextTokens: number;
}): number {
  const left = contextTokens - promptCount;
  if (left < 1) throw overflow({ contextTokens, promptCount }, `${promptCount} in the prompt and room for an answer`);
  if (answerLimit === undefined) return left;
  const { param, tokens, rest = false } = answerLimit;
  if (tokens <= left || rest) return Math.min(tokens, left);
  throw new AppError(
    "input/invalid",
    `${param}: at most ${left} expected, which a prompt of ${promptCount} leaves of ${contextTokens} tokens of context, got ${tokens}; lower it or leave it out`,
    { details: { param, code: "context_length_exceeded", promptTokens: promptCount, contextTokens } },
  );
}

function overflow({ contextTokens, promptCount }: { contextTokens: number; promptCount: number }, got: string): AppError {
  return new AppError(
    "input/invalid",
    `messages: at most ${contextTokens} tokens of context expected, got ${got}; shorten the conversation`,
    {
      details: { param: "messages", code: "context_length_exceeded", promptTokens: promptCount, contextTokens },
    },
  );
}

function fileReader(bucket: R2Bucket): ReadFile {
  return async (digest) => {
    const bytes = await getArtifact(bucket, digest);
    if (bytes === undefined) throw new AppError("upstream/failed", `file ${digest}: stored bytes expected, got none`);
    return bytes;
  };
}
