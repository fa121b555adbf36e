/**
 * How people correct a call without naming the argument, "Wrong, it's for 4.", and how they speak of a value and correct nothing: "does 4 cost more?" The wordings
 * (`unnamed.jsonl`, written for this project) stand apart from those of evaluation.
 */
import { z } from "zod";
import { readJsonLines } from "./json-lines.ts";
import type { Random } from "../random.ts";

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

/** What a correction is about that names no argument: the value as it is said, the one that was wrong where people would say that, and what the argument is called. */
export type Unnamed = { readonly value: string; readonly old: string | undefined; readonly unit: string };

/** A wording of such a correction, filled. Undefined where the one that is drawn needs a wrong value that nobody would say. */
export function drawUnnamed(
  about: "choice" | "count" | "name" | "time",
  { value, old, unit }: Unnamed,
  random: Random,
): string | undefined {
  const { said } = random.pick(wordingsOf(about));
  if (old === undefined && said.includes("{old}")) return undefined;
  const places: Readonly<Record<string, string | undefined>> = { value, old, unit };
  return said.replace(/\{(\w+)\}/g, (_, place: string) => places[place] ?? "");
}

const byKind = new Map<Wording["about"], readonly Wording[]>();

function wordingsOf(about: Wording["about"]): readonly Wording[] {
  const wordings = byKind.get(about) ?? readUnnamed().filter((each) => each.about === about && each.said.includes("{value}"));
  byKind.set(about, wordings);
  return wordings;
}
