/**
 * What judgements tell an agent: a note for each hint that names its tool, under an id made of the hint's, and who supplied an answer
 * or gave a reward.
 */
import { sha256 } from "../../shared/digest.ts";
import { hintsOf, type JudgementBatch } from "../../shared/events.ts";
import { type Evidence, topicOf } from "../../shared/influence.ts";
import { parseHint } from "../../shared/jobs.ts";
import type { GivenNote } from "../agent/port.ts";

type Judgement = JudgementBatch["judgements"][number];
type LineSaid = {
  readonly agent: string;
  readonly line: string;
  readonly notes: readonly GivenNote[];
  /** What is evidence and no note. */
  readonly others: readonly Evidence[];
};

const ID_DIGITS = 16;

export async function saidIn(judgements: readonly Judgement[]): Promise<LineSaid[]> {
  const lines = new Map<string, LineSaid>();
  for (const judgement of judgements) {
    const [given, other] = [await toNotes(judgement), toEvidence(judgement)];
    if (given.length === 0 && other === undefined) continue;
    const { agent, line } = judgement;
    const key = JSON.stringify([agent, line]);
    const { notes, others } = lines.get(key) ?? { notes: [], others: [] };
    lines.set(key, {
      agent,
      line,
      notes: [...notes, ...given],
      others: [...others, ...(given.length === 0 && other !== undefined ? [other] : [])],
    });
  }
  return [...lines.values()];
}

async function toNotes({ turnId, user, keyId, createdAt, payload }: Judgement): Promise<GivenNote[]> {
  const notes = hintsOf(payload).map(async ({ hintId, hint, tool, held }): Promise<GivenNote[]> => {
    const parsed = parseHint(hint);
    if (tool === undefined || parsed.kind !== "hint") return [];
    const noteId = `n_${(await sha256(hintId)).slice(0, ID_DIGITS)}`;
    const from = { eventId: hintId, turnId, user, keyId: keyId ?? null, createdAt };
    return [{ noteId, tool, ...parsed.hint, corrected: held ?? null, text: parsed.text, ...from }];
  });
  return (await Promise.all(notes)).flat();
}

function toEvidence({ user, keyId, payload: { subject, teaches, tool } }: Judgement): Evidence | undefined {
  return teaches === undefined ? undefined : { eventId: subject, user, keyId: keyId ?? null, ...topicOf(teaches, tool) };
}
