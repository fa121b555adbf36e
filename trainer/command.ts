/** What the trainer's one-time commands have in common: where the edge is, and the key to it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { AppError } from "../shared/errors.ts";

export const EDGE_OPTIONS = {
  url: z.url().default("http://127.0.0.1:8787"),
  state: z.string().default(".nextstate"),
  key: z.string().optional(),
};

/** Options by the names of a schema's members, each written as --kebab-case. @throws {input/invalid} with the usage */
export function parseOptions<Shape extends z.ZodRawShape>(
  argv: readonly string[],
  schema: z.ZodObject<Shape>,
  usage: string,
): z.infer<z.ZodObject<Shape>> {
  const names = new Map(Object.keys(schema.shape).map((name) => [name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), name]));
  const { values } = readArguments(argv, [...names.keys()], usage);
  const parsed = schema.safeParse(Object.fromEntries(Object.entries(values).map(([name, value]) => [names.get(name) ?? name, value])));
  if (parsed.success) return parsed.data;
  throw new AppError("input/invalid", `${z.prettifyError(parsed.error)}\n${usage}`);
}

function readArguments(argv: readonly string[], names: readonly string[], usage: string) {
  try {
    return parseArgs({ args: [...argv], options: Object.fromEntries(names.map((name) => [name, { type: "string" as const }])) });
  } catch (cause) {
    throw new AppError("input/invalid", `${cause instanceof Error ? cause.message : String(cause)}\n${usage}`, { cause });
  }
}

/** The trainer key that was given, else that of the environment, else that of the state folder. @throws {input/invalid} */
export function keyOf({ key = process.env["NEXTSTATE_TRAINER_KEY"], state }: { key?: string | undefined; state: string }): string {
  if (key !== undefined) return key;
  const path = join(state, "keys.json");
  try {
    return z.object({ trainer: z.string() }).parse(JSON.parse(readFileSync(path, "utf8"))).trainer;
  } catch (cause) {
    throw new AppError("input/invalid", `--key, or a trainer key in ${path} expected, got none; --state names another folder`, { cause });
  }
}

/** Says on stderr how far a command is; the line is replaced where stderr is a terminal. */
export function tell(text: string, { last = true }: { last?: boolean } = {}): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${text}\u001B[K${last ? "\n" : ""}`);
  else if (last) process.stderr.write(`${text}\n`);
}
