/**
 * How people correct a call without naming the argument, "Wrong, it's for 4.", and how they speak of a value and correct nothing: "does 4 cost more?" The wordings
 * (`unnamed.jsonl`, written for this project) stand apart from those of evaluation.
 */
import { z } from "zod";
import { readJsonLines } from "./json-lines.ts";

/** What a wording is about: a value of one of these kinds, something that is to be there or not, or a value that it only speaks of. */
const KINDS = ["choice", "count", "name", "time", "yes", "no", "mention"] as const;
const Wording = z.strictObject({ about: z.literal(KINDS), said: z.string().min(1) });
export type Wording = z.infer<typeof Wording>;

const FILE = new URL("unnamed.jsonl", import.meta.url);

let known: readonly Wording[] | undefined;

/** All of them, read once. @throws z.ZodError where a line is none */
export function readUnnamed(): readonly Wording[] {
  known ??= readJsonLines(FILE, Wording);
  return known;
}
