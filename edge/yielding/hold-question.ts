/**
 * A question that names another value than what the version has learned, although nobody did, asks for that; if the call that it is about
 * has it so.
 */
import { heldQuestion } from "../../shared/held-question.ts";
import { heldElsewhere } from "../../shared/speech/calls.ts";
import type { Answer, VersionAnswers } from "./version-answers.ts";
import { type ForcedForm, isRead, standingDefaults, type YieldingTurn } from "./yielding-turn.ts";

/** Whether an answer may ask the user, in its own words, what something is a default for; of what tools have found it asks as it is. */
export function mayHoldQuestion(turn: Pick<YieldingTurn, "completion" | "heard" | "defaults">): boolean {
  const { completion, heard } = turn;
  const isFree = completion.toolChoice === "auto" && completion.responseFormat.type === "text";
  return isFree && heard.messages.at(-1)?.role === "user" && standingDefaults(turn).some(isRead);
}

export async function holdQuestion(answers: VersionAnswers, under: Answer): Promise<Answer> {
  const { turn } = answers;
  if (under.calls.length > 0 || !mayHoldQuestion(turn)) return under;
  let answer = under;
  for (const learned of standingDefaults(turn)) {
    const asked = answer;
    const question = heldQuestion(learned, { text: asked.text, heard: turn.heard });
    if (question === undefined) continue;
    const held = (form: ForcedForm): Promise<Answer | undefined> => answers.hold(asked, [learned], { form });
    const made = (await held({ toolChoice: "required" }))?.call;
    const isAbout = made?.name === learned.tool && !heldElsewhere(made.arguments, { parameter: learned.parameter, value: question.madeUp });
    const after = isAbout ? await held({ toolChoice: "none", responseFormat: { type: "exact", text: question.text } }) : undefined;
    if (after?.text === question.text) answer = after;
  }
  return answer;
}
