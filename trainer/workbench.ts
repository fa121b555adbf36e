/**
 * What a trainer of one base learns, measures and reviews notes with. Each is there once for every set of arguments that engines of its
 * agents give the chat template: what is trained on is then the prompt that is served.
 */
import { type TemplateArguments, templateArgumentsOf } from "../shared/engine.ts";
import type { UpdateSettings } from "./config.ts";
import type { Engine } from "./engine/engine.ts";
import { createGate } from "./gate/gate.ts";
import { createLearner } from "./learn/update/update.ts";
import type { LineDependencies } from "./line-dependencies.ts";
import { createNoteReview } from "./memory/absorption.ts";
import { type Base, perTemplate } from "./policy/base.ts";
import type { WorkQueue } from "./work-queue.ts";

const BARE_VERSION = 0; // what every new agent learns from

export type Workbench = Pick<LineDependencies, "learner" | "gate" | "reviewNotes"> & {
  /** Does ahead what the first update and its gate would wait for. */
  readonly prepare: (templateArguments: TemplateArguments) => Promise<void>;
};

type Given = Pick<LineDependencies, "metrics" | "loadAdapter"> & {
  readonly queued: WorkQueue;
  readonly engine: Engine;
  readonly base: Base;
  readonly settings: UpdateSettings;
};

export function createWorkbench({ engine, base, settings, queued, metrics, loadAdapter }: Given): Workbench {
  const learners = perTemplate(base, (served) =>
    createLearner({
      engine,
      base: served,
      settings,
      now: () => performance.now(),
      onTaught: (counts) => metrics("update:taught", counts),
    }),
  );
  const gates = perTemplate(base, (served) => createGate({ engine, base: served, onLeftOut: (cases) => metrics("gate:left", cases) }));
  const reviews = perTemplate(base, (served) => createNoteReview({ engine, base: served, loadAdapter }));
  return {
    learner: {
      update: (request) => learners(request.templateArguments).update(request),
      // Another agent's update has more use for the time.
      prepare: async (version, templateArguments) => {
        if (queued.idle()) await queued(async () => learners(templateArguments).prepare?.(version));
      },
    },
    gate: (request) => queued(() => gates(request.templateArguments).examine(request), { first: true }),
    reviewNotes: (head, reviewed) => reviews(templateArgumentsOf(head.settings.engine))(head, reviewed),
    prepare: async (templateArguments) => {
      await queued(() => gates(templateArguments).prepare());
      await queued(async () => learners(templateArguments).prepare?.(BARE_VERSION));
    },
  };
}
