/** Random adapters for a base that an edge serves, and the same policy in Node to decode answers again. */
import type { EdgeHost } from "../../cli/edge-host.ts";
import { createPolicy, type Policy } from "../../edge/policy/policy.ts";
import { toTokenizerFiles } from "../../edge/policy/resident.ts";
import { at } from "../../shared/assert.ts";
import { linearNames, linearShape, writeAdapter, type Adapter, type Invocation, type LoraPair } from "../../shared/lora.ts";
import { LEASE_HEADER } from "../../shared/lease.ts";
import { parseModelConfig, type ModelConfig } from "../../shared/model-config.ts";
import { BaseManifest, type AdapterFiles } from "../../shared/policy.ts";
import { kernelModule } from "../edge/kernel/decode.ts";
import { call, manifestOf, putFile, utf8 } from "./call.ts";

/** What HTTP alone needs of an edge. */
type Asked = Pick<EdgeHost, "url" | "keys" | "baseDigest">;

const RANK = 4;
const ALPHA = 8;

/** Bytes of a stored file. */
export async function readStored(edge: EdgeHost, digest: string): Promise<Uint8Array<ArrayBuffer>> {
  const object = await (await edge.getR2()).get(`files/${digest}`);
  if (object === null) throw new Error(`file ${digest} expected in storage, got none`);
  return new Uint8Array(await object.arrayBuffer());
}

async function baseFiles(edge: EdgeHost): Promise<(name: string) => Promise<Uint8Array<ArrayBuffer>>> {
  const { files } = BaseManifest.parse(JSON.parse(text(await readStored(edge, edge.baseDigest))));
  return (name) => readStored(edge, files[name] ?? "");
}

/** The policy that the edge serves, in this process, from the same stored bytes. */
export async function policyOf(edge: EdgeHost): Promise<{ policy: Policy; config: ModelConfig }> {
  const read = await baseFiles(edge);
  const names = ["config.json", "tokenizer.json", "tokenizer_config.json"];
  const [config = "", tokenizer = "", tokenizerConfig = ""] = (await Promise.all(names.map(read))).map(text);
  const parsed: unknown = JSON.parse(config);
  const base = { config: parsed, tokenizer: toTokenizerFiles(tokenizer, tokenizerConfig), weights: await read("model.safetensors") };
  return { policy: createPolicy({ kernelModule, files: base }), config: parseModelConfig(parsed) };
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Uploads a small adapter that fits the edge's base; other content, other weights. With an invocation it is an activated one. */
export async function putAdapter(
  edge: EdgeHost,
  content: string,
  { invocation, scale = 1 }: { invocation?: Invocation; scale?: number } = {},
): Promise<AdapterFiles> {
  const config = parseModelConfig(JSON.parse(text(await (await baseFiles(edge))("config.json"))));
  const { out, in: width } = linearShape(config, "q_proj");
  const seed = utf8(content).reduce((sum, byte) => (Math.imul(sum, 31) + byte) >>> 0, 7);
  const random = uniform(seed);
  const [a, b] = [width, out].map((size) => Float32Array.from({ length: size }, () => scale * random()));
  if (a === undefined || b === undefined) throw new Error("two matrices expected");
  return putAdapterFiles(edge, config, {
    rank: 1,
    alpha: 2,
    ...(invocation && { invocation }),
    pairs: [{ layer: 0, linear: "q_proj", a, b }],
  });
}

/** Uploads an adapter whose weights are large enough to change most answers. */
export async function putRandomAdapter(edge: Asked, config: ModelConfig, seed: number): Promise<AdapterFiles> {
  const random = uniform(seed);
  const values = (count: number, scale: number): Float32Array => Float32Array.from({ length: count }, () => scale * random());
  const pairs: LoraPair[] = [];
  for (let layer = 0; layer < config.layerCount; layer += 1)
    for (const linear of linearNames()) {
      const { out, in: width } = linearShape(config, linear);
      pairs.push({ layer, linear, a: values(RANK * width, 1 / Math.sqrt(width)), b: values(out * RANK, 0.5) });
    }
  return putAdapterFiles(edge, config, { rank: RANK, alpha: ALPHA, pairs });
}

async function putAdapterFiles(edge: Asked, config: ModelConfig, adapter: Adapter): Promise<AdapterFiles> {
  const { adapterConfig, adapterModel } = writeAdapter(config, adapter, { baseModel: "random" });
  const [configFile, weightsFile] = await Promise.all([putFile(edge, utf8(adapterConfig)), putFile(edge, adapterModel)]);
  return { configDigest: configFile.digest, weightsDigest: weightsFile.digest, rank: adapter.rank, alpha: adapter.alpha };
}

/** Publishes an adapter as the agent's next version; returns its number. @param lease token of whoever holds the agent */
export async function publishAdapter(edge: Asked, agent: string, adapter: AdapterFiles, lease = 0): Promise<number> {
  const line = `/trainer/v1/agents/${agent}/lines/shared`;
  const { body: head } = await call(edge, "trainer", `GET ${line}/head`);
  const manifest = manifestOf({ agent, baseDigest: edge.baseDigest, parent: head.stable, adapter, fromSeq: head.cursor });
  const { body } = await call(
    edge,
    "trainer",
    `POST ${line}/versions`,
    { parent: head.stable, manifest },
    { [LEASE_HEADER]: String(lease) },
  );
  if (body.status !== "published") throw new Error(`a published version expected, got ${JSON.stringify(body)}`);
  return Number(body.version);
}

/** Numbers in [−1, 1): Marsaglia's xorshift32 (J. Stat. Softw. 8/14). */
export function uniform(seed: number): () => number {
  const state = Uint32Array.of(seed);
  return () => {
    let word = at(state, 0);
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    state[0] = word;
    return at(state, 0) / 2 ** 31 - 1;
  };
}
