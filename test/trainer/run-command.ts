/** Runs what `npm run trainer -- <command>` runs, in this process: exit code, and what it says on both streams. */
import { vi } from "vitest";
import { AppError } from "../../shared/errors.ts";

export type Command = (argv: readonly string[], print: (line: string) => void) => Promise<number>;
export type Ran = { code: number; out: string; err: string };

export async function runCommand(command: Command, ...args: string[]): Promise<Ran> {
  let [out, err] = ["", ""];
  const heard = vi.spyOn(process.stderr, "write").mockImplementation((chunk) => ((err += String(chunk)), true));
  try {
    return { code: await command(args, (line) => (out += line)), out, err };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { code: error.exitCode, out, err: err + error.message };
  } finally {
    heard.mockRestore();
  }
}
