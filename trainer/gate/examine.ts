/** What a candidate is examined against: what it takes the place of, and the suite without what it was taught otherwise since. */
import { templateArgumentsOf } from "../../shared/engine.ts";
import type { LearnedDefault } from "../../shared/learned-defaults.ts";
import type { LineHead } from "../../shared/policy.ts";
import type { Reach } from "../../shared/reach.ts";
import type { GateReport } from "../../shared/release.ts";
import { type Expectation, overrules } from "../../shared/suite.ts";
import type { EdgePort, LineName } from "../feed/edge-port.ts";
import { replacedBy } from "../learn/batch/ground.ts";
import type { AdapterTensors } from "../policy/adapter.ts";
import { carriedBy } from "./carried.ts";
import type { Gate } from "./gate.ts";

export type Examining = {
  readonly edge: Pick<EdgePort, "readSuite">;
  readonly gate: Gate;
  readonly loadAdapter: (version: Pick<LineHead, "adapter" | "baseDigest">) => Promise<AdapterTensors | null>;
};

/** What is known of a candidate. `expected`: of the cases that it was made of. */
export type Candidate = {
  readonly adapter: AdapterTensors;
  readonly defaults: readonly LearnedDefault[];
  readonly reach: Reach;
  readonly expected: readonly Expectation[];
};

/** The gate's report on a candidate; null where the agent's gate is off. A learned case is not asked that a case of the candidate's own overrules; a person's is. */
export async function examine(
  { edge, gate, loadAdapter }: Examining,
  { head, line }: { head: LineHead; line: LineName },
  { adapter, defaults, reach, expected }: Candidate,
): Promise<GateReport | null> {
  const { settings, baseDigest } = head;
  if (!settings.release.gate.enabled) return null;
  const parent = await loadAdapter({ baseDigest, adapter: replacedBy(head).version.adapter });
  const suite = (await edge.readSuite(line)).filter(
    ({ source, expect }) => source === "person" || !expected.some((each) => overrules(each, expect)),
  );
  const held = carriedBy(head, { learned: defaults, reach, loadAdapter });
  return gate({ parent, candidate: adapter, suite, ...held, templateArguments: templateArgumentsOf(settings.engine) });
}
