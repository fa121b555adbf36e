/**
 * The trust region beyond the agent's own tools: conversations with services that nobody has built, drawn as the base's
 * training draws them, with made-up values.
 */
import { at } from "../../../shared/assert.ts";
import type { ChatMessage, ToolDefinition } from "../../../shared/chat.ts";
import { activatedFrom, type Invocation } from "../../../shared/lora.ts";
import type { Tokenizer } from "../../../shared/tokenizer.ts";
import type { TokenBatch } from "../../engine/batch.ts";
import { SGD_TODAY, toMessages } from "../../pretrain/conversation.ts";
import { drawErrand } from "../../pretrain/errand.ts";
import { Vocabulary } from "../../pretrain/errand-tools.ts";
import { actExample, CALL_WEIGHT, type Example, FIRST_WEIGHT, teaches } from "../../pretrain/examples.ts";
import type { Random } from "../../random.ts";

const DAY_MS = 86_400_000;
const DAYS = Array.from({ length: 14 }, (_, day) => new Date(Date.parse(SGD_TODAY) + day * DAY_MS).toISOString().slice(0, 10));
const TIMES = Array.from({ length: 13 }, (_, hour) => String(8 + hour).padStart(2, "0")).flatMap((hour) => [`${hour}:00`, `${hour}:30`]);
// Days and times that people may name; everything else is made up.
const FORMS: ReadonlyMap<string, readonly string[]> = new Map([...DAYS, ...TIMES].map((value) => [value, []]));
const VOCABULARY = new Vocabulary({ values: new Map(), asides: [], forms: FORMS }, []);

// One shape, so one graph: B rows of T tokens with N of them to keep. A row is a conversation up to one of its answers.
export const ERRAND_ROWS = 6;
export const ERRAND_LENGTH = 512;
const POSITIONS = 192;
const MAX_KEPT = 62; // from a longer call's rows attention would be computed as far in every row of the batch
const MAX_DRAWS = 100;

/**
 * Conversations [B·T], cut to T or to a shorter context, each up to an answer that is to stay: the tokens of its call, or
 * the first of its reply, are targets [N] of weight 1. A tokenizer under which they do not fit leaves rows empty.
 */
export function drawErrandBatch(tokenizer: Tokenizer, random: Random, { contextTokens }: { contextTokens: number }): TokenBatch {
  const length = Math.min(ERRAND_LENGTH, contextTokens);
  const tokens = new Int32Array(ERRAND_ROWS * length);
  const positions = new Int32Array(POSITIONS);
  const targets = new Int32Array(POSITIONS);
  const weights = new Float32Array(POSITIONS);
  let filled = 0;
  let row = 0;
  for (let draws = 0; draws < MAX_DRAWS && row < ERRAND_ROWS; draws += 1) {
    const example = actExample(tokenizer, drawErrand(VOCABULARY, FORMS, random).conversation, length);
    if (!teaches(example)) continue;
    for (const kept of keptAnswers(example, tokenizer.invocation).slice(0, ERRAND_ROWS - row)) {
      if (kept.length > MAX_KEPT || filled + kept.length > POSITIONS) continue;
      tokens.set(example.tokens.slice(0, at(kept, kept.length - 1) + 1), row * length);
      for (const place of kept) {
        positions[filled] = row * length + place - 1;
        targets[filled] = at(example.tokens, place);
        weights[filled] = 1;
        filled += 1;
      }
      row += 1;
    }
  }
  return { rows: ERRAND_ROWS, length, tokens, positions, targets, weights };
}

/** A conversation up to a tool's result that is to be replied to, and what tools it has. */
export function drawErrandResult(random: Random): { messages: ChatMessage[]; tools: ToolDefinition[] } {
  for (let draws = 0; draws < MAX_DRAWS; draws += 1) {
    const { system, tools, steps } = drawErrand(VOCABULARY, FORMS, random).conversation;
    const replies = [...steps.keys()].filter((index) => steps[index]?.kind === "reply" && steps[index - 1]?.kind === "result");
    if (replies.length > 0) return { messages: toMessages(system, steps.slice(0, random.pick(replies))), tools };
  }
  throw new Error(`an errand with a reply to a result expected, got none in ${MAX_DRAWS}`);
}

/** Places of the tokens that are to stay as probable as they were, answer by answer: calls, and where a reply begins. In which words the policy replies may change. */
function keptAnswers({ tokens, weights }: Example, invocation: Invocation): number[][] {
  const answers = new Map<number, number[]>();
  tokens.forEach((_, place) => {
    const weight = weights[place] ?? 0;
    if (place === 0 || (weight !== FIRST_WEIGHT && weight < CALL_WEIGHT)) return;
    const start = activatedFrom(tokens, invocation, place - 1);
    if (start !== undefined) answers.set(start, [...(answers.get(start) ?? []), place]);
  });
  const all = [...answers.values()];
  const replies = all.filter((kept) => kept.length === 1); // a call has more tokens than one
  return [...all.filter((kept) => !replies.includes(kept)), ...replies.slice(0, 1)]; // that no call is due is seen often enough in one place
}
