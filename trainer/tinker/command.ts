/** The command line of `tinker`: exports what an update would learn from, trains it on Tinker's service, and leaves the adapter to be imported. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { linearNames } from "../../shared/lora.ts";
import { EDGE_OPTIONS, tell } from "../command.ts";
import { parseOptions } from "../command-line.ts";
import { refuseFor, type TrainingCapabilities } from "../engine/training-port.ts";
import { checkFolder, prepareExport, writeExport } from "../export/command.ts";
import { exportDigest, type ExportManifest } from "../export/manifest.ts";
import type { ExportRow } from "../export/rows.ts";
import type { EdgePort } from "../feed/edge-port.ts";
import { writeAdapterFiles } from "../policy/adapter.ts";
import { TinkerClient } from "./client.ts";
import { TinkerEngine } from "./engine.ts";
import { trainRows } from "./train-rows.ts";

const USAGE = `TINKER_API_KEY=… npm run trainer -- tinker --agent <name> --model <name> [options]
  --model <name>         the agent's base as the service names it, such as Qwen/Qwen3-8B
  --out <folder>         a new folder for the export and the adapter (tinker-<agent>)
  --rank <n>             of a first adapter (32); the next ones have its rank
  --steps <n>            optimizer steps (4)
  --lr <rate>            of AdamW (1e-4)
  --most <n>             signals at most (1000)
  --base <folder>        a Hugging Face folder of the agent's base: its config and tokenizer are read (fetched from the edge)
  --url <url>            where the edge is (the system of --state)
  --state <folder>       whose keys.json has the trainer key, and where a base is kept (.nextstate)
  --key <key>            the trainer key itself; else NEXTSTATE_TRAINER_KEY
The service's key is read from TINKER_API_KEY alone; TINKER_BASE_URL names another server that speaks its protocol.`;

const Options = z.object({
  ...EDGE_OPTIONS,
  agent: z.string().min(1),
  model: z.string().min(1),
  out: z.string().min(1).optional(),
  rank: z.coerce.number().int().positive().default(32),
  steps: z.coerce.number().int().positive().default(4),
  lr: z.coerce.number().positive().default(1e-4),
  most: z.coerce.number().int().positive().default(1_000),
  base: z.string().min(1).optional(),
  seed: z.coerce.number().int().min(0).default(0),
});

const ADAPTER = "candidate";

/** Prints one JSON object; returns the exit code. */
export async function tinkerCommand(argv: readonly string[], print: (line: string) => void): Promise<number> {
  const options = parseOptions(argv, Options, USAGE);
  const { agent, model, out = `tinker-${options.agent}`, seed, steps, lr } = options;
  const client = new TinkerClient({ environment: process.env });
  checkFolder(out);
  const { edge, base, assembled } = await prepareExport({ ...options, advantages: "rewards", threads: 1 });
  const engine = new TinkerEngine(client, { baseModel: model, config: base.config });
  const parent = await parentOf(edge, assembled.manifest, engine.capabilities);
  // Weights that go on are of the rank that they were made with.
  const { rank = options.rank } = parent ?? {};
  tell(`training ${assembled.rows.length} rows on ${model} at rank ${rank}, from ${parent?.state ?? "the bare base"}`);
  const { losses, adapter, state } = await train(engine, assembled.rows, { rank, steps, lr, seed, from: parent?.state }).finally(() =>
    engine.close(),
  );
  const { configBytes, weightBytes } = writeAdapterFiles(base.config, adapter, base.name);
  const manifest = writeExport(out, "tinker", { files: [], manifest: { ...assembled.manifest, state } });
  mkdirSync(join(out, "adapter"));
  writeFileSync(join(out, "adapter", "adapter_config.json"), configBytes);
  writeFileSync(join(out, "adapter", "adapter_model.safetensors"), weightBytes);
  print(JSON.stringify({ folder: out, digest: await exportDigest(manifest), rows: assembled.rows.length, losses }, null, 2));
  tell(`publish it with: npm run trainer -- import --agent ${agent} --adapter ${join(out, "adapter")} --from ${out}`);
  return 0;
}

type Training = {
  readonly rank: number;
  readonly steps: number;
  readonly lr: number;
  readonly seed: number;
  readonly from: string | undefined;
};

/** Loss before each step, the adapter, and where the service keeps what it can be trained on from. */
async function train(engine: TinkerEngine, rows: readonly ExportRow[], { rank, steps, lr, seed, from }: Training) {
  await engine.createAdapter(ADAPTER, { rank, alpha: 2 * rank, targets: linearNames(), seed });
  if (from !== undefined) await engine.loadState(ADAPTER, from);
  const losses = await trainRows(engine, rows, {
    ...{ adapter: ADAPTER, steps, lr },
    onStep: ({ done, of, loss }) => tell(`step ${done} of ${of}: loss ${loss.toFixed(4)}`),
  });
  // First what nothing can be lost of: the service keeps it, whatever comes of the download.
  const state = await engine.saveState(ADAPTER);
  tell(`trained; the service keeps it as ${state}`);
  const adapter = await engine.readAdapter(ADAPTER);
  await engine.dropAdapter(ADAPTER);
  return { losses, adapter, state };
}

/**
 * Where the service keeps what the parent was trained to; undefined for the bare base.
 * @throws {train/refused} for a parent that it has not trained itself
 */
async function parentOf(
  edge: EdgePort,
  { agent, line, parent, parentAdapter }: Pick<ExportManifest, "agent" | "line" | "parent" | "parentAdapter">,
  capabilities: TrainingCapabilities,
): Promise<{ state: string; rank: number } | undefined> {
  if (parentAdapter === null) return undefined;
  const { imported } = await edge.readVersion({ agent, line }, parent);
  if (imported === null || imported.state === null)
    return refuseFor(
      capabilities,
      "a line at its bare base, or at a version that was trained here",
      `version ${parent}, whose adapter it cannot take`,
    );
  return { state: imported.state, rank: parentAdapter.rank };
}
