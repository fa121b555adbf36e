/** What the trainer's one-time commands have in common: where the edge is, and the key to it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { AppError } from "../shared/errors.ts";
import { addressOf } from "./address.ts";

export const EDGE_OPTIONS = {
  url: z.url().optional(),
  state: z.string().default(".nextstate"),
  key: z.string().optional(),
};

/** Where the edge is: what was told, else what runs from the state folder, whose key is for nobody else. @throws {input/invalid} {upstream/unreachable} */
export function edgeOf({ url, state }: { url?: string | undefined; state: string }): string {
  return addressOf({ url, stateFolder: state });
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
