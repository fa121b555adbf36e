/** Which of the hints that a judge has written stands: grounded ones only, the most frequent of them, and none that the user had said before the call. */
import { hintText, type Hint } from "../../shared/jobs.ts";
import type { Signal } from "../data/exchange.ts";
import { groundHint, type Grounded } from "./ground.ts";
import type { Verdict } from "./judge.ts";
import { spokenBefore } from "./standing.ts";

/** The most frequent grounded hint, the first one on a tie; else why none is. `hints` holds at least one. */
export function mostFrequentHint(hints: readonly Hint[], signal: Signal): Pick<Verdict, "hint" | "refused"> {
  const grounded = hints.map((hint) => groundHint(hint, signal));
  const best = mostFrequent(grounded.filter((each) => each.status === "grounded"));
  if (best !== undefined) return withoutSpoken(best, signal);
  const [first] = grounded.filter((each) => each.status === "refused");
  return { refused: first === undefined ? { code: "hint/none", detail: "no candidate" } : { code: first.code, detail: first.detail } };
}

/** The hint, unless the user had spoken of its parameter before the call. */
export function withoutSpoken({ hint, toolName }: { hint: Hint; toolName: string }, signal: Signal): Pick<Verdict, "hint" | "refused"> {
  const spoken = spokenBefore(signal, { hint, toolName });
  if (spoken !== undefined) return { refused: { code: "hint/spokenBefore", detail: spoken } };
  return { hint: { text: hintText(hint), hint, toolName } };
}

function mostFrequent(candidates: readonly Extract<Grounded, { status: "grounded" }>[]): { toolName: string; hint: Hint } | undefined {
  const counts = new Map<string, number>();
  for (const { hint } of candidates) counts.set(hintText(hint), (counts.get(hintText(hint)) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  return candidates.find(({ hint }) => counts.get(hintText(hint)) === most);
}
