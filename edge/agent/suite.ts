/**
 * The suite of an agent's line: cases that people wrote, and corrections that a version in use has learned. Every version keeps what it has
 * learned; which case overrules which is told when they are read, since a rollback changes which versions are in use.
 */
import type { Actor } from "../../shared/api.ts";
import { canonicalJson, sha256 } from "../../shared/digest.ts";
import { overrules, type LearnedCase, type SuiteCase } from "../../shared/suite.ts";
import type { Lines } from "./lines.ts";
import type { AddResult } from "./port.ts";
import { tipOf } from "./release.ts";
import type { AgentStore } from "./store.ts";
import { type KeptCase, MOST_CASES, MOST_CHARACTERS } from "./suite-store.ts";

type Named = { readonly caseId: string };
type Expecting = Pick<SuiteCase, "expect">;

/** Of what a line has learned, with what only a rollback brings back. */
const MOST_KEPT = 3 * MOST_CASES;

export class Suite {
  readonly #store: AgentStore;
  readonly #lines: Lines;

  constructor(store: AgentStore, lines: Lines) {
    this.#store = store;
    this.#lines = lines;
  }

  /** A case that a person wrote; one that is there already takes the new name. */
  add(line: string, suiteCase: SuiteCase, actor: Actor): AddResult {
    const { suite } = this.#store;
    if (!suite.isWritten(line, suiteCase.caseId) && suite.count(line, "person") >= MOST_CASES) return "full";
    if (suite.writtenCharacters(line, suiteCase.caseId) + JSON.stringify(suiteCase).length > MOST_CHARACTERS) return "long";
    suite.put(line, suiteCase);
    this.#lines.touch(line, "suite", { actor, reason: `${suiteCase.caseId} added` });
    return "added";
  }

  /** Whether there was one. */
  drop(line: string, caseId: string, actor: Actor): boolean {
    const dropped = this.#store.suite.drop(line, caseId);
    if (dropped) this.#lines.touch(line, "suite", { actor, reason: `${caseId} deleted` });
    return dropped;
  }

  /**
   * Oldest first, each once. Of corrections those count that a version in use has learned and none learned since overrules; one that was learned again is as
   * new as that, and stays the first version's.
   * @param inUse versions that answer, wait, or were answered from
   */
  read(line: string, inUse: ReadonlySet<number>): SuiteCase[] {
    const cases = this.#store.suite.read(line, inUse);
    const learned = cases.filter(({ source }) => source === "correction");
    const written = new Set(cases.flatMap(({ source, caseId }) => (source === "person" ? [caseId] : [])));
    const current = currentOf(placed(learned));
    return cases.flatMap((each) => {
      if (each.source === "person") return [each];
      if (!current.has(each) || written.has(each.caseId)) return [];
      return learned.find(({ caseId }) => caseId === each.caseId) ?? [];
    });
  }

  /** Takes up what a version has learned. */
  learn(line: string, version: number, cases: readonly (LearnedCase & Named)[]): void {
    const createdAt = new Date().toISOString();
    for (const learned of cases) this.#store.suite.put(line, { ...learned, source: "correction", version, createdAt });
    const gone = new Set(this.#store.versionsThatAre(line, "deleted"));
    const inUse = this.#store.readAncestry(line, tipOf(this.#lines.state(line)));
    this.#store.suite.forget(surplusOf(this.#store.suite.learned(line), { inUse, gone }));
  }
}

/** A case, its place among those that it is with, and the place of the first after it that overrules it: -1 where none does. */
type Placed<Case> = { readonly each: Case; readonly place: number; readonly overruled: number };

/** @param learned oldest first */
function placed<Case extends Expecting>(learned: readonly Case[]): Placed<Case>[] {
  return learned.map((each, place) => {
    const overruled = learned.findIndex((later, at) => at > place && overrules(later.expect, each.expect));
    return { each, place, overruled };
  });
}

/** The newest of those that nothing overrules. */
function currentOf<Case>(cases: readonly Placed<Case>[]): Set<Case> {
  return new Set(cases.flatMap(({ each, overruled }) => (overruled < 0 ? [each] : [])).slice(-MOST_CASES));
}

/**
 * What need not be kept: cases of versions that are gone for good, and beyond `MOST_KEPT` those that are likely the last to be asked again. The current
 * ones stay, whatever else there is. Of others in use those come back first that were overruled last; what only rolled-back versions have
 * learned gives way to all that is in use, the oldest first.
 */
function surplusOf(
  learned: readonly KeptCase[],
  { inUse, gone }: { inUse: ReadonlySet<number>; gone: ReadonlySet<number> },
): readonly KeptCase[] {
  const used = placed(learned.filter(({ version }) => inUse.has(version)));
  const current = currentOf(used);
  const until = ({ place, overruled }: Placed<KeptCase>): number => Math.max(place, overruled);
  const past = used.filter(({ each }) => !current.has(each)).toSorted((a, b) => until(b) - until(a));
  const left = learned.filter(({ version }) => !inUse.has(version) && !gone.has(version));
  const stays = new Set([...current, ...past.map(({ each }) => each), ...left.toReversed()].slice(0, MOST_KEPT));
  return learned.filter((each) => !stays.has(each));
}

/** The same question with the same expectation is one case. */
export async function caseIdOf({ messages, tools, expect }: Pick<SuiteCase, "messages" | "tools" | "expect">): Promise<string> {
  return `case_${(await sha256(canonicalJson([messages, tools, expect]))).slice(0, 24)}`;
}
