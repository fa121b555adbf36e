/** A bar on stderr while something long goes on; nothing where stderr is no terminal. */
const CELLS = 24;
const REDRAW_MS = 100;

export class Progress {
  readonly #label: string;
  #drawnAt = 0;

  constructor(label: string) {
    this.#label = label;
  }

  /** `share` of the work that is done, 0 to 1. */
  update(share: number, detail: string): void {
    const now = Date.now();
    if (!process.stderr.isTTY || now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    const done = Math.round(Math.min(Math.max(share, 0), 1) * CELLS);
    const percent = String(Math.floor((done / CELLS) * 100)).padStart(3);
    process.stderr.write(`\r${this.#label} ${"█".repeat(done)}${"░".repeat(CELLS - done)} ${percent} %  ${detail}\u001B[K`);
  }

  /** Takes the bar away. */
  end(): void {
    if (this.#drawnAt > 0) process.stderr.write("\r\u001B[K");
  }
}
