/** What a person or a pipe hands in: files, confirmations, lines. */
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { AppError } from "../../shared/errors.ts";

/** JSON of a file, or of stdin where it is `-`. @throws {input/invalid} */
export async function readJsonFile(file: string): Promise<unknown> {
  const json = await readText(file);
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new AppError("input/invalid", `--file: JSON expected, got ${json.length} characters in ${nameOf(file)} that do not parse`, {
      cause,
    });
  }
}

/** Whether somebody is there to be asked. Questions go to stderr, so that stdout may be a pipe. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** The lines of stdin, each asked for where somebody types them. */
export class Lines {
  readonly #interface = createInterface({ input: process.stdin, output: process.stderr, terminal: canAsk() });
  readonly #lines = this.#interface[Symbol.asyncIterator]();

  constructor() {
    // The terminal is in raw mode while lines are read: Ctrl-C is a character, and who types it wants to leave.
    this.#interface.on("SIGINT", () => {
      process.stderr.write("\n");
      process.exit(INTERRUPTED);
    });
  }

  /** Undefined at the end of the input. */
  async read(question: string): Promise<string | undefined> {
    if (canAsk()) {
      this.#interface.setPrompt(question);
      this.#interface.prompt();
    }
    const { value, done } = await this.#lines.next();
    return done === true ? undefined : value;
  }

  close(): void {
    this.#interface.close();
  }
}

const INTERRUPTED = 130; // 128 + SIGINT, as shells have it

export async function confirm(question: string): Promise<boolean> {
  const lines = new Lines();
  const answer = await lines.read(`${question} [y/N] `);
  lines.close();
  return /^y(es)?$/i.test(answer?.trim() ?? "");
}

async function readText(file: string): Promise<string> {
  try {
    return file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AppError("input/invalid", `--file: a file that can be read expected, got ${nameOf(file)} (${why})`, { cause });
  }
}

function nameOf(file: string): string {
  return file === "-" ? "stdin" : file;
}
