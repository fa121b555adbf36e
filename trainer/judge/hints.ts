/** Which of the hints that a judge has written stands: grounded ones only, the most frequent of them, and none that the user had said before the call. */
import { correctionText, type Hint } from "../../shared/jobs.ts";
import type { Signal } from "../data/exchange.ts";
import { wordsBy } from "../../shared/speech/mention.ts";
import { groundAspect, isSpokenOf } from "./aspects.ts";
import { groundHint, type Grounded, parameterOfHint } from "../../shared/correction/ground.ts";
import type { Verdict } from "./judge.ts";
import { askedAgain, askedElsewhere, spokenBefore } from "./standing.ts";
import { conditionOf, isOnce } from "../../shared/correction/once.ts";

/** A hint as a judge wrote it, with the tool whose call it is about where it told that. */
export type WrittenHint = Hint & { readonly tool?: string | undefined };

/** The most frequent grounded hint, the first one on a tie; else why none is. `hints` holds at least one. */
export function mostFrequentHint(hints: readonly WrittenHint[], signal: Pick<Signal, "exchange" | "turn">): Grounded {
  const all = hints.map((hint) => groundWritten(hint, signal));
  const grounded = all.filter((each) => each.status === "grounded");
  const textOf = ({ hint, toolName }: (typeof grounded)[number]): string => correctionText(hint, toolName);
  const counts = new Map<string, number>();
  for (const each of grounded) counts.set(textOf(each), (counts.get(textOf(each)) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  return (
    grounded.find((each) => counts.get(textOf(each)) === most) ?? all[0] ?? { status: "refused", code: "hint/none", detail: "no candidate" }
  );
}

/** A hint about the call as a whole needs words of the user that say so, as one about an argument needs its value in them. */
function groundWritten(hint: WrittenHint, signal: Pick<Signal, "exchange" | "turn">): Grounded {
  const aspect = groundAspect(hint, hint.tool, signal);
  if (aspect?.status !== "grounded" || isSpokenOf(hint, aspect.toolName, signal)) return aspect ?? groundHint(hint, signal);
  return { status: "refused", code: "hint/ungrounded", detail: `the user's words say nothing of ${correctionText(hint, aspect.toolName)}` };
}

/** What a verdict says of a hint: itself, unless it is not grounded, or the user had spoken of its parameter before the call. */
export function standingHint(named: Grounded, signal: Signal): Pick<Verdict, "hint" | "refused"> {
  if (named.status === "refused") return { refused: { code: named.code, detail: named.detail } };
  const spoken = spokenBefore(signal, named);
  if (spoken !== undefined) return { refused: { code: "hint/spokenBefore", detail: spoken } };
  const elsewhere = askedElsewhere(signal, named);
  if (elsewhere !== undefined) return { refused: { code: "hint/ungrounded", detail: elsewhere } };
  const again = askedAgain(signal, named.toolName);
  if (again !== undefined) return { refused: { code: "hint/ungrounded", detail: again } };
  const { hint, toolName } = named;
  const words = wordsBy(signal.exchange.nextState, "user");
  const parameter = parameterOfHint(signal.exchange.tools, named);
  const said = parameter === undefined ? undefined : { parameter, value: hint.value };
  const condition = said === undefined ? undefined : conditionOf(words, said);
  if (condition !== undefined)
    return {
      refused: {
        code: "hint/conditional",
        detail: `"${condition}" tells when, and a default would be always: say it without, or each time`,
      },
    };
  if (isOnce(words, said))
    return { refused: { code: "hint/once", detail: `"${correctionText(hint, toolName)}" is meant for this time, not as a default` } };
  return { hint: { text: correctionText(hint, toolName), hint, toolName } };
}
