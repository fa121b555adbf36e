/** Standing preferences: one optional argument of one tool that a user always wants at one value, and the requests that test it. */
import { readLexicon } from "../../trainer/pretrain/lexicon.ts";
import type { Random } from "../../trainer/random.ts";
import type { Sgd } from "../../trainer/pretrain/sgd.ts";
import type { FreshRequest } from "./requests.ts";

export type Preference = {
  readonly service: string;
  readonly tool: string;
  readonly parameter: string;
  readonly value: string;
  /** Requests in which nobody speaks of the parameter, in random order. */
  readonly silent: readonly FreshRequest[];
  /** Requests in which the user states another value. */
  readonly stated: readonly FreshRequest[];
};

const MIN_SILENT = 8; // three corrections and a few fresh conversations
const MIN_STATED = 4;

/** One preference per tool and parameter that enough requests speak and keep silent about, in random order. */
export function drawPreferences(
  sgd: Sgd,
  requests: readonly FreshRequest[],
  random: Random,
  { minSilent = MIN_SILENT, minStated = MIN_STATED }: { minSilent?: number; minStated?: number } = {},
): Preference[] {
  const { values: pool } = readLexicon(sgd);
  const groups = new Map<string, { request: FreshRequest; slot: string }>();
  for (const request of requests)
    for (const parameter of request.silent)
      groups.set(`${request.service} ${request.call.name} ${parameter.name}`, { request, slot: parameter.slot });
  const preferences = [...groups.values()].flatMap(({ request, slot }): Preference[] => {
    const [service, tool] = [request.service, request.call.name];
    const parameter = request.silent.find((each) => each.slot === slot);
    const same = requests.filter((each) => each.service === service && each.call.name === tool);
    if (parameter === undefined) return [];
    const known = parameter.options.length > 0 ? parameter.options : (pool.get(slot) ?? []);
    const values = known.filter((value) => value !== parameter.fallback && value !== "dontcare");
    if (values.length < 2) return [];
    const value = random.pick(values);
    const silent = random.shuffled(same.filter((each) => each.silent.some((one) => one.slot === slot)));
    const stated = random.shuffled(
      same.filter((each) => each.stated.some((one) => one.slot === slot) && String(each.call.arguments[parameter.name]) !== value),
    );
    return silent.length < minSilent || stated.length < minStated
      ? []
      : [{ service, tool, parameter: parameter.name, value, silent, stated }];
  });
  return random.shuffled(preferences);
}

export function nameOf({ service, tool, parameter, value }: Preference): string {
  return `${service}.${tool} ${parameter} = ${value}`;
}
