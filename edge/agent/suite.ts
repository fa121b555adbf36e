/** The suite of an agent's line: cases that people wrote, and corrections that a version in use has learned. */
import { canonicalJson, sha256 } from "../../shared/digest.ts";
import { placeOf, type LearnedCase, type SuiteCase } from "../../shared/suite.ts";
import type { AgentStore } from "./store.ts";

type Named = { readonly caseId: string };

export class Suite {
  readonly #store: AgentStore;

  constructor(store: AgentStore) {
    this.#store = store;
  }

  /** Oldest first. Of corrections only those that a version still in use has learned count. @param inUse versions that answer, wait, or were answered from */
  read(line: string, inUse: ReadonlySet<number>): SuiteCase[] {
    return this.#store.suite.read(line).filter(({ version }) => version === null || inUse.has(version));
  }

  /** Takes up what a version has learned; an older correction of the same argument is overruled. */
  learn(line: string, version: number, cases: readonly (LearnedCase & Named)[]): void {
    const createdAt = new Date().toISOString();
    for (const learned of cases) {
      const place = placeOf(learned.expect);
      for (const known of this.#store.suite.read(line))
        if (known.source === "correction" && placeOf(known.expect) === place) this.#store.suite.drop(line, known.caseId);
      this.#store.suite.put(line, { ...learned, source: "correction", version, createdAt });
    }
    this.#store.suite.trim(line);
  }
}

/** The same question with the same expectation is one case. */
export async function caseIdOf({ messages, tools, expect }: Pick<SuiteCase, "messages" | "tools" | "expect">): Promise<string> {
  return `case_${(await sha256(canonicalJson([messages, tools, expect]))).slice(0, 24)}`;
}
