/**
 * The adapters under which a base judges, one for verdicts and hints and one for wishes: two files each beside the base, in PEFT's format,
 * under names of their own. They are the trainer's and no part of what the base is: another judge makes no other base. A base that came from the
 * edge is judged under the shipped ones if it is the shipped base.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AdapterTensors, readAdapterFiles, writeAdapterFiles } from "./adapter.ts";
import type { Base } from "./base.ts";

export const JUDGE_ADAPTERS = ["judge", "wish"] as const;
export type JudgeAdapter = (typeof JUDGE_ADAPTERS)[number];

const BASE_WEIGHTS = "model.safetensors";
const SHIPPED = fileURLToPath(new URL("../../base", import.meta.url));

/** Undefined where the base has none, and does those jobs by itself. @throws {policy/refused} naming what does not fit the base */
export function readJudgeAdapter(adapter: JudgeAdapter, { folder, config }: Pick<Base, "folder" | "config">): AdapterTensors | undefined {
  const names = namesOf(adapter);
  const has = (owner: string): boolean => names.every((name) => existsSync(join(owner, name)));
  const owner = has(folder) ? folder : has(SHIPPED) && isShipped(folder) ? SHIPPED : undefined;
  if (owner === undefined) return undefined;
  const [configBytes, weightBytes] = names.map((name) => new Uint8Array(readFileSync(join(owner, name)))) as [Bytes, Bytes];
  return readAdapterFiles(config, { configBytes, weightBytes });
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

type Bytes = Uint8Array<ArrayBuffer>;

function namesOf(adapter: JudgeAdapter): [config: string, weights: string] {
  return [`${adapter}_adapter_config.json`, `${adapter}_adapter_model.safetensors`];
}

function isShipped(folder: string): boolean {
  const [own, shipped] = [folder, SHIPPED].map((each) => join(each, BASE_WEIGHTS)) as [string, string];
  if (!existsSync(own) || !existsSync(shipped)) return false;
  const digest = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");
  return digest(own) === digest(shipped);
}
