/**
 * The gate: a candidate answers what its parent answers, and nobody sees it before the report holds. Here it is measured; the
 * edge compares the report with the agent's own budgets, once more and for good (shared/release.ts).
 */
import { zipStrict } from "../../shared/assert.ts";
import type { TemplateArguments } from "../../shared/engine.ts";
import { answerEach, isSameVersion, type Reach, type Standing } from "../../shared/reach.ts";
import type { GateCheck, GateCheckName, GateReport } from "../../shared/release.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import type { SuiteCase } from "../../shared/suite.ts";
import type { EngineCalls } from "../engine/protocol.ts";
import type { Answerer } from "../learn/batch/ground.ts";
import { ANSWER_TOKENS } from "../learn/lesson/lessons.ts";
import { fits } from "../learn/lesson/rows.ts";
import type { AdapterTensors } from "../policy/adapter.ts";
import type { Base } from "../policy/base.ts";
import type { GateDefault, LoadBefore } from "./carried.ts";
import {
  flattery,
  furthest,
  invalidCalls,
  length,
  lost,
  needlessCalls,
  needlessQuestions,
  type Pair,
  pairUp,
  repetition,
  type Answered,
  type ProbedPair,
} from "./checks.ts";
import { type Departure, ProbedPolicies } from "./probed.ts";
import type { Probe } from "./probes.ts";
import { answersTo, promptOf, type Question } from "./questions.ts";
import { asServed, mayAnswer, meets } from "./suite.ts";
import { VersionsBefore } from "./versions-before.ts";

export type GateRequest = {
  /** Null for the bare base. */
  readonly parent: AdapterTensors | null;
  readonly candidate: AdapterTensors;
  readonly suite: readonly SuiteCase[];
  /** Defaults that each is served with. Absent: none. */
  readonly carried?: { readonly before: readonly GateDefault[]; readonly after: readonly GateDefault[] };
  /** For versions that knew nothing of those defaults, which the edge asks, too. Absent: none is asked. */
  readonly loadBefore?: LoadBefore;
  /** The parent with the versions that answer beside it, by whose answers cases are judged. Absent: it answers for everything. */
  readonly standing?: Standing<Answerer>;
  /** The tools that the candidate answers for, so that of others what was said before it goes out. Absent or null: all. */
  readonly reach?: Reach;
  /** Who answers beside the candidate where nothing was learned: other arguments of its calls than the learned ones are as there. Absent: nobody does. */
  readonly outside?: Answerer;
  /** What the agent's engine gives its chat template. Absent: nothing. */
  readonly templateArguments?: TemplateArguments;
};
export type Gate = (request: GateRequest) => Promise<GateReport>;
export type OpenGate = {
  readonly examine: Gate;
  /** Asks the base what every report needs of it, seconds of work: done ahead, the first candidate waits for less. */
  readonly prepare: () => Promise<void>;
};

type GateDependencies = {
  readonly engine: Pick<EngineCalls, "generate" | "score" | "loadAdapter" | "dropAdapter">;
  readonly base: Pick<Base, "tokenizer" | "config" | "rowTokens">;
  /** Absent: those that every version is asked. */
  readonly probes?: readonly Probe[];
  /** Told of cases of a suite that leave no room for an answer in the longest row, and are not asked. */
  readonly onLeftOut?: (cases: { readonly left: number; readonly of: number }) => void;
};

const PARENT = "gate.parent";
const PARENT_ALONE: Answerer = { line: SHARED_LINE, version: 0, adapter: null };
const CANDIDATE = "gate.candidate";

export function createGate(deps: GateDependencies): OpenGate {
  const probed = new ProbedPolicies(deps);
  return { examine: async (request) => examine(deps, probed, request), prepare: async () => void (await probed.base()) };
}

/** Both are in the engine while it lasts, and neither afterwards. */
async function examine(deps: GateDependencies, probed: ProbedPolicies, request: GateRequest): Promise<GateReport> {
  const { engine, base } = deps;
  const { parent, candidate, suite, loadBefore } = request;
  const before = parent === null ? undefined : PARENT;
  const versions = new VersionsBefore({ engine, tokenizer: base.tokenizer, maxTokens: ANSWER_TOKENS, load: loadBefore });
  if (parent !== null) await engine.loadAdapter(PARENT, parent);
  await engine.loadAdapter(CANDIDATE, candidate);
  try {
    const bare = await probed.base();
    const departures = await probed.departures(CANDIDATE);
    const sides = {
      before: await probed.of(parent, before),
      after: await probed.ofCandidate(candidate, { base: bare, departures, adapter: CANDIDATE }),
    };
    const cases = suite.filter((each) => fits(base, promptOf(base, each).length, ANSWER_TOKENS));
    if (cases.length < suite.length) deps.onLeftOut?.({ left: suite.length - cases.length, of: suite.length });
    const kept = await askSuite(deps, { cases, request, versions, before });
    const pairs = probed.pairUp(sides.before.held, sides.after.held);
    const sinceBase = probed.pairUp(bare.held, sides.after.held);
    return {
      checks: [
        lost("suite", kept, (given, { each, before: first }) => meets(given, each, first)),
        ...forgetting(zipStrict(sinceBase, departures)),
        invalidCalls(probed.pairUpReady(sides.before.free, sides.after.free)),
        needlessCalls(pairs),
        needlessQuestions(pairs),
        length([...pairs, ...kept]),
        flattery(pairs),
        repetition([...sinceBase, ...kept]),
      ],
    };
  } finally {
    if (parent !== null) await engine.dropAdapter(PARENT);
    await engine.dropAdapter(CANDIDATE);
    await versions.drop();
  }
}

type SuiteAsked = {
  readonly cases: readonly SuiteCase[];
  readonly request: GateRequest;
  readonly versions: VersionsBefore;
  /** The parent in the engine; undefined for the bare base. */
  readonly before: string | undefined;
};

/** What goes out for each case before the candidate and with it, as the edge would serve it. */
async function askSuite(
  deps: GateDependencies,
  { cases, request, versions, before }: SuiteAsked,
): Promise<(Pair & { readonly each: SuiteCase })[]> {
  const { carried = { before: [], after: [] }, standing = { bound: PARENT_ALONE, answering: null }, reach = null, outside } = request;
  const ask = (asked: readonly Question[], adapter: string | undefined): Promise<Answered[]> =>
    answersTo(deps, asked, { adapter, maxTokens: ANSWER_TOKENS });
  const byVersion = async (by: Answerer, asked: readonly SuiteCase[]): Promise<Answered[]> => {
    const loaded = isSameVersion(by, standing.bound) ? undefined : await versions.load(by.adapter);
    return ask(asked, loaded === undefined ? before : loaded.adapter);
  };
  const first = (await answerEach(cases, standing, byVersion)).map(({ answer: said }) => said);
  const saidOf = new Map(zipStrict(cases, first));
  const own = cases.filter((each) => mayAnswer(each, reach));
  const supposed = own.map((each) => ({ ...each, supposed: saidOf.get(each)?.tokens }));
  const then = zipStrict(own, await ask(supposed, CANDIDATE));
  const served = await asServed(cases, { first, own: new Map(then), carried, versions, reach, outside });
  return pairUp(cases, served.before, served.after, ({ name }) => name);
}

/**
 * How far the candidate has come from the base, on the base's own answers: KL(base ‖ candidate), and what their likelihood lost. Of the kind of
 * probe that has come furthest: replies may go to pieces while calls, of which there are more tokens, stay what they were.
 */
function forgetting(departed: readonly (readonly [ProbedPair, Departure])[]): GateCheck[] {
  const kinds = [...new Set(departed.map(([{ probe }]) => probe.kind))].map((kind) =>
    departed.filter(([{ probe }]) => probe.kind === kind),
  );
  const worst = (name: GateCheckName, nats: (departure: Departure) => number): GateCheck =>
    furthest(
      name,
      kinds.map((own) => own.map(([pair, departure]) => ({ pair, tokens: departure.tokens, nats: nats(departure) }))),
    );
  return [worst("klToBaseNats", ({ klNats }) => klNats), worst("anchorNllNats", ({ lostNats }) => lostNats)];
}
