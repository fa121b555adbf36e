/** The moves of the audit trail, and why something was not learned from, as people are told of them. Pure. */
import type { AuditRow } from "../shared/api.ts";

/** Behind each stand the versions that it was about. */
const MOVES: Readonly<Record<string, string>> = {
  create: "begun",
  publish: "version made",
  promote: "promoted",
  rollback: "rolled back",
  ask: "asked a person to decide about the trial",
  share: "put more conversations on trial",
  rebase: "begun from another base",
  quarantine: "put in quarantine: no version learns from it",
  letIn: "let back in: versions may learn from it",
  advance: "looked through what was said",
  rebuild: "learned again without a deleted user",
  cut: "took out versions with a deleted user's part",
  detach: "took out versions whose ground is gone",
  settings: "settings changed",
  notes: "a note came, went or was learned",
  suite: "a case of the suite came or went",
  engine: "the engine's adapters changed",
};

/** A move that is not known here is told by its name: a newer edge may have more of them. */
export function moveText(move: string): string {
  return MOVES[move] ?? move;
}

/** Of these two the judge's own detail says nothing to people. */
const REFUSED: Readonly<Record<string, string>> = {
  "judge/notNegative": "nothing was wrong with the answer",
  "hint/none": "no correction was heard in it",
};

export function refusedText({ code, detail }: Pick<AuditRow["refused"][number], "code" | "detail">): string {
  return REFUSED[code] ?? (detail === "" ? "its user was deleted, or it is in quarantine" : detail);
}
