/** The session whose transcript a request extends that names none. Of an edited history the longest part that is known decides. */
import type { ChatMessage } from "../../shared/chat.ts";
import { directoryOf } from "../directory/client.ts";
import type { KnownSession } from "../directory/port.ts";
import type { Env } from "../env.ts";

export type Location =
  | { readonly status: "known"; readonly name: string }
  | { readonly status: "unknown" }
  /** Several sessions hold the transcript. */
  | { readonly status: "ambiguous" };

// How far back an edit is followed. Further back it opens a new session, which is safe: nothing is paired.
const MAX_LOOKUPS = 8;

/** Finds the session by transcript. `digests` are the chain after each message. */
export async function locateByTranscript(
  env: Pick<Env, "DIRECTORY">,
  { messages, digests }: { messages: readonly ChatMessage[]; digests: readonly string[] },
): Promise<Location> {
  for (const digest of answerDigests(messages, digests).slice(0, MAX_LOOKUPS)) {
    const location = chooseSession(await directoryOf(env, digest).lookup(digest));
    if (location.status !== "unknown") return location;
  }
  return { status: "unknown" };
}

/** An open session goes before closed ones; of several equals none is chosen. */
export function chooseSession(sessions: readonly KnownSession[]): Location {
  const open = sessions.filter((session) => session.open);
  const [only, ...others] = open.length > 0 ? open : sessions;
  if (only === undefined) return { status: "unknown" };
  return others.length === 0 ? { status: "known", name: only.name } : { status: "ambiguous" };
}

/** Digests of the conversation up to each answer, the longest first. */
function answerDigests(messages: readonly ChatMessage[], digests: readonly string[]): string[] {
  return digests.filter((_, index) => messages[index]?.role === "assistant").reverse();
}
