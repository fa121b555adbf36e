/**
 * Grounds a hint before anything is learnt from it: the parameter is one of the called tool's, the value is of its type and
 * allowed by the schema, the user's own words mention it and name no other parameter instead, and the call did not hold it
 * already. Everything else is refused.
 */
import type { Hint } from "../../shared/jobs.ts";
import { argumentText, readableCalls, sameText } from "../data/calls.ts";
import type { Signal } from "../data/exchange.ts";
import { mentions, namesTopic } from "../data/mention.ts";
import { findParameter, readParameters, typedValue } from "../data/parameters.ts";
import type { RefusalCode } from "../data/refusal.ts";

export type Grounded =
  | { readonly status: "grounded"; readonly toolName: string; readonly hint: Hint }
  | { readonly status: "refused"; readonly code: RefusalCode; readonly detail: string };

export function groundHint(hint: Hint, { exchange }: Pick<Signal, "exchange">): Grounded {
  const owner = exchange.tools.findLast((tool) => findParameter(tool, hint.parameter) !== undefined);
  const parameter = owner === undefined ? undefined : findParameter(owner, hint.parameter);
  if (owner === undefined || parameter === undefined) return refuse(`no tool called in the exchange has a parameter ${hint.parameter}`);
  const value = parameter.allowed.length === 0 ? hint.value : parameter.allowed.find((allowed) => sameText(allowed, hint.value));
  if (value === undefined) return refuse(`${hint.parameter} must be one of ${parameter.allowed.join(", ")}, got ${hint.value}`);
  if (typedValue(parameter, value) === undefined) return refuse(`${hint.parameter} must be of type ${parameter.type}, got ${value}`);
  const words = exchange.nextState.flatMap((message) => (message.role === "user" ? [message.content] : [])).join("\n");
  if (!mentions(words, { parameter, value })) return refuse(`the user's words do not mention ${hint.parameter} = ${value}`);
  const named = readParameters(owner).filter((each) => namesTopic(words, each));
  if (named.length > 0 && !named.some(({ name }) => name === parameter.name))
    return refuse(`the user's words name ${named.map(({ name }) => name).join(", ")}, not ${hint.parameter}`);
  const toolName = owner.function.name;
  const held = exchange.answered.flatMap(readableCalls).findLast((call) => call.name === toolName)?.arguments[parameter.name];
  if (held !== undefined && sameText(argumentText(held), value))
    return { status: "refused", code: "hint/held", detail: `the call already had ${hint.parameter} = ${value}` };
  return { status: "grounded", toolName, hint: { parameter: parameter.name, value } };
}

function refuse(detail: string): Grounded {
  return { status: "refused", code: "hint/ungrounded", detail };
}
