/** Answers as they are sampled, in the base's own tokens, with chosen log-probs. */
import { argumentSpan } from "../../shared/argument-span.ts";
import type { Said } from "../../shared/held-notes.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import type { WrittenAnswer } from "../../shared/yielding.ts";
import { readCheckpoint } from "../../trainer/model/checkpoint.ts";
import { readAnswer } from "../../trainer/teacher/answer-text.ts";

export const { tokenizer } = readCheckpoint("base");
const SURE = Math.log(0.9);
const UNSURE = Math.log(0.4);

export type Written = WrittenAnswer & Pick<Said, "calls">;

/** A call whose tokens are sure, but for those of `unsure`. */
export function calls(name: string, args: object, unsure?: string): Written {
  const id = (token: string): number => tokenizer.specialIds.get(token) ?? -1;
  const body = tokenizer.encode(spacedJson({ name, arguments: args }));
  const tokens = [id("<tool_call>"), ...body, id("</tool_call>"), tokenizer.eosId];
  const span = unsure === undefined ? undefined : argumentSpan(tokenizer, tokens, unsure);
  const logProbs = tokens.map((_, index) => (span !== undefined && index === span.from ? UNSURE : SURE));
  const { calls: made } = readAnswer(tokenizer, tokens);
  return { tokens, logProbs, calls: made, call: made[0] };
}

export function text(words: string): Written {
  return { tokens: tokenizer.encode(words), logProbs: [], calls: [], call: undefined };
}
