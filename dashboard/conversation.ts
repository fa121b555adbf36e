/** Turns as the conversations that they were held in. Pure. */
import type { ListedTurn } from "../shared/api.ts";

export type Conversation = {
  readonly sessionId: string;
  readonly user: string;
  /** Oldest first, as it was held; those that are listed. */
  readonly turns: readonly ListedTurn[];
};

/** Whichever was talked in last comes first, as in the list of turns. */
export function conversationsOf(newestFirst: readonly ListedTurn[]): Conversation[] {
  const found = new Map<string, ListedTurn[]>();
  for (const turn of newestFirst) found.set(turn.sessionId, [turn, ...(found.get(turn.sessionId) ?? [])]);
  return [...found].map(([sessionId, turns]) => ({ sessionId, user: turns.at(-1)?.user ?? "", turns }));
}

/** Whether what a turn answers stands already as what came after the turn before. */
export function isTold(before: ListedTurn | undefined, { prompt }: ListedTurn): boolean {
  if (before === undefined || prompt === null) return false;
  const came = before.next.at(-1)?.messages.at(-1);
  return came !== undefined && came.role === prompt.role && came.content === prompt.content;
}
