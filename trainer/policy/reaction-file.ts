/** The models of words that a base may have beside it, as its judge's adapters: what they say of an answer, and whether they correct a call. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ReactionModel, type ReactionWeights } from "../judge/reaction-model.ts";
import type { Base } from "./base.ts";
import { isBesideBase, readBesideBase } from "./beside-base.ts";

export const WORD_MODELS = ["reaction", "correction"] as const;
export type WordModel = (typeof WORD_MODELS)[number];

/** Undefined where the base has none. @throws {policy/refused} where the file is none */
export function readReactionModel(base: Pick<Base, "folder">, model: WordModel = "reaction"): ReactionModel | undefined {
  const [file] = readBesideBase(base, [fileOf(model)] as const) ?? [];
  return file === undefined ? undefined : ReactionModel.read(file);
}

export function hasWordModel(base: Pick<Base, "folder">, model: WordModel): boolean {
  return isBesideBase(base, [fileOf(model)]);
}

export function writeReactionModel(weights: ReactionWeights, folder: string, model: WordModel = "reaction"): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, fileOf(model)), ReactionModel.write(weights));
}

function fileOf(model: WordModel): string {
  return `${model}_model.safetensors`;
}
