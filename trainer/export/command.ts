/** The command line of `export`: the batch that an update would learn from, as files for a trainer of somebody else's. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { templateArgumentsOf } from "../../shared/engine.ts";
import { AppError } from "../../shared/errors.ts";
import { SHARED_LINE, type LineHead } from "../../shared/policy.ts";
import { EDGE_OPTIONS, edgeOf, keyOf, tell } from "../command.ts";
import { parseOptions } from "../command-line.ts";
import { Engine } from "../engine/engine.ts";
import { createEdgeClient } from "../feed/client.ts";
import type { EdgePort } from "../feed/edge-port.ts";
import type { JobSampler } from "../judge/job-sampler.ts";
import { LlmJudge } from "../judge/llm/judge.ts";
import { createPanel } from "../judge/panel.ts";
import { openJudge } from "../policy/answerer.ts";
import { type Base, loadBase, underTemplate } from "../policy/base.ts";
import { fetchBase } from "../policy/fetch-base.ts";
import { compareBase, loadAdapterFiles } from "../policy/parent.ts";
import { assembleExport, type Assembled } from "./assemble.ts";
import { createCredit, type CreditDependencies } from "./credit.ts";
import { exportDigest, MANIFEST_FILE, type ExportFormat, type ExportManifest } from "./manifest.ts";
import { slimeCommand, slimeFiles, type ExportFile } from "./slime.ts";
import { verlFiles } from "./verl.ts";

const USAGE = `npm run trainer -- export --agent <name> --format <verl|slime> [options]
  --out <folder>         a new folder for the files (export-<agent>)
  --advantages <what>    rewards: of each turn as it was judged; hybrid: of corrections under the teacher, as an
                         update has them, for which the base runs here (rewards)
  --most <n>             signals at most (1000)
  --base <folder>        a Hugging Face folder of the agent's base (fetched from the edge)
  --threads <n>          threads inside one operator, where the base runs here (2)
  --seed <n>             of votes that judges draw (0)
  --url <url>            where the edge is (the system of --state)
  --state <folder>       whose keys.json has the trainer key, and where a base is kept (.nextstate)
  --key <key>            the trainer key itself; else NEXTSTATE_TRAINER_KEY
Stop the agent's own trainer until the adapter is back: what it learns meanwhile makes the export an old one.`;

const Options = z.object({
  ...EDGE_OPTIONS,
  agent: z.string().min(1),
  format: z.enum(["verl", "slime"]),
  out: z.string().min(1).optional(),
  advantages: z.enum(["rewards", "hybrid"]).default("rewards"),
  most: z.coerce.number().int().positive().default(1_000),
  base: z.string().min(1).optional(),
  threads: z.coerce.number().int().positive().default(2),
  seed: z.coerce.number().int().min(0).default(0),
});
type Options = z.infer<typeof Options>;

/** Prints one JSON object; returns the exit code. @throws {policy/refused} where there is nothing to export */
export async function exportCommand(argv: readonly string[], print: (line: string) => void): Promise<number> {
  const options = parseOptions(argv, Options, USAGE);
  const { agent, format, out = `export-${agent}` } = options;
  checkFolder(out);
  const { edge, base, assembled } = await prepareExport(options);
  tell(describe(assembled));
  const files = [...filesOf(format, assembled, base), ...(await parentFiles(edge, assembled.manifest))];
  const manifest = writeExport(out, format, { files, manifest: assembled.manifest });
  const digest = await exportDigest(manifest);
  const { parent, fromSeq, toSeq, counts } = manifest;
  print(JSON.stringify({ folder: out, digest, format, parent, fromSeq, toSeq, events: manifest.events.length, ...counts }, null, 2));
  if (format === "slime")
    tell(
      `train on it, ${resolve(out)} in the PYTHONPATH of slime's workers, with your arguments of model, checkpoints, GPUs and optimizer:\n${slimeCommand(assembled.rows, { folder: resolve(out) })}`,
    );
  return 0;
}

/** @throws {input/invalid} for a folder that holds something */
export function checkFolder(out: string): void {
  if (existsSync(out) && !statSync(out).isDirectory())
    throw new AppError("input/invalid", `--out: a new folder expected, got ${out}, a file`);
  if (existsSync(out) && readdirSync(out).length > 0)
    throw new AppError("input/invalid", `--out: a new folder expected, got ${out} with files in it`);
}

type Preparing = Omit<Options, "format" | "out">;

/** The rows of an agent's shared line, and what reads its tokens. */
export async function prepareExport(options: Preparing): Promise<{ edge: EdgePort; base: Base; assembled: Assembled }> {
  const edge = createEdgeClient({ edge: edgeOf(options), key: keyOf(options) });
  const head = await edge.readHead({ agent: options.agent, line: SHARED_LINE });
  const base = underTemplate(loadBase(await findBase(edge, head, options)), templateArgumentsOf(head.settings.engine));
  return { edge, base, assembled: await assemble(edge, base, options) };
}

/** What reads the agent's tokens, and for `hybrid` computes with them. @throws {policy/digest} where it is another base than the agent's */
async function findBase(edge: EdgePort, { baseDigest }: LineHead, { base, state, advantages }: Preparing): Promise<string> {
  const weights = advantages === "hybrid";
  if (base === undefined) return fetchBase(edge, { digest: baseDigest, folder: join(state, "trainer", "bases"), weights });
  // A base that its engine knows by name can be compared with nothing.
  const name = await compareBase(edge, { folder: base, baseDigest, weights });
  if (name !== undefined) tell(`${base}: taken as ${name}, which the agent's engine serves`);
  return base;
}

async function assemble(edge: EdgePort, base: Base, options: Preparing): Promise<Assembled> {
  const { agent, advantages, threads, seed, most } = options;
  const engine = advantages === "hybrid" ? await Engine.start({ config: base.config, threads, tokenizer: base.tokenizerFiles }) : undefined;
  try {
    await engine?.loadCheckpoint(base.folder);
    const loadAdapter: CreditDependencies["loadAdapter"] = ({ adapter }) => loadAdapterFiles(edge, base, adapter);
    return await assembleExport(
      { agent, line: SHARED_LINE },
      {
        edge,
        base,
        loadAdapter,
        ...(engine === undefined ? {} : { credit: createCredit({ engine, base, loadAdapter }) }),
        judge: createPanel(engine === undefined ? NO_MODEL : await openJudge(engine, base), new LlmJudge({ environment: process.env })),
        metrics: (name, fields) => void (name === "signal:unjudged" && tell(`${fields["eventId"]}: ${fields["detail"]}`)),
        now: () => new Date(),
        ...{ seed, most },
        onProgress: ({ events, signals }) => tell(`${events} events read, ${signals} signals to learn from`, { last: false }),
      },
    );
  } finally {
    await engine?.close();
  }
}

/** Without a model here, what no log, person or server has judged waits. */
const NO_MODEL: JobSampler = {
  knowsWishes: false,
  call: async () => undefined,
  answer: () => Promise.reject(new AppError("judge/unavailable", "--advantages hybrid, a trainer, or a judge server expected to judge it")),
  score: () => Promise.reject(new AppError("judge/unavailable", "--advantages hybrid, a trainer, or a judge server expected to judge it")),
};

function filesOf(format: Options["format"], { rows, manifest }: Assembled, { tokenizer }: Base): ExportFile[] {
  const hook = `nextstate_${format}.py`;
  const files = format === "slime" ? slimeFiles(rows, { decode: (ids) => tokenizer.decode(ids) }) : verlFiles(rows, manifest);
  return [...files, { name: hook, content: new Uint8Array(readFileSync(join(import.meta.dirname, hook))) }];
}

/** The adapter to train on from, as PEFT has it; none where the parent is the bare base. */
async function parentFiles(edge: EdgePort, { parentAdapter }: Assembled["manifest"]): Promise<ExportFile[]> {
  if (parentAdapter === null) return [];
  const { configDigest, weightsDigest } = parentAdapter;
  return [
    { name: "parent/adapter_config.json", content: await edge.getFile(configDigest) },
    { name: "parent/adapter_model.safetensors", content: await edge.getFile(weightsDigest) },
  ];
}

/** The manifest is the last file: a folder without it is no export. */
export function writeExport(
  folder: string,
  format: ExportFormat,
  { files, manifest }: { files: readonly ExportFile[]; manifest: Assembled["manifest"] },
): ExportManifest {
  mkdirSync(folder, { recursive: true, mode: 0o700 }); // it holds what users have said
  if (files.some(({ name }) => name.startsWith("parent/"))) mkdirSync(join(folder, "parent"));
  for (const { name, content } of files) writeFileSync(join(folder, name), content);
  const whole: ExportManifest = {
    ...manifest,
    format,
    files: Object.fromEntries(files.map(({ name, content }) => [name, createHash("sha256").update(content).digest("hex")])),
  };
  writeFileSync(join(folder, MANIFEST_FILE), `${JSON.stringify(whole, null, 2)}\n`);
  return whole;
}

function describe({ manifest, unjudged }: Assembled): string {
  const { counts, events } = manifest;
  const left = Object.entries(counts.refused).map(([code, times]) => `${times} ${code}`);
  if (unjudged > 0) left.push(`${unjudged} wait for their judge`);
  return [
    `${events.length} events became ${counts.rows} rows: ${counts.corrections} corrected, ${counts.answers} supplied, ${counts.rewards} rewarded; ${counts.trainedTokens} of ${counts.tokens} tokens carry an advantage`,
    ...(counts.withoutLogProbs > 0
      ? [`${counts.withoutLogProbs} rows without log-probs of their own: drawn under a grammar, or written by a person`]
      : []),
    ...(left.length > 0 ? [`left out: ${left.join(", ")}`] : []),
  ].join("\n");
}
