/** What the trainer says of itself: a line for people on stdout, and the same for programs in its folder. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { z } from "zod";
import { reasonsOf } from "../../trainer/data/refusal.ts";
import { createMetrics } from "../../trainer/metrics.ts";

const folder = mkdtempSync(join(tmpdir(), "nextstate-metrics-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("tells what there is and leaves out what is undefined, on both", () => {
  const said = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const at = new Date("2026-01-02T03:04:05.000Z");
  createMetrics(folder, () => at)("signal:judged", { agent: "desk", reward: 0.123456, votes: [0, 1], hint: undefined, refused: undefined });
  const lines = said.mock.calls;
  said.mockRestore();
  expect(lines).toEqual([['trainer signal:judged agent="desk" reward=0.1235 votes=[0,1]\n']]);
  const told = { at: at.toISOString(), name: "signal:judged", agent: "desk", reward: 0.123456, votes: [0, 1] };
  expect(JSON.parse(readFileSync(join(folder, "metrics.jsonl"), "utf8"))).toEqual(told);
});

it("keeps the last two files of what it has told, and of those a bounded size", () => {
  const said = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const full = mkdtempSync(join(folder, "full-"));
  const tell = createMetrics(full, () => new Date(0), { mostBytes: 200 });
  for (let version = 1; version <= 9; version += 1) tell("policy:published", { version });
  said.mockRestore();
  const versions = (name: string): number[] =>
    readFileSync(join(full, name), "utf8")
      .trim()
      .split("\n")
      .map((line) => z.object({ version: z.number() }).parse(JSON.parse(line)).version);
  expect(readdirSync(full).sort()).toEqual(["metrics.1.jsonl", "metrics.jsonl"]);
  expect([versions("metrics.1.jsonl"), versions("metrics.jsonl")]).toEqual([
    [4, 5, 6],
    [7, 8, 9],
  ]);
});

it("goes on where its file cannot be written, and says why once", () => {
  const said = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const failed = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const blocked = mkdtempSync(join(folder, "blocked-"));
  mkdirSync(join(blocked, "metrics.jsonl"));
  const tell = createMetrics(blocked, () => new Date(0));
  for (const agent of ["desk", "hall"]) tell("line:opened", { agent });
  const [lines, reasons] = [said.mock.calls, failed.mock.calls];
  said.mockRestore();
  failed.mockRestore();
  expect(lines).toEqual([['trainer line:opened agent="desk"\n'], ['trainer line:opened agent="hall"\n']]);
  expect(reasons).toEqual([[expect.stringMatching(/metrics\.jsonl: a file to append to expected, got .*EISDIR/)]]);
});

it("keeps a whole file before the last one, however many processes tell at once", { timeout: 120_000 }, async () => {
  const shared = mkdtempSync(join(folder, "shared-"));
  const mostBytes = 400;
  const script = `
    import { createMetrics } from ${JSON.stringify(new URL("../../trainer/metrics.ts", import.meta.url).href)};
    const tell = createMetrics(${JSON.stringify(shared)}, () => new Date(0), { mostBytes: ${mostBytes} });
    for (let version = 0; version < 2_000; version += 1) tell("policy:published", { version });`;
  const children = [1, 2].map(() =>
    spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "ignore", "pipe"] }),
  );
  const said: string[] = [];
  for (const { stderr } of children) stderr.on("data", (chunk) => said.push(String(chunk)));
  expect(await Promise.all(children.map(async (child) => (await once(child, "close"))[0]))).toEqual([0, 0]);
  expect(said).toEqual([]);
  expect(readdirSync(shared).sort()).toEqual(["metrics.1.jsonl", "metrics.jsonl"]);
  expect(statSync(join(shared, "metrics.1.jsonl")).size).toBeGreaterThanOrEqual(mostBytes);
});

it("tells why nothing was learned in words, each once, and of many the last", () => {
  const refused = (...details: string[]) =>
    details.map((detail, index) => ({ eventId: `e${index}`, code: "user/waiting" as const, detail }));
  expect(reasonsOf(refused("waits for others", "", "waits for others"))).toEqual(["waits for others"]);
  expect(reasonsOf(refused("a", "b", "c", "d", "e", "f"))).toEqual(["b", "c", "d", "e", "f"]);
});
