/** A progress bar on a terminal, a line now and then elsewhere. */

const LINE_EVERY_MS = 30_000;
const BAR_WIDTH = 24;

export class Progress {
  readonly #total: number;
  readonly #unit: string;
  readonly #startedAt: number;
  readonly #startedWith: number;
  readonly #out: NodeJS.WriteStream;
  #lastLineAt = 0;

  constructor({
    total,
    done = 0,
    unit = "tokens",
    out = process.stderr,
  }: {
    total: number;
    done?: number;
    unit?: string;
    out?: NodeJS.WriteStream;
  }) {
    this.#total = total;
    this.#unit = unit;
    this.#startedAt = Date.now();
    this.#startedWith = done;
    this.#out = out;
  }

  show(done: number, detail: string): void {
    const now = Date.now();
    const finished = done >= this.#total;
    if (!this.#out.isTTY && !finished && now - this.#lastLineAt < LINE_EVERY_MS) return;
    this.#lastLineAt = now;
    const seconds = Math.max(0.001, (now - this.#startedAt) / 1000);
    const rate = (done - this.#startedWith) / seconds;
    const share = Math.min(1, done / this.#total);
    const bar = "█".repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, "·");
    const left = rate > 0 ? duration((this.#total - done) / rate) : "?";
    const line = `${bar} ${(share * 100).toFixed(1)} % ${Math.round(rate)} ${this.#unit}/s, ${left} left, ${detail}`;
    this.#out.write(this.#out.isTTY ? `\r\u001b[2K${line}${finished ? "\n" : ""}` : `${line}\n`);
  }
}

function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  return whole < 3600
    ? `${Math.floor(whole / 60)} min ${whole % 60} s`
    : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
