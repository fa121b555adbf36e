/**
 * A user's notes in force as an isolate knows them. The head's epoch of notes tells when they may have changed, so a request
 * asks the agent only where a line has notes and something has moved; an agent that cannot be reached costs the notes, not the answer.
 */
import type { Note } from "../../shared/note.ts";
import type { LineHead } from "../../shared/policy.ts";
import { Recent } from "../../shared/recent.ts";
import type { Env } from "../env.ts";
import { logError } from "../log.ts";
import { agentOf } from "./port.ts";

const MAX_KNOWN = 1_000;

const known = new Recent<string, { epoch: string; notes: readonly Note[] }>(MAX_KNOWN);

/** Newest first. */
export async function getNotes(
  env: Pick<Env, "AGENTS">,
  { agent, line, notesEpoch: epoch, settings }: LineHead,
  user: string,
): Promise<readonly Note[]> {
  if (epoch === null || settings.learning.notes === "off") return [];
  const key = `${agent}/${line}/${user}`;
  const entry = known.get(key);
  if (entry?.epoch === epoch) return entry.notes;
  try {
    const notes = await agentOf(env, agent).notesInForce(line, user);
    known.set(key, { epoch, notes });
    return notes;
  } catch (thrown) {
    logError("notes:unreachable", thrown, { agent, line });
    return entry?.notes ?? [];
  }
}
