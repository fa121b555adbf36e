/**
 * Lets what was learned of a tool change the arguments that it is about, and no others (shared/own-arguments.ts). Under notes about the tool, which the
 * policy reads, a call has other arguments of its own already (overruled-notes.ts); and one that was asked about, or that nobody is to be asked about, stays as it is.
 */
import { isSameVersion } from "../../shared/reach.ts";
import { withOwnArguments } from "../../shared/own-arguments.ts";
import type { Answer, VersionAnswers } from "./version-answers.ts";
import { isRead } from "./yielding-turn.ts";

export async function keepOwnArguments(answers: VersionAnswers, under: Answer): Promise<Answer> {
  const { standing, defaults } = answers.turn;
  const { completion } = under;
  const { notes, held, agreedTo } = completion;
  const outside = standing.answering?.outside;
  if (outside === undefined || isSameVersion(outside, completion)) return under;
  const isNoted = notes.some(({ tool }) => tool === under.call?.name) || held.some((each) => !isRead(each));
  if (isNoted || agreedTo !== undefined) return under;
  return withOwnArguments(under, {
    learned: defaults,
    ask: () => answers.ask({ by: outside, notes }, []),
    hold: (to, own) => answers.hold(own, to),
  });
}
