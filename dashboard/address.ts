/** Where the views of an agent are. What is of a user's own line has its name behind it; the shared line's has none. */
import { SHARED_LINE } from "../shared/shared-line.ts";

export type Line = { readonly agent: string; readonly line: string };

/** @param section such as `versions/1`, with a query of its own or none */
export function addressOf({ agent, line }: Line, section = ""): string {
  const path = section === "" ? `/agents/${agent}` : `/agents/${agent}/${section}`;
  return line === SHARED_LINE ? path : `${path}${path.includes("?") ? "&" : "?"}line=${line}`;
}

/** A turn in its conversation. @param id the turn's, or that of an event which came after it */
export function conversationOf(agent: string, id: string): string {
  const [session = "", turn] = id.split("/");
  return `/agents/${agent}/conversations/${session}${turn === undefined ? "" : `#${turn}`}`;
}

/** Where a turn stands in the view of its conversation. */
export function placeOf(turnId: string): string {
  return turnId.split("/")[1] ?? turnId;
}
