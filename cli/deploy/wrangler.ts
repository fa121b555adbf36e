/** Wrangler's commands as `npm run deploy` runs them: never interactive, on one account, with what they said where they fail. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";

const BINARY = join(dirname(createRequire(import.meta.url).resolve("wrangler/package.json")), "bin/wrangler.js");
const SAID_LINES = 12; // of a failure: its cause is among the last

export type Ran = { readonly code: number; readonly output: string; readonly errors: string };

export type WranglerOptions = {
  /** Wrangler's own paths are resolved against it. */
  readonly cwd: string;
  /** Variables over those of this process; CLOUDFLARE_ACCOUNT_ID among them. */
  readonly env?: Readonly<Record<string, string>>;
};

export class Wrangler {
  readonly #options: WranglerOptions;

  constructor(options: WranglerOptions) {
    this.#options = options;
  }

  /** On another account, or with other variables. */
  with(env: Readonly<Record<string, string>>): Wrangler {
    return new Wrangler({ ...this.#options, env: { ...this.#options.env, ...env } });
  }

  /** Standard output of a command that succeeds. @throws {upstream/failed} with what it said */
  async run(command: readonly string[]): Promise<string> {
    const ran = await this.try(command);
    if (ran.code === 0) return ran.output;
    throw new AppError("upstream/failed", `wrangler ${command.join(" ")} failed:\n${said(ran)}`);
  }

  /** Output of a command with `--json`. @throws {upstream/failed} where it fails, {upstream/invalid} where it prints something else */
  async json<T>(schema: z.ZodType<T>, command: readonly string[]): Promise<T> {
    const output = await this.run(command);
    const parsed = schema.safeParse(parseJson(output));
    if (parsed.success) return parsed.data;
    throw new AppError("upstream/invalid", `wrangler ${command.join(" ")}: ${z.prettifyError(parsed.error)}, got ${output.slice(0, 300)}`);
  }

  /** A command that may fail; the caller reads how it ended. */
  try(command: readonly string[]): Promise<Ran> {
    const { cwd, env } = this.#options;
    const variables = { ...process.env, ...QUIET, ...env };
    const child = spawn(process.execPath, [BINARY, ...command], { cwd, env: variables, stdio: ["ignore", "pipe", "pipe"] });
    const chunks = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) child[name].on("data", (chunk: Buffer) => (chunks[name] += chunk.toString()));
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) =>
        resolve({ code: code ?? 1, output: stripVTControlCharacters(chunks.stdout), errors: stripVTControlCharacters(chunks.stderr) }),
      );
    });
  }
}

/** Questions are answered by their defaults, and nothing is reported to anybody. */
const QUIET = { CI: "1", NO_COLOR: "1", WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" };

/** The last lines of a failure without wrangler's own advice on logs and bugs. */
export function said({ output, errors }: Ran): string {
  const lines = `${output}\n${errors}`.split("\n").map((line) => line.trimEnd());
  const telling = lines.filter((line) => line.trim() !== "" && !/Logs were written to|please open an issue|workers-sdk\/issues/.test(line));
  return telling.slice(-SAID_LINES).join("\n");
}

/** What follows the first bracket: wrangler may warn before it. */
function parseJson(output: string): unknown {
  try {
    return JSON.parse(output.slice(Math.max(0, output.search(/[[{]/))));
  } catch {
    return undefined;
  }
}
