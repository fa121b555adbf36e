/** A tiny random base and an engine that holds it, for the tests of one file. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { UpdateSettings } from "../../trainer/config.ts";
import { Engine } from "../../trainer/engine/engine.ts";
import { loadBase, type Base } from "../../trainer/policy/base.ts";
import { writeRandomBase } from "./random-base.ts";

/** Of updates of a base that knows nothing; what tests promise does not depend on them. */
export const LARGE_RATES = UpdateSettings.parse({
  alpha: 64,
  lr: 3e-2,
  maxSteps: 8,
  settleSteps: 1,
  checkEvery: 4,
  averagedSteps: 1,
  driftLimitNats: 5,
});

type RandomEngine = { base: Base; engine: Engine };

/** Its fields are there once the first test runs. @param write what makes the base's folder, and returns its path */
export function withRandomEngine(write: (folder: string) => Promise<string> = writeRandomBase): RandomEngine {
  const made = {} as RandomEngine;
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nextstate-engine-"));
    made.base = loadBase(await write(join(folder, "base")));
    made.engine = await Engine.start({ config: made.base.config, threads: 1, tokenizer: made.base.tokenizerFiles });
    await made.engine.loadCheckpoint(made.base.folder);
  });
  afterAll(async () => {
    await made.engine.close();
    await rm(folder, { recursive: true, force: true });
  });
  return made;
}
