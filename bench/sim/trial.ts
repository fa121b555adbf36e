/** What a simulated user tries on a learning system: requests in search of something to object to, and whether stated values still win. */
import { argumentText, sameCall } from "../../shared/speech/calls.ts";
import type { Answer, LearningSystem } from "./learning.ts";
import type { Preference } from "./preferences.ts";
import type { FreshRequest } from "./requests.ts";
import { reaction } from "./user.ts";

const MOST_TRIES = 4; // requests in search of a violated one
const STATED_PER_PREFERENCE = 6;

/** The first request, taken from the pool, whose answer violates the preference: what a user would object to. Leaves `spare` requests. */
export async function violated(
  system: LearningSystem,
  preference: Preference,
  { pool, spare }: { pool: FreshRequest[]; spare: number },
): Promise<{ request: FreshRequest; answer: Answer } | undefined> {
  for (let tries = 0; tries < MOST_TRIES && pool.length > spare; tries += 1) {
    const [request] = pool.splice(0, 1);
    const [answer] = request === undefined ? [] : await system.answer([request]);
    if (request !== undefined && answer !== undefined && reaction(preference, answer.calls) === "violated") return { request, answer };
  }
  return undefined;
}

/** Whether an answer makes the call that the data makes, and no other. @param isOpen arguments that may be otherwise */
export function isExact(
  { call }: Pick<FreshRequest, "call">,
  answer: Pick<Answer, "calls"> | undefined,
  isOpen?: (parameter: string) => boolean,
): boolean {
  const [made, ...more] = answer?.calls ?? [];
  return made !== undefined && more.length === 0 && sameCall(made, call, isOpen);
}

/** A request that the base without an adapter answers with the value that its user states. */
export type Won = { readonly request: FreshRequest; readonly answer: Answer | undefined; readonly kept: boolean };

/** Stated requests that the base without an adapter wins, what is served now, and whether the user's value still wins. */
export async function keptOf(system: LearningSystem, { tool, parameter, stated }: Preference): Promise<Won[]> {
  const won = (request: FreshRequest, { calls }: Answer): boolean =>
    calls.some(
      ({ name, arguments: args }) => name === tool && argumentText(args[parameter]) === argumentText(request.call.arguments[parameter]),
    );
  const asked = stated.slice(0, STATED_PER_PREFERENCE);
  const before = await system.answer(asked, { bare: true });
  const winners = asked.filter((request, index) => before[index] !== undefined && won(request, before[index]));
  const after = await system.answer(winners);
  return winners.map((request, index) => {
    const answer = after[index];
    return { request, answer, kept: answer !== undefined && won(request, answer) };
  });
}
