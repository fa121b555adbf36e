/** What an update is given beside its signals: turns that are replayed, and defaults of before that are rehearsed. */
import type { PolicyManifest } from "../../../shared/policy.ts";
import { isOfBase, type LoggedTurn } from "../../data/exchange.ts";
import type { EventCache } from "../../feed/cache.ts";
import type { UpdateRequest } from "../update/learner.ts";
import { replayFor } from "./replay.ts";
import type { Batch } from "./batch.ts";
import { type KnownDefault, rehearsedFor, toRehearsals } from "./rehearsed.ts";

type Given = Pick<UpdateRequest, "replay" | "rehearsed"> & {
  /** For the manifest. */
  readonly record: Pick<NonNullable<PolicyManifest["inputs"]>, "replay" | "rehearsed">;
};

/** @param barred turns that nothing is made from @param replayed turns of others, at most @param defaults that the line has learned before */
export function givenTo(
  { head, learnable }: Batch,
  cache: EventCache,
  { barred, replayed, defaults, seed }: { barred: ReadonlySet<string>; replayed: number; defaults: readonly KnownDefault[]; seed: number },
): Given {
  const isUsable = (turn: LoggedTurn): boolean => !barred.has(turn.turnId) && isOfBase(turn, head);
  const approved = head.settings.learning.signals.replay === "approved" ? cache.approved(head.cursor) : new Set<string>();
  const turns = cache.turns();
  const replay = replayFor(learnable, turns, { replayed, approved, isUsable });
  const met = [...turns, ...learnable.flatMap(({ signal }) => signal.turns)].filter(isUsable);
  const rehearsed = rehearsedFor(defaults, met, { seed });
  return {
    replay,
    rehearsed: toRehearsals(rehearsed, met),
    record: { replay: replay.map(({ turnId }) => turnId), rehearsed },
  };
}
