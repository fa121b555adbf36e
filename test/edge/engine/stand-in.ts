/**
 * An HTTP server that answers as one engine documents it. A test says what the next answers are; the server keeps what it was asked.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { EngineFlavour } from "../../../shared/engine.ts";

export const KEY = "sk-of-the-engine";
export const END_ID = 2;

/** Pieces of text with the tokens of each, or a call. The engine appends its end token. */
export type Script = {
  readonly text?: readonly string[];
  readonly call?: { readonly name: string; readonly arguments: readonly string[] };
  readonly finish?: "stop" | "length";
  /** What goes wrong, after so many pieces where it says so. */
  readonly fails?:
    | { readonly kind: "status"; readonly status: number; readonly body: unknown; readonly times?: number }
    | { readonly kind: "dies" | "hangs" | "says"; readonly after: number }
    /** Once the question was read: a connection that breaks, or one on which nothing comes. */
    | { readonly kind: "drops" | "silent" };
  /** What goes on after the first piece waits for this. */
  readonly hold?: Promise<void>;
};

export type Asked = { readonly path: string; readonly body: Record<string, unknown>; readonly authorization: string | undefined };

// oxlint-disable-next-line no-explicit-any -- bodies of four engines; each assertion is the check of its own
export type Json = any;

/** Ids and log-probs of an answer, the same for every flavour, so that one suite can check them all. */
export function tokensOf({ text = [] }: Script): { ids: number[]; logProbs: number[] } {
  const ids = text.map((_, index) => 100 + index);
  return { ids, logProbs: ids.map((_, index) => -0.1 * (index + 1)) };
}

export const PROMPT_IDS = [1, 11, 12, 13];
export const END_LOGPROB = -0.05;
const QUESTIONS: ReadonlySet<string> = new Set(["/v1/chat/completions", "/generate", "/completion"]);

export abstract class StandIn {
  abstract readonly flavour: EngineFlavour;
  /** Adapters that it has, by name, with the path that it was given. */
  readonly adapters = new Map<string, string>();
  readonly asked: Asked[] = [];
  /** Loads and unloads, in order. */
  readonly moves: string[] = [];
  /** Answers that its reader gave up. */
  aborted = 0;
  /** How often the connection still breaks once a call of this path was read and, as far as it changes anything, done. */
  readonly drops = new Map<string, number>();
  refusesLoads = false;
  refusesUnloads = false;
  script: Script = { text: ["Hello", " there"] };
  url = "";
  #failed = 0;
  readonly #lost = new WeakSet<ServerResponse>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async start(port = 0): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(port, "127.0.0.1", done));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((done) => this.#server.close(() => done()));
  }

  play(script: Script): void {
    this.script = script;
    this.#failed = 0;
  }

  /** The last question that was one for an answer. */
  get question(): Json {
    return this.asked.findLast(({ path }) => QUESTIONS.has(path))?.body;
  }

  /** How often it was asked for an answer. */
  get questions(): number {
    return this.asked.filter(({ path }) => QUESTIONS.has(path)).length;
  }

  /** @returns false where there is no such route */
  protected abstract route(path: string, body: Json, response: ServerResponse): boolean | Promise<boolean>;

  /** The events of an answer, one for each piece and those after it. */
  protected abstract events(path: string, body: Json): unknown[];

  protected json(response: ServerResponse, status: number, body: unknown): true {
    if (this.#lost.has(response)) return (response.destroy(), true);
    response.writeHead(status, { "content-type": typeof body === "string" ? "text/plain" : "application/json" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
    return true;
  }

  /** Streams the script. Real pauses between pieces, so that a reader sees that they come one by one. */
  protected async stream(path: string, body: Json, response: ServerResponse): Promise<true> {
    const { fails, text: [first] = [], hold } = this.script;
    if (fails?.kind === "drops") return (response.destroy(), true);
    if (fails?.kind === "silent") return true;
    if (fails?.kind === "status" && this.#failed < (fails.times ?? Infinity)) {
      this.#failed += 1;
      return this.json(response, fails.status, fails.body);
    }
    response.on("close", () => void (response.writableFinished || (this.aborted += 1)));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": a comment, which keeps a silent stream open\n\n");
    const events = this.events(path, body);
    for (const [index, event] of events.entries()) {
      if (fails?.kind === "dies" && index === fails.after) return (response.destroy(), true);
      if (fails?.kind === "hangs" && index === fails.after) return true;
      if (fails?.kind === "says" && index === fails.after)
        response.write('data: {"error": {"message": "EngineCore died", "code": 500}}\n\n');
      const written = JSON.stringify(event);
      response.write(`data: ${written}\n\n`);
      if (first !== undefined && written.includes(first)) await hold;
      await new Promise((next) => setTimeout(next, 5));
    }
    response.end(path === "/completion" ? "" : "data: [DONE]\n\n");
    return true;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const path = request.url ?? "";
    const { authorization } = request.headers;
    const body = text === "" ? {} : (JSON.parse(text) as Json);
    this.asked.push({ path, body, authorization });
    const drops = this.drops.get(path) ?? 0;
    if (drops > 0) this.#lost.add(response);
    this.drops.set(path, drops - 1);
    if (authorization !== `Bearer ${KEY}`) this.json(response, 401, { error: "Unauthorized" });
    else if (!(await this.route(path, body, response))) this.json(response, 404, { detail: "Not Found" });
  }
}

/** Chunks of a chat completion, as all of them stream it. */
export function chatChunks(
  script: Script,
  { model, decorate = (chunk) => chunk }: { model: string; decorate?: (chunk: Json, index: number) => Json },
): Json[] {
  const { text = [], call, finish = "stop" } = script;
  const chunk = (choice: Json, rest: Json = {}): Json => ({
    ...{ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model },
    choices: choice === undefined ? [] : [{ index: 0, logprobs: null, finish_reason: null, ...choice }],
    ...rest,
  });
  const pieces = text.map((content) => ({ delta: { content } }));
  const called =
    call === undefined
      ? []
      : [
          { delta: { tool_calls: [{ index: 0, id: "call_engine", type: "function", function: { name: call.name, arguments: "" } }] } },
          ...call.arguments.map((part) => ({ delta: { tool_calls: [{ index: 0, function: { arguments: part } }] } })),
        ];
  const completion_tokens = text.length + called.length + 1;
  const usage = { prompt_tokens: PROMPT_IDS.length, completion_tokens, total_tokens: PROMPT_IDS.length + completion_tokens };
  return [
    chunk({ delta: { role: "assistant", content: "" } }),
    ...[...pieces, ...called].map((choice) => chunk(choice)),
    chunk({ delta: {}, finish_reason: call === undefined ? finish : "tool_calls" }),
    chunk(undefined, { usage: { ...usage, prompt_tokens_details: { cached_tokens: 2 } } }),
  ].map((each, index) => decorate(each, index));
}
