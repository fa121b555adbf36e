/**
 * Services as people build them for themselves (`command-services.jsonl`, written for this project): tools with values of every JSON type,
 * and how people ask for them. SGD's tools take strings, each with a name that a few hundred dialogues share. Evaluation has agents of other
 * trades (`bench/eval/own-tools.jsonl`), and a test keeps the two apart.
 */
import { z } from "zod";
import { readJsonLines } from "./json-lines.ts";

const Plain = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);
/** `said` is how people say it; without it, it is said as it is passed. */
const Value = z.union([z.string(), z.number(), z.strictObject({ said: z.string(), value: Plain })]);
const Parameter = z.strictObject({
  type: z.enum(["string", "integer", "number", "boolean", "array"]),
  description: z.string().optional(),
  enum: z.array(z.union([z.string(), z.number()])).optional(),
  items: z.strictObject({ type: z.literal("string") }).optional(),
});
const Tool = z.strictObject({
  name: z.string(),
  description: z.string().default(""),
  parameters: z.record(z.string(), Parameter),
  required: z.array(z.string()),
});
/** `{parameter}` in `said` is one of its values; `set` are arguments that the words say otherwise. */
const Request = z.strictObject({ tool: z.string(), said: z.string(), set: z.record(z.string(), Plain).default({}) });
const Sayings = z.record(z.string(), z.array(z.string()));
const CommandService = z.strictObject({
  domain: z.string(),
  tools: z.array(Tool),
  values: z.record(z.string(), z.array(Value)),
  requests: z.array(Request),
  /** By parameter: how the assistant asks for it, what the user answers, and how they correct it. */
  asks: Sayings,
  answers: Sayings,
  corrections: Sayings,
  /** By tool. */
  done: Sayings,
});
export type CommandService = z.infer<typeof CommandService>;

export type CommandParameter = z.infer<typeof Parameter>;
export type CommandRequest = z.infer<typeof Request>;

const FILE = new URL("command-services.jsonl", import.meta.url);

let known: readonly CommandService[] | undefined;

/** All of them, read once. @throws z.ZodError where a line is none */
export function readCommandServices(): readonly CommandService[] {
  known ??= readJsonLines(FILE, CommandService);
  return known;
}

/** The parameters that a saying has room for, in its order. */
export function placesIn(said: string): string[] {
  return [...said.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
}
