/** Work that is recorded before it begins and whose steps may be done again: what an end of the process broke off is taken up, and nothing is taken up beside itself. */
import { waitUntil } from "cloudflare:workers";
import type { Env } from "../env.ts";
import { logError } from "../log.ts";

const BROKEN_OFF_MS = 60_000; // so long after it was asked for, nobody is at it any more

type Parts<Work, Result> = {
  readonly idOf: (work: Work) => string;
  readonly run: (env: Env, work: Work) => Promise<Result>;
};

export class Resumable<Work extends { readonly agent: string }, Result> {
  readonly #parts: Parts<Work, Result>;
  /** Ids of what is carried out in this isolate. */
  readonly #underWay = new Set<string>();

  constructor(parts: Parts<Work, Result>) {
    this.#parts = parts;
  }

  /** @throws what a step fails with; it is then taken up again */
  async carryOut(env: Env, work: Work): Promise<Result> {
    const { idOf, run } = this.#parts;
    this.#underWay.add(idOf(work));
    try {
      return await run(env, work);
    } finally {
      this.#underWay.delete(idOf(work));
    }
  }

  /**
   * Goes on, behind whatever is answered now, with what was broken off.
   * @param unfinished what was begun before a time, Unix ms, and is not finished
   */
  async takeUp(env: Env, unfinished: (before: number) => Promise<readonly Work[]>): Promise<void> {
    const brokenOff = await unfinished(Date.now() - BROKEN_OFF_MS);
    for (const work of brokenOff.filter((each) => !this.#underWay.has(this.#parts.idOf(each))))
      waitUntil(this.carryOut(env, work).catch((thrown: unknown) => logError("deletion:broken", thrown, { agent: work.agent })));
  }
}
