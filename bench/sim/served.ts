/**
 * The whole product over HTTP: workerd with the embedded policy, the trainer as its own process, a stock conversation
 * between them. What a simulated user sees here is what a user sees.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { startEdgeHost, type EdgeHost } from "../../cli/edge-host.ts";
import { SupervisedChild } from "../../cli/supervised-child.ts";
import { ChatMessage } from "../../shared/chat.ts";
import { Note } from "../../shared/note.ts";
import { LineHead, PolicyVersion } from "../../shared/policy.ts";
import { readableCalls } from "../../shared/speech/calls.ts";
import { say } from "../bench.ts";
import { resultMessage } from "./in-process.ts";
import type { Answer, Heard, LearningSystem, Objection, Prompted } from "./learning.ts";

const ANSWER_TOKENS = 112;
const LEARN_MS = 300_000;
const POLL_MS = 250;

/** Settings of the agents: what is learnt shows in weights and nowhere else … */
export const WEIGHTS_ALONE = { notes: "off" };
/** … or in notes and nowhere else: no update ever runs. */
export const NOTES_ALONE = { notes: "user", minSignals: 1_000_000, maxWaitMs: 86_400_000 };
const NOTE_MS = 30_000;
const NOTE_POLL_MS = 100;
const SWAP_MS = 2_000; // running isolates learn of a note within about a second

const NoteList = z.object({ notes: z.array(Note) });
const Metric = z.object({ at: z.string(), name: z.string(), hint: z.string().optional() });
const Completion = z.object({ choices: z.array(z.object({ message: z.unknown() })) });
const Audit = z.object({
  audit: z.array(z.object({ cursor: z.number(), refused: z.array(z.object({ code: z.string(), detail: z.string() })) })),
});

/** Seconds from the objection to each stage; undefined where it did not come. */
export type Timeline = {
  readonly judged: number | undefined;
  readonly note: number | undefined;
  /** The teacher has answered. */
  readonly taught: number | undefined;
  readonly learned: number | undefined;
  /** Through the gate and at the edge. */
  readonly published: number | undefined;
  /** In a stranger's first answer. */
  readonly served: number | undefined;
};

export class ServedSystem implements LearningSystem {
  readonly path = "edge in workerd and trainer process over HTTP";
  readonly #edge: EdgeHost;
  readonly #trainer: SupervisedChild;
  readonly #folder: string;
  readonly #learning: object;
  #agents = 0;
  #sessions = 0;

  private constructor({ edge, trainer, folder, learning }: { edge: EdgeHost; trainer: SupervisedChild; folder: string; learning: object }) {
    this.#edge = edge;
    this.#trainer = trainer;
    this.#folder = folder;
    this.#learning = learning;
  }

  /** @param options.learning learning settings of the agents */
  static async start(baseFolder: string, { threads, learning }: { threads: number; learning: object }): Promise<ServedSystem> {
    const folder = await mkdtemp(join(tmpdir(), "nextstate-bench-"));
    const edge = await startEdgeHost({ stateFolder: join(folder, "state"), baseFolder });
    const trainer = new SupervisedChild({
      command: process.execPath,
      args: [
        "trainer/main.ts",
        "--url",
        edge.url,
        "--base",
        baseFolder,
        "--state",
        folder,
        "--parent-pid",
        String(process.pid),
        "--threads",
        String(threads),
      ],
      env: { NEXTSTATE_TRAINER_KEY: edge.keys.trainer },
      onLine: (line) => say(`    ${line}`),
      onDeath: (how) => say(`    trainer ended: ${how}`),
    });
    const system = new ServedSystem({ edge, trainer, folder, learning });
    await system.forget();
    return system;
  }

  async close(): Promise<void> {
    await this.#trainer.stop();
    await this.#edge.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Agents never share what they learn, so a new agent has learnt nothing; `bare` is one that is never corrected. */
  async forget(): Promise<void> {
    this.#agents += 1;
    for (const agent of [this.#agent(), "bare"]) await this.#call("admin", "PUT", `/api/agents/${agent}`, { learning: this.#learning });
  }

  async answer(requests: readonly Prompted[], { bare = false }: { bare?: boolean } = {}): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (const request of requests) answers.push(await this.#complete(bare ? "bare" : this.#agent(), request));
    return answers;
  }

  async object(objection: Objection): Promise<Heard> {
    const { cursor, stable } = await this.#head();
    const started = await this.#voice(objection);
    for (;;) {
      // Consumption is read first: a publish consumes and flips in one move, so no version can come after it.
      const consumed = await this.#consumedBoth(cursor);
      const head = await this.#head();
      if (head.stable > stable) return this.#learned(head.stable, started);
      if (consumed) return { hint: undefined, learned: false, note: await this.#reasonSince(cursor), seconds: undefined };
      if (performance.now() - started > LEARN_MS)
        return { hint: undefined, learned: false, note: "no reaction in time", seconds: undefined };
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** Objects, and waits until the correction is in force as a note; `seconds` until it could be seen. */
  async remember(objection: Objection): Promise<{ text: string | undefined; seconds: number | undefined }> {
    const started = await this.#voice(objection);
    for (;;) {
      const { notes } = NoteList.parse(await this.#call("admin", "GET", `/api/agents/${this.#agent()}/notes`));
      const seconds = (performance.now() - started) / 1_000;
      const [note] = notes;
      if (note !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, SWAP_MS));
        return { text: note.text, seconds };
      }
      if (seconds * 1_000 > NOTE_MS) return { text: undefined, seconds: undefined };
      await new Promise((resolve) => setTimeout(resolve, NOTE_POLL_MS));
    }
  }

  /** Objects, and follows what becomes of it. */
  async follow(objection: Objection): Promise<Timeline> {
    const { stable } = await this.#head();
    const before = await this.#metrics();
    const started = await this.#voice(objection);
    const startedAt = Date.now() - (performance.now() - started);
    const since = (): number => (performance.now() - started) / 1_000;
    let [note, served]: (number | undefined)[] = [];
    while (served === undefined && since() * 1_000 < LEARN_MS) {
      if (note === undefined && NoteList.parse(await this.#call("admin", "GET", `/api/agents/${this.#agent()}/notes`)).notes.length > 0)
        note = since();
      if ((await this.#head()).stable > stable && (await this.#servedVersion()) > stable) served = since();
      if ((await this.#metrics()).slice(before.length).some(({ name }) => /^(update|policy):refused$/.test(name))) break;
      await new Promise((resolve) => setTimeout(resolve, NOTE_POLL_MS));
    }
    const told = (await this.#metrics()).slice(before.length);
    const at = (name: string): number | undefined => {
      const line = told.find((each) => each.name === name && (name !== "signal:judged" || each.hint !== undefined));
      return line === undefined ? undefined : (Date.parse(line.at) - startedAt) / 1_000;
    };
    return {
      judged: at("signal:judged"),
      note,
      taught: at("update:taught"),
      learned: at("update:learned"),
      published: at("policy:published"),
      served,
    };
  }

  /** What the trainer has said so far. */
  async #metrics(): Promise<z.infer<typeof Metric>[]> {
    const text = await readFile(join(this.#folder, "metrics.jsonl"), "utf8").catch(() => "");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => Metric.parse(JSON.parse(line)));
  }

  /** By the header of a stranger's first answer. */
  async #servedVersion(): Promise<number> {
    const body = { model: this.#agent(), messages: [{ role: "user", content: "Hello" }], max_tokens: 1 };
    const response = await fetch(`${this.#edge.url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${this.#edge.keys.client}`,
        "content-type": "application/json",
        "x-session-id": `stranger-${(this.#sessions += 1)}`,
      },
      body: JSON.stringify(body),
    });
    await response.text();
    return Number(response.headers.get("x-policy-version"));
  }

  /** Holds the conversation up to the objection; returns when that was sent, ms. */
  async #voice({ request, answer, result, objection }: Objection): Promise<number> {
    const session = `objection-${(this.#sessions += 1)}`;
    const first = await this.#complete(this.#agent(), request, session);
    const called = [...request.messages, first.message, resultMessage(first.calls.length > 0 ? first : answer, result)];
    const reply = await this.#complete(this.#agent(), { ...request, messages: called }, session);
    const sent = performance.now();
    await this.#complete(this.#agent(), { ...request, messages: [...called, reply.message, objection] }, session);
    return sent;
  }

  async #learned(version: number, started: number): Promise<Heard> {
    const { hints, metrics } = PolicyVersion.parse(await this.#call("admin", "GET", `/api/agents/${this.#agent()}/versions/${version}`));
    return {
      hint: hints[0],
      learned: true,
      note: `version ${version} ${JSON.stringify(metrics)}`,
      seconds: (performance.now() - started) / 1_000,
    };
  }

  /** Whether the trainer has gone past both next states of the conversation: the tool's result and the objection. */
  async #consumedBoth(since: number): Promise<boolean> {
    const db = await this.#edge.getD1();
    const query = "SELECT count(*) AS count, max(seq) AS last FROM events WHERE kind = 'nextState:arrived' AND agent = ? AND seq > ?";
    const row = await db.prepare(query).bind(this.#agent(), since).first<{ count: number; last: number | null }>();
    const { cursor } = await this.#head();
    return row !== null && row.count >= 2 && row.last !== null && cursor >= row.last;
  }

  /** The most telling of the reasons for which the conversation taught nothing. */
  async #reasonSince(cursor: number): Promise<string> {
    const { audit } = Audit.parse(await this.#call("admin", "GET", `/api/agents/${this.#agent()}/audit`));
    const refusals = audit.filter((row) => row.cursor > cursor).flatMap(({ refused }) => refused);
    const told = refusals.find(({ code }) => code !== "judge/notNegative") ?? refusals[0];
    return told === undefined ? "no reason given" : `${told.code}: ${told.detail}`;
  }

  async #complete(agent: string, { messages, tools }: Prompted, session = `fresh-${(this.#sessions += 1)}`): Promise<Answer> {
    const body = { model: agent, messages, tools, temperature: 0, max_tokens: ANSWER_TOKENS };
    const { choices } = Completion.parse(await this.#call("client", "POST", "/v1/chat/completions", body, { "x-session-id": session }));
    const message = ChatMessage.parse(choices[0]?.message);
    return { text: message.content ?? "", calls: readableCalls(message), message };
  }

  async #head(): Promise<z.infer<typeof LineHead>> {
    return LineHead.parse(await this.#call("trainer", "GET", `/trainer/v1/agents/${this.#agent()}/lines/shared/head`));
  }

  async #call(
    kind: "client" | "admin" | "trainer",
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<unknown> {
    const response = await fetch(`${this.#edge.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#edge.keys[kind]}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: 2xx expected, got ${response.status} ${await response.text()}`);
    return response.json();
  }

  #agent(): string {
    return `user-${this.#agents}`;
  }
}
