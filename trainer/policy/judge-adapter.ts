/**
 * The adapters under which a base judges, one for verdicts and hints and one for wishes: two files each beside the base, in PEFT's format,
 * under names of their own. They are the trainer's and no part of what the base is: another judge makes no other base.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AdapterTensors, readAdapterFiles, writeAdapterFiles } from "./adapter.ts";
import type { Base } from "./base.ts";
import { isBesideBase, readBesideBase } from "./beside-base.ts";

export const JUDGE_ADAPTERS = ["judge", "wish"] as const;
export type JudgeAdapter = (typeof JUDGE_ADAPTERS)[number];

/** Undefined where the base has none, and does those jobs by itself. @throws {policy/refused} naming what does not fit the base */
export function readJudgeAdapter(adapter: JudgeAdapter, { folder, config }: Pick<Base, "folder" | "config">): AdapterTensors | undefined {
  const files = readBesideBase({ folder }, namesOf(adapter));
  if (files === undefined) return undefined;
  const [configBytes, weightBytes] = files;
  return readAdapterFiles(config, { configBytes, weightBytes });
}

export function hasJudgeAdapter(adapter: JudgeAdapter, base: Pick<Base, "folder">): boolean {
  return isBesideBase(base, namesOf(adapter));
}

export function writeJudgeAdapter(
  adapter: JudgeAdapter,
  tensors: AdapterTensors,
  { out, base }: { out: string; base: Pick<Base, "config" | "name"> },
): void {
  const { configBytes, weightBytes } = writeAdapterFiles(base.config, tensors, base.name);
  const [config, weights] = namesOf(adapter);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, config), configBytes);
  writeFileSync(join(out, weights), weightBytes);
}

function namesOf(adapter: JudgeAdapter): [config: string, weights: string] {
  return [`${adapter}_adapter_config.json`, `${adapter}_adapter_model.safetensors`];
}
