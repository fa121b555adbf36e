/**
 * What people say of what has just been done for them that asks for nothing more (`remarks.jsonl`, written for this project), and what there is to answer.
 * `{value}` is an argument of the call, `{other}` another value that the same parameter could have, `{slot}` what it is called, `{named}` a value that somebody asks
 * about. Evaluation has messages of its own (`bench/eval/after-results.jsonl`), and a test keeps the two apart.
 */
import { z } from "zod";
import type { Random } from "../random.ts";
import { readJsonLines } from "./json-lines.ts";

/** Approval, small talk, questions without an answer here, what something is, whether it is what they name. */
const Remark = z.strictObject({ kind: z.enum(["approved", "remarked", "wondered", "recalled", "checked"]), text: z.string().min(1) });
type Remark = z.infer<typeof Remark>;

const FILE = new URL("remarks.jsonl", import.meta.url);

let known: ReadonlyMap<Remark["kind"], readonly string[]> | undefined;

/** All of a kind, read once, in the file's order. @throws z.ZodError where a line is none */
export function remarksOf(kind: Remark["kind"]): readonly string[] {
  known ??= new Map(
    [...Map.groupBy(readJsonLines(FILE, Remark), (each) => each.kind)].map(([own, lines]) => [own, lines.map(({ text }) => text)]),
  );
  return known.get(kind) ?? [];
}

/** Those of a kind that name nothing of a call. */
export function plainRemarksOf(kind: Remark["kind"]): readonly string[] {
  return remarksOf(kind).filter((text) => !text.includes("{"));
}

/** What somebody says, before or behind a remark that tells nothing of it. */
export function withAside(said: string, random: Random): string {
  const remark = random.pick(plainRemarksOf("remarked"));
  const [first, last] = random.chance(0.6) ? [remark, said] : [said, remark];
  return `${first}${/[.!?…)]$/.test(first) ? "" : random.pick([".", ",", "..."])} ${last}`;
}

// A small policy says one thing well sooner than many.
export const ACKNOWLEDGED = [
  "I see.",
  "I see. Is there anything else?",
  "All right.",
  "Okay. Let me know if you need anything else.",
  "I see. Can I help you with anything else?",
] as const;
export const UNKNOWN = [
  "I'm sorry, I don't know that.",
  "I'm afraid I don't know.",
  "I don't know that, sorry.",
  "I'm sorry, I can't tell you that.",
] as const;
export const TOLD = ["The {slot} is {value}.", "The {slot} is {value}.", "It is {value}."] as const;
export const CONFIRMED = ["Yes, the {slot} is {value}.", "Yes, it is {value}."] as const;
export const DENIED = ["No, the {slot} is {value}.", "No, it is {value}."] as const;
