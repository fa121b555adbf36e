/** `nextstate export`: the whole event log of an agent as JSON lines. A file is continued where its last complete line ends. */
import { open, type FileHandle } from "node:fs/promises";
import { buildCommand } from "@stricli/core";
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { EventHeader, type LoggedEvent } from "../../shared/events.ts";
import type { EdgeClient } from "./edge-client.ts";
import { count } from "../../shared/count.ts";
import { say, sayJsonLine } from "./output.ts";
import { PAGE } from "./paged.ts";
import { Progress } from "./progress.ts";
import { AGENT, COMMON, connect, type Common, type Context } from "./where.ts";

const WINDOW_BYTES = 64 * 1024; // read from the end of a file at first; most lines are shorter
const NEWLINE = 10;

/** What the end of a file has to be for it to be continued. */
const Exported = EventHeader.extend({ seq: z.number().int() });

type Flags = Common & { out?: string };
/** `bytes` is where the next line goes. */
type Place = { readonly cursor: number; readonly bytes: number };

export const exported = buildCommand<Flags, [string], Context>({
  docs: { brief: "Write the event log as JSON lines, to a file that is continued when it exists, else to stdout" },
  parameters: {
    flags: {
      ...COMMON,
      out: { kind: "parsed", parse: String, optional: true, placeholder: "file.jsonl", brief: "file to write or continue" },
    },
    positional: { kind: "tuple", parameters: [AGENT] },
  },
  func: async ({ out, json, ...where }, agent) => {
    if (json && out !== undefined)
      throw new AppError("input/invalid", "one of --out and --json expected, got both: --json prints the events");
    const edge = connect(where);
    if (out === undefined) for await (const page of pages(edge, agent, 0)) for (const event of page) await sayJsonLine(event);
    else await exportTo(out, edge, agent);
  },
});

async function exportTo(out: string, edge: EdgeClient, agent: string): Promise<void> {
  // An agent that does not exist leaves no file behind.
  await edge.agent(agent);
  const file = await open(out, "a+").catch((cause: Error) => {
    throw new AppError("input/invalid", `--out: a file that can be written expected, got ${out} (${cause.message})`, { cause });
  });
  try {
    const { cursor, bytes } = await endOf(file, { out, agent });
    await file.truncate(bytes);
    let written = 0;
    for await (const page of pages(edge, agent, cursor)) {
      await file.appendFile(page.map((event) => `${JSON.stringify(event)}\n`).join(""));
      written += page.length;
    }
    say(`${count(written, "event")} written to ${out}${cursor === 0 ? "" : `, behind those up to seq ${cursor} that it had`}.`);
  } finally {
    await file.close();
  }
}

/** The log after the cursor, with a bar that is full at the newest turn: what came of it stands a little behind. */
async function* pages(edge: EdgeClient, agent: string, from: number): AsyncGenerator<LoggedEvent[]> {
  const progress = new Progress(`export ${agent}`);
  const [newest] = process.stderr.isTTY ? (await edge.turns(agent, { limit: 1 })).turns : [];
  try {
    for (let [cursor, done] = [from, 0]; ;) {
      const page = await edge.events(agent, { cursor, limit: PAGE });
      if (page.events.length === 0) return;
      yield page.events;
      cursor = page.cursor;
      done += page.events.length;
      progress.update(newest === undefined ? 1 : (cursor - from) / Math.max(newest.seq - from, 1), count(done, "event"));
    }
  } finally {
    progress.end();
  }
}

/** Behind the last complete line. What a run that was stopped left after it is written again. */
async function endOf(file: FileHandle, { out, agent }: { out: string; agent: string }): Promise<Place> {
  const { size } = await file.stat();
  if (size === 0) return { cursor: 0, bytes: 0 };
  const { line, bytes } = await lastLine(file, size);
  const event = parseEvent(line);
  if (event === undefined)
    throw new AppError("input/invalid", `--out: an export, or no file yet, expected; ${out} does not end in a line of one`);
  if (event.agent !== agent) throw new AppError("input/invalid", `--out: an export of ${agent} expected; ${out} is one of ${event.agent}`);
  return { cursor: event.seq, bytes };
}

/** The last line that has its line break, and how many bytes there are with it. */
async function lastLine(file: FileHandle, size: number): Promise<{ line: string; bytes: number }> {
  for (let window = Math.min(WINDOW_BYTES, size); ; window = Math.min(window * 2, size)) {
    const { buffer } = await file.read(Buffer.alloc(window), 0, window, size - window);
    const end = buffer.lastIndexOf(NEWLINE);
    const begin = end > 0 ? buffer.lastIndexOf(NEWLINE, end - 1) : -1;
    if (begin >= 0 || window === size)
      return { line: buffer.subarray(begin + 1, Math.max(end, 0)).toString(), bytes: size - window + end + 1 };
  }
}

function parseEvent(line: string): z.infer<typeof Exported> | undefined {
  try {
    return Exported.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
