/** Answers to an agent's suite: what would go out for them, and whether that is what a case expects. */
import { isAspect } from "../../shared/aspects.ts";
import { zipStrict } from "../../shared/assert.ts";
import { type Reach, toolsAhead } from "../../shared/reach.ts";
import { argumentText, sameText } from "../../shared/speech/calls.ts";
import type { SuiteCase } from "../../shared/suite.ts";
import { doesSo } from "../teacher/aspect-answer.ts";
import { carrying, type GateDefault } from "./carried.ts";
import type { Answered } from "./checks.ts";
import type { VersionsBefore } from "./versions-before.ts";

/**
 * The parent's answers and the candidate's own as they would go out; where one of these seems lost, the versions before are asked, too. Other arguments than
 * the learned ones come from a version that answers under both, so that none of them is lost by the candidate.
 */
export async function asServed(
  cases: readonly SuiteCase[],
  {
    first,
    own,
    carried,
    versions,
    reach,
    outside,
  }: {
    first: readonly Answered[];
    /** By case, where the candidate may answer. */
    own: ReadonlyMap<SuiteCase, Answered>;
    carried: { readonly before: readonly GateDefault[]; readonly after: readonly GateDefault[] };
    versions: VersionsBefore;
    /** The tools that the candidate answers for; null where for all. */
    reach: Reach;
    /** Who answers beside the candidate where nothing was learned. */
    outside: GateDefault["before"];
  },
): Promise<{ before: Answered[]; after: Answered[] }> {
  const before = zipStrict(cases, first).map(([each, given]) => holdTo(carried.before, each, given));
  const after: Answered[] = [];
  for (const [each, had] of zipStrict(cases, before)) {
    const said = own.get(each);
    const [called] = said?.calls ?? [];
    // A call of another tool is passed on to the version that made it before.
    if (said === undefined || (called !== undefined && reach !== null && !reach.includes(called.name))) {
      after.push(had);
      continue;
    }
    const held = holdTo(carried.after, each, said);
    // Of several calls the edge looks at each.
    const isLost = meets(had, each) && !meets(held, each, had) && said.calls.length === 1;
    if (!isLost) after.push(held);
    else {
      const { calls, text } = await versions.served(said, { carried: carried.after, heard: each, outside });
      after.push({ ...said, calls, text });
    }
  }
  return { before, after };
}

/** Whether the candidate, the newest of all, begins the answer: it has learned of a tool that it may be about. */
export function mayAnswer(each: SuiteCase, reach: Reach): boolean {
  return reach === null || toolsAhead(each).some((tool) => reach.includes(tool));
}

/** One that is not as expected by itself is held to what the version carries. */
function holdTo(carried: readonly GateDefault[], each: SuiteCase, given: Answered): Answered {
  return meets(given, each) ? given : carrying(given, { carried, heard: each });
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
