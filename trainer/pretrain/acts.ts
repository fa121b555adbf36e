/**
 * What a user's next turn says about the answer before it: the table from SGD acts to rewards, and which slots a
 * conversation has spoken of. First row that applies wins.
 */
import type { Reward } from "../judge/vote.ts";
import type { Act } from "./sgd.ts";

/**
 * | user acts                                                  | reward | why                                         |
 * |------------------------------------------------------------|--------|---------------------------------------------|
 * | NEGATE after the assistant asked "anything else?"          | +1 with THANK_YOU, else 0 | an end, not a rejection  |
 * | NEGATE                                                     | −1     | the user rejects or corrects what was said  |
 * | AFFIRM, SELECT, THANK_YOU, AFFIRM_INTENT, GOODBYE          | +1     | accepted, chosen, thanked for               |
 * | all others: INFORM, REQUEST, REQUEST_ALTS, INFORM_INTENT, NEGATE_INTENT | 0 | the talk goes on; nothing can be told |
 */
export function rewardOfActs(userActs: readonly Act[], assistantActs: readonly Act[]): Reward {
  const said = new Set(userActs.map(([act]) => act));
  const asked = new Set(assistantActs.map(([act]) => act));
  if (said.has("NEGATE")) {
    const declinesMore = asked.has("REQ_MORE") && !asked.has("CONFIRM");
    if (declinesMore || said.has("THANK_YOU")) return said.has("THANK_YOU") ? 1 : 0;
    return -1;
  }
  return ["AFFIRM", "SELECT", "THANK_YOU", "AFFIRM_INTENT", "GOODBYE"].some((act) => said.has(act)) ? 1 : 0;
}

/** Slots that either side has put a value to so far; the user is silent about the others. */
export function spokenSlots(acts: readonly (readonly Act[])[]): Set<string> {
  const spoken = new Set<string>();
  for (const turn of acts)
    for (const [act, slot, values] of turn) if (values.length > 0 && slot !== "" && act !== "INFORM_COUNT") spoken.add(slot);
  return spoken;
}
