/** The command line of `rebuild`: finds the edge, the key and the base, and says whether the bytes are the same. */
import { z } from "zod";
import { TemplateArguments } from "../../shared/engine.ts";
import { SHARED_LINE } from "../../shared/policy.ts";
import { EDGE_OPTIONS, edgeOf, keyOf } from "../command.ts";
import { parseOptions } from "../command-line.ts";
import { UpdateSettings } from "../config.ts";
import { Engine } from "../engine/engine.ts";
import { createEdgeClient } from "../feed/client.ts";
import { createLearner } from "../learn/update/update.ts";
import { Compute, COMPUTES, chooseDevice, Device } from "../onnx/device.ts";
import { writeAdapterFiles } from "../policy/adapter.ts";
import { loadBase, underTemplate } from "../policy/base.ts";
import { createParentLoader } from "../policy/parent.ts";
import { rebuildVersion, type Rebuilt } from "./rebuild.ts";

/** Of versions of before it could be set. */
const BEFORE_ROWS = { rowTokens: 1_024 };

const USAGE = `npm run trainer -- rebuild --agent <name> --version <n> [options]
  --line <line>     shared, or the id of the user whose own line it is (shared)
  --url <url>       where the edge is (the system of --state)
  --state <folder>  whose keys.json has the trainer key (.nextstate)
  --key <key>       the trainer key itself
  --base <folder>   the base checkpoint (base)`;

const Options = z.object({
  ...EDGE_OPTIONS,
  agent: z.string().min(1),
  version: z.coerce.number().int().min(1),
  line: z.string().min(1).default(SHARED_LINE),
  base: z.string().default("base"),
});

/** Prints one JSON object; returns the exit code: 0 where the bytes are the same. @throws {input/invalid} with the usage */
export async function rebuildCommand(argv: readonly string[], print: (line: string) => void): Promise<number> {
  const options = parseOptions(argv, Options, USAGE);
  const rebuilt = await rebuild(options);
  print(JSON.stringify(rebuilt, null, 2));
  return rebuilt.same ? 0 : 1;
}

async function rebuild({ agent, version, line: name, url, state, base: folder, key }: z.infer<typeof Options>): Promise<Rebuilt> {
  const edge = createEdgeClient({ edge: edgeOf({ url, state }), key: keyOf({ key, state }) });
  const line = { agent, line: name };
  const { runtime } = await edge.readVersion(line, version);
  // With the sizes and rates, and on as many threads, as it was made with.
  const settings = UpdateSettings.parse({ ...BEFORE_ROWS, ...JSON.parse(runtime["update"] ?? "{}") });
  // Its prompts, too, are written as they were then; versions of before that was kept had no arguments.
  const base = underTemplate(loadBase(folder, settings), TemplateArguments.parse(JSON.parse(runtime["templateArguments"] ?? "{}")));
  // On the kind of device, too, where this machine has it; versions of before devices could be chosen are of the CPU.
  const used = Device.catch("cpu").parse(runtime["device"]);
  const { device } = await chooseDevice(used).catch(() => chooseDevice("cpu"));
  const made = Compute.catch("float32").parse(runtime["compute"]);
  const compute = COMPUTES[device].includes(made) ? made : "float32";
  const threads = Number(runtime["threads"] ?? 2);
  const engine = await Engine.start({ config: base.config, threads, tokenizer: base.tokenizerFiles, device, compute });
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
