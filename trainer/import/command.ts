/** The command line of `import`: holds the agent's lease, measures the adapter, and publishes it. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { templateArgumentsOf } from "../../shared/engine.ts";
import { AppError } from "../../shared/errors.ts";
import { LEASE_MS } from "../../shared/lease.ts";
import { MOST_ADAPTER_BYTES, SHARED_LINE } from "../../shared/policy.ts";
import { EDGE_OPTIONS, edgeOf, keyOf, tell } from "../command.ts";
import { parseOptions } from "../command-line.ts";
import { Engine } from "../engine/engine.ts";
import { readExport } from "../export/manifest.ts";
import { createEdgeClient } from "../feed/client.ts";
import type { EdgePort } from "../feed/edge-port.ts";
import { createGate, type Gate } from "../gate/gate.ts";
import { Lease } from "../lease.ts";
import type { Metrics } from "../metrics.ts";
import { loadBase, underTemplate } from "../policy/base.ts";
import { fetchBase } from "../policy/fetch-base.ts";
import { compareBase, loadAdapterFiles } from "../policy/parent.ts";
import { importAdapter, type ImportDependencies, type Imported } from "./import.ts";

const USAGE = `npm run trainer -- import --agent <name> --adapter <folder> [options]
  --adapter <folder>     PEFT's adapter_config.json and adapter_model.safetensors
  --from <folder>        the export that it was trained on; without it the version names no events
  --base <folder>        a Hugging Face folder of the agent's base (fetched from the edge)
  --threads <n>          threads inside one operator (2)
  --name <name>          what its lease runs under (host and process)
  --url <url>            where the edge is (the system of --state)
  --state <folder>       whose keys.json has the trainer key, and where a base is kept (.nextstate)
  --key <key>            the trainer key itself; else NEXTSTATE_TRAINER_KEY`;

const Options = z.object({
  ...EDGE_OPTIONS,
  agent: z.string().min(1),
  adapter: z.string().min(1),
  from: z.string().min(1).optional(),
  base: z.string().min(1).optional(),
  threads: z.coerce.number().int().positive().default(2),
  name: z
    .string()
    .min(1)
    .max(200)
    .default(() => `${hostname()}/${process.pid}`),
});
type Options = z.infer<typeof Options>;

/** Prints one JSON object; returns 0 where the version answers or will, 1 where its gate refused it. */
export async function importCommand(argv: readonly string[], print: (line: string) => void): Promise<number> {
  const options = parseOptions(argv, Options, USAGE);
  const { agent, name } = options;
  const key = keyOf(options);
  const files = {
    configBytes: readAdapter(options.adapter, "adapter_config.json"),
    weightBytes: readAdapter(options.adapter, "adapter_model.safetensors"),
  };
  const from = options.from === undefined ? undefined : readExport(options.from);
  const url = edgeOf(options);
  const edge = createEdgeClient({ edge: url, key });
  const answer = await edge.takeLease(agent, { holder: name, ttlMs: LEASE_MS });
  if (answer.status === "taken")
    throw new AppError(
      "lease/lost",
      `agent ${agent}: a free lease expected, got ${answer.holder ?? "another trainer"} at work; stop it first`,
    );
  const quiet: Metrics = (what, fields) => tell(`${what} ${JSON.stringify(fields)}`);
  const lease = new Lease(agent, answer, { edge, metrics: quiet, name, leaseMs: LEASE_MS });
  try {
    const leased = createEdgeClient({ edge: url, key, lease: lease.token, signal: lease.lost });
    const imported = await withDependencies(leased, options, (deps) =>
      importAdapter(deps, { line: { agent, line: SHARED_LINE }, files, from }),
    );
    print(JSON.stringify({ agent, ...imported }, null, 2));
    return imported.release === "refused" ? 1 : 0;
  } finally {
    await lease.end();
  }
}

function readAdapter(folder: string, name: string): Uint8Array<ArrayBuffer> {
  const path = join(folder, name);
  if (!existsSync(path)) throw new AppError("input/invalid", `--adapter: a folder with ${name}, as PEFT saves it, expected, got ${folder}`);
  const { size } = statSync(path);
  if (size > MOST_ADAPTER_BYTES)
    throw new AppError(
      "input/tooLarge",
      `--adapter: ${name} of at most ${MOST_ADAPTER_BYTES} bytes expected, got ${size}; a lower rank takes less`,
    );
  return new Uint8Array(readFileSync(path));
}

/** The base, and an engine that is started once the gate is asked: an agent without a gate needs none. */
async function withDependencies(
  edge: EdgePort,
  { agent, base: given, state, threads }: Options,
  work: (deps: ImportDependencies) => Promise<Imported>,
): Promise<Imported> {
  const { baseDigest, settings } = await edge.readHead({ agent, line: SHARED_LINE });
  tell("reading the base");
  const folder = given ?? (await fetchBase(edge, { digest: baseDigest, folder: join(state, "trainer", "bases") }));
  const base = underTemplate(loadBase(folder), templateArgumentsOf(settings.engine));
  let engine: Engine | undefined;
  const gate: Gate = async (request) => {
    engine = await Engine.start({ config: base.config, threads, tokenizer: base.tokenizerFiles });
    await engine.loadCheckpoint(folder);
    return createGate({ engine, base }).examine(request);
  };
  try {
    const name = given === undefined ? undefined : await compareBase(edge, { folder, baseDigest });
    if (name !== undefined) tell(`${folder}: taken as ${name}, which the agent's engine serves`);
    const loadAdapter: ImportDependencies["loadAdapter"] = ({ adapter }) => loadAdapterFiles(edge, base, adapter);
    return await work({ edge, base, loadAdapter, gate, runtime: { node: process.version }, seed: 0, onProgress: (what) => tell(what) });
  } finally {
    await engine?.close();
  }
}
