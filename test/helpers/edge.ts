/**
 * A real edge for tests: workerd on the repository's own Worker and bindings, on a free port, with a state folder and
 * a base of its own. One per test file:
 *
 *     const edge = withEdge();            // at the top of the file or of a describe; starts before all, closes after all
 *     it("…", async () => { await fetch(`${edge.url}/v1/models`, { headers: bearer(edge.keys.client) }) });
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { startEdgeHost, type EdgeHost, type EdgeHostOptions } from "../../cli/edge-host.ts";
import { AppError } from "../../shared/errors.ts";
import { writeRandomBase } from "./random-base.ts";

export type TestEdgeOptions = Partial<EdgeHostOptions>;

const START_MS = 300_000;

/** Registers start and stop with vitest; the host's fields are there once the tests run. */
export function withEdge(options: TestEdgeOptions = {}): EdgeHost {
  let running: TestEdge | undefined;
  beforeAll(async () => void (running = await startTestEdge(options)), START_MS);
  afterAll(async () => running?.close(), START_MS);
  const edge = (): TestEdge => {
    if (running === undefined) throw new AppError("internal", "internal: the edge is used before its test file has started it");
    return running;
  };
  return {
    get url() {
      return edge().url;
    },
    get keys() {
      return edge().keys;
    },
    get stateFolder() {
      return edge().stateFolder;
    },
    get baseDigest() {
      return edge().baseDigest;
    },
    get migrated() {
      return edge().migrated;
    },
    workerdPid: () => edge().workerdPid(),
    getD1: () => edge().getD1(),
    getR2: () => edge().getR2(),
    close: () => edge().close(),
  };
}

export type TestEdge = EdgeHost;

/** The same without vitest's hooks; `close` removes the folders that it made. */
export async function startTestEdge(options: TestEdgeOptions = {}): Promise<TestEdge> {
  const folder = await mkdtemp(join(tmpdir(), "nextstate-test-"));
  const baseFolder = options.baseFolder ?? (await writeRandomBase(join(folder, "base")));
  const host = await startEdgeHost({ stateFolder: join(folder, "state"), ...options, baseFolder });
  const close = async (): Promise<void> => {
    await host.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...host, close };
}

/** Headers of a request with this key; JSON where it has a body. */
export function bearer(key: string, headers: Record<string, string> = {}): Record<string, string> {
  return { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers };
}
