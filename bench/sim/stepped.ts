/**
 * Edge in workerd and the trainer's own loop in this process, stepped by whoever watches, so that a bench knows when it has been
 * heard. Agents are opened one after the other and share nothing that is learnt.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { startEdgeHost, type EdgeHost } from "../../cli/edge-host.ts";
import { invariant } from "../../shared/assert.ts";
import { ChatMessage } from "../../shared/chat.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { TrainerConfig } from "../../trainer/config.ts";
import { readableCalls } from "../../shared/speech/calls.ts";
import { Engine } from "../../trainer/engine/engine.ts";
import { createEdgeClient } from "../../trainer/feed/client.ts";
import type { EdgePort } from "../../trainer/feed/edge-port.ts";
import { retryForever } from "../../trainer/feed/retry.ts";
import { createGate, type Gate } from "../../trainer/gate/gate.ts";
import type { Judge } from "../../trainer/judge/judge.ts";
import { createPanel } from "../../trainer/judge/panel.ts";
import { createLearner } from "../../trainer/learn/update/update.ts";
import type { StepResult } from "../../trainer/line-dependencies.ts";
import { LineLoop } from "../../trainer/loop.ts";
import { createNoteReview } from "../../trainer/memory/absorption.ts";
import type { Metrics } from "../../trainer/metrics.ts";
import { writeAdapterFiles } from "../../trainer/policy/adapter.ts";
import { openJudge } from "../../trainer/policy/answerer.ts";
import { loadBase, type Base } from "../../trainer/policy/base.ts";
import { createParentLoader } from "../../trainer/policy/parent.ts";
import { Random } from "../../trainer/random.ts";
import { say } from "../bench.ts";
import type { Answer, Prompted } from "./learning.ts";

const ANSWER_TOKENS = 112;
const QUIET_STEPS = 3; // steps in a row without anything to do

/** What is said under a client key, in whose name. */
export type Asked = Prompted & {
  readonly agent: string;
  readonly key: string;
  readonly user: string;
  readonly maxTokens?: number;
  /** Whether the turn may be kept and learned from. */
  readonly store?: boolean;
  /** Which conversation it belongs to; without one, the transcript tells. */
  readonly conversation?: string;
};
export type Turn = Answer & { readonly completionId: string; readonly sessionId: string; readonly version: number; readonly cut: boolean };

export type OpenOptions = {
  /** Of the agent; without them it stays as it is. */
  readonly settings?: object;
  /** That is learned for: the shared one, or a user's own, of an agent whose scope is `personal`. */
  readonly line?: string;
  /** Of the trainer, for its random choices. */
  readonly seed?: number;
  /** What the loop hears of its judge. */
  readonly hear?: (judge: Judge) => Judge;
  readonly metrics?: Metrics;
};

const Completion = z.object({ id: z.string(), choices: z.array(z.object({ message: z.unknown(), finish_reason: z.string() })) });

export class SteppedSystem {
  readonly base: Base;
  readonly engine: Engine;
  readonly gate: Gate;
  readonly edge: EdgeHost;
  readonly port: EdgePort;
  readonly #folder: string;
  readonly #passing: boolean;
  readonly #baseFolder: string;

  private constructor(parts: { base: Base; engine: Engine; edge: EdgeHost; folder: string; passing: boolean; baseFolder: string }) {
    this.base = parts.base;
    this.engine = parts.engine;
    this.edge = parts.edge;
    this.gate = createGate(parts).examine;
    this.port = createEdgeClient({ edge: parts.edge.url, key: parts.edge.keys.trainer });
    this.#folder = parts.folder;
    this.#passing = parts.passing;
    this.#baseFolder = parts.baseFolder;
  }

  /** @param options.folder keeps what is to survive a restart; without one, nothing is */
  static async start(baseFolder: string, { threads, folder: kept }: { threads: number; folder?: string }): Promise<SteppedSystem> {
    const folder = kept ?? (await mkdtemp(join(tmpdir(), "nextstate-bench-")));
    const edge = await startEdgeHost({ stateFolder: join(folder, "state"), baseFolder });
    const base = loadBase(baseFolder);
    const engine = await Engine.start({ config: base.config, threads, tokenizer: base.tokenizerFiles });
    await engine.loadCheckpoint(base.folder);
    return new SteppedSystem({ base, engine, edge, folder, passing: kept === undefined, baseFolder });
  }

  async close(): Promise<void> {
    await this.engine.close();
    await this.edge.close();
    if (this.#passing) await rm(this.#folder, { recursive: true, force: true });
  }

  /** An agent with these settings, and a trainer's loop for one of its lines. */
  async open(
    agent: string,
    { settings, line = SHARED_LINE, seed = 0, hear = (judge) => judge, metrics = () => {} }: OpenOptions,
  ): Promise<LineLoop> {
    const { engine, base, port, edge } = this;
    if (settings !== undefined) await this.admin("PUT", `/api/agents/${agent}`, settings);
    const config = TrainerConfig.parse({ url: edge.url, key: edge.keys.trainer, base: this.#baseFolder, state: this.#folder, seed });
    const loadAdapter = createParentLoader(port, { base, folder: this.#baseFolder });
    return new LineLoop(
      { agent, line },
      {
        edge: port,
        judge: hear(createPanel(await openJudge(engine, base))),
        learner: createLearner({ engine, base, settings: config.update, now: () => performance.now() }),
        queued: (work) => work(),
        metrics,
        config,
        now: () => new Date(),
        loadAdapter,
        gate: this.gate,
        reviewNotes: createNoteReview({ engine, base, loadAdapter }),
        writeAdapter: (adapter) => writeAdapterFiles(base.config, adapter, base.name),
        runtime: { node: process.version },
      },
    );
  }

  /** Lines of users of the agent who have said something that theirs have not read; those that are new begin. */
  async linesDue(agent: string): Promise<readonly string[]> {
    return (await this.port.dueLines({ agent, cursor: 0, waitMs: 0 })).lines;
  }

  /** A greedy answer. */
  async ask({ agent, key, user, messages, tools, maxTokens = ANSWER_TOKENS, store, conversation }: Asked): Promise<Turn> {
    const stored = store === undefined ? {} : { store };
    const body = { model: agent, user, messages, tools, temperature: 0, max_tokens: maxTokens, ...stored };
    const headers: Record<string, string> = conversation === undefined ? {} : { "x-session-id": conversation };
    const response = await this.send(key, "POST", "/v1/chat/completions", { body, headers });
    const { id, choices } = Completion.parse(await response.json());
    const message = ChatMessage.parse(choices[0]?.message);
    return {
      text: message.content ?? "",
      calls: readableCalls(message),
      message,
      completionId: id,
      sessionId: `s_${id.slice("chatcmpl-".length, "chatcmpl-".length + 32)}`,
      version: Number(response.headers.get("x-policy-version")),
      cut: choices[0]?.finish_reason === "length",
    };
  }

  admin(method: string, path: string, body?: unknown): Promise<unknown> {
    return this.send(this.edge.keys.admin, method, path, { body }).then((response) => response.json());
  }

  /** @throws on any status but 2xx */
  async send(
    key: string,
    method: string,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Response> {
    const response = await fetch(`${this.edge.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: 2xx expected, got ${response.status} ${await response.text()}`);
    return response;
  }
}

/** Steps a loop until it has nothing more to do. As in a trainer, what another attempt may cure is tried again. */
export async function stepUntilQuiet(loop: LineLoop): Promise<StepResult[]> {
  const results: StepResult[] = [];
  const [random, { signal }] = [new Random(0), new AbortController()];
  for (let quiet = 0; quiet < QUIET_STEPS;) {
    const result = await retryForever(() => loop.step(0), { random, signal, onRetry: (error) => say(`    again: ${String(error)}`) });
    invariant(result !== undefined, "a step that nobody stops");
    results.push(result);
    quiet = result === "idle" || result === "waiting" ? quiet + 1 : 0;
  }
  return results;
}
