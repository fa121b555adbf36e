/** What every bench over SGD dialogues asks with, and the dialogues that it asks for. */
import { isTuning, readSgd, type Sgd } from "../trainer/pretrain/sgd.ts";
import { say } from "./bench.ts";

/** For `readCommandLine`. */
export const SGD_OPTIONS = {
  sgd: { type: "string" },
  split: { type: "string", default: "dev" },
  base: { type: "string", default: "base" },
  seed: { type: "string", default: "1" },
  threads: { type: "string", default: "2" },
  full: { type: "boolean", default: false },
} as const;

/** The dialogues, of `tuning` those of train that no base was trained on; undefined, with the usage said and exit code 2 set, where folder or split is missing or unknown. */
export function openSgd(
  { sgd: folder, split }: { sgd?: string | undefined; split: string },
  command: string,
  more: readonly string[] = [],
): Sgd | undefined {
  if (folder !== undefined && (split === "dev" || split === "test")) return readSgd(folder, split);
  if (folder !== undefined && split === "tuning") {
    const train = readSgd(folder, "train");
    return { ...train, dialogues: train.dialogues.filter(isTuning) };
  }
  say(folder === undefined ? "--sgd: a folder expected, got none" : `--split: dev, test or tuning expected, got ${split}`);
  say(
    [`npm run ${command} -- --sgd <folder> --split dev|test|tuning`, ...more, "[--base base] [--full] [--seed 1] [--threads 2]"].join(" "),
  );
  process.exitCode = 2;
  return undefined;
}
