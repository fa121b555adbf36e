/** A child process that is started again when it ends by itself, each time a little later. */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

export type ChildOptions = {
  command: string;
  /** Asked for at every start, where they are not always the same; the environment likewise. */
  args: readonly string[] | (() => readonly string[]);
  env?: Record<string, string> | (() => Record<string, string>);
  onStart?: (pid: number) => void;
  /** One line of its output, standard error included. */
  onLine: (line: string) => void;
  /** It ended without being asked to; the next start is in `waitMs`. */
  onDeath: (how: string, waitMs: number) => void;
};

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** A child that lived this long starts afresh with the shortest wait. */
const STEADY_MS = 60_000;
/** What a child has to end by itself before it is killed. */
const STOP_MS = 5_000;

export class SupervisedChild {
  readonly #options: ChildOptions;
  #child: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #deaths = 0;
  #stopping = false;

  constructor(options: ChildOptions) {
    this.#options = options;
    this.#start();
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Ends the child, by force where it does not go, and returns when it is gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child === undefined) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    const force = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    child.kill("SIGTERM");
    await gone;
    clearTimeout(force);
  }

  #start(): void {
    if (this.#stopping) return;
    const { command, args, env = {}, onStart, onLine } = this.#options;
    const startedAt = Date.now();
    const given = typeof args === "function" ? args() : args;
    const variables = typeof env === "function" ? env() : env;
    // A process group of its own: Ctrl-C reaches whoever supervises it, whose `stop` then is the one way that it is told to end.
    const child = spawn(command, given, { env: { ...process.env, ...variables }, stdio: ["ignore", "pipe", "pipe"], detached: true });
    this.#child = child;
    if (child.pid !== undefined) onStart?.(child.pid);
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on("line", onLine);
    child.once("error", (error) => this.#ended(error.message, startedAt));
    child.once("exit", (code, signal) => this.#ended(signal === null ? `code ${code}` : signal, startedAt));
  }

  #ended(how: string, startedAt: number): void {
    this.#child = undefined;
    if (this.#stopping) return;
    this.#deaths = Date.now() - startedAt > STEADY_MS ? 0 : this.#deaths;
    const waitMs = Math.min(FIRST_WAIT_MS * 2 ** this.#deaths++, LONGEST_WAIT_MS);
    this.#options.onDeath(how, waitMs);
    this.#timer = setTimeout(() => this.#start(), waitMs);
  }
}
