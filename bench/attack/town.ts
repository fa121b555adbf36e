/**
 * A system with many users: the edge in workerd, client keys of several applications, and the trainer's own loop, stepped
 * here so that an attack knows when it has been heard. Conversations go over HTTP; what thousands say alike is replayed.
 */
import { z } from "zod";
import type { EdgeHost } from "../../cli/edge-host.ts";
import { at } from "../../shared/assert.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import { LineHead, PolicyVersion } from "../../shared/policy.ts";
import { VERSION_STATUSES, type VersionStatus } from "../../shared/release.ts";
import type { Engine } from "../../trainer/engine/engine.ts";
import type { EdgePort } from "../../trainer/feed/edge-port.ts";
import type { Gate } from "../../trainer/gate/gate.ts";
import type { StepResult } from "../../trainer/line-dependencies.ts";
import type { LineLoop } from "../../trainer/loop.ts";
import type { Base } from "../../trainer/policy/base.ts";
import { say } from "../bench.ts";
import type { Prompted } from "../sim/learning.ts";
import type { FreshRequest } from "../sim/requests.ts";
import { stepUntilQuiet, SteppedSystem, type Turn } from "../sim/stepped.ts";
import type { Person } from "./person.ts";

const LATER_TOKENS = 32; // what is said to a result, and to a reaction, matters to nobody here
const LOG_MS = 30_000;
const POLL_MS = 50;

const ShownVersion = PolicyVersion.extend({ status: z.enum(VERSION_STATUSES) });
const MadeKey = z.object({ id: z.string(), key: z.string() });

export class Town {
  readonly agent = "town";
  readonly #system: SteppedSystem;
  readonly #loop: LineLoop;
  #newcomers: number;

  private constructor(system: SteppedSystem, loop: LineLoop, newcomers: number) {
    this.#system = system;
    this.#loop = loop;
    this.#newcomers = newcomers;
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
    const system = await SteppedSystem.start(baseFolder, { threads, folder });
    const loop = await system.open("town", {
      settings,
      metrics: (event, fields) => {
        if (/^(update|policy|rebuild):/.test(event)) say(`    ${event} ${JSON.stringify(fields).slice(0, 240)}`);
      },
    });
    return new Town(system, loop, newcomers);
  }

  get base(): Base {
    return this.#system.base;
  }

  get engine(): Engine {
    return this.#system.engine;
  }

  get gate(): Gate {
    return this.#system.gate;
  }

  get edge(): EdgeHost {
    return this.#system.edge;
  }

  get port(): EdgePort {
    return this.#system.port;
  }

  close(): Promise<void> {
    return this.#system.close();
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

  ask({ name: user, key }: Person, { messages, tools }: Prompted, maxTokens?: number): Promise<Turn> {
    return this.#system.ask({ agent: this.agent, key, user, messages, tools, ...(maxTokens === undefined ? {} : { maxTokens }) });
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
    return stepUntilQuiet(this.#loop);
  }

  async statusOf(version: number): Promise<VersionStatus> {
    const Shown = z.object({ status: z.enum(VERSION_STATUSES) });
    return Shown.parse(await this.admin("GET", `/api/agents/${this.agent}/versions/${version}`)).status;
  }

  async versions(): Promise<z.infer<typeof ShownVersion>[]> {
    const path = `/api/agents/${this.agent}/versions?limit=100`;
    return z.object({ versions: z.array(ShownVersion) }).parse(await this.admin("GET", path)).versions;
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
    return this.#system.send(person.key, "POST", "/v1/feedback", { body }).then((response) => response.json());
  }

  admin(method: string, path: string, body?: unknown): Promise<unknown> {
    return this.#system.admin(method, path, body);
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
}
