/** Of what one batch says about the same argument or aspect the latest counts, whether it was said in words or supplied. Pure. */
import { topicsOf } from "../../../shared/aspects.ts";
import { sameText } from "../../../shared/speech/calls.ts";
import { samePlace } from "../../../shared/yielding.ts";
import type { AnswerRow } from "../lesson/answer-rows.ts";
import type { CorrectedExchange, Refused } from "../update/learner.ts";
import { releasedBy } from "./released.ts";

/** One group of corrections for each argument, or aspect, that all say the same; and those that were taken back later, by another correction or by a supplied answer. */
export function lastWords(
  corrected: readonly CorrectedExchange[],
  rows: readonly AnswerRow[],
): { groups: CorrectedExchange[][]; superseded: Refused[] } {
  const answered = rows.flatMap((row) => releasedBy([row]).map((released) => ({ ...released, seq: row.supplied.seq })));
  const superseded: Refused[] = [];
  const supersede = ({ eventId, correction: { tool, parameter, hint } }: CorrectedExchange, value: string): void => {
    const detail = `${tool.function.name}.${parameter.name} = ${hint.value} was corrected to ${value} later in the batch`;
    superseded.push({ eventId, code: "hint/superseded", detail });
  };
  const byTopic = new Map<string, CorrectedExchange[]>();
  for (const exchange of corrected) {
    const { tool, hint } = exchange.correction;
    const place = { tool: tool.function.name, parameter: hint.parameter };
    const by = answered.findLast((each) => each.seq > exchange.seq && samePlace(each, place) && !sameText(each.value, hint.value));
    if (by !== undefined) {
      supersede(exchange, by.value);
      continue;
    }
    const [topic = ""] = topicsOf({ ...hint, tool: tool.function.name });
    byTopic.set(topic, [...(byTopic.get(topic) ?? []), exchange]);
  }
  const groups = [...byTopic.values()].map((exchanges) => {
    const value = exchanges.at(-1)?.correction.hint.value ?? "";
    for (const exchange of exchanges) if (exchange.correction.hint.value !== value) supersede(exchange, value);
    return exchanges.filter(({ correction }) => correction.hint.value === value);
  });
  return { groups, superseded };
}
