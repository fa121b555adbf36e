/** The Responses API through the `openai` package, unmodified, against the real edge. */
import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { nextStatesOf, talkTo, turnsOf } from "../edge/session/talk.ts";
import { call, putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";

const edge = withEdge();
const short = { temperature: 0, max_output_tokens: 12 };
const book: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "Book",
  description: "Books rooms.",
  strict: true,
  parameters: { type: "object", properties: { rooms: { enum: [1, 2, 3] } }, required: ["rooms"] },
};
const calling = {
  temperature: 0,
  tools: [book],
  tool_choice: { type: "function" as const, name: "Book" },
  parallel_tool_calls: false,
};

const client = (apiKey = edge.keys.client) => new OpenAI({ apiKey, baseURL: `${edge.url}/v1`, maxRetries: 0 });

const callOf = ({ output }: OpenAI.Responses.Response): OpenAI.Responses.ResponseFunctionToolCall => {
  const [item, ...rest] = output;
  if (item?.type !== "function_call" || rest.length > 0) throw new Error(`one call expected, got ${JSON.stringify(output)}`);
  return item;
};

async function anotherKey(): Promise<string> {
  const { body } = await call(edge, "admin", "POST /api/keys", { kind: "client", name: "another" });
  return z.object({ key: z.string() }).parse(body).key;
}

/** An agent of its own for each test, so that its log holds nothing else. */
async function agentNamed(model: string) {
  await putAgent(edge, model);
  return { model, log: talkTo(edge, model) };
}

beforeAll(() => putAgent(edge, "assistant"));

describe("a response", () => {
  const model = "assistant";

  it("says which temperature and top_p it was drawn with, the agent's where the request names none", async () => {
    await putAgent(edge, "warm", { sampling: { temperature: 0.5, topP: 0.9 } });
    const drawn = async (asked: object) => {
      const { temperature, top_p } = await client().responses.create({ model: "warm", input: "Hello", max_output_tokens: 4, ...asked });
      return [temperature, top_p];
    };
    expect(await drawn({})).toEqual([0.5, 0.9]);
    expect(await drawn({ temperature: 1, top_p: 1 })).toEqual([1, 1]);
  });

  it("has no call in it where it is cut before one has its name, and neither has a chat completion", async () => {
    const response = await client().responses.create({ ...calling, model, input: "Book a room.", max_output_tokens: 3 });
    expect([response.status, response.output.map(({ type }) => type), response.output_text]).toEqual(["incomplete", ["message"], ""]);
    const { log } = await agentNamed("cut");
    const chosen = { type: "function", function: { name: "Book" } };
    const tools = [{ type: "function", function: { name: "Book", parameters: book.parameters } }];
    const asked = [{ role: "user", content: "Book a room." }];
    const { message } = await log.ask(asked, { extra: { tools, tool_choice: chosen, max_tokens: 3 } });
    expect([message.content, message.tool_calls]).toEqual(["", undefined]);
    const streamed = await (await log.post(asked, { extra: { tools, tool_choice: chosen, max_tokens: 3, stream: true, seed: 2 } })).text();
    expect(streamed).toContain('"finish_reason":"length"');
    expect(streamed).not.toContain("tool_calls");
    const { status } = await log.ask([...asked, message, { role: "user", content: "Go on." }]);
    expect(status).toBe(200);
  });

  it("states its version, what it was asked, its usage and why it ended", async () => {
    const { data, response } = await client()
      .responses.create({ ...short, model, input: "Hello", instructions: "Be kind.", metadata: { topic: "greeting" } })
      .withResponse();
    expect(data.id).toMatch(/^resp_[0-9a-f]{48}$/);
    expect(data).toMatchObject({ object: "response", model, instructions: "Be kind.", metadata: { topic: "greeting" }, error: null });
    expect(data).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, max_output_tokens: 12 });
    expect(data.output).toMatchObject([{ type: "message", role: "assistant", status: "incomplete" }]);
    expect(data.usage).toMatchObject({ output_tokens: 12, total_tokens: (data.usage?.input_tokens ?? 0) + 12 });
    expect(response.headers.get("x-policy-version")).toBe("0");
    expect(response.headers.get("x-session-id")).toMatch(/^s_/);
  });

  it("has the members that clients check which hold responses to the API's schema", async () => {
    const given = await client().responses.create({ ...calling, model, input: "Two rooms", prompt_cache_key: "checked" });
    expect(given).toMatchObject({ status: "completed", frequency_penalty: 0, presence_penalty: 0, max_tool_calls: null });
    expect(given.reasoning).toEqual({ effort: null, summary: null });
    expect([given.created_at, given.completed_at].every(Number.isInteger)).toBe(true);
    expect(given.completed_at).toBeGreaterThanOrEqual(given.created_at);
    const back = { reasoning: given.reasoning ?? null, max_tool_calls: given.max_tool_calls ?? null, text: given.text ?? {} };
    const again = await client().responses.create({ ...calling, ...back, model, input: "Two rooms" });
    expect(again.status).toBe("completed");
  });

  it("says what the chat completion of the same conversation says", async () => {
    const messages = [
      { role: "system" as const, content: "Be kind." },
      { role: "user" as const, content: "Hello" },
    ];
    const completion = await client().chat.completions.create({ model, messages, temperature: 0, max_completion_tokens: 12 });
    const parts = [{ type: "input_text" as const, text: "Hello" }];
    const response = await client().responses.create({
      ...short,
      model,
      instructions: "Be kind.",
      input: [{ role: "user", content: parts }],
    });
    expect(response.output_text).toBe(completion.choices[0]?.message.content);
    expect(response.usage?.input_tokens).toBe(completion.usage?.prompt_tokens);
  });

  it("is read again by its id, by the key that it was given to", async () => {
    const given = await client().responses.create({ ...calling, model, input: "Two rooms", user: "ann" });
    expect(await client().responses.retrieve(given.id)).toEqual(given);
    await expect(client(await anotherKey()).responses.retrieve(given.id)).rejects.toMatchObject({ status: 404, param: "response" });
    await expect(client().responses.retrieve("resp_1")).rejects.toMatchObject({ status: 404 });
  });

  it("is not cancelled, nor are tokens counted or conversations compacted, and what to do instead is said", async () => {
    const { id } = await client().responses.create({ ...short, model, input: "Hello" });
    const asked = { model, input: "Hello" };
    const refused = { status: 400, code: "input/unsupported" };
    await expect(client().responses.cancel(id)).rejects.toMatchObject({ ...refused, message: expect.stringContaining(`${id}/cancel`) });
    await expect(client().responses.inputTokens.count(asked)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining("usage"),
    });
    await expect(client().responses.compact(asked)).rejects.toMatchObject({ ...refused, message: expect.stringContaining("truncation") });
  });

  it("tells what it was given, item by item and page by page, without its instructions", async () => {
    const { tools, ...asked } = calling;
    const first = await client().responses.create({ ...asked, tools, model, input: "Two rooms", instructions: "Be kind." });
    const { call_id, name, arguments: args } = callOf(first);
    const output = { type: "function_call_output" as const, call_id, output: '{"status": "ok"}' };
    const second = await client().responses.create({ ...short, model, input: [output], previous_response_id: first.id });
    const given = [
      { type: "message", role: "user", content: [{ type: "input_text", text: "Two rooms" }] },
      { type: "function_call", call_id, name, arguments: args },
      { type: "function_call_output", call_id, output: '{"status": "ok"}' },
    ];
    expect((await client().responses.inputItems.list(second.id, { order: "asc" })).data).toMatchObject(given);
    const all: object[] = [];
    for await (const item of client().responses.inputItems.list(second.id, { limit: 1 })) all.push(item);
    expect(all).toMatchObject(given.toReversed());
    expect((await client().responses.inputItems.list(first.id)).data).toMatchObject(given.slice(0, 1));
    await expect(client().responses.inputItems.list(second.id, { after: "msg_1" })).rejects.toMatchObject({ status: 400, param: "after" });
    await expect(client(await anotherKey()).responses.inputItems.list(second.id)).rejects.toMatchObject({ status: 404 });
  });

  it("is deleted by its key alone, and then neither read nor continued", async () => {
    const given = await client().responses.create({ ...short, model, input: "Hello" });
    await expect(client(await anotherKey()).responses.delete(given.id)).rejects.toMatchObject({ status: 404 });
    expect(await client().responses.delete(given.id)).toEqual({ id: given.id, object: "response", deleted: true });
    await expect(client().responses.retrieve(given.id)).rejects.toMatchObject({ status: 404, param: "response" });
    await expect(client().responses.delete(given.id)).rejects.toMatchObject({ status: 404, param: "response" });
    const next = client().responses.create({ ...short, model, input: "And now?", previous_response_id: given.id });
    await expect(next).rejects.toMatchObject({ status: 400, code: "previous_response_not_found" });
  });

  it("is held to a schema, and parsed by the client's own helper", async () => {
    const Booking = z.object({ kind: z.enum(["single", "double"]), breakfast: z.boolean() });
    const parsed = await client().responses.parse({ model, input: "Hello", text: { format: zodTextFormat(Booking, "booking") } });
    expect(Booking.safeParse(parsed.output_parsed).success).toBe(true);
    const loose = await client().responses.create({
      model,
      input: "Hello",
      text: { format: { type: "json_object" } },
      max_output_tokens: 20,
    });
    expect(loose.output_text).toMatch(/^\{/);
  });

  it("reports log-probs where it is asked to include them", async () => {
    const include: OpenAI.Responses.ResponseIncludable[] = ["message.output_text.logprobs"];
    const given = await client().responses.create({ ...short, model, input: "Hello", include, top_logprobs: 2 });
    const [{ output }, retrieved] = [given, await client().responses.retrieve(given.id, { include })];
    expect(retrieved).toEqual(given);
    const path = `GET /v1/responses/${given.id}`;
    expect((await call(edge, "client", `${path}?include=message.output_text.logprobs`)).body).toMatchObject({ id: given.id, output });
    const more = await call(edge, "client", `${path}?include[]=message.output_text.logprobs&include[]=file_search_call.results`);
    expect(more).toMatchObject({
      status: 400,
      body: { error: { param: "include[].1", message: expect.stringContaining("nothing else") } },
    });
    const part = output[0]?.type === "message" ? output[0].content[0] : undefined;
    const logprobs = part?.type === "output_text" ? (part.logprobs ?? []) : [];
    expect(logprobs.length).toBeGreaterThan(0);
    for (const { top_logprobs: top } of logprobs) expect(top).toHaveLength(2);
  });
});

describe("a stream", () => {
  const model = "assistant";

  async function eventsOf(body: object): Promise<ResponseStreamEvent[]> {
    const events: ResponseStreamEvent[] = [];
    for await (const event of await client().responses.create({ model, input: "Hello", ...body, stream: true })) events.push(event);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
    return events;
  }
  /** Types in order, deltas that follow each other as one. */
  const typesOf = (events: ResponseStreamEvent[]) =>
    events.map(({ type }) => type.replace("response.", "")).filter((type, index, all) => type !== all[index - 1]);

  it("of text has the events of the API in their order, and says what the whole response says", async () => {
    const events = await eventsOf(short);
    const item = [
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
    ];
    expect(typesOf(events)).toEqual(["created", "in_progress", ...item, "incomplete"]);
    const text = events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
    const whole = await client().responses.create({ ...short, model, input: "Hello" });
    expect(text).toBe(whole.output_text);
  });

  it("of a call has the events of the API in their order", async () => {
    const events = await eventsOf(calling);
    const item = ["output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done"];
    expect(typesOf(events)).toEqual(["created", "in_progress", ...item, "completed"]);
    const last = events.at(-1);
    const stored = last?.type === "response.completed" ? last.response : undefined;
    expect(await client().responses.retrieve(stored?.id ?? "")).toMatchObject({ output: stored?.output });
  });

  it("is assembled by the client's own helper, durable by its last event", async () => {
    const final = await client()
      .responses.stream({ ...short, model, input: "Hello" })
      .finalResponse();
    expect(final.output_text.length).toBeGreaterThan(0);
    const next = await client().responses.create({ ...short, model, input: "And now?", previous_response_id: final.id });
    expect(next.previous_response_id).toBe(final.id);
  });
});

describe("a conversation", () => {
  it("goes on by the id of its last response, in its session, and what follows an answer is its next state", async () => {
    const { model, log } = await agentNamed("by-id");
    const first = await client().responses.create({ ...calling, model, input: "Two rooms", instructions: "Today is Friday." });
    const { call_id } = callOf(first);
    const output = { type: "function_call_output" as const, call_id, output: '{"status": "ok"}' };
    const second = await client().responses.create({ ...short, model, input: [output], previous_response_id: first.id });
    const third = await client().responses.create({ ...short, model, input: "Thank you", previous_response_id: second.id });
    const events = await log.logged("turn:finished", 3);
    const turns = turnsOf(events);
    expect(turns.map(({ origin }) => origin)).toEqual(["opening", "continuation", "continuation"]);
    expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(1);
    // Instructions are of one request, as in the API.
    expect(turns.map(({ messages }) => messages.map(({ role }) => role))).toEqual([
      ["system", "user"],
      ["user", "assistant", "tool"],
      ["user", "assistant", "tool", "assistant", "user"],
    ]);
    const [one, two] = turns.map(({ completionId }) => completionId);
    expect(nextStatesOf(await log.logged("nextState:arrived", 2))).toEqual([
      [one, [{ role: "tool", content: '{"status": "ok"}', tool_call_id: call_id }]],
      [two, [{ role: "user", content: "Thank you" }]],
    ]);
    expect(third.output_text.length).toBeGreaterThan(0);
  });

  it("goes on from any of its responses, and one that was followed already is a branch", async () => {
    const { model, log } = await agentNamed("branches");
    const first = await client().responses.create({ ...short, model, input: "Hello" });
    const ask = (input: string) => client().responses.create({ ...short, model, input, previous_response_id: first.id });
    expect((await ask("And now?")).previous_response_id).toBe(first.id);
    await ask("Or else?");
    const turns = turnsOf(await log.logged("turn:finished", 3));
    expect(turns.map(({ origin }) => origin)).toEqual(["opening", "continuation", "branch"]);
    expect(nextStatesOf(await log.logged("nextState:arrived", 1))).toMatchObject([[turns[0]?.completionId, [{ content: "And now?" }]]]);
  });

  it("gives the same answer to the client's own retry after one that was lost on the way", async () => {
    const { model, log } = await agentNamed("flaky");
    const ids: string[] = [];
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      ids.push(z.object({ id: z.string() }).parse(await response.clone().json()).id);
      if (ids.length === 1) throw new TypeError("connection lost");
      return response;
    };
    const retrying = new OpenAI({ apiKey: edge.keys.client, baseURL: `${edge.url}/v1`, maxRetries: 2, fetch: losing });
    const { id } = await retrying.responses.create({ ...short, model, input: "Hello" });
    expect(ids).toEqual([id, id]);
    await log.counted({ generations: 1, replays: 1 });
  });

  it("goes on by its transcript, and from one API to the other", async () => {
    const { model, log } = await agentNamed("by-transcript");
    const first = await client().responses.create({ ...short, model, input: "Hello" });
    const answered = first.output.filter((item) => item.type === "message");
    const input = [{ role: "user" as const, content: "Hello" }, ...answered, { role: "user" as const, content: "And now?" }];
    const second = await client().responses.create({ ...short, model, input });
    const messages = [
      { role: "user" as const, content: "Hello" },
      { role: "assistant" as const, content: first.output_text },
      { role: "user" as const, content: "And now?" },
      { role: "assistant" as const, content: second.output_text },
      { role: "user" as const, content: "Goodbye" },
    ];
    await client().chat.completions.create({ model, messages, temperature: 0, max_completion_tokens: 12 });
    const events = await log.logged("turn:finished", 3);
    expect(turnsOf(events).map(({ origin }) => origin)).toEqual(["opening", "continuation", "continuation"]);
    expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(1);
  });

  it("keeps its user where the next request names none", async () => {
    const { model, log } = await agentNamed("same-user");
    const first = await client().responses.create({ ...short, model, input: "Hello", safety_identifier: "ann" });
    await client().responses.create({ ...short, model, input: "And now?", previous_response_id: first.id });
    const events = await log.logged("turn:finished", 2);
    expect(new Set(events.map(({ user }) => user)).size).toBe(1);
  });

  it("is told apart by the headers of an OpenClaw client", async () => {
    const { model, log } = await agentNamed("claw");
    const ask = (input: string, headers: Record<string, string>) =>
      client().responses.create({ ...short, model, input }, { headers: { "X-Session-Id": "claw-1", ...headers } });
    await ask("Hello", { "X-Turn-Type": "main" });
    await ask("Give this a title.", { "X-Turn-Type": "side" });
    await ask("Goodbye", { "X-Turn-Type": "main", "X-Session-Done": "1" });
    await log.logged("session:closed", 1);
    const events = await log.logged("turn:finished", 3);
    expect(turnsOf(events).map(({ turnKind }) => turnKind)).toEqual(["main", "side", "main"]);
    expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(1);
  });

  it("is told apart by the members of the body that such a client may send instead, where no header says otherwise", async () => {
    const { model, log } = await agentNamed("claw-body");
    const said = [{ role: "user" as const, content: "Hello" }];
    const ask = (content: string, marks: object, headers = {}) =>
      client().chat.completions.create(
        { model, messages: [...said, { role: "user", content }], temperature: 0, max_tokens: 4, ...{ session_id: "claw-2", ...marks } },
        { headers },
      );
    await ask("And?", { turn_type: "main" });
    await ask("Give this a title.", { turn_type: "side" });
    await ask("A heartbeat.", { turn_type: "main" }, { "X-Turn-Type": "side" });
    const ending = { turn_type: "main", session_done: true, session_id: "claw-2" };
    await client().responses.create({ ...short, model, input: "Goodbye", ...ending });
    await log.logged("session:closed", 1);
    const events = await log.logged("turn:finished", 4);
    expect(turnsOf(events).map(({ turnKind }) => turnKind)).toEqual(["main", "side", "side", "main"]);
    expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(1);
  });

  it("is judged by feedback on the id of a response", async () => {
    const { model, log } = await agentNamed("feedback");
    const { id } = await client().responses.create({ ...short, model, input: "Hello" });
    const { status } = await call(edge, "client", "POST /v1/feedback", { completion_id: id, score: -1 });
    expect(status).toBe(200);
    const events = await log.logged("feedback:given", 1);
    const [turn] = turnsOf(events);
    const given = events.flatMap(({ payload }) => (payload.kind === "feedback:given" ? [payload.completionId] : []));
    expect(given).toEqual([turn?.completionId]);
  });
});

describe("what cannot be continued", () => {
  const model = "assistant";
  const refused = (body: object, apiKey?: string) => client(apiKey).responses.create({ ...short, model, input: "And now?", ...body });

  it("is refused with what to send instead", async () => {
    const unknown = `resp_${"0".repeat(48)}`;
    const notFound = { status: 400, param: "previous_response_id", code: "previous_response_not_found" };
    await expect(refused({ previous_response_id: unknown })).rejects.toMatchObject(notFound);
    await expect(refused({ previous_response_id: "chatcmpl-1" })).rejects.toMatchObject(notFound);
    const { id } = await client().responses.create({ ...short, model, input: "Hello", store: false });
    await expect(refused({ previous_response_id: id })).rejects.toThrow(/store: false.*send the whole conversation as input/);
    const given = await client().responses.create({ ...short, model, input: "Hello", user: "ann" });
    await expect(refused({ previous_response_id: given.id, user: "bob" })).rejects.toThrow(/same user/);
    await putAgent(edge, "another");
    await expect(refused({ previous_response_id: given.id, model: "another" })).rejects.toThrow(/one of assistant/);
    await expect(refused({ previous_response_id: given.id, session_id: "mine" })).rejects.toThrow(/response of session mine/);
    await expect(refused({ previous_response_id: given.id }, await anotherKey())).rejects.toMatchObject(notFound);
  });

  it("is a call without its result, or a conversation that is too long", async () => {
    const first = await client().responses.create({ ...calling, model, input: "Two rooms" });
    await expect(refused({ previous_response_id: first.id })).rejects.toMatchObject({ status: 400, param: "input" });
    const long = { input: "word ".repeat(600) };
    await expect(refused(long)).rejects.toMatchObject({ status: 400, param: "input", code: "context_length_exceeded" });
    await expect(refused({ max_output_tokens: 5000 })).rejects.toMatchObject({ param: "max_output_tokens" });
  });
});
