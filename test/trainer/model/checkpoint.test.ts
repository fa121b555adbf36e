/** A checkpoint's folder is loaded whole, once, or refused by the name of what does not fit. */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseModelConfig } from "../../../shared/model-config.ts";
import type { FloatTensor } from "../../../shared/safetensors.ts";
import { readCheckpoint, readWeights } from "../../../trainer/model/checkpoint.ts";
import { listParameters } from "../../../trainer/model/parameters.ts";
import { CHAT_TEMPLATE } from "../../../trainer/pretrain/chat-template.ts";
import { writeRandomBase } from "../../helpers/random-base.ts";
import { FAMILIES, familyWeights, writeFamily } from "./families.ts";
import type { RawConfig } from "./reference.ts";

const TIED = FAMILIES["Qwen3, tied head, heads wider than their share"] ?? {};
const INDEX = "model.safetensors.index.json";
const SECOND = "model-00002-of-00003.safetensors";
const NORM = "model.layers.1.input_layernorm.weight";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "checkpoint-"))));
afterEach(() => rm(folder, { recursive: true }));

const load = (config: RawConfig = TIED): Map<string, Float32Array> => readWeights({ folder, config: parseModelConfig(config) });
const write = async (change: (tensors: Map<string, FloatTensor>) => void, shards = 1): Promise<void> => {
  const weights = familyWeights(TIED, "BF16");
  change(weights);
  await writeFamily(folder, { config: TIED, weights, type: "BF16", shards });
};

describe("weights", () => {
  for (const [type, shards] of [
    ["BF16", 1],
    ["F16", 3],
    ["F32", 4],
  ] as const) {
    it(`of ${type} in ${shards} file(s) are read as they were written`, async () => {
      const weights = familyWeights(TIED, type);
      await writeFamily(folder, { config: TIED, weights, type, shards });
      const read = load();
      expect([...read.keys()].sort()).toEqual([...weights.keys()].sort());
      for (const [name, { values }] of weights) expect(read.get(name), name).toEqual(values);
    });
  }

  it("may write a tied head out, as it is", async () => {
    await write((tensors) =>
      tensors.set("lm_head.weight", tensors.get("model.embed_tokens.weight") ?? { shape: [0], values: new Float32Array() }),
    );
    expect(load().has("lm_head.weight")).toBe(false);
  });

  it("may hold frequencies that config.json gives", async () => {
    await write((tensors) => tensors.set("model.layers.0.self_attn.rotary_emb.inv_freq", { shape: [6], values: new Float32Array(6) }));
    expect(load().size).toBe(listParameters(parseModelConfig(TIED)).length);
  });

  for (const [what, change, message] of [
    ["a tensor missing", (tensors: Map<string, FloatTensor>) => void tensors.delete(NORM), `tensor ${NORM} expected, got none`],
    [
      "a tensor of another shape",
      (tensors: Map<string, FloatTensor>) => void tensors.set(NORM, { shape: [31], values: new Float32Array(31) }),
      `model.safetensors: tensor ${NORM}: shape [32] expected, got [31]`,
    ],
    [
      "a bias that the family has not",
      (tensors: Map<string, FloatTensor>) =>
        void tensors.set("model.layers.0.self_attn.q_proj.bias", { shape: [48], values: new Float32Array(48) }),
      "no tensor model.layers.0.self_attn.q_proj.bias expected for this config.json",
    ],
    [
      "an expert",
      (tensors: Map<string, FloatTensor>) =>
        void tensors.set("model.layers.0.mlp.experts.0.up_proj.weight", { shape: [1], values: new Float32Array(1) }),
      "no tensor model.layers.0.mlp.experts.0.up_proj.weight expected",
    ],
    [
      "a value that is no number",
      (tensors: Map<string, FloatTensor>) => void tensors.get(NORM)?.values.fill(NaN, 7, 8),
      `tensor ${NORM} of 64 bytes: finite values expected, got NaN at 7`,
    ],
    [
      "a tied head that is another",
      (tensors: Map<string, FloatTensor>) => void tensors.set("lm_head.weight", { shape: [61, 32], values: new Float32Array(61 * 32) }),
      "tensor lm_head.weight equal to model.embed_tokens.weight expected",
    ],
  ] as const) {
    it(`are refused with ${what}`, async () => {
      await write(change);
      expect(() => load()).toThrow(message);
    });
  }

  it("are refused with a type that is none of theirs", async () => {
    await write(() => undefined);
    const path = join(folder, "model.safetensors");
    await writeFile(path, Buffer.from((await readFile(path)).toString("latin1").replaceAll('"BF16"', '"F8_8"'), "latin1"));
    expect(() => load()).toThrow(/model.safetensors: safetensors: tensor .*"F32"\|"F16"\|"BF16"[^]*"dtype":"F8_8"/);
  });

  it("are refused where no file holds any, naming what was found", async () => {
    await write(() => undefined);
    await rename(join(folder, "model.safetensors"), join(folder, "pytorch_model.bin"));
    expect(() => load()).toThrow(`model.safetensors or ${INDEX} expected, got pytorch_model.bin`);
  });

  it("are refused where one of several files is missing", async () => {
    await write(() => undefined, 3);
    await rm(join(folder, SECOND));
    expect(() => load()).toThrow(`${SECOND} expected, as ${INDEX} says, got none`);
  });

  it("are refused where a file ends before what it says", async () => {
    await write(() => undefined, 3);
    await truncate(join(folder, SECOND), 2_000);
    expect(() => load()).toThrow(new RegExp(`^${SECOND}: safetensors: file of \\d+ bytes expected, got 2000$`));
  });

  for (const [what, change, message] of [
    [
      "names a tensor that its file has not",
      (map: Record<string, string>) => ({ ...map, "lm_head.weight": SECOND }),
      `${SECOND}: tensor lm_head.weight expected, as ${INDEX} says`,
    ],
    ["leaves a tensor out", ({ [NORM]: _left, ...map }: Record<string, string>) => map, `tensor ${NORM} in model-`],
    [
      "points out of the folder",
      (map: Record<string, string>) => ({ ...map, [NORM]: "../model.safetensors" }),
      "names of files beside it expected, got ../model.safetensors",
    ],
  ] as const) {
    it(`are refused where the index ${what}`, async () => {
      await write(() => undefined, 3);
      const index = JSON.parse(await readFile(join(folder, INDEX), "utf8")) as { weight_map: Record<string, string> };
      await writeFile(join(folder, INDEX), JSON.stringify({ weight_map: change(index.weight_map) }));
      expect(() => load()).toThrow(message);
    });
  }

  it("are in memory once, whatever the file is", async () => {
    const config = { ...TIED, vocab_size: 32_768, hidden_size: 1_024, head_dim: 128, intermediate_size: 1_024, num_hidden_layers: 1 };
    await writeZeros(config);
    const bytes = listParameters(parseModelConfig(config)).reduce((sum, { size }) => sum + 4 * size, 0);
    const script = `
      import { listParameters, ParameterBuffer } from "./trainer/model/parameters.ts";
      import { loadWeights } from "./trainer/model/load-weights.ts";
      import { parseModelConfig } from "./shared/model-config.ts";
      const config = parseModelConfig(${JSON.stringify(config)});
      const before = process.resourceUsage().maxRSS;
      const buffer = new ParameterBuffer(listParameters(config));
      loadWeights(${JSON.stringify(folder)}, config, buffer);
      console.log(process.resourceUsage().maxRSS - before);`;
    const grown = 1_024 * Number(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }));
    expect(bytes).toBeGreaterThan(150e6);
    expect(grown).toBeGreaterThan(0.9 * bytes);
    expect(grown).toBeLessThan(1.25 * bytes); // the parameters, one small buffer and the code; the file would be another half
  });
});

describe("readCheckpoint", () => {
  for (const name of ["config.json", "tokenizer.json", "tokenizer_config.json"]) {
    it(`refuses a folder without ${name}`, async () => {
      await writeRandomBase(folder);
      await rm(join(folder, name));
      expect(() => readCheckpoint(folder)).toThrow(`${name} expected, got none`);
    });
  }

  it("refuses a file that is no JSON by its name", async () => {
    await writeRandomBase(folder);
    await writeFile(join(folder, "config.json"), "version https://git-lfs.github.com/spec/v1");
    expect(() => readCheckpoint(folder)).toThrow(/^config.json in .*: JSON expected, got text that does not parse$/);
  });

  it("takes the chat template from a file of its own before the one in tokenizer_config.json", async () => {
    await writeRandomBase(folder);
    const messages = [{ role: "user" as const, content: "x" }];
    await writeFile(join(folder, "chat_template.jinja"), `${CHAT_TEMPLATE}{{- 'and more' -}}`);
    expect(readCheckpoint(folder).tokenizer.renderPrompt({ messages, addGenerationPrompt: false }).text).toMatch(/and more$/);
  });

  const saysOfEnds = (says: object): Promise<void> => writeFile(join(folder, "generation_config.json"), JSON.stringify(says));

  it.each([
    ["several", { eos_token_id: [5, 2, 7] }, [2, 5, 7]],
    ["one", { eos_token_id: 5 }, [2, 5]],
    ["the template's own", { eos_token_id: 2, do_sample: false }, [2]],
    ["none", { eos_token_id: null }, [2]],
    ["nothing", { do_sample: false }, [2]],
  ])("has the template's end token and those of generation_config.json that names %s", async (_, says, ends) => {
    await writeRandomBase(folder);
    await saysOfEnds(says);
    expect(readCheckpoint(folder).tokenizer).toMatchObject({ eosId: 2, endIds: ends });
  });

  it("has the template's end token alone without generation_config.json, and so has the shipped base with its own", async () => {
    await writeRandomBase(folder);
    await rm(join(folder, "generation_config.json"));
    for (const { tokenizer } of [readCheckpoint(folder), readCheckpoint("base")]) expect(tokenizer.endIds).toEqual([tokenizer.eosId]);
  });

  it.each([
    [[2, 128_008], "got 2,128008"],
    [-1, "got -1"],
    [1.5, "got 1.5"],
    ["</s>", "got ✖ Invalid input"],
  ])("refuses an end token %j, which the vocabulary has not, by its name", async (ends, got) => {
    await writeRandomBase(folder);
    await saysOfEnds({ eos_token_id: ends });
    const config = JSON.parse(await readFile(join(folder, "config.json"), "utf8")) as RawConfig;
    const expected = `eos_token_id: ids of the ${Number(config["vocab_size"])} tokens in config.json expected, ${got}`;
    expect(() => readCheckpoint(folder)).toThrow(`generation_config.json: ${expected}`);
  });
});

/** The folder's weights, all zero and none of them on the disk. */
async function writeZeros(config: RawConfig): Promise<void> {
  let end = 0;
  const fields: Record<string, unknown> = {};
  for (const { name, shape, size } of listParameters(parseModelConfig(config))) {
    fields[name] = { dtype: "BF16", shape, data_offsets: [end, end + 2 * size] };
    end += 2 * size;
  }
  const header = Buffer.from(JSON.stringify(fields));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const path = join(folder, "model.safetensors");
  await writeFile(path, Buffer.concat([length, header]));
  await truncate(path, 8 + header.length + end);
}
