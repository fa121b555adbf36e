/** In which form a judged signal teaches: words that say what should have been different, the answer itself, a reward. */
import type { SignalSettings } from "../../../shared/signal-settings.ts";
import type { Signal } from "../../data/exchange.ts";
import type { Verdict } from "../../judge/judge.ts";

export type SignalForm = "hint" | "answer" | "reward";

/** Undefined where it teaches nothing, or nothing that the agent's settings let it. */
export function formOf(
  { signal, verdict }: { readonly signal: Signal; readonly verdict: Verdict },
  settings: Pick<SignalSettings, "answers" | "rewards">,
): SignalForm | undefined {
  const told = toldBy(signal, verdict);
  if (told === "answer" && settings.answers === "off") return undefined;
  return told === "reward" && settings.rewards === "off" ? undefined : told;
}

/** What a signal could teach, whatever the settings. A call that merely ran, or failed, is a step of something that a person has yet to judge. */
export function toldBy({ feedback }: Pick<Signal, "feedback">, { hint, judge, reward }: Verdict): SignalForm | undefined {
  if (hint !== undefined) return "hint";
  if (feedback?.answer !== undefined) return "answer";
  return judge !== "verifiable" && reward !== 0 ? "reward" : undefined;
}
