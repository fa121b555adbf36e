/** The reaction model that a base may have beside it, as its judge's adapters. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ReactionModel, type ReactionWeights } from "../judge/reaction-model.ts";
import type { Base } from "./base.ts";
import { readBesideBase } from "./beside-base.ts";

const NAME = "reaction_model.safetensors";

/** Undefined where the base has none. @throws {policy/refused} where the file is none */
export function readReactionModel(base: Pick<Base, "folder">): ReactionModel | undefined {
  const [file] = readBesideBase(base, [NAME] as const) ?? [];
  return file === undefined ? undefined : ReactionModel.read(file);
}

export function writeReactionModel(weights: ReactionWeights, folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, NAME), ReactionModel.write(weights));
}
