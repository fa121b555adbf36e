/**
 * Workers AI, which runs on Cloudflare only: the suite against a Worker of the test behind the `AI` binding, after its documentation, and
 * against a server that takes fine-tunes as the REST API documents it.
 * https://developers.cloudflare.com/workers-ai/configuration/bindings/, …/features/fine-tunes/loras/
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { sha256 } from "../../../shared/digest.ts";
import { capabilitiesOf, EngineSettings } from "../../../shared/engine.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { uploadAdapter } from "../../../trainer/policy/publish.ts";
import { call, putAgent } from "../../helpers/call.ts";
import { putAdapter } from "../../helpers/adapters.ts";
import { withEdge } from "../../helpers/edge.ts";
import { largeAdapter } from "../../helpers/large-adapter.ts";
import { readStream, says, talkTo, turnsOf } from "../session/talk.ts";
import { testEngine } from "./conformance.ts";
import { publishOn } from "../../helpers/publish-on.ts";
import type { Script } from "./stand-in.ts";

const MODEL = "@cf/meta/llama-3.2-11b-vision-instruct";
const TOKEN = "cloudflare-api-token";
const ACCOUNT = "0".repeat(32);

/** What the binding does is decided by this server, which the stand-in asks: its script, and what it was run with. */
type Run = { model: string; inputs: Record<string, unknown> };
const runs: Run[] = [];
let script: Script = { text: ["Hello"] };
/** What the binding throws next, so many times. */
let refuses: { readonly said: string; readonly times: number } | undefined;
/** How a stream ends: with counts, as most models do; with a reason; with `[DONE]` alone; or cut off. */
let ending: "usage" | "reason" | "done" | "none" = "usage";
/** Whether a call comes in one piece, as some models of the catalogue stream it. */
let callsWhole = false;
let answersAsChat = false;
let aborted = 0;
const fineTunes: { id: string; name: string; model: string }[] = [];
const uploads: { id: string; file: string; content: Uint8Array<ArrayBuffer> }[] = [];
/** What the account does next: refuses this file, or makes a fine-tune and its answer is lost. */
let refusedFile: string | undefined;
let losesMaking = false;
let makings = 0;

const server = createServer((request, response) => void answer(request, response));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const path = request.url ?? "";
  const json = (value: unknown, status = 200): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  if (path === "/binding") return answerRun(JSON.parse(body.toString()), response);
  if (request.headers.authorization !== `Bearer ${TOKEN}`)
    return json({ success: false, errors: [{ message: "Authentication error" }] }, 403);
  const [, id] = /^\/client\/v4\/accounts\/0{32}\/ai\/finetunes(?:\/([^/]+)\/finetune-assets)?$/.exec(path) ?? [];
  if (id !== undefined) {
    const form = await new Response(body, { headers: { "content-type": request.headers["content-type"] ?? "" } }).formData();
    if (form.get("file_name") === refusedFile) return json({ success: false, errors: [{ message: "internal server error" }] }, 500);
    const content = new Uint8Array(await (form.get("file") as File).arrayBuffer());
    uploads.push({ id, file: form.get("file_name") as string, content });
    return json({ success: true });
  }
  if (request.method === "GET") return json({ success: true, result: [fineTunes] });
  makings += 1;
  const made = { ...(JSON.parse(body.toString()) as { name: string; model: string }), id: `ft-${fineTunes.length}` };
  fineTunes.push(made);
  if (losesMaking) return void response.destroy();
  return json({ success: true, result: made });
}

/** What `env.AI.run` answers; what it throws has another status. */
async function answerRun(run: Run, response: ServerResponse): Promise<void> {
  runs.push(run);
  const { inputs } = run;
  const refused = refuses !== undefined && refuses.times > 0 ? refuses.said : refusalOf(inputs);
  if (refuses !== undefined) refuses = { ...refuses, times: refuses.times - 1 };
  if (refused !== undefined) return void response.writeHead(400).end(refused);
  const { text = [], call: called, finish, fails, hold } = script;
  response.on("close", () => void (response.writableFinished || (aborted += 1)));
  if (fails?.kind === "silent") return;
  if (inputs["stream"] !== true)
    return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole(text)));
  response.writeHead(200, { "content-type": "text/event-stream" });
  const counts = { prompt_tokens: 4, completion_tokens: finish === "length" ? Number(inputs["max_tokens"]) : text.length + 1 };
  const events = [
    ...text.map((piece) => ({ response: /^\d+$/.test(piece) ? Number(piece) : piece, p: "abcdefg" })),
    ...(called === undefined ? [] : callsWhole ? [wholeCall(called)] : callPieces(called)),
    ...(ending === "usage" ? [{ response: "", usage: { ...counts, total_tokens: 9 } }] : []),
    ...(ending === "reason" ? [{ response: "", finish_reason: finish ?? "stop" }] : []),
  ];
  for (const [index, event] of events.entries()) {
    if (fails !== undefined && "after" in fails && index === fails.after) {
      if (fails.kind === "dies") return void response.destroy();
      if (fails.kind === "hangs") return;
      response.write('data: {"errors": [{"message": "EngineCore died", "code": 3040}]}\n\n');
    }
    response.write(`data: ${JSON.stringify(event)}\n\n`);
    await hold;
    await new Promise((next) => setTimeout(next, 5));
  }
  return void response.end(ending === "usage" || ending === "done" ? "data: [DONE]\n\n" : "");
}

/** https://developers.cloudflare.com/workers-ai/features/json-mode/ and, as newer models of the catalogue answer, a chat completion. */
function whole(text: readonly string[]): object {
  const json = text.join("");
  if (!answersAsChat) return { response: JSON.parse(json) };
  const usage = { prompt_tokens: 4, completion_tokens: 9, total_tokens: 13 };
  return { choices: [{ index: 0, message: { role: "assistant", content: json }, finish_reason: "stop" }], usage };
}

type Called = NonNullable<Script["call"]>;
const wholeCall = ({ name, arguments: pieces }: Called): object => ({ tool_calls: [{ name, arguments: JSON.parse(pieces.join("")) }] });

/** https://github.com/cloudflare/ai/blob/main/packages/workers-ai-provider/src/streaming.ts emitToolCallDeltas */
function callPieces({ name, arguments: pieces }: Called): object[] {
  const begins = { id: "chatcmpl-tool-1", type: "function", index: 0, function: { name } };
  const ends = { id: null, type: null, function: { name: null, arguments: "" } };
  return [begins, ...pieces.map((piece) => ({ index: 0, function: { arguments: piece } })), ends].map((piece) => ({ tool_calls: [piece] }));
}

/** What the schema of the model's inputs does not let through. https://developers.cloudflare.com/workers-ai/models/llama-3.2-11b-vision-instruct/ */
const Parameters = z.object({ type: z.string(), properties: z.record(z.string(), z.unknown()) });
const Tool = z.object({ type: z.string(), function: z.object({ name: z.string(), description: z.string(), parameters: Parameters }) });
const Inputs = z.object({
  tools: z.array(Tool).optional(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  seed: z.number().int().min(1).max(9_999_999_999).optional(),
});

function refusalOf(inputs: Run["inputs"]): string | undefined {
  if (inputs["response_format"] !== undefined && inputs["stream"] === true)
    return "5023: JSON Schema mode is not supported with stream mode.";
  const { error } = Inputs.safeParse(inputs);
  return error === undefined ? undefined : `5006: Error: oneOf at '/' not met, 0 matches: ${z.prettifyError(error)}`;
}

// Listens before the edge starts, whose stand-in has to know the address.
await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const STAND_IN = `
  import { WorkerEntrypoint } from "cloudflare:workers";
  export class Ai extends WorkerEntrypoint {
    async run(model, inputs, { signal }) {
      if (model !== "${MODEL}") throw new Error("5007: No such model " + model);
      const response = await fetch("${address}/binding", { method: "POST", body: JSON.stringify({ model, inputs }), signal });
      if (!response.ok) throw new Error(await response.text());
      return response.headers.get("content-type") === "application/json" ? response.json() : response.body;
    }
  }
  export default { fetch: () => new Response("no page") };`;

const edge = withEdge({ workersAi: STAND_IN, vars: { ENGINE_KEY_CF: TOKEN } });
beforeAll(() => void (script = { text: ["Hello"] }));
afterAll(() => (server.closeAllConnections(), new Promise<void>((done) => server.close(() => done()))));

const settings = (changes: object = {}) => ({ kind: "workers-ai", model: MODEL, timeoutMs: 5_000, ...changes });
const adapters = { accountId: ACCOUNT, keySecret: "ENGINE_KEY_CF", modelType: "llama", slots: 2, apiUrl: `${address}/client/v4` };

testEngine(edge, {
  name: "workers-ai",
  capabilities: capabilitiesOf(EngineSettings.parse(settings())),
  settings,
  play: (next) => (script = next),
  watch: async () => {
    const before = aborted;
    return { hasGivenUp: () => aborted === before + 1 };
  },
  asked: () => runs.length,
});

it("is sent the limit of the answer, which it would set low by itself, and nothing that it does not know", async () => {
  await putAgent(edge, "asked", { engine: settings() });
  const { ask } = talkTo(edge, "asked");
  script = { text: ["Hello"] };
  await ask([says("hi")], { extra: { max_tokens: undefined, temperature: 0.3 } });
  expect(runs.at(-1)).toEqual({
    model: MODEL,
    inputs: { messages: [says("hi")], stream: true, max_tokens: 1_024, temperature: 0.3, top_p: 1, seed: 1 },
  });
  expect((await ask([says("hi")], { extra: { logprobs: true } })).error).toMatchObject({ param: "logprobs" });
  expect((await ask([says("hi")], { extra: { stop: ["."] } })).error).toMatchObject({ param: "stop" });
});

it("takes a conversation that goes on after a call, and is asked with no seed that it refuses", async () => {
  await putAgent(edge, "called", { engine: settings() });
  const { ask } = talkTo(edge, "called");
  const tools = [{ type: "function", function: { name: "Book" } }];
  script = { call: { name: "Book", arguments: ["{}"] } };
  const { message } = await ask([says("book it")], { extra: { tools } });
  const result = { role: "tool", content: "booked", tool_call_id: message.tool_calls?.[0]?.id };
  script = { text: ["It is ", "booked"] };
  const told = await ask([says("book it"), message, result], { extra: { tools } });
  expect([told.status, told.message?.content]).toEqual([200, "It is booked"]);
  for (const [seed, status] of [
    [0, 400],
    [-1, 400],
    [1e10, 400],
    [9_999_999_999, 200],
  ])
    // prettier-ignore
    expect([seed, (await ask([says("hi")], { extra: { seed } })).status]).toEqual([seed, status]);
  expect((await ask([says("hi")], { extra: { seed: 0 } })).error).toMatchObject({
    param: "seed",
    message: expect.stringContaining("1 to 9999999999, got 0"),
  });
});

it("reads calls that come whole, and text that comes as a number", async () => {
  await putAgent(edge, "numbers", { engine: settings() });
  const { ask } = talkTo(edge, "numbers");
  script = { text: ["Room ", "4", "2"] };
  expect((await ask([says("which?")])).message.content).toBe("Room 42");
  const tools = [{ type: "function", function: { name: "Book" } }];
  script = { call: { name: "Book", arguments: ['{"rooms": 2}'] } };
  callsWhole = true;
  const { message } = await ask([says("book it")], { extra: { tools } });
  callsWhole = false;
  expect(message.tool_calls).toMatchObject([{ function: { name: "Book", arguments: '{"rooms":2}' } }]);
});

it("answers JSON in one piece, to a client that wants a stream, too", async () => {
  await putAgent(edge, "json", { engine: settings() });
  const { ask, post } = talkTo(edge, "json");
  const extra = { response_format: { type: "json_object" }, max_tokens: 20 };
  script = { text: ['{"rooms": ', "[1, 2]}"] };
  const { text, done } = await readStream(await post([says("which?")], { extra: { ...extra, stream: true } }));
  expect([text, done, runs.at(-1)?.inputs["stream"]]).toEqual(['{"rooms":[1,2]}', true, false]);
  answersAsChat = true;
  expect((await ask([says("which?")], { extra })).message.content).toBe('{"rooms": [1, 2]}');
  answersAsChat = false;
});

it("is shown the one tool that must be called by name, and told that one must be", async () => {
  await putAgent(edge, "named", { engine: settings() });
  const tools = ["Book", "Cancel"].map((name) => ({ type: "function", function: { name } }));
  script = { call: { name: "Cancel", arguments: ["{}"] } };
  await talkTo(edge, "named").ask([says("cancel it")], {
    extra: { tools, tool_choice: { type: "function", function: { name: "Cancel" } } },
  });
  expect(runs.at(-1)?.inputs).toMatchObject({ tool_choice: "required", tools: [{ function: { name: "Cancel" } }] });
});

it.each([
  ["done", undefined, 200, "stop"],
  ["reason", undefined, 200, "stop"],
  ["reason", "length", 200, "length"],
  ["none", undefined, 502, undefined],
] as const)("takes a stream that ends with %s (%s) with %i and %s", async (how, finish, status, reason) => {
  const model = `ends-${how}-${finish ?? "stop"}`;
  await putAgent(edge, model, { engine: settings() });
  script = { text: ["Hel", "lo"], ...(finish === undefined ? {} : { finish }) };
  ending = how;
  const answer = await call(edge, "client", "POST /v1/chat/completions", { model, messages: [says("hi")] });
  ending = "usage";
  expect([answer.status, answer.body.choices?.[0].finish_reason]).toEqual([status, reason]);
  if (status === 200) expect(answer.body.choices[0].message.content).toBe("Hello");
});

it("is told that its reader has left before it has begun to answer", async () => {
  await putAgent(edge, "left", { engine: settings({ timeoutMs: 60_000 }) });
  script = { fails: { kind: "silent" } };
  const [before, asked] = [aborted, runs.length];
  const leave = new AbortController();
  const extra = { stream: true, response_format: { type: "json_object" }, max_tokens: 20 };
  const response = await talkTo(edge, "left").post([says("in JSON")], { extra, signal: leave.signal });
  await response.body?.getReader().read();
  await expect.poll(() => runs.length, { timeout: 10_000 }).toBe(asked + 1);
  leave.abort();
  await expect.poll(() => aborted, { timeout: 10_000 }).toBe(before + 1);
});

it("takes an adapter into a slot, whole, and answers with it; the slots left are shown and a full account is refused with advice", async () => {
  await putAgent(edge, "tuned", { engine: settings({ adapters }) });
  const state = async () => (await call(edge, "admin", "GET /api/agents/tuned/engine")).body;
  expect(await state()).toMatchObject({ slotsLeft: 2, listed: [], capabilities: { unload: false }, error: null });
  expect((await publishOn(edge, "tuned", await putAdapter(edge, "one"))).body).toMatchObject({ status: "published", version: 1 });
  const { body: version } = await call(edge, "admin", "GET /api/agents/tuned/versions/1");
  const name = `nextstate-${version.policyDigest}`;
  expect(fineTunes).toMatchObject([{ name, model: MODEL }]);
  expect(uploads.map(({ id, file }) => [id, file])).toEqual([["ft-0", "adapter_model.safetensors"], ["ft-0", "adapter_config.json"]]); // prettier-ignore
  expect(JSON.parse(Buffer.from(uploads[1]?.content ?? []).toString())).toMatchObject({ model_type: "llama", peft_type: "LORA", r: 1 });
  script = { text: ["Tuned"] };
  const talk = talkTo(edge, "tuned");
  await talk.ask([says("hi")]);
  expect(runs.at(-1)?.inputs).toMatchObject({ lora: name });
  expect(turnsOf(await talk.logged("turn:finished", 1))).toMatchObject([{ policyVersion: 1 }]);
  expect(await state()).toMatchObject({ slotsLeft: 1, listed: [name] });
  const waiting = await publishOn(edge, "tuned", await putAdapter(edge, "waiting", { invocation: [1, 2] }));
  expect([waiting.status, waiting.body.error.message]).toEqual([422, expect.stringContaining("got one with alora_invocation_tokens")]);
  await publishOn(edge, "tuned", await putAdapter(edge, "two"));
  const full = await publishOn(edge, "tuned", await putAdapter(edge, "three"));
  expect([full.status, full.body.error.message]).toEqual([
    422,
    expect.stringMatching(/2 adapters, and none can be deleted; use another account/),
  ]);
  expect(fineTunes).toHaveLength(2);
});

it("takes what it lacks of an adapter when it is published again: a fine-tune that is listed need not be whole", async () => {
  await putAgent(edge, "halved", { engine: settings({ adapters: { ...adapters, slots: 30 } }) });
  const adapter = await putAdapter(edge, "halved");
  const files = () => uploads.filter(({ id }) => id === fineTunes.at(-1)?.id).map(({ file }) => file);
  for (const [refused, sent] of [
    ["adapter_model.safetensors", []],
    ["adapter_config.json", ["adapter_model.safetensors"]],
  ] as const) {
    refusedFile = refused;
    const { status, body } = await publishOn(edge, "halved", adapter);
    expect([status, body.error?.code, files()]).toEqual([422, "policy/refused", sent]);
    expect((await call(edge, "admin", "GET /api/agents/halved/versions")).body).toMatchObject({ stable: 0, latest: 0 });
  }
  refusedFile = undefined;
  const before = fineTunes.length;
  expect((await publishOn(edge, "halved", adapter)).body).toMatchObject({ status: "published", version: 1 });
  expect([files(), fineTunes.length]).toEqual([["adapter_model.safetensors", "adapter_config.json"], before]);
});

it("spends one slot where the answer to its making is lost", async () => {
  await putAgent(edge, "unheard", { engine: settings({ adapters: { ...adapters, slots: 30 } }) });
  const adapter = await putAdapter(edge, "unheard");
  const before = makings;
  losesMaking = true;
  const { body } = await publishOn(edge, "unheard", adapter);
  losesMaking = false;
  expect([body.status, makings - before]).toEqual(["published", 1]);
  expect(uploads.filter(({ id }) => id === fineTunes.at(-1)?.id)).toHaveLength(2);
});

it("takes an adapter that is larger than an isolate holds, byte for byte", async () => {
  const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
  await putAgent(edge, "large", { engine: settings({ adapters: { ...adapters, slots: 9 } }) });
  const files = await uploadAdapter(client, largeAdapter(16));
  const before = uploads.length;
  expect((await publishOn(edge, "large", files)).body).toMatchObject({ status: "published", version: 1 });
  const sent = uploads.slice(before);
  expect(sent.map(({ file }) => file)).toEqual(["adapter_model.safetensors", "adapter_config.json"]);
  expect(await sha256(sent[0]?.content ?? new Uint8Array())).toBe(files.weightsDigest);
}, 120_000);

it("says in its own words what it refuses", async () => {
  await putAgent(edge, "unknown", { engine: settings({ model: "@cf/none/such" }) });
  const { status, error } = await talkTo(edge, "unknown").ask([says("hi")]);
  expect([status, error?.code]).toEqual([400, "input/invalid"]);
  expect(error?.message).toContain("5007: No such model @cf/none/such");
});

/** https://developers.cloudflare.com/workers-ai/platform/errors/; the second one is not on that list, and has been seen. */
it.each([
  ["3006: Request is too large", 400, "input/invalid", 1],
  ["5021: The estimated number of tokens (9000) exceeded this model context window limit (8000).", 400, "context_length_exceeded", 1],
  ["3036: You have used up your daily free allocation of 10,000 neurons.", 502, "upstream/failed", 1],
  ["3040: No more data centers to forward the request to", 502, "upstream/failed", 3],
  ["5016: User has not agreed to Llama3.2 model terms", 502, "upstream/failed", 1],
  ["Something else", 502, "upstream/failed", 1],
] as const)("answers a refusal by its code: %s", async (said, status, code, asked) => {
  const model = `refused-${said.slice(0, 4).trim()}`.toLowerCase();
  await putAgent(edge, model, { engine: settings() });
  const before = runs.length;
  refuses = { said, times: Infinity };
  const answer = await talkTo(edge, model).ask([says("hi")]);
  refuses = undefined;
  expect([answer.status, answer.error?.code, runs.length - before]).toEqual([status, code, asked]);
  expect(answer.error?.message).toContain(said);
});

it("is asked again once it has capacity", async () => {
  await putAgent(edge, "busy", { engine: settings() });
  script = { text: ["Hello"] };
  refuses = { said: "3040: No more data centers to forward the request to", times: 2 };
  const { status, message } = await talkTo(edge, "busy").ask([says("hi")]);
  refuses = undefined;
  expect([status, message?.content]).toEqual([200, "Hello"]);
});
