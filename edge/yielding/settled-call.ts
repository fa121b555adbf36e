/**
 * The arguments of a call that nothing was shown of: others than what was learned about are as without anything learned (own-arguments.ts), and what the user
 * has put right just before is as they said it, whatever weights, notes and defaults make of it.
 */
import { withCorrection } from "../../shared/correction/put-right.ts";
import { samePlace } from "../../shared/yielding.ts";
import { keepOwnArguments } from "./own-arguments.ts";
import type { Answer, VersionAnswers } from "./version-answers.ts";

export async function withSettledArguments(answers: VersionAnswers, under: Answer): Promise<Answer> {
  const { heard, corrected } = answers.turn;
  const own = await keepOwnArguments(answers, under);
  const { completion: by, defaults } = own;
  const settled = [...by.held, ...by.notes, ...defaults];
  return withCorrection(own, {
    corrected,
    heard,
    isSettled: (parameter) => corrected.some(({ tool }) => settled.some((each) => samePlace(each, { tool, parameter }))),
    hold: (to, call) => {
      const others = by.held.filter((each) => !to.some((own) => samePlace(each, own)));
      const hold = { to: [...to, ...others], before: { ...own, calls: [call] } };
      return answers.ask({ by, notes: by.notes, agreedTo: by.agreedTo, hold }, defaults);
    },
  });
}
