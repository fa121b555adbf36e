/** The suite of an agent's line: cases that people wrote, and corrections that a version in use has learned. */
import type { Actor } from "../../shared/api.ts";
import { canonicalJson, sha256 } from "../../shared/digest.ts";
import { overrules, type LearnedCase, type SuiteCase } from "../../shared/suite.ts";
import type { Lines } from "./lines.ts";
import type { AgentStore } from "./store.ts";
import { MOST_CASES } from "./suite-store.ts";

type Named = { readonly caseId: string };

export class Suite {
  readonly #store: AgentStore;
  readonly #lines: Lines;

  constructor(store: AgentStore, lines: Lines) {
    this.#store = store;
    this.#lines = lines;
  }

  /** A case that a person wrote. */
  add(line: string, suiteCase: SuiteCase, actor: Actor): "added" | "full" {
    if (this.#store.suite.count(line, "person") >= MOST_CASES) return "full";
    this.#store.suite.put(line, suiteCase);
    this.#lines.touch(line, "suite", { actor, reason: `${suiteCase.caseId} added` });
    return "added";
  }

  /** Whether there was one. */
  drop(line: string, caseId: string, actor: Actor): boolean {
    const dropped = this.#store.suite.drop(line, caseId);
    if (dropped) this.#lines.touch(line, "suite", { actor, reason: `${caseId} deleted` });
    return dropped;
  }

  /** Oldest first. Of corrections only those that a version still in use has learned count. @param inUse versions that answer, wait, or were answered from */
  read(line: string, inUse: ReadonlySet<number>): SuiteCase[] {
    return this.#store.suite.read(line).filter(({ version }) => version === null || inUse.has(version));
  }

  /** Takes up what a version has learned; an older correction of the same argument is overruled. */
  learn(line: string, version: number, cases: readonly (LearnedCase & Named)[]): void {
    const createdAt = new Date().toISOString();
    for (const learned of cases) {
      for (const known of this.#store.suite.read(line))
        if (known.source === "correction" && overrules(learned.expect, known.expect)) this.#store.suite.drop(line, known.caseId);
      this.#store.suite.put(line, { ...learned, source: "correction", version, createdAt });
    }
    this.#store.suite.trim(line);
  }
}

/** The same question with the same expectation is one case. */
export async function caseIdOf({ messages, tools, expect }: Pick<SuiteCase, "messages" | "tools" | "expect">): Promise<string> {
  return `case_${(await sha256(canonicalJson([messages, tools, expect]))).slice(0, 24)}`;
}
