/** llama.cpp beside the adapter host: a proxy with one address, before servers that come and go. */
import { createWriteStream, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { claimStateFolder, startGuard } from "../processes.ts";
import { startProxy } from "./proxy.ts";
import { Succession, type SuccessionOptions } from "./succession.ts";

export type LlamaHostOptions = Omit<SuccessionOptions, "stateFolder" | "log" | "startMs" | "drainMs"> & {
  /** Address and port of the proxy. */
  readonly host: string;
  readonly port: number;
  readonly startMs?: number;
  readonly drainMs?: number;
};
export type LlamaHost = { readonly url: string; place(name: string): Promise<void>; close(): Promise<void> };

/** A model of tens of gigabytes comes from a slow disk once. */
const START_MS = 600_000;
const DRAIN_MS = 300_000;

/** Resolves once a server answers behind the proxy. @throws what the first server failed with */
export async function startLlamaHost(options: LlamaHostOptions): Promise<LlamaHost> {
  const folder = resolve(options.folder);
  const stateFolder = join(folder, ".llama");
  mkdirSync(stateFolder, { recursive: true });
  claimStateFolder(stateFolder, {});
  const file = createWriteStream(join(stateFolder, "server.log"));
  const log = (line: string): void => void file.write(`${line}\n`);
  const succession = new Succession({ startMs: START_MS, drainMs: DRAIN_MS, ...options, folder, stateFolder, log });
  const stopGuard = startGuard(stateFolder);
  const proxy = await startProxy(options, () => succession.current).catch(async (thrown: unknown) => {
    await stopGuard();
    throw thrown;
  });
  const close = async (): Promise<void> => {
    await Promise.all([proxy.close(), succession.close()]);
    await stopGuard();
    file.end();
  };
  try {
    await succession.begin();
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return { url: proxy.url, place: (name) => succession.place(name), close };
}
