/** The command line of `rebuild`: finds the edge, the key and the base, and says whether the bytes are the same. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { SHARED_LINE } from "../../shared/policy.ts";
import { UpdateSettings } from "../config.ts";
import { Engine } from "../engine/engine.ts";
import { createEdgeClient } from "../feed/client.ts";
import { createLearner } from "../learn/update.ts";
import { writeAdapterFiles } from "../policy/adapter.ts";
import { loadBase } from "../policy/base.ts";
import { createParentLoader } from "../policy/parent.ts";
import { rebuildVersion, type Rebuilt } from "./rebuild.ts";

const USAGE = `npm run trainer -- rebuild --agent <name> --version <n> [options]
  --line <line>     shared, or the id of the user whose own line it is (shared)
  --url <url>       where the edge is (http://127.0.0.1:8787)
  --state <folder>  whose keys.json has the trainer key (.nextstate)
  --key <key>       the trainer key itself
  --base <folder>   the base checkpoint (base)`;

const Options = z.object({
  agent: z.string().min(1),
  version: z.coerce.number().int().min(1),
  line: z.string().min(1).default(SHARED_LINE),
  url: z.url().default("http://127.0.0.1:8787"),
  state: z.string().default(".nextstate"),
  base: z.string().default("base"),
  key: z.string().optional(),
});

/** Prints one JSON object; returns the exit code: 0 where the bytes are the same. @throws {input/invalid} with the usage */
export async function rebuildCommand(argv: readonly string[], print: (line: string) => void): Promise<number> {
  const names = ["agent", "version", "line", "url", "state", "base", "key"];
  const { values } = parseArgs({ args: [...argv], options: Object.fromEntries(names.map((name) => [name, { type: "string" as const }])) });
  const parsed = Options.safeParse(values);
  if (!parsed.success) throw new AppError("input/invalid", `${z.prettifyError(parsed.error)}\n${USAGE}`);
  const rebuilt = await rebuild(parsed.data);
  print(JSON.stringify(rebuilt, null, 2));
  return rebuilt.same ? 0 : 1;
}

async function rebuild({ agent, version, line: name, url, state, base: folder, key }: z.infer<typeof Options>): Promise<Rebuilt> {
  const edge = createEdgeClient({ edge: url, key: key ?? keyIn(state) });
  const line = { agent, line: name };
  const { runtime } = await edge.readVersion(line, version);
  // With the sizes and rates, and on as many threads, as it was made with.
  const settings = UpdateSettings.parse(JSON.parse(runtime["update"] ?? "{}"));
  const base = loadBase(folder);
  const engine = await Engine.start({ config: base.config, threads: Number(runtime["threads"] ?? 2), tokenizer: base.tokenizerFiles });
  try {
    await engine.loadCheckpoint(base.folder);
    const learner = createLearner({ engine, base, settings, now: () => performance.now() });
    const loadAdapter = createParentLoader(edge, { base, folder });
    const writeAdapter = (adapter: Parameters<typeof writeAdapterFiles>[1]) => writeAdapterFiles(base.config, adapter, base.name);
    return await rebuildVersion({ edge, learner, loadAdapter, writeAdapter }, line, version);
  } finally {
    await engine.close();
  }
}

function keyIn(state: string): string {
  const path = join(state, "keys.json");
  try {
    return z.object({ trainer: z.string() }).parse(JSON.parse(readFileSync(path, "utf8"))).trainer;
  } catch (cause) {
    throw new AppError("input/invalid", `--key, or a trainer key in ${path} expected, got none; --state names another folder`, { cause });
  }
}
