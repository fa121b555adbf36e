/** The notes that judgements give: one for each hint that names its tool, under an id made of the event it is about. */
import { sha256 } from "../../shared/digest.ts";
import type { JudgementBatch } from "../../shared/events.ts";
import { parseHint } from "../../shared/jobs.ts";
import type { GivenNote } from "../agent/port.ts";

type Judgement = JudgementBatch["judgements"][number];
type LineNotes = { readonly agent: string; readonly line: string; readonly notes: readonly GivenNote[] };

const ID_DIGITS = 16;

export async function notesOf(judgements: readonly Judgement[]): Promise<LineNotes[]> {
  const given = await Promise.all(judgements.map(async (judgement) => ({ judgement, note: await toNote(judgement) })));
  const lines = new Map<string, LineNotes>();
  for (const { judgement, note } of given) {
    if (note === undefined) continue;
    const { agent, line } = judgement;
    const key = JSON.stringify([agent, line]);
    lines.set(key, { agent, line, notes: [...(lines.get(key)?.notes ?? []), note] });
  }
  return [...lines.values()];
}

async function toNote({
  turnId,
  user,
  keyId,
  createdAt,
  payload: { subject, hint, tool, held },
}: Judgement): Promise<GivenNote | undefined> {
  const parsed = hint === undefined ? undefined : parseHint(hint);
  if (tool === undefined || parsed?.kind !== "hint") return undefined;
  const noteId = `n_${(await sha256(subject)).slice(0, ID_DIGITS)}`;
  const from = { eventId: subject, turnId, user, keyId: keyId ?? null, createdAt };
  return { noteId, tool, ...parsed.hint, corrected: held ?? null, text: parsed.text, ...from };
}
