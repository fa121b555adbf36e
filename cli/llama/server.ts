/** One llama-server with the adapters that it was started with; started again when it dies, with those of them that are still there. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { AppError } from "../../shared/errors.ts";
import { runFolder } from "../../trainer/host.ts";
import { writePid } from "../processes.ts";
import { SupervisedChild } from "../supervised-child.ts";
import { ggufOf } from "./converter.ts";
import { lastWords } from "./last-words.ts";
import { inOrder } from "./order.ts";

export type LlamaServerOptions = {
  /** Path of the program. */
  readonly llamaServer: string;
  readonly model: string;
  /** What else it is started with. */
  readonly more: readonly string[];
  /** Where the adapters are, each with its GGUF. */
  readonly folder: string;
  /** Where process ids are kept, for the guard that ends what is left. */
  readonly stateFolder: string;
  /** What a server has to load its files. */
  readonly startMs: number;
  readonly say: (line: string) => void;
  /** Each line that a server says. */
  readonly log: (line: string) => void;
};

const POLL_MS = 100;
const ANSWER_MS = 5_000;
/** What it said last is read a moment after it is known to have ended. */
const LAST_WORDS_MS = 100;
const KEPT_LINES = 50;

export class LlamaServer {
  readonly port: number;
  readonly #options: LlamaServerOptions;
  readonly #child: SupervisedChild;
  readonly #lines: string[] = [];
  #names: readonly string[];
  #death: string | undefined;
  #ready = false;
  #stopped = false;
  #open = 0;
  #onIdle: () => void = () => undefined;

  /** @param names adapters by their numbers */
  constructor(options: LlamaServerOptions, { port, names }: { port: number; names: readonly string[] }) {
    this.port = port;
    this.#options = options;
    this.#names = names;
    this.#child = new SupervisedChild({
      command: options.llamaServer,
      args: () => this.#arguments(),
      onStart: (pid) => {
        writePid(options.stateFolder, this.#pidName, pid);
        if (this.#ready) void this.#comeBack();
      },
      onLine: (line) => this.#hear(line),
      onDeath: (how, waitMs) => this.#mourn(how, waitMs),
    });
  }

  /** Adapters by their numbers. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** Requests that it is answering. */
  get open(): number {
    return this.#open;
  }

  /** Resolves once it answers. @throws {policy/refused} where it ends before, or takes too long. {engine/closed} where it is stopped */
  async ready(): Promise<void> {
    const { startMs } = this.#options;
    const problem = (await this.#answers(Date.now() + startMs)) ? undefined : (this.#death ?? `no answer after ${startMs / 1000} s`);
    if (this.#stopped) throw new AppError("engine/closed", "llama-server was stopped while it started");
    if (problem !== undefined) {
      await setTimeout(LAST_WORDS_MS);
      throw new AppError("policy/refused", `llama-server did not start (${problem}): ${lastWords(this.#lines)}`);
    }
    this.#ready = true;
  }

  /** Counts a request that it answers, until the returned function is called. */
  hold(): () => void {
    this.#open += 1;
    return () => {
      this.#open -= 1;
      if (this.#open === 0) this.#onIdle();
    };
  }

  /** Resolves once it answers no request any more, or after `limitMs`. */
  async drained(limitMs: number): Promise<void> {
    if (this.#open === 0) return;
    const over = new AbortController();
    const idle = new Promise<void>((resolve) => (this.#onIdle = resolve));
    await Promise.race([idle, setTimeout(limitMs, undefined, { signal: over.signal }).catch(() => undefined)]);
    over.abort();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#child.stop();
    rmSync(join(runFolder(this.#options.stateFolder), `${this.#pidName}.pid`), { force: true });
  }

  get #pidName(): string {
    return `llama-server-${this.port}`;
  }

  /** The last of an option that is given twice counts, so its own stand after those of the command line. */
  #arguments(): string[] {
    const { folder, model, more } = this.#options;
    const there = [...new Set(this.#names)].filter((name) => existsSync(ggufOf(folder, name)));
    this.#names = inOrder(this.#names, there);
    const adapters = this.#names.flatMap((name) => ["--lora", ggufOf(folder, name)]);
    const where = ["--host", "127.0.0.1", "--port", String(this.port)];
    return [...more, "--model", model, "--jinja", ...where, ...adapters, "--lora-init-without-apply"];
  }

  #hear(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    this.#options.log(`${this.port}  ${line}`);
  }

  #mourn(how: string, waitMs: number): void {
    this.#death = how;
    if (!this.#ready) return void this.#child.stop(); // whoever waits for it is told
    const said = this.#lines.at(-1) ?? "nothing";
    this.#options.say(`llama     server on port ${this.port} ended (${how}), last it said: ${said}; starting again in ${waitMs / 1000} s`);
  }

  /** Once it was up it is started until it is up again. */
  async #comeBack(): Promise<void> {
    const startedAt = Date.now();
    this.#death = undefined;
    if (await this.#answers(Infinity))
      this.#options.say(`llama     server on port ${this.port} answers again after ${secondsSince(startedAt)}`);
  }

  /** False where it ended, was stopped or has taken until `deadline`. */
  async #answers(deadline: number): Promise<boolean> {
    while (this.#death === undefined && !this.#stopped && Date.now() < deadline) {
      if (await isHealthy(this.port)) return this.#death === undefined && !this.#stopped;
      await setTimeout(POLL_MS);
    }
    return false;
  }
}

export function secondsSince(startedAt: number): string {
  return `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
}

async function isHealthy(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(ANSWER_MS) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false; // It does not listen yet.
  }
}
