/** Corrections' advantages as an update of our own has them at its first step: the reward where the teacher agrees, and hindsight. */
import { zipStrict } from "../../shared/assert.ts";
import type { LineHead } from "../../shared/policy.ts";
import type { TrainingPort } from "../engine/training-port.ts";
import { correctedRows } from "../learn/lesson/corrected-rows.ts";
import { tokenAdvantages } from "../learn/update/credits.ts";
import { OBJECTIVES } from "../learn/update/objective.ts";
import { scoreRows } from "../learn/lesson/scores.ts";
import type { AdapterTensors } from "../policy/adapter.ts";
import type { Base } from "../policy/base.ts";
import type { Credit } from "./assemble.ts";
import { creditedRows } from "./rows.ts";

export type CreditDependencies = {
  readonly engine: Pick<TrainingPort, "score" | "loadAdapter" | "dropAdapter">;
  readonly base: Base;
  readonly loadAdapter: (head: Pick<LineHead, "adapter" | "baseDigest">) => Promise<AdapterTensors | null>;
};

const PARENT = "export.parent";

export function createCredit({ engine, base, loadAdapter }: CreditDependencies): Credit {
  const { vocabSize } = base.config;
  return async (corrected, head, { baseline }) => {
    const adapter = await loadAdapter({ baseDigest: head.baseDigest, adapter: head.parentAdapter });
    const parent = adapter === null ? undefined : PARENT;
    if (adapter !== null) await engine.loadAdapter(PARENT, adapter);
    try {
      const objective = OBJECTIVES[head.settings.learning.objective === "paper" ? "paper" : "hybrid"];
      const { hints } = head.settings.learning.signals;
      const rows = await correctedRows(engine, corrected, { base, parent, objective, baseline, hints });
      const students = await scoreRows(
        engine,
        rows.map(({ row }) => row),
        { adapter: parent, full: true, vocabSize },
      );
      const scored = zipStrict(rows, students).map(([row, { full }]) => ({
        row,
        credited: tokenAdvantages(row, full, { objective, vocabSize }),
      }));
      return creditedRows(corrected, scored);
    } finally {
      if (parent !== undefined) await engine.dropAdapter(PARENT);
    }
  };
}
