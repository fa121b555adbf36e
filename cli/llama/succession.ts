/**
 * Which llama-server answers. It has the adapters that it was started with, so for a new one a second server is started beside it, takes over
 * once it answers, and the first is stopped once it has finished what it was answering. There are never more than these two.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../shared/errors.ts";
import { createWorkQueue } from "../../trainer/work-queue.ts";
import { freePort } from "../port.ts";
import { convert, type ConverterOptions, ggufOf } from "./converter.ts";
import { inOrder } from "./order.ts";
import { LlamaServer, type LlamaServerOptions, secondsSince } from "./server.ts";

export type SuccessionOptions = LlamaServerOptions &
  ConverterOptions & {
    /** What a server that was taken over from has to finish. */
    readonly drainMs: number;
  };

export class Succession {
  readonly #options: SuccessionOptions;
  readonly #conversions = createWorkQueue();
  readonly #takeovers = createWorkQueue();
  readonly #placings = new Map<string, Promise<void>>();
  /** Converted, and in no server yet. */
  readonly #waiting = new Set<string>();
  readonly #living = new Set<LlamaServer>();
  readonly #closing = new AbortController();
  #current: LlamaServer | undefined;
  #drained: Promise<void> = Promise.resolve();

  constructor(options: SuccessionOptions) {
    this.#options = options;
  }

  get current(): LlamaServer | undefined {
    return this.#current;
  }

  /** Starts the first server with every adapter that is there. @throws {policy/refused} where a conversion or the server fails */
  async begin(): Promise<void> {
    const names = adaptersIn(this.#options.folder);
    for (const name of names) await this.#convert(name);
    await this.#takeOver(names);
  }

  /**
   * Resolves once the server that answers has the adapter, whose folder is there; at once where it has. Calls for one adapter share its
   * takeover, and adapters that wait share the next. @throws {policy/refused} where it cannot be had; its folder is gone then
   */
  place(name: string): Promise<void> {
    const underWay = this.#placings.get(name);
    if (underWay !== undefined) return underWay;
    const placing = this.#place(name).finally(() => this.#placings.delete(name));
    this.#placings.set(name, placing);
    return placing;
  }

  /** Ends every server and whatever waits for one. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#living].map((server) => server.stop()));
    await Promise.allSettled([...this.#placings.values(), this.#drained]);
    this.#current = undefined;
  }

  async #place(name: string): Promise<void> {
    const { folder, say } = this.#options;
    if (this.#has(name) && existsSync(ggufOf(folder, name))) return;
    try {
      // Also where a server has it from before its files were deleted: the next one needs them.
      await this.#conversions(() => this.#convert(name));
      this.#waiting.add(name);
      // Whoever takes up the next must not find this one still waiting.
      await this.#takeovers(() => this.#takeUp(name).finally(() => this.#waiting.delete(name)));
    } catch (thrown) {
      await rm(join(folder, name), { recursive: true, force: true });
      say(`llama     ${thrown instanceof Error ? thrown.message : String(thrown)}`);
      throw thrown;
    }
  }

  async #convert(name: string): Promise<void> {
    const { folder } = this.#options;
    await convert(this.#options, { folder, name, signal: this.#closing.signal });
  }

  async #takeUp(name: string): Promise<void> {
    if (this.#has(name)) return;
    const served = this.#current?.names ?? [];
    const waiting = [...this.#waiting];
    await this.#takeOver([...served, ...waiting]).catch((thrown: unknown) => {
      // Another's fault must not be this one's.
      if (waiting.length === 1 || this.#closing.signal.aborted) throw thrown;
      return this.#takeOver([...served, name]);
    });
    if (!this.#has(name)) throw new AppError("policy/refused", `adapter ${name} was deleted while a server was started with it`);
  }

  #has(name: string): boolean {
    return this.#current?.names.includes(name) === true;
  }

  async #takeOver(names: readonly string[]): Promise<void> {
    const { folder, say } = this.#options;
    await this.#drained;
    const startedAt = Date.now();
    const present = [...new Set(names)].filter((name) => existsSync(ggufOf(folder, name)));
    const port = await freePort();
    if (this.#closing.signal.aborted) throw new AppError("engine/closed", "the adapter host is being stopped");
    const before = this.#current;
    const next = new LlamaServer(this.#options, { port, names: inOrder(before?.names ?? [], present) });
    this.#living.add(next);
    say(`llama     server on port ${port} starts with ${count(present.length, "adapter")}`);
    try {
      await next.ready();
    } catch (thrown) {
      await this.#end(next);
      throw thrown;
    }
    this.#current = next;
    say(`llama     server on port ${port} ${before === undefined ? "answers" : "has taken over"} after ${secondsSince(startedAt)}`);
    if (before !== undefined) this.#drained = this.#retire(before);
  }

  async #retire(server: LlamaServer): Promise<void> {
    const startedAt = Date.now();
    await server.drained(this.#options.drainMs);
    const { port, open } = server;
    await this.#end(server);
    const cut = open === 0 ? "" : `, ${count(open, "request")} cut off`;
    this.#options.say(`llama     server on port ${port} drained in ${secondsSince(startedAt)} and stopped${cut}`);
  }

  async #end(server: LlamaServer): Promise<void> {
    await server.stop();
    this.#living.delete(server);
  }
}

/** Those whose folders are there, the oldest first. */
function adaptersIn(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => /^nextstate-[0-9a-f]{64}$/.test(name));
  const since = (name: string): number => statSync(join(folder, name)).birthtimeMs;
  return names.sort((one, other) => since(one) - since(other));
}

function count(amount: number, what: string): string {
  return `${amount} ${what}${amount === 1 ? "" : "s"}`;
}
