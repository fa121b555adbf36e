/**
 * A system with many users: the edge in workerd, client keys of several applications, and the trainer's own loop, stepped
 * here so that an attack knows when it has been heard. Conversations go over HTTP; what thousands say alike is replayed.
 */
import { join } from "node:path";
import { z } from "zod";
import { startEdgeHost, type EdgeHost } from "../../cli/edge-host.ts";
import { at, invariant } from "../../shared/assert.ts";
import { ChatMessage } from "../../shared/chat.ts";
import { LineHead } from "../../shared/policy.ts";
import { VERSION_STATUSES, type VersionStatus } from "../../shared/release.ts";
import { TrainerConfig } from "../../trainer/config.ts";
import { readableCalls } from "../../trainer/data/calls.ts";
import { Engine } from "../../trainer/engine/engine.ts";
import { createEdgeClient } from "../../trainer/feed/client.ts";
import type { EdgePort } from "../../trainer/feed/edge-port.ts";
import { retryForever } from "../../trainer/feed/retry.ts";
import { createGate, type Gate } from "../../trainer/gate/gate.ts";
import { createPanel } from "../../trainer/judge/panel.ts";
import { createLearner } from "../../trainer/learn/update.ts";
import { LineLoop, type StepResult } from "../../trainer/loop.ts";
import { writeAdapterFiles } from "../../trainer/policy/adapter.ts";
import { createJobSampler } from "../../trainer/policy/answerer.ts";
import { loadBase, type Base } from "../../trainer/policy/base.ts";
import { createParentLoader } from "../../trainer/policy/parent.ts";
import { Random } from "../../trainer/random.ts";
import { say } from "../bench.ts";
import type { Answer, Prompted } from "../sim/learning.ts";
import type { FreshRequest } from "../sim/requests.ts";
import type { Person } from "./person.ts";

const ANSWER_TOKENS = 112;
const LATER_TOKENS = 32; // what is said to a result, and to a reaction, matters to nobody here
const LOG_MS = 30_000;
const POLL_MS = 50;
const QUIET_STEPS = 3; // steps in a row without anything to do

export type Turn = Answer & { readonly completionId: string; readonly sessionId: string; readonly version: number };

const Completion = z.object({ id: z.string(), choices: z.array(z.object({ message: z.unknown() })) });
const MadeKey = z.object({ id: z.string(), key: z.string() });

export class Town {
  readonly agent: string;
  readonly base: Base;
  readonly engine: Engine;
  readonly gate: Gate;
  readonly edge: EdgeHost;
  readonly port: EdgePort;
  readonly #loop: LineLoop;
  #newcomers: number;

  private constructor(parts: {
    agent: string;
    base: Base;
    engine: Engine;
    gate: Gate;
    edge: EdgeHost;
    port: EdgePort;
    loop: LineLoop;
    newcomers: number;
  }) {
    this.agent = parts.agent;
    this.base = parts.base;
    this.engine = parts.engine;
    this.gate = parts.gate;
    this.edge = parts.edge;
    this.port = parts.port;
    this.#loop = parts.loop;
    this.#newcomers = parts.newcomers;
  }

  /**
   * @param options.folder what survives a restart
   * @param options.settings of the agent
   * @param options.newcomers who came before, in an earlier start
   */
  static async start(
    baseFolder: string,
    { folder, threads, settings, newcomers }: { folder: string; threads: number; settings: object; newcomers: number },
  ): Promise<Town> {
    const agent = "town";
    const edge = await startEdgeHost({ stateFolder: join(folder, "state"), baseFolder });
    const base = loadBase(baseFolder);
    const engine = await Engine.start({ config: base.config, threads, tokenizer: base.tokenizerFiles });
    await engine.loadCheckpoint(base.folder);
    const port = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const config = TrainerConfig.parse({ url: edge.url, key: edge.keys.trainer, base: baseFolder, state: folder, threads });
    const gate = createGate({ engine, base });
    const loop = new LineLoop(
      { agent, line: "shared" },
      {
        edge: port,
        judge: createPanel(createJobSampler(engine, base)),
        learner: createLearner({ engine, base, settings: config.update, now: () => performance.now() }),
        metrics: (event, fields) => {
          if (/^(update|policy|rebuild):/.test(event)) say(`    ${event} ${JSON.stringify(fields).slice(0, 240)}`);
        },
        config,
        now: () => new Date(),
        loadAdapter: createParentLoader(port, { base, folder: baseFolder }),
        gate,
        reviewNotes: async () => [],
        writeAdapter: (adapter) => writeAdapterFiles(base.config, adapter, base.name),
        runtime: { node: process.version },
      },
    );
    const town = new Town({ agent, base, engine, gate, edge, port, loop, newcomers });
    await town.admin("PUT", `/api/agents/${agent}`, settings);
    return town;
  }

  async close(): Promise<void> {
    await this.engine.close();
    await this.edge.close();
  }

  /** People in equal parts under the keys of `applications`. */
  async invite(count: number, applications: number): Promise<Person[]> {
    const keys: z.infer<typeof MadeKey>[] = [];
    for (let index = 0; index < applications; index += 1)
      keys.push(
        MadeKey.parse(await this.admin("POST", "/api/keys", { kind: "client", name: `application ${index}`, agents: [this.agent] })),
      );
    return Array.from({ length: count }, (_, index) => {
      const { id, key } = at(keys, index % applications);
      return { name: `resident ${index}`, key, keyId: id };
    });
  }

  async ask(person: Person, { messages, tools }: Prompted, maxTokens = ANSWER_TOKENS): Promise<Turn> {
    const body = { model: this.agent, user: person.name, messages, tools, temperature: 0, max_tokens: maxTokens };
    const response = await this.#send(person.key, "POST", "/v1/chat/completions", body);
    const { id, choices } = Completion.parse(await response.json());
    const message = ChatMessage.parse(choices[0]?.message);
    return {
      text: message.content ?? "",
      calls: readableCalls(message),
      message,
      completionId: id,
      sessionId: `s_${id.slice("chatcmpl-".length, "chatcmpl-".length + 32)}`,
      version: Number(response.headers.get("x-policy-version")),
    };
  }

  /** A whole conversation: the request, the result of its call, and what the person says to that. Returns the first answer. */
  async converse(person: Person, request: FreshRequest, reaction: ChatMessage | ((first: Turn) => string)): Promise<Turn> {
    const first = await this.ask(person, request);
    const last: ChatMessage = typeof reaction === "function" ? { role: "user", content: reaction(first) } : reaction;
    const calls = first.message.role === "assistant" ? (first.message.tool_calls ?? []) : [];
    const results = calls.map(({ id }): ChatMessage => ({ role: "tool", content: request.result, tool_call_id: id }));
    const called = [...request.messages, first.message, ...results];
    if (results.length === 0) {
      await this.ask(person, { ...request, messages: [...called, last] }, LATER_TOKENS);
      return first;
    }
    const reply = await this.ask(person, { ...request, messages: called }, LATER_TOKENS);
    await this.ask(person, { ...request, messages: [...called, reply.message, last] }, LATER_TOKENS);
    return first;
  }

  /** First answers to people who were never there before. */
  async newcomers(person: Pick<Person, "key" | "keyId">, requests: readonly Prompted[]): Promise<Turn[]> {
    const turns: Turn[] = [];
    for (const request of requests) turns.push(await this.ask({ ...person, name: `newcomer ${(this.#newcomers += 1)}` }, request));
    return turns;
  }

  /** By what name the log and the API know a person. */
  async userId({ name, keyId }: Pick<Person, "name" | "keyId">): Promise<string> {
    const query = new URLSearchParams({ key: keyId, user: name });
    return z.object({ user: z.string() }).parse(await this.admin("GET", `/api/users?${query.toString()}`)).user;
  }

  /** Steps the trainer until it has nothing more to do; whether it published. */
  async learn(): Promise<StepResult[]> {
    await this.#logged();
    const results: StepResult[] = [];
    for (let quiet = 0; quiet < QUIET_STEPS;) {
      const result = await this.#step();
      results.push(result);
      quiet = result === "idle" || result === "waiting" ? quiet + 1 : 0;
    }
    return results;
  }

  /** As the trainer steps: what another attempt may cure is tried again. */
  async #step(): Promise<StepResult> {
    const onRetry = (error: unknown): void => say(`    again: ${String(error)}`);
    const result = await retryForever(() => this.#loop.step(0), { random: new Random(1), signal: new AbortController().signal, onRetry });
    invariant(result !== undefined, "a step that nobody stops");
    return result;
  }

  async statusOf(version: number): Promise<VersionStatus> {
    const Shown = z.object({ status: z.enum(VERSION_STATUSES) });
    return Shown.parse(await this.admin("GET", `/api/agents/${this.agent}/versions/${version}`)).status;
  }

  async head(): Promise<z.infer<typeof LineHead>> {
    return LineHead.parse(await this.port.readHead({ agent: this.agent, line: "shared" }));
  }

  /** Has others say what was said in a session: its events once more for each of them, in the log as the edge would have put them. */
  async replay(sessionId: string, people: readonly Person[]): Promise<number> {
    await this.#logged();
    const db = await this.edge.getD1();
    const { results } = await db.prepare("SELECT * FROM events WHERE session_id = ? ORDER BY seq").bind(sessionId).all();
    const rows = z.array(z.object({ kind: z.string() }).catchall(z.union([z.string(), z.number(), z.null()]))).parse(results);
    const said = rows.filter(({ kind }) => kind === "turn:finished" || kind === "nextState:arrived");
    const columns = Object.keys(said[0] ?? {}).filter((name) => name !== "seq");
    const insert = db.prepare(`INSERT INTO events (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`);
    const own = sessionId.slice("s_".length);
    for (const [index, { name, keyId }] of people.entries()) {
      const user = await this.userId({ name, keyId });
      const digits = `${index.toString(16).padStart(8, "0")}${own.slice(8)}`;
      const values = said.map((row) =>
        columns.map((column) => {
          if (column === "user") return user;
          if (column === "key_id") return keyId;
          const value = row[column];
          return typeof value === "string" ? value.replaceAll(own, digits) : (value ?? null);
        }),
      );
      await db.batch(values.map((each) => insert.bind(...each)));
    }
    return said.length * people.length;
  }

  feedback(person: Person, body: { completion_id: string; score?: number; correction?: string }): Promise<unknown> {
    return this.#send(person.key, "POST", "/v1/feedback", body).then((response) => response.json());
  }

  admin(method: string, path: string, body?: unknown): Promise<unknown> {
    return this.#send(this.edge.keys.admin, method, path, body).then((response) => response.json());
  }

  /** Returns when nothing more is on its way into the log. */
  async #logged(): Promise<void> {
    const db = await this.edge.getD1();
    const count = (): Promise<number> =>
      db
        .prepare("SELECT count(*) AS count FROM events")
        .first<number>("count")
        .then((value) => value ?? 0);
    const deadline = performance.now() + LOG_MS;
    for (let before = -1; performance.now() < deadline;) {
      const now = await count();
      if (now === before) return;
      before = now;
      await new Promise((resolve) => setTimeout(resolve, 10 * POLL_MS));
    }
  }

  async #send(key: string, method: string, path: string, body?: unknown): Promise<Response> {
    const response = await fetch(`${this.edge.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: 2xx expected, got ${response.status} ${await response.text()}`);
    return response;
  }
}
