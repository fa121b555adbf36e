/** A judge that says what it is told and a learner that "learns" in no time: what the loop promises does not depend on them. */
import { linearNames, linearShape, loraTensorName } from "../../../shared/lora.ts";
import type { ModelConfig } from "../../../shared/model-config.ts";
import { TrainerConfig } from "../../../trainer/config.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { PASSING } from "../../helpers/call.ts";
import type { EdgePort } from "../../../trainer/feed/edge-port.ts";
import type { Judge, Verdict } from "../../../trainer/judge/judge.ts";
import type { Learner } from "../../../trainer/learn/update/learner.ts";
import type { LineDependencies } from "../../../trainer/line-dependencies.ts";
import { LineLoop } from "../../../trainer/loop.ts";
import { readAdapterFiles, writeAdapterFiles, type AdapterTensors } from "../../../trainer/policy/adapter.ts";

export const REJECTS: Verdict = {
  judge: "embedded",
  reward: -1,
  votes: [-1, -1, 0],
  detail: "by votes",
  hint: { text: "number_of_rooms should be 2.", hint: { parameter: "number_of_rooms", value: "2" }, toolName: "SearchHotel" },
};
/** What the same message says beside it. */
export const WIFI = { text: "has_wifi should be True.", hint: { parameter: "has_wifi", value: "True" }, toolName: "SearchHotel" };
/** What nobody else is to be called. */
export const NAMES: Verdict = {
  ...REJECTS,
  hint: { text: "Reply to SearchHotel with the name Kim.", hint: { parameter: "@name", value: "Kim" }, toolName: "SearchHotel" },
};
export const ACCEPTS: Verdict = { judge: "embedded", reward: 1, votes: [1, 1, 1], detail: "by votes" };

export function judging(verdict: Verdict): Judge & { calls: number } {
  const judge = { calls: 0, judge: async () => ((judge.calls += 1), verdict) };
  return judge;
}

/** "Learns" by an adapter whose values tell which update made it. */
export function learning(shape: ModelConfig, offset = 0): Learner & { updates: number } {
  const learner = {
    updates: 0,
    update: async (request: Parameters<Learner["update"]>[0]) => {
      learner.updates += 1;
      const metrics = {
        objective: request.objective,
        steps: 1,
        loss: 0.1,
        lossBefore: 1,
        klToParentNats: 0,
        klToBaseNats: 0,
        contexts: 1,
        seconds: 0,
      };
      const lifts = new Map(request.corrected.map(({ eventId }) => [eventId, 2]));
      const adapter = constantAdapter(shape, 0.01 * (offset + learner.updates));
      const defaults = request.corrected.map(({ correction: { tool, parameter, hint }, held = null }) => {
        return { tool: tool.function.name, parameter: parameter.name, value: hint.value, corrected: held };
      });
      return {
        status: "learned" as const,
        adapter,
        defaults,
        reach: defaults.map(({ tool }) => tool),
        metrics,
        changes: [],
        lifts,
        credits: [],
        refused: [],
      };
    },
  };
  return learner;
}

/** Learns nothing of what it is given. */
export const refusing: Learner = {
  update: async ({ corrected }) => ({
    status: "refused",
    refused: corrected.map(({ eventId }) => ({ eventId, code: "update/notLearned", detail: "" })),
  }),
};

function constantAdapter(shape: ModelConfig, value: number): AdapterTensors {
  const tensors = new Map<string, Float32Array>();
  for (let layer = 0; layer < shape.layerCount; layer += 1)
    for (const linear of linearNames()) {
      const { out, in: width } = linearShape(shape, linear);
      tensors.set(loraTensorName(layer, linear, "A"), new Float32Array(2 * width).fill(value));
      tensors.set(loraTensorName(layer, linear, "B"), new Float32Array(out * 2).fill(value));
    }
  return { rank: 2, alpha: 4, tensors };
}

/** Of a loop that steps as a test says: its agent's users have no lines of their own. */
export const SHARED_ONLY = { scope: "shared" as const, dueInMs: undefined };

export type LoopParts = {
  readonly edge: { readonly url: string; readonly key: string; readonly lease?: number };
  readonly shape: ModelConfig;
  readonly judge: Judge;
  readonly learner: Learner;
  readonly queued?: LineDependencies["queued"];
  readonly reviewNotes?: LineDependencies["reviewNotes"];
  readonly gate?: LineDependencies["gate"];
  readonly metrics?: LineDependencies["metrics"];
  readonly signal?: AbortSignal;
  readonly config?: Partial<TrainerConfig>;
  readonly line?: string;
  /** Over the real client's. */
  readonly changed?: (client: EdgePort) => Partial<EdgePort>;
};

/** The loop of an agent's line, the shared one where none is named, on a real edge. */
export function loopOf(
  agent: string,
  {
    edge,
    shape,
    judge,
    learner,
    queued = (work) => work(),
    reviewNotes = async () => [],
    gate = async () => PASSING,
    metrics = () => undefined,
    signal,
    config,
    changed,
    line = "shared",
  }: LoopParts,
): LineLoop {
  const client = createEdgeClient({ edge: edge.url, key: edge.key, ...(edge.lease !== undefined && { lease: edge.lease }) });
  const port = { ...client, ...changed?.(client) };
  const deps: LineDependencies = {
    edge: port,
    ...(signal !== undefined && { signal }),
    judge,
    learner,
    queued,
    metrics,
    config: TrainerConfig.parse({ url: edge.url, key: edge.key, base: "base", state: "state", ...config }),
    now: () => new Date(),
    loadAdapter: async ({ adapter }) => {
      if (adapter === null) return null;
      const [configBytes, weightBytes] = await Promise.all([port.getFile(adapter.configDigest), port.getFile(adapter.weightsDigest)]);
      return readAdapterFiles(shape, { configBytes, weightBytes });
    },
    gate,
    reviewNotes,
    writeAdapter: (adapter) => writeAdapterFiles(shape, adapter, "random"),
    runtime: { node: process.version },
  };
  return new LineLoop({ agent, line }, deps);
}
