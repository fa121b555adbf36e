/** The adapter under which a base judges: two files beside the base, in PEFT's format, under names of their own. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { JUDGE_ADAPTER_FILES } from "../../shared/policy.ts";
import { type AdapterTensors, readAdapterFiles, writeAdapterFiles } from "./adapter.ts";
import type { Base } from "./base.ts";

/** Undefined where the base has none, and judges by itself. @throws {policy/refused} naming what does not fit the base */
export function readJudgeAdapter({ folder, config }: Pick<Base, "folder" | "config">): AdapterTensors | undefined {
  const [configFile, weightsFile] = JUDGE_ADAPTER_FILES.map((name) => join(folder, name)) as [string, string];
  if (!existsSync(configFile) || !existsSync(weightsFile)) return undefined;
  const bytes = (file: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(file));
  return readAdapterFiles(config, { configBytes: bytes(configFile), weightBytes: bytes(weightsFile) });
}

export function writeJudgeAdapter(out: string, adapter: AdapterTensors, { config, name }: Pick<Base, "config" | "name">): void {
  const { configBytes, weightBytes } = writeAdapterFiles(config, adapter, name);
  mkdirSync(out, { recursive: true });
  const [configFile, weightsFile] = JUDGE_ADAPTER_FILES.map((file) => join(out, file)) as [string, string];
  writeFileSync(configFile, configBytes);
  writeFileSync(weightsFile, weightBytes);
}
