/** How far a run of the attacks has come, in its state folder: an hour's work is gone on with where it was broken off. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Outcome } from "./scenario.ts";
import { Person } from "./person.ts";

const Bar = z.object({ name: z.string(), value: z.number().nullable(), unit: z.string(), want: z.string(), holds: z.boolean().nullable() });
const Saved = z.object({
  /** What was asked for; another run does not go on with it. */
  conditions: z.record(z.string(), z.unknown()),
  residents: z.array(Person),
  outcomes: z.record(z.string(), z.object({ figures: z.record(z.string(), z.unknown()), bars: z.array(Bar) })),
});

export class Progress {
  readonly #file: string;
  readonly #saved: z.infer<typeof Saved>;

  /** @throws Error where the folder holds a run that was asked for otherwise */
  constructor(folder: string, conditions: Record<string, unknown>) {
    this.#file = join(folder, "progress.json");
    this.#saved = existsSync(this.#file)
      ? Saved.parse(JSON.parse(readFileSync(this.#file, "utf8")))
      : { conditions, residents: [], outcomes: {} };
    const [had, wanted] = [this.#saved.conditions, conditions].map((each) => JSON.stringify(each));
    if (had !== wanted) throw new Error(`--state ${folder}: a run with ${wanted} expected, got one with ${had}; name another folder`);
  }

  /** None before they have settled. */
  get residents(): readonly Person[] {
    return this.#saved.residents;
  }

  get outcomes(): Readonly<Record<string, Outcome>> {
    return this.#saved.outcomes;
  }

  settled(residents: readonly Person[]): void {
    this.#saved.residents = [...residents];
    this.#write();
  }

  add(name: string, outcome: Outcome): void {
    this.#saved.outcomes[name] = { figures: outcome.figures, bars: [...outcome.bars] };
    this.#write();
  }

  #write(): void {
    writeFileSync(this.#file, `${JSON.stringify(this.#saved, null, 2)}\n`);
  }
}
