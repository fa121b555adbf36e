/** What the hint job writes of a correction in words, checked against what fits those words: which argument, and what it should have been. */
import { isAspect } from "../../shared/aspects.ts";
import { type Grounded, heldText, lastCall, parameterOfHint, type Stands } from "../../shared/correction/ground.ts";
import { hintPrompt, parseHint } from "../../shared/jobs.ts";
import { mentions, namesTopic, wordsBy } from "../../shared/speech/mention.ts";
import type { Signal } from "../data/exchange.ts";
import { rejections } from "./denial.ts";
import { findFit, type Fit } from "./fit.ts";
import { mostFrequentHint } from "./hints.ts";
import type { JobSampler } from "./job-sampler.ts";

// Chances from which what fits a user's words is a correction: over what the hint job wrote, and of an answer that the votes reject.
const LEAST_CHANCE = { over: 0.5, rejected: 0.02 } as const;
export const HINT_TOKENS = 48; // one sentence that names a parameter and a value

export type Heard = Pick<Signal, "exchange" | "turn">;

/** What a correction in words says, whatever its user had said before: its tool, slot and value, or why that cannot be told. */
export function createHintNamer(sampler: JobSampler): (signal: Heard, options: { seed: number }) => Promise<Grounded> {
  return async (signal, { seed }) => {
    const texts = await sampler.answer([hintPrompt(signal.exchange)], { maxTokens: HINT_TOKENS, temperature: 0, seed });
    return chooseHint(texts, { signal, fit: await findFit(signal, sampler) });
  };
}

/** The hint of a rejected answer: what fits the words and sounds like a correction, else the most frequent grounded text. */
export function chooseHint(texts: readonly string[], { signal, fit }: { signal: Heard; fit: Fit | undefined }): Grounded {
  const written = chooseWritten(texts, signal);
  // Who names the argument of what the hint job wrote means it.
  if (written.status === "grounded" && isNamed(written, signal)) return written;
  if (fit === undefined) return written;
  // Without a model of corrections a value alone tells too little.
  const chance = fit.chance ?? (fit.told === "alone" || fit.told === "absent" ? 0 : 1);
  const least = written.status === "grounded" ? LEAST_CHANCE.over : LEAST_CHANCE.rejected;
  return chance >= least ? fit.found : written;
}

/** Whether the user names the parameter of a hint. */
export function isNamed(found: Stands, signal: Heard): boolean {
  const parameter = parameterOfHint(signal.exchange.tools, found);
  return parameter !== undefined && namesTopic(wordsBy(signal.exchange.nextState, "user"), parameter);
}

/** Whether its value is one that the schema lists and the user does not, who is against the one that the call had. */
export function isOther(found: Stands, signal: Heard): boolean {
  const parameter = parameterOfHint(signal.exchange.tools, found);
  if (parameter === undefined || parameter.allowed.length === 0) return false;
  const used = heldText(lastCall(signal.exchange, found.toolName), parameter.name) ?? parameter.fallback;
  if (used === undefined || mentions(wordsBy(signal.exchange.nextState, "user"), { parameter, value: found.hint.value })) return false;
  return rejections(signal).some((clause) => mentions(clause, { parameter, value: used }));
}

function chooseWritten(texts: readonly string[], signal: Heard): Grounded {
  const hints = texts.map(parseHint).flatMap((parsed) => (parsed.kind === "hint" && !isAspect(parsed.hint.parameter) ? [parsed.hint] : []));
  if (hints.length > 0) return mostFrequentHint(hints, signal);
  return { status: "refused", code: "hint/none", detail: `no hint in ${JSON.stringify(texts)}` };
}
