/** Which turns are asked for, between the fields, the view's address and the edge's query. Pure. */
import { SHARED_LINE } from "../shared/shared-line.ts";

export type TurnFilter = { readonly words: string; readonly reward: string; readonly version: string; readonly user: string };

export const EVERY_TURN: TurnFilter = { words: "", reward: "", version: "", user: "" };

const NAMES = ["words", "reward", "version", "user"] as const;
export const REWARDS: Readonly<Record<string, string>> = {
  "": "any",
  "1": "answer right",
  "0": "no verdict",
  "-1": "answer wrong",
  none: "not yet",
};

/** @param query of the view's address. A line is named by its user, whose turns it is about unless the address says otherwise. */
export function filterOf(query: Readonly<Record<string, string>>, line: string): TurnFilter {
  const { words = "", reward = "", version = "", user = line === SHARED_LINE ? "" : line } = query;
  return { words, reward: reward in REWARDS ? reward : "", version, user };
}

/** What is asked of the edge. */
export function queryOf(filter: TurnFilter): Record<string, string> {
  return Object.fromEntries(NAMES.map((name) => [name, filter[name].trim()]).filter(([, value]) => value !== ""));
}

/** The section of an address that shows the turns. */
export function sectionOf(filter: TurnFilter, line: string): string {
  const asked = queryOf(filter);
  // No user at all has to be said where the line's own is meant otherwise.
  const query = new URLSearchParams(line === SHARED_LINE || "user" in asked ? asked : { ...asked, user: "" }).toString();
  return query === "" ? "conversations" : `conversations?${query}`;
}
