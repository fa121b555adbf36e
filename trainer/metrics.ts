/** What the trainer says: one line per event for people, the same as JSON lines in the state folder. Names are a closed list. */
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

export type MetricName =
  | "trainer:device"
  | "trainer:started"
  | "trainer:stopped"
  | "base:fetching"
  | "judge:lacking"
  | "line:opened"
  | "lease:waiting"
  | "lease:taken"
  | "lease:lost"
  | "lease:twin"
  | "lease:given"
  | "line:foreign"
  | "line:acts"
  | "feed:retried"
  | "signal:judged"
  | "signal:refused"
  | "signal:unjudged"
  | "update:taught"
  | "update:learned"
  | "update:refused"
  | "policy:published"
  | "policy:refused"
  | "policy:rejected"
  | "policy:stale"
  | "cursor:advanced"
  | "defaults:left"
  | "gate:left"
  | "gate:unprepared"
  | "rebuild:begun"
  | "rebuild:finished"
  | "note:absorbed"
  | "line:failed";

export type Metrics = (name: MetricName, fields: Readonly<Record<string, unknown>>) => void;

const MOST_BYTES = 2 ** 25; // of a file, hundreds of thousands of judgements

/**
 * Appends to `<folder>/metrics.jsonl` and writes a line to stdout. A file that is full becomes `metrics.1.jsonl`, in place of the one before it.
 * A file that cannot be written costs its lines and nothing else; stderr has the reason once.
 */
export function createMetrics(folder: string, now: () => Date, { mostBytes = MOST_BYTES }: { mostBytes?: number } = {}): Metrics {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, "metrics.jsonl");
  process.stdout.on("error", () => undefined); // whoever read our lines is gone; the file goes on
  let failed = false;
  return (name, fields) => {
    try {
      // Looked at each time: trainers may share a folder.
      if (sizeOf(path) >= mostBytes) setAside(path, { as: join(folder, "metrics.1.jsonl"), mostBytes });
      appendFileSync(path, `${JSON.stringify({ at: now().toISOString(), name, ...fields })}\n`);
    } catch (error) {
      if (!failed) process.stderr.write(`trainer: ${path}: a file to append to expected, got ${String(error)}; its lines are lost\n`);
      failed = true;
    }
    process.stdout.write(`trainer ${name} ${describe(fields)}\n`);
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Of processes that find a file full at once one sets it aside: what the others take then is gone, or the file begun after it, which goes on. */
function setAside(path: string, { as, mostBytes }: { as: string; mostBytes: number }): void {
  const taken = `${path}.${process.pid}`;
  try {
    renameSync(path, taken);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw error;
  }
  if (sizeOf(taken) >= mostBytes) return renameSync(taken, as);
  appendFileSync(path, readFileSync(taken));
  rmSync(taken);
}

function describe(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) =>
        `${key}=${typeof value === "string" ? JSON.stringify(value) : typeof value === "number" ? Number(value.toPrecision(4)) : JSON.stringify(value)}`,
    )
    .join(" ");
}
