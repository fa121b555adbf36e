/**
 * How much work the masks of one answer may be. They are made in the isolate that everybody's answers come from, so that who sends a schema
 * whose every token takes a second would have all others wait; one mask by itself is bounded where it is made.
 */
import { AppError } from "../../shared/errors.ts";

// A hundred thousand steps take a third of a second on a slow core, and three times as long where alternatives are nested. A schema that
// people write takes some hundreds a token, and one of nested expressions whose operator comes last thirteen thousand.
const MOST_AT_FIRST = 500_000;
const MOST_PER_TOKEN = 15_000;
const MOST_PER_PAUSE = 20_000;

export class MaskWork {
  #pausedAt = 0;

  /** Whether so much was done that others get their turn, where `work` steps were done in all. */
  isDueToPause(work: number): boolean {
    const due = work - this.#pausedAt > MOST_PER_PAUSE;
    if (due) this.#pausedAt = work;
    return due;
  }
}

/** @throws {input/invalid} where the masks of an answer's first tokens have taken more steps than that */
export function checkWork(work: number, tokens: number): void {
  const most = MOST_AT_FIRST + MOST_PER_TOKEN * tokens;
  if (work <= most) return;
  throw new AppError(
    "input/invalid",
    `tools, response_format: schemas with fewer alternatives that begin alike expected, got ${Math.round(work)} steps for ${tokens} tokens, of at most ${most}`,
  );
}
