/**
 * The trust region beyond the agent's own tools: conversations with services that nobody has built, drawn as the base's
 * training draws them, with made-up values, and never twice in an update. A fixed handful is learnt by heart, and what
 * was not among it drifts.
 */
import type { Tokenizer } from "../../shared/tokenizer.ts";
import type { TokenBatch } from "../engine/batch.ts";
import { SGD_TODAY } from "../pretrain/conversation.ts";
import { drawErrand } from "../pretrain/errand.ts";
import { Vocabulary } from "../pretrain/errand-tools.ts";
import { actExample, type Example, FIRST_WEIGHT, teaches } from "../pretrain/examples.ts";
import type { Random } from "../random.ts";

const DAY_MS = 86_400_000;
const DAYS = Array.from({ length: 14 }, (_, day) => new Date(Date.parse(SGD_TODAY) + day * DAY_MS).toISOString().slice(0, 10));
const TIMES = Array.from({ length: 13 }, (_, hour) => String(8 + hour).padStart(2, "0")).flatMap((hour) => [`${hour}:00`, `${hour}:30`]);
// Days and times that people may name; everything else is made up.
const FORMS: ReadonlyMap<string, readonly string[]> = new Map([...DAYS, ...TIMES].map((value) => [value, []]));
const VOCABULARY = new Vocabulary({ values: new Map(), asides: [], forms: FORMS }, []);

// One shape, so one graph: B rows of T tokens with N of them to keep. A row holds one call to three.
const ROWS = 4;
const LENGTH = 512;
const POSITIONS = 384;
const MAX_DRAWS = 100;

/**
 * Conversations [B·T], cut to T or to a shorter context, with the tokens of their calls and the first of their replies as
 * targets [N], each of weight 1. A tokenizer under which they do not fit leaves rows empty.
 */
export function drawErrandBatch(tokenizer: Tokenizer, random: Random, { contextTokens }: { contextTokens: number }): TokenBatch {
  const length = Math.min(LENGTH, contextTokens);
  const tokens = new Int32Array(ROWS * length);
  const positions = new Int32Array(POSITIONS);
  const targets = new Int32Array(POSITIONS);
  const weights = new Float32Array(POSITIONS);
  let filled = 0;
  let row = 0;
  for (let draws = 0; draws < MAX_DRAWS && row < ROWS; draws += 1) {
    const example = actExample(tokenizer, drawErrand(VOCABULARY, FORMS, random).conversation, length);
    const kept = keptTokens(example);
    if (!teaches(example) || filled + kept.length > POSITIONS) continue;
    tokens.set(example.tokens, row * length);
    for (const [at, token] of kept) {
      positions[filled] = row * length + at - 1;
      targets[filled] = token;
      weights[filled] = 1;
      filled += 1;
    }
    row += 1;
  }
  return { rows: ROWS, length, tokens, positions, targets, weights };
}

/** Place and id of each token that is to stay as probable as it was: calls, and where a reply begins. In which words the policy replies may change. */
function keptTokens({ tokens, weights }: Example): [at: number, token: number][] {
  return tokens.flatMap((token, at): [number, number][] => (at > 0 && (weights[at] ?? 0) >= FIRST_WEIGHT ? [[at, token]] : []));
}
