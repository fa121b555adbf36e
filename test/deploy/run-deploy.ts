/** Runs `npm run deploy` as a process, and reads which commands of wrangler it ran and which it shows. */
import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { TOKEN } from "./cloudflare.ts";

export type Ran = { code: number | null; output: string };

/** What it said on both streams, and how it ended. */
export function runDeploy(args: readonly string[], env: Record<string, string | undefined>): Promise<Ran> {
  const child = spawn(process.execPath, ["cli/deploy.ts", ...args], {
    env: { ...process.env, CLOUDFLARE_API_TOKEN: TOKEN, CLOUDFLARE_ACCOUNT_ID: undefined, ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

const Session = z.object({ type: z.literal("wrangler-session"), timestamp: z.string(), command_line_args: z.array(z.string()) });

/**
 * Wrangler's own record of its commands, in order: a file of JSON lines for each of them in WRANGLER_OUTPUT_FILE_DIRECTORY, or the one that
 * WRANGLER_OUTPUT_FILE_PATH names.
 */
export async function callsOf(folder: string, ...files: string[]): Promise<string[][]> {
  const names = (await readdir(folder)).map((name) => join(folder, name));
  const texts = await Promise.all([...names, ...files].map((file) => readFile(file, "utf8")));
  const lines = texts.flatMap((text) => text.split("\n").filter((line) => line !== ""));
  return lines
    .flatMap((line) => Session.safeParse(JSON.parse(line)).data ?? [])
    .toSorted((a, b) => a.timestamp.localeCompare(b.timestamp))
    .map(({ command_line_args: args }) => args);
}

/** The commands of a plan, as words. */
export function shownIn(plan: string): string[][] {
  return [...plan.matchAll(/^ +\$ wrangler (.*)$/gm)].map(([, line = ""]) =>
    [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare = ""]) => quoted ?? bare),
  );
}
