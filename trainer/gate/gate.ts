/**
 * The gate: a candidate answers what its parent answers, and nobody sees it before the report holds. Here it is measured; the
 * edge compares the report with the agent's own budgets, once more and for good (shared/release.ts).
 */
import { createHash } from "node:crypto";
import { at, zipStrict } from "../../shared/assert.ts";
import type { TemplateArguments } from "../../shared/engine.ts";
import { answerEach, isSameVersion, type Reach, type Standing } from "../../shared/reach.ts";
import type { GateCheck, GateCheckName, GateReport } from "../../shared/release.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import type { SuiteCase } from "../../shared/suite.ts";
import type { EngineCalls } from "../engine/protocol.ts";
import type { Answerer } from "../learn/batch/ground.ts";
import { askGreedily } from "../learn/update/candidate.ts";
import { ANSWER_TOKENS } from "../learn/lesson/lessons.ts";
import { askedWords } from "../learn/update/report.ts";
import { fits, type Row } from "../learn/lesson/rows.ts";
import { meanKlNats, type RowScore, scoreRows } from "../learn/lesson/scores.ts";
import type { AdapterTensors } from "../policy/adapter.ts";
import type { Base } from "../policy/base.ts";
import { readAnswer, writtenText } from "../teacher/answer-text.ts";
import type { Asked } from "../teacher/lead.ts";
import type { GateDefault, LoadBefore } from "./carried.ts";
import {
  flattery,
  furthest,
  invalidCalls,
  length,
  lost,
  needlessCalls,
  needlessQuestions,
  pairUp,
  repetition,
  type Answered,
  type ProbedPair,
} from "./checks.ts";
import { drawProbes, type Probe } from "./probes.ts";
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
  /** Told of cases of a suite that leave no room for an answer in the longest row, and are not asked. */
  readonly onLeftOut?: (cases: { readonly left: number; readonly of: number }) => void;
};
type Question = Pick<Probe, "messages" | "tools"> & Pick<Asked, "supposed">;

const PARENT = "gate.parent";
const PARENT_ALONE: Answerer = { line: SHARED_LINE, version: 0, adapter: null };
const CANDIDATE = "gate.candidate";
const PROBE_TOKENS = 64; // a call of the probes takes fewer; what goes on for longer than that is going round in circles
const BASE = "base";
const BASE_AT_ONCE = 6; // probes: it is asked when a trainer has just begun, and the judge waits for no more than one such call
const MOST_KNOWN = 4; // policies whose answers to the probes are kept

/** What a policy says to every probe, held to the tools' schemas, and to those that are ready without a grammar. */
type Probed = { readonly held: readonly Answered[]; readonly free: readonly Answered[] };

export function createGate(deps: GateDependencies): OpenGate {
  const { engine } = deps;
  const { vocabSize } = deps.base.config;
  const probes = drawProbes().filter((probe) => fits(deps.base, promptOf(deps, probe).length, PROBE_TOKENS));
  const ready = probes.filter(({ kind }) => kind === "ready");
  // A candidate is the parent of the next, so what it said is asked for once; and most of what the base says they all say.
  const known = new Map<string, Probed>();
  let likelihoods: readonly RowScore[] | undefined; // of the base: 40 MB of the shipped one
  const ask = async (adapter: string | undefined, held: readonly Answered[]): Promise<Probed> => {
    const own = held.filter((_, index) => at(probes, index).kind === "ready");
    return { held, free: await answer(deps, supposing(ready, own), { ...howTo(adapter), free: true }) };
  };
  const howTo = (adapter: string | undefined) => {
    const atOnce = adapter === undefined ? BASE_AT_ONCE : probes.length;
    return { adapter, maxTokens: PROBE_TOKENS, atOnce };
  };
  const remember = (key: string, said: Probed): Probed => {
    known.delete(key);
    known.set(key, said);
    for (const oldest of known.keys()) if (known.size > MOST_KNOWN && oldest !== BASE) known.delete(oldest);
    return said;
  };
  const probe = async (tensors: AdapterTensors | null, adapter: string | undefined): Promise<Probed> => {
    const key = tensors === null ? BASE : digestOf(tensors);
    const held = async (): Promise<Answered[]> => answer(deps, supposing(probes, known.get(BASE)?.held), howTo(adapter));
    return remember(key, known.get(key) ?? (await ask(adapter, await held())));
  };
  /** What the candidate says to every probe, of which most is what the base says: `likely` has its distributions there. */
  const probeCandidate = async (tensors: AdapterTensors, rows: readonly Row[], likely: readonly RowScore[]): Promise<Probed> => {
    const base = await probe(null, undefined);
    const same = zipStrict(rows, likely).map(([row, { argmax }]) => row.answer.every((token, index) => argmax[index] === token));
    const others = probes.filter((_, index) => !at(same, index));
    const own = new Map(zipStrict(others, await answer(deps, others, howTo(CANDIDATE))));
    const held = zipStrict(probes, base.held).map(([asked, said]) => own.get(asked) ?? said);
    return remember(digestOf(tensors), await ask(CANDIDATE, held));
  };
  const askBase = async (): Promise<{ base: Probed; rows: readonly Row[]; likely: readonly RowScore[] }> => {
    const base = await probe(null, undefined);
    const rows = probes.map((each, index) => ({ prompt: promptOf(deps, each), answer: at(base.held, index).tokens }));
    likelihoods ??= await scoreRows(engine, rows, { adapter: undefined, full: true, vocabSize });
    return { base, rows, likely: likelihoods };
  };
  const examine: Gate = async ({
    parent,
    candidate,
    suite,
    carried = { before: [], after: [] },
    loadBefore,
    standing = { bound: PARENT_ALONE, answering: null },
    reach = null,
    outside,
  }) => {
    const before = parent === null ? undefined : PARENT;
    const versions = new VersionsBefore({ engine, tokenizer: deps.base.tokenizer, maxTokens: ANSWER_TOKENS, load: loadBefore });
    if (parent !== null) await engine.loadAdapter(PARENT, parent);
    await engine.loadAdapter(CANDIDATE, candidate);
    try {
      const { base, rows, likely } = await askBase();
      const now = await scoreRows(engine, rows, { adapter: CANDIDATE, full: true, vocabSize });
      const sides = { before: await probe(parent, before), after: await probeCandidate(candidate, rows, now) };
      const cases = suite.filter((each) => fits(deps.base, promptOf(deps, each).length, ANSWER_TOKENS));
      if (cases.length < suite.length) deps.onLeftOut?.({ left: suite.length - cases.length, of: suite.length });
      const how = { maxTokens: ANSWER_TOKENS };
      const byVersion = async (by: Answerer, asked: readonly SuiteCase[]): Promise<Answered[]> => {
        const loaded = isSameVersion(by, standing.bound) ? undefined : await versions.load(by.adapter);
        return answer(deps, asked, { ...how, adapter: loaded === undefined ? before : loaded.adapter });
      };
      const first = (await answerEach(cases, standing, byVersion)).map(({ answer: said }) => said);
      const own = cases.filter((each) => mayAnswer(each, reach));
      const saidOf = new Map(zipStrict(cases, first));
      const supposed = own.map((each) => ({ ...each, supposed: saidOf.get(each)?.tokens }));
      const then = zipStrict(own, await answer(deps, supposed, { ...how, adapter: CANDIDATE }));
      const served = await asServed(cases, { first, own: new Map(then), carried, versions, reach, outside });
      const kept = pairUp(cases, served.before, served.after, ({ name }) => name);
      const probed = pairUp(probes, sides.before.held, sides.after.held, nameOf).map(toProbed);
      const sinceBase = pairUp(probes, base.held, sides.after.held, nameOf).map(toProbed);
      return {
        checks: [
          lost("suite", kept, (given, { each, before: first }) => meets(given, each, first)),
          ...forgetting(zipStrict(sinceBase, zipStrict(likely, now)), vocabSize),
          invalidCalls(pairUp(ready, sides.before.free, sides.after.free, nameOf).map(toProbed)),
          needlessCalls(probed),
          needlessQuestions(probed),
          length([...probed, ...kept]),
          flattery(probed),
          repetition([...sinceBase, ...kept]),
        ],
      };
    } finally {
      if (parent !== null) await engine.dropAdapter(PARENT);
      await engine.dropAdapter(CANDIDATE);
      await versions.drop();
    }
  };
  return { examine, prepare: async () => void (await askBase()) };
}

/**
 * How far the candidate has come from the base, on the base's own answers: KL(base ‖ candidate), and what their likelihood lost. Of the kind of
 * probe that has come furthest: replies may go to pieces while calls, of which there are more tokens, stay what they were.
 */
function forgetting(scored: readonly (readonly [ProbedPair, readonly [RowScore, RowScore]])[], vocabSize: number): GateCheck[] {
  const kinds = [...new Set(scored.map(([{ probe }]) => probe.kind))].map((kind) => scored.filter(([{ probe }]) => probe.kind === kind));
  const worst = (name: GateCheckName, nats: (base: RowScore, candidate: RowScore) => number): GateCheck =>
    furthest(
      name,
      kinds.map((own) => own.map(([pair, [base, candidate]]) => ({ pair, tokens: base.logProbs.length, nats: nats(base, candidate) }))),
    );
  return [
    worst("klToBaseNats", (base, candidate) => meanKlNats(base.full, candidate.full, vocabSize) * base.logProbs.length),
    worst("anchorNllNats", (base, candidate) => total(base) - total(candidate)),
  ];
}

function total({ logProbs }: RowScore): number {
  return logProbs.reduce((sum, logProb) => sum + logProb, 0);
}

/** Greedy answers, read; `atOnce` questions in a call. */
async function answer(
  deps: GateDependencies,
  asked: readonly Question[],
  { atOnce = asked.length, ...how }: { adapter: string | undefined; maxTokens: number; free?: boolean; atOnce?: number },
): Promise<Answered[]> {
  const { engine, base } = deps;
  const ask = askGreedily(engine, { ...how, endIds: base.tokenizer.endIds, seed: 0 });
  const answers: (readonly number[])[] = [];
  for (let start = 0; start < asked.length; start += atOnce)
    answers.push(...(await ask(asked.slice(start, start + atOnce).map((question) => ({ ...question, prompt: promptOf(deps, question) })))));
  return answers.map((tokens) => read(base, tokens));
}

/** Each with the answer that another policy has given to it. */
function supposing<Q extends Question>(asked: readonly Q[], said: readonly Answered[] | undefined): Q[] {
  return asked.map((question, index) => ({ ...question, supposed: said?.[index]?.tokens }));
}

function read({ tokenizer }: Pick<Base, "tokenizer">, tokens: readonly number[]): Answered {
  return { ...readAnswer(tokenizer, tokens), tokens, shown: writtenText(tokenizer, tokens) };
}

function promptOf({ base: { tokenizer } }: GateDependencies, { messages, tools }: Question): number[] {
  return tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
}

function toProbed({ each, ...pair }: { each: Probe; name: string; before: Answered; after: Answered }): ProbedPair {
  return { ...pair, probe: each };
}

function nameOf({ messages }: Question): string {
  return askedWords(messages);
}

function digestOf({ tensors }: AdapterTensors): string {
  const hash = createHash("sha256");
  for (const [name, values] of tensors) hash.update(name).update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  return hash.digest("hex");
}
