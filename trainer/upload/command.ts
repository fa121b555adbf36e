/** The command line of `upload`: stores a base under its digest, so that trainers of an agent whose engine serves it need no copy of their own. */
import { z } from "zod";
import { canonicalJson, sha256 } from "../../shared/digest.ts";
import { EDGE_OPTIONS, edgeOf, keyOf, tell } from "../command.ts";
import { parseOptions } from "../command-line.ts";
import { createEdgeClient } from "../feed/client.ts";
import type { EdgePort } from "../feed/edge-port.ts";
import { retryForever } from "../feed/retry.ts";
import { Random } from "../random.ts";
import { readPart, splitBase, type Part } from "./parts.ts";

const USAGE = `npm run trainer -- upload --base <folder> [options]
  --base <folder>        a Hugging Face folder: config, tokenizer, one safetensors file or several with their index
  --name <name>          what the base is called (the folder's name)
  --url <url>            where the edge is (the system of --state)
  --state <folder>       whose keys.json has the trainer key (.nextstate)
  --key <key>            the trainer key itself; else NEXTSTATE_TRAINER_KEY
What is stored already is not sent again: an upload that broke off is run again.`;

const Options = z.object({ ...EDGE_OPTIONS, base: z.string().min(1), name: z.string().min(1).optional() });

const ASKED_AT_ONCE = 40;

/** Prints one JSON object with the base's digest; returns the exit code. @throws {policy/refused} naming what the folder lacks */
export async function uploadCommand(argv: readonly string[], print: (line: string) => void): Promise<number> {
  const options = parseOptions(argv, Options, USAGE);
  const bar = (what: string) => (done: number, of: number) =>
    tell(`${what} ${drawn(done / Math.max(1, of))} ${size(done)} of ${size(of)}`, { last: done === of });
  const { manifest, parts, bytes } = splitBase(options.base, { name: options.name, onRead: bar("reading  ") });
  const edge = createEdgeClient({ edge: edgeOf(options), key: keyOf(options) });
  const sent = await sendMissing(edge, parts, bar("uploading"));
  // The last of all: a base that is found is whole.
  const json = canonicalJson(manifest);
  await edge.putFile(new Uint8Array(Buffer.from(json)));
  const digest = await sha256(json);
  print(
    JSON.stringify({ base: digest, name: manifest.name, files: Object.keys(manifest.files), bytes, parts: parts.length, sent }, null, 2),
  );
  tell(`an agent's engine names it as "base": "${digest}"; trainers fetch it from there`);
  return 0;
}

/** Returns how many parts were sent. */
async function sendMissing(edge: EdgePort, parts: readonly Part[], onSent: (done: number, of: number) => void): Promise<number> {
  const patient = <Value>(work: () => Promise<Value>): Promise<Value | undefined> =>
    retryForever(work, {
      random: new Random(process.pid),
      signal: new AbortController().signal,
      onRetry: (error) => tell(`again: ${error instanceof Error ? error.message : String(error)}`),
    });
  const of = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  let sent = 0;
  for (let start = 0; start < parts.length; start += ASKED_AT_ONCE) {
    const asked = parts.slice(start, start + ASKED_AT_ONCE);
    const missing = new Set(await patient(() => edge.missingFiles([...new Set(asked.map(({ digest }) => digest))])));
    for (const part of asked) {
      if (missing.delete(part.digest)) {
        await patient(() => edge.putFile(readPart(part)));
        sent += 1;
      }
      onSent((done += part.bytes), of);
    }
  }
  return sent;
}

const CELLS = 24;

function drawn(share: number): string {
  const full = Math.round(share * CELLS);
  return "█".repeat(full) + "░".repeat(CELLS - full);
}

function size(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
