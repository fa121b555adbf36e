/**
 * What policies say to the probes. A candidate is the parent of the next, so what it said is asked for once; and most of what the base says
 * they all say.
 */
import { createHash } from "node:crypto";
import { at, zipStrict } from "../../shared/assert.ts";
import type { EngineCalls } from "../engine/protocol.ts";
import { fits, type Row } from "../learn/lesson/rows.ts";
import { meanKlNats, type RowScore, scoreRows, totalLogProb } from "../learn/lesson/scores.ts";
import { askedWords } from "../learn/update/report.ts";
import type { AdapterTensors } from "../policy/adapter.ts";
import type { Base } from "../policy/base.ts";
import { type Answered, pairUp, type ProbedPair } from "./checks.ts";
import { drawProbes, type Probe } from "./probes.ts";
import { answersTo, type HowAsked, promptOf, supposing } from "./questions.ts";

const PROBE_TOKENS = 64; // a call of the probes takes fewer; what goes on for longer than that is going round in circles
const BASE = "base";
const BASE_AT_ONCE = 6; // probes: it is asked when a trainer has just begun, and the judge waits for no more than one such call
const MOST_KNOWN = 4; // policies whose answers to the probes are kept
const KEPT_BYTES = 64 * 1024 * 1024; // of distributions at once: what the base says to all probes is 40 MB of the shipped one, and 1.4 GB over 150,000 tokens

/** What a policy says to every probe, held to the tools' schemas, and to those that are ready without a grammar. */
export type Probed = { readonly held: readonly Answered[]; readonly free: readonly Answered[] };

/** How far a candidate has come from the base on the base's own answer to a probe. */
export type Departure = {
  readonly tokens: number;
  /** KL(base ‖ candidate), summed over the tokens. */
  readonly klNats: number;
  /** What the likelihood of the answer lost. */
  readonly lostNats: number;
  /** Whether the candidate says the same. */
  readonly isSame: boolean;
};

type ProbeDependencies = {
  readonly engine: Pick<EngineCalls, "generate" | "score">;
  readonly base: Pick<Base, "tokenizer" | "config" | "rowTokens">;
  /** Absent: those that every version is asked. */
  readonly probes?: readonly Probe[];
};

export class ProbedPolicies {
  readonly #deps: ProbeDependencies;
  readonly #keptBytes: number;
  readonly #probes: readonly Probe[];
  readonly #ready: readonly Probe[];
  /** By the digest of the adapter; asked longest ago first. */
  readonly #known = new Map<string, Probed>();
  /** The base's distributions on its own answers, where there is room for all. */
  #likely: readonly RowScore[] | undefined;

  /** @param keptBytes of distributions that are held at once */
  constructor(deps: ProbeDependencies, keptBytes = KEPT_BYTES) {
    const { probes = drawProbes() } = deps;
    this.#deps = deps;
    this.#keptBytes = keptBytes;
    this.#probes = probes.filter((probe) => fits(deps.base, promptOf(deps.base, probe).length, PROBE_TOKENS));
    this.#ready = this.#probes.filter(({ kind }) => kind === "ready");
  }

  /** What the base says, with its distributions there where they can be kept: all that needs no candidate. */
  async base(): Promise<Probed> {
    const said = await this.of(null, undefined);
    const rows = this.#rowsOf(said);
    if (this.#bytesOf(rows) <= this.#keptBytes) this.#likely ??= await this.#score(rows, undefined);
    return said;
  }

  /** Probe by probe, whose answers are the base's. */
  async departures(adapter: string): Promise<Departure[]> {
    const rows = this.#rowsOf(await this.base());
    if (this.#likely !== undefined) return this.#depart(rows, this.#likely, await this.#score(rows, adapter));
    const departures: Departure[] = [];
    for (const own of this.#inShares(rows)) {
      const base = await this.#score(own, undefined);
      departures.push(...this.#depart(own, base, await this.#score(own, adapter)));
    }
    return departures;
  }

  /** @param tensors null for the base @param adapter its name in the engine */
  async of(tensors: AdapterTensors | null, adapter: string | undefined): Promise<Probed> {
    const key = tensors === null ? BASE : digestOf(tensors);
    const known = this.#known.get(key);
    if (known !== undefined) return this.#remember(key, known);
    const asked = supposing(this.#probes, this.#known.get(BASE)?.held);
    return this.#remember(key, await this.#withFree(await answersTo(this.#deps, asked, howTo(adapter)), adapter));
  }

  /** Asks only where the candidate departs from what the base says. */
  async ofCandidate(
    tensors: AdapterTensors,
    { base, departures, adapter }: { base: Probed; departures: readonly Departure[]; adapter: string },
  ): Promise<Probed> {
    const others = this.#probes.filter((_, index) => !at(departures, index).isSame);
    const own = new Map(zipStrict(others, await answersTo(this.#deps, others, howTo(adapter))));
    const held = zipStrict(this.#probes, base.held).map(([probe, said]) => own.get(probe) ?? said);
    return this.#remember(digestOf(tensors), await this.#withFree(held, adapter));
  }

  pairUp(before: readonly Answered[], after: readonly Answered[]): ProbedPair[] {
    return paired(this.#probes, before, after);
  }

  /** Of the answers without a grammar. */
  pairUpReady(before: readonly Answered[], after: readonly Answered[]): ProbedPair[] {
    return paired(this.#ready, before, after);
  }

  #rowsOf({ held }: Probed): Row[] {
    return zipStrict(this.#probes, held).map(([probe, { tokens }]) => ({ prompt: promptOf(this.#deps.base, probe), answer: tokens }));
  }

  #bytesOf(rows: readonly Row[]): number {
    const tokens = rows.reduce((sum, { answer }) => sum + answer.length, 0);
    return tokens * this.#deps.base.config.vocabSize * Float32Array.BYTES_PER_ELEMENT;
  }

  #inShares(rows: readonly Row[]): Row[][] {
    const count = Math.max(1, Math.floor(this.#keptBytes / (this.#bytesOf(rows) / rows.length)));
    return Array.from({ length: Math.ceil(rows.length / count) }, (_, share) => rows.slice(share * count, (share + 1) * count));
  }

  #score(rows: readonly Row[], adapter: string | undefined): Promise<RowScore[]> {
    return scoreRows(this.#deps.engine, rows, { adapter, full: true, vocabSize: this.#deps.base.config.vocabSize });
  }

  #depart(rows: readonly Row[], base: readonly RowScore[], candidate: readonly RowScore[]): Departure[] {
    const { vocabSize } = this.#deps.base.config;
    return zipStrict(rows, zipStrict(base, candidate)).map(([{ answer }, [before, after]]) => ({
      tokens: answer.length,
      klNats: meanKlNats(before.full, after.full, vocabSize) * answer.length,
      lostNats: totalLogProb(before) - totalLogProb(after),
      isSame: answer.every((token, index) => after.argmax[index] === token),
    }));
  }

  async #withFree(held: readonly Answered[], adapter: string | undefined): Promise<Probed> {
    const own = held.filter((_, index) => at(this.#probes, index).kind === "ready");
    return { held, free: await answersTo(this.#deps, supposing(this.#ready, own), { ...howTo(adapter), free: true }) };
  }

  #remember(key: string, said: Probed): Probed {
    this.#known.delete(key);
    this.#known.set(key, said);
    for (const oldest of this.#known.keys()) if (this.#known.size > MOST_KNOWN && oldest !== BASE) this.#known.delete(oldest);
    return said;
  }
}

function howTo(adapter: string | undefined): HowAsked {
  return { adapter, maxTokens: PROBE_TOKENS, ...(adapter === undefined && { atOnce: BASE_AT_ONCE }) };
}

function paired(probes: readonly Probe[], before: readonly Answered[], after: readonly Answered[]): ProbedPair[] {
  return pairUp(probes, before, after, ({ messages }) => askedWords(messages)).map(({ each, ...pair }) => ({ ...pair, probe: each }));
}

function digestOf({ tensors }: AdapterTensors): string {
  const hash = createHash("sha256");
  for (const [name, values] of tensors) hash.update(name).update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  return hash.digest("hex");
}
