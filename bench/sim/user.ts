/** A simulated user with a standing preference, voiced only when it is violated, in words that training never shows. */
import type { ChatMessage } from "../../shared/chat.ts";
import { fill } from "../../trainer/pretrain/phrases.ts";
import type { Random } from "../../trainer/random.ts";
import { spokenName, spokenValue } from "../../trainer/pretrain/values.ts";
import { argumentText } from "../../shared/speech/calls.ts";
import type { AnswerCall } from "../../trainer/teacher/answer-text.ts";
import { EVAL_CORRECTIONS } from "../phrases.ts";
import type { Preference } from "./preferences.ts";

/** What the user sees of an answer: the preference honoured, violated, or a call that is not the one the preference is about. */
export function reaction(preference: Preference, calls: readonly AnswerCall[]): "honoured" | "violated" | "elsewhere" {
  const call = calls.find(({ name }) => name === preference.tool);
  if (call === undefined) return "elsewhere";
  return argumentText(call.arguments[preference.parameter]) === preference.value ? "honoured" : "violated";
}

/** The correction in plain words. */
export function correct({ parameter, value }: Preference, random: Random): ChatMessage {
  return {
    role: "user",
    content: fill(random.pick(EVAL_CORRECTIONS), spokenName(parameter), random.chance(0.5) ? spokenValue(value, random) : value),
  };
}
