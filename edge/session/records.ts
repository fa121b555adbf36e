/** Recorded answers: lists of deltas, kept for retries in parts that fit a row. */
import type { TurnDelta } from "./port.ts";

// UTF-16 units; at three bytes each, well below the 2 MB of a row. Log-probs of alternatives make answers this long.
const MAX_PART = 500_000;

export function writeRecord(sql: SqlStorage, turnId: string, deltas: readonly TurnDelta[]): void {
  toParts(deltas).forEach((part, index) => sql.exec("INSERT INTO records (turn_id, part, deltas) VALUES (?, ?, ?)", turnId, index, part));
}

export function readRecord(sql: SqlStorage, turnId: string): TurnDelta[] {
  const rows = sql.exec<{ deltas: string }>("SELECT deltas FROM records WHERE turn_id = ? ORDER BY part", turnId).toArray();
  // `writeRecord` wrote these lines from the same type.
  return rows.flatMap(({ deltas }) => deltas.split("\n").map((line) => JSON.parse(line) as TurnDelta));
}

/** A JSON object per line, as many lines to a part as fit. */
function toParts(deltas: readonly TurnDelta[]): string[] {
  const parts: string[] = [];
  let lines: string[] = [];
  let length = 0;
  for (const line of deltas.map((delta) => JSON.stringify(delta))) {
    if (length + line.length > MAX_PART && lines.length > 0) {
      parts.push(lines.join("\n"));
      lines = [];
      length = 0;
    }
    lines.push(line);
    length += line.length + 1;
  }
  return lines.length === 0 ? parts : [...parts, lines.join("\n")];
}
