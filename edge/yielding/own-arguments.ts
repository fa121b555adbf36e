/**
 * Lets what was learned of a tool change the arguments that it is about, and no others (shared/own-arguments.ts). Under notes about the tool, which the
 * policy reads, a call has other arguments of its own already (overruled-notes.ts); and one that the user was asked about, or is not to be asked about, stays as it is.
 */
import { wasAskedAbout } from "../../shared/agreed-calls.ts";
import { isSameVersion } from "../../shared/reach.ts";
import { withOwnArguments } from "../../shared/own-arguments.ts";
import { findTool } from "../../shared/speech/calls.ts";
import type { Heard } from "../../shared/yielding.ts";
import type { Answer, VersionAnswers } from "./version-answers.ts";
import { isRead } from "./yielding-turn.ts";

export async function keepOwnArguments(answers: VersionAnswers, under: Answer): Promise<Answer> {
  const { standing, defaults, heard } = answers.turn;
  const { completion } = under;
  const { notes, held, agreedTo } = completion;
  const outside = standing.answering?.outside;
  if (outside === undefined || isSameVersion(outside, completion)) return under;
  const isNoted = notes.some((note) => isRead(note) && note.tool === under.call?.name) || held.some((each) => !isRead(each));
  if (isNoted || agreedTo !== undefined || isAgreed(under, heard)) return under;
  return withOwnArguments(under, {
    learned: defaults,
    heard,
    ask: () => answers.ask({ by: outside, notes }, []),
    hold: (to, own) => answers.hold(own, to),
  });
}

function isAgreed({ call }: Answer, { messages, tools }: Heard): boolean {
  const tool = call === undefined ? undefined : findTool(tools, call.name);
  return call !== undefined && tool !== undefined && wasAskedAbout(messages, { tool, call });
}
