/**
 * Turns whose engine told no token ids, read from the text that the log has of them: in the tokens of the base's own template and tokenizer.
 * An answer may be cut up otherwise than it was sampled, so nothing that has a ratio or an advantage is computed from it (`untold`). A
 * prompt that the engine counted another number of tokens in was rendered otherwise there, and what is learned would not be what is asked.
 */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { AppError } from "../../shared/errors.ts";
import type { TurnFinished } from "../../shared/events.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { untold } from "./exchange.ts";

type Conversation = { readonly messages: readonly ChatMessage[]; readonly tools: readonly ToolDefinition[] };

/** How many tokens an engine that told no ids says there were in a turn's prompt; undefined where it told them, states none, or read more than the conversation. */
export function statedPrompt(turn: TurnFinished): number | undefined {
  const { rollout, notes, agreedTo } = turn;
  if (untold(turn) === undefined || notes !== undefined || agreedTo !== undefined) return undefined;
  return rollout.unusable?.promptTokens || undefined; // no prompt is empty: 0 is an engine without counts
}

/** Why a conversation is not what its engine read, by the number of tokens that this stated; undefined where nothing says so. */
export function readOtherwise(
  tokenizer: Tokenizer,
  { messages, tools }: Conversation,
  stated: number | undefined,
): { code: "turn/template"; detail: string } | undefined {
  if (stated === undefined) return undefined;
  const written = lengthOf(tokenizer, { messages, tools });
  if (written === stated) return undefined;
  const got = typeof written === "number" ? `one of ${written}` : `none: ${written}`;
  return {
    code: "turn/template",
    detail: `a prompt of ${stated} tokens expected, as its engine read it, and the base's chat template writes ${got}`,
  };
}

/** In tokens, or why the template does not write it. */
function lengthOf(tokenizer: Tokenizer, conversation: Conversation): number | string {
  const tokens = encoded(tokenizer, { ...conversation, addGenerationPrompt: true });
  return typeof tokens === "string" ? tokens : tokens.length;
}

/** The tokens, or what the template says of a conversation that it does not write. */
function encoded(tokenizer: Tokenizer, conversation: Parameters<Tokenizer["encodePrompt"]>[0]): number[] | string {
  try {
    return tokenizer.encodePrompt(conversation);
  } catch (error) {
    if (error instanceof AppError && error.code === "input/unsupported") return error.message;
    throw error;
  }
}

/** A prompt, and an answer to it as the template writes one, its end token last; undefined where the template writes answers otherwise than it asks for them, or refuses to. */
export function encodeAnswer(
  tokenizer: Tokenizer,
  { messages, tools }: Conversation,
  answer: ChatMessage,
): { prompt: number[]; answer: number[] } | undefined {
  const prompt = encoded(tokenizer, { messages, tools, addGenerationPrompt: true });
  const whole = encoded(tokenizer, { messages: [...messages, answer], tools, addGenerationPrompt: false });
  if (typeof prompt === "string" || typeof whole === "string") return undefined;
  const tokens = whole.slice(prompt.length, whole.lastIndexOf(tokenizer.eosId) + 1);
  return prompt.some((token, index) => whole[index] !== token) || tokens.length === 0 ? undefined : { prompt, answer: tokens };
}

/** The tokens that a turn was answered in; those of its text where nobody told them, undefined where the template does not write it. */
export function givenTokens(tokenizer: Tokenizer, turn: TurnFinished): readonly number[] | undefined {
  if (untold(turn) === undefined) return turn.rollout.responseTokens;
  const given = encodeAnswer(tokenizer, turn, turn.answer)?.answer;
  // What was cut off has not ended.
  return turn.finishReason === "length" ? given?.slice(0, -1) : given;
}
