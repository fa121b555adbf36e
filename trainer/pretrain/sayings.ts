/**
 * Reactions to an answer in general words as people of many places and ages put them (`sayings.jsonl`, written for this project): a small judge knows no
 * idiom that it was not shown. Evaluation has sayings of its own (`bench/eval/spoken.ts`), and a test keeps the two apart.
 */
import { z } from "zod";
import { readJsonLines } from "./json-lines.ts";
import { REWARDS, type Reward } from "../judge/vote.ts";

const Saying = z.strictObject({ reward: z.literal(REWARDS), text: z.string().min(1) });
type Saying = z.infer<typeof Saying>;

const FILE = new URL("sayings.jsonl", import.meta.url);

let known: readonly Saying[] | undefined;
const byReward = new Map<Reward, readonly Saying[]>();

/** All of them, read once. @throws z.ZodError where a line is none */
export function readSayings(): readonly Saying[] {
  known ??= readJsonLines(FILE, Saying);
  return known;
}

/** Those of one reward, in the file's order. */
export function sayingsOf(reward: Reward): readonly Saying[] {
  const sayings = byReward.get(reward) ?? readSayings().filter((each) => each.reward === reward);
  byReward.set(reward, sayings);
  return sayings;
}
