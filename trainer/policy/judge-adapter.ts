/**
 * The adapter under which a base judges: two files beside the base, in PEFT's format, under names of their own. They are the trainer's and no part of
 * what the base is: another judge makes no other base. A base that came from the edge is judged under the shipped ones if it is the shipped base.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AdapterTensors, readAdapterFiles, writeAdapterFiles } from "./adapter.ts";
import type { Base } from "./base.ts";

const CONFIG = "judge_adapter_config.json";
const WEIGHTS = "judge_adapter_model.safetensors";
const BASE_WEIGHTS = "model.safetensors";
const SHIPPED = fileURLToPath(new URL("../../base", import.meta.url));

/** Undefined where the base has none, and judges by itself. @throws {policy/refused} naming what does not fit the base */
export function readJudgeAdapter({ folder, config }: Pick<Base, "folder" | "config">): AdapterTensors | undefined {
  const owner = hasJudge(folder) ? folder : isShipped(folder) ? SHIPPED : undefined;
  if (owner === undefined) return undefined;
  const bytes = (name: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(join(owner, name)));
  return readAdapterFiles(config, { configBytes: bytes(CONFIG), weightBytes: bytes(WEIGHTS) });
}

export function writeJudgeAdapter(out: string, adapter: AdapterTensors, { config, name }: Pick<Base, "config" | "name">): void {
  const { configBytes, weightBytes } = writeAdapterFiles(config, adapter, name);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, CONFIG), configBytes);
  writeFileSync(join(out, WEIGHTS), weightBytes);
}

function hasJudge(folder: string): boolean {
  return [CONFIG, WEIGHTS].every((name) => existsSync(join(folder, name)));
}

function isShipped(folder: string): boolean {
  const [own, shipped] = [folder, SHIPPED].map((each) => join(each, BASE_WEIGHTS)) as [string, string];
  if (!existsSync(own) || !existsSync(shipped) || !hasJudge(SHIPPED)) return false;
  const digest = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");
  return digest(own) === digest(shipped);
}
