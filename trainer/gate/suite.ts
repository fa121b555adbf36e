/** Answers to an agent's suite: what would go out for them, and whether that is what a case expects. */
import { isAspect } from "../../shared/aspects.ts";
import { at, zipStrict } from "../../shared/assert.ts";
import { argumentText, sameText } from "../../shared/speech/calls.ts";
import type { SuiteCase } from "../../shared/suite.ts";
import { repliedTools } from "../../shared/wording.ts";
import { doesSo } from "../teacher/aspect-answer.ts";
import { carrying, type GateDefault } from "./carried.ts";
import type { Answered } from "./checks.ts";
import type { VersionsBefore } from "./versions-before.ts";

/** The parent's answers and the candidate's own as they would go out; where one of these seems lost, the versions before are asked, too. */
export async function asServed(
  cases: readonly SuiteCase[],
  {
    first,
    own,
    carried,
    versions,
    answersFor,
  }: {
    first: readonly Answered[];
    own: readonly Answered[];
    carried: { readonly before: readonly GateDefault[]; readonly after: readonly GateDefault[] };
    versions: VersionsBefore;
    /** The tools that the candidate answers for; undefined where for all. */
    answersFor: ReadonlySet<string> | undefined;
  },
): Promise<{ before: Answered[]; after: Answered[] }> {
  const [before, supposed] = [holdAll(cases, first, carried.before), holdAll(cases, own, carried.after)];
  const after: Answered[] = [];
  for (const [index, each] of cases.entries()) {
    const [had, held, said] = [at(before, index), at(supposed, index), at(own, index)];
    if (answersFor !== undefined && isOfOthers(each, said, answersFor)) {
      after.push(had);
      continue;
    }
    // Of several calls the edge looks at each.
    const isLost = meets(had, each) && !meets(held, each, had) && said.calls.length === 1;
    if (!isLost) after.push(held);
    else {
      const { calls, text } = await versions.served(said, { carried: carried.after, heard: each });
      after.push({ ...said, calls, text });
    }
  }
  return { before, after };
}

/** Whether another version answers in the candidate's place: it knows nothing of the tools at hand, or of the one that is called or replied to. */
function isOfOthers(
  { messages, tools }: Pick<SuiteCase, "messages" | "tools">,
  { calls: [first] }: Pick<Answered, "calls">,
  answersFor: ReadonlySet<string>,
): boolean {
  const replied = repliedTools(messages);
  const begun = replied.length > 0 ? replied : tools.map(({ function: { name } }) => name);
  return !begun.some((tool) => answersFor.has(tool)) || (first !== undefined && !answersFor.has(first.name));
}

/** Those that are not as expected by themselves are held to what the version carries. */
function holdAll(cases: readonly SuiteCase[], answers: readonly Answered[], carried: readonly GateDefault[]): Answered[] {
  return zipStrict(cases, answers).map(([each, given]) => (meets(given, each) ? given : carrying(given, { carried, heard: each })));
}

/** @param first the parent's answer: a reply that is worded as a correction has it is no worse than that */
export function meets(given: Answered, asked: SuiteCase, first = given): boolean {
  const { about } = asked.expect;
  return (
    isExpected(given, asked) &&
    (about === undefined || !isAspect(about.parameter) || doesSo(about, given, { before: first.text, heard: asked }))
  );
}

function isExpected({ calls, text }: Answered, { expect }: SuiteCase): boolean {
  if ("reply" in expect)
    return calls.length === 0 && expect.reply.contains.every((part) => text.toLowerCase().includes(part.toLowerCase()));
  return calls.some(
    ({ name, arguments: args }) =>
      name === expect.tool &&
      Object.entries(expect.arguments).every(([key, wanted]) => key in args && sameText(argumentText(args[key]), argumentText(wanted))),
  );
}
