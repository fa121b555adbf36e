/** Runs commands one after the other, each with its output shown, and says at the end which of them failed. */
import { spawnSync } from "node:child_process";

export type Step = { name: string; command: readonly [string, ...string[]] };

/** Returns the exit code: 0 where every step ended with 0. */
export function runSteps(steps: readonly Step[]): number {
  const failed = steps.filter(({ name, command: [program, ...args] }) => {
    process.stdout.write(`── ${name}\n`);
    const { status } = spawnSync(program, args, { stdio: "inherit" });
    return status !== 0;
  });
  if (failed.length > 0) process.stdout.write(`failed: ${failed.map(({ name }) => name).join(", ")}\n`);
  return failed.length > 0 ? 1 : 0;
}
