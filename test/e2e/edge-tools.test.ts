/** Tools that the edge runs itself: real servers behind real endpoints, the `openai` package unmodified, and the real edge. */
import OpenAI from "openai";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { nextStatesOf, says, talkTo, turnsOf } from "../edge/session/talk.ts";
import { call, putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";
import { json, startToolServer, text, type ToolHandler, type ToolServer } from "../helpers/tool-server.ts";

const edge = withEdge({ vars: { TOOLS_ON_LOOPBACK: "1" } });
let server: ToolServer;
beforeAll(async () => void (server = await startToolServer()));
afterAll(() => server.close());

const rooms = { type: "object", properties: { rooms: { enum: [1, 2, 3] } }, required: ["rooms"] };
const book = { type: "function" as const, function: { name: "Book", description: "Books rooms.", parameters: rooms } };
const cancel = { type: "function" as const, function: { name: "Cancel", parameters: { type: "object", properties: {} } } };
const BOOKED = '{"status":"booked","code":"X7"}';
/** Calls once and then says something short; the random base never ends by itself. */
const calling = { temperature: 0, parallel_tool_calls: false, tool_choice: { type: "function" as const, function: { name: "Book" } } };
const LIMIT = 60;

const client = (options: { maxRetries?: number } = {}) =>
  new OpenAI({ apiKey: edge.keys.client, baseURL: `${edge.url}/v1`, maxRetries: 0, ...options });

async function agentWith(model: string, settings: object = {}) {
  const url = server.on(`/${model}`, json(JSON.parse(BOOKED)));
  await putAgent(edge, model, { tools: [{ ...book, endpoint: { url } }], ...settings });
  return { model, log: talkTo(edge, model), calls: () => server.callsOf(`/${model}`) };
}

const Executed = z.object({
  executed_tools: z.array(z.object({ name: z.string(), arguments: z.string(), output: z.string(), status: z.string() })),
});

describe("a completion whose tool the edge runs", () => {
  it("is the answer after the result, each turn on record with its result as its next state", async () => {
    const { model, log, calls } = await agentWith("chat");
    const { choices, usage } = await client().chat.completions.create({
      ...calling,
      model,
      messages: [says("Two rooms")] as never,
      max_tokens: LIMIT,
    });
    const [choice] = choices;
    expect(choice?.message.tool_calls).toBeUndefined();
    expect(choice?.message.content?.length).toBeGreaterThan(0);
    const [executed] = Executed.parse(choice?.message).executed_tools;
    expect(executed).toMatchObject({ name: "Book", output: BOOKED, status: "completed" });
    expect(calls()).toHaveLength(1);
    expect(calls()[0]?.body).toBe(executed?.arguments);
    const turns = turnsOf(await log.logged("turn:finished", 2));
    expect(turns.map(({ origin, finishReason }) => [origin, finishReason])).toEqual([
      ["opening", "tool_calls"],
      ["continuation", "length"],
    ]);
    const [first] = turns;
    const [call] = first?.answer.role === "assistant" ? (first.answer.tool_calls ?? []) : [];
    expect(calls()[0]?.headers["idempotency-key"]).toBe(call?.id);
    const events = await log.logged("nextState:arrived", 1);
    expect(nextStatesOf(events)).toEqual([[first?.completionId, [{ role: "tool", content: BOOKED, tool_call_id: call?.id }]]]);
    expect(usage?.prompt_tokens).toBe(turns.reduce((sum, { rollout }) => sum + rollout.promptTokens.length, 0));
    expect(usage?.completion_tokens).toBe(LIMIT);
    expect(turns.every(({ tools }) => !JSON.stringify(tools).includes("endpoint"))).toBe(true);
  });
});

describe("a conversation", () => {
  it("goes on by its transcript: the policy reads the call and its result that the client never saw", async () => {
    const { model, log } = await agentWith("goes-on");
    const first = await client().chat.completions.create({ ...calling, model, messages: [says("Two rooms")] as never, max_tokens: LIMIT });
    // As clients do: the message comes back as it was given, whatever it holds.
    const messages = [says("Two rooms"), first.choices[0]?.message, says("Thank you")] as never;
    await client().chat.completions.create({ model, messages, temperature: 0, max_tokens: 6, tool_choice: "none" });
    const events = await log.logged("turn:finished", 3);
    const [, second, third] = turnsOf(events);
    expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(third?.origin).toBe("continuation");
    expect(third?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
    expect(third?.messages[3]).toEqual(second?.answer);
    const states = nextStatesOf(await log.logged("nextState:arrived", 2));
    expect(states[1]).toEqual([second?.completionId, [{ role: "user", content: "Thank you" }]]);
  });

  it("gives feedback on an answer to its last turn", async () => {
    const { model, log } = await agentWith("judged");
    const { id } = await client().chat.completions.create({ ...calling, model, messages: [says("Two rooms")] as never, max_tokens: LIMIT });
    const { status } = await call(edge, "client", "POST /v1/feedback", { completion_id: id, score: -1 });
    expect(status).toBe(200);
    const events = await log.logged("feedback:given", 1);
    const given = events.flatMap(({ payload }) => (payload.kind === "feedback:given" ? [payload.completionId] : []));
    expect(given).toEqual([turnsOf(await log.logged("turn:finished", 2))[1]?.completionId]);
  });

  it("says the same to a retry, whose tool does not run again", async () => {
    const { model, log, calls } = await agentWith("retried");
    const body = { ...calling, model, messages: [says("Two rooms")] as never, max_tokens: LIMIT };
    const headers = { "idempotency-key": "once" };
    const [first, again] = [
      await client().chat.completions.create(body, { headers }),
      await client().chat.completions.create(body, { headers }),
    ];
    expect({ ...again, created: 0 }).toEqual({ ...first, created: 0 });
    expect(calls()).toHaveLength(1);
    await log.counted({ generations: 2, replays: 1 });
  });

  it("joins what is in flight: one call for three requests at once", async () => {
    const model = "joined";
    const url = server.on("/joined", (_, response) => {
      setTimeout(() => response.writeHead(200, { "content-type": "application/json" }).end(BOOKED), 300);
    });
    await putAgent(edge, model, { tools: [{ ...book, endpoint: { url } }] });
    const ask = () => talkTo(edge, model).ask([says("Two rooms")], { extra: { ...calling, max_tokens: LIMIT } });
    const replies = await Promise.all([ask(), ask(), ask()]);
    expect(new Set(replies.map(({ id }) => id)).size).toBe(1);
    expect(server.callsOf("/joined")).toHaveLength(1);
  });
});

describe("a stream", () => {
  it("of chunks tells of the call and its result as they happen, and is assembled by the client's own helper", async () => {
    const { model } = await agentWith("streamed");
    const body = { ...calling, model, messages: [says("Two rooms")] as never, max_tokens: LIMIT };
    const stream = client().chat.completions.stream({ ...body, stream_options: { include_usage: true } });
    const told: string[] = [];
    stream.on("chunk", ({ choices: [choice] }) => {
      const { executed_tools: tools = [] } = (choice?.delta ?? {}) as { executed_tools?: { status: string }[] };
      told.push(...tools.map(({ status }) => status), ...(choice?.delta.content ? ["text"] : []));
    });
    const completion = await stream.finalChatCompletion();
    expect(told.filter((each, index) => each !== told[index - 1])).toEqual(["in_progress", "completed", "text"]);
    const whole = await client().chat.completions.create(body);
    expect(completion.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
    expect(completion.choices[0]?.finish_reason).toBe("length");
    expect(completion.usage?.total_tokens).toBe(whole.usage?.total_tokens);
  });

  it("of response events has those of the API for tools that a server runs, in their order", async () => {
    const { model } = await agentWith("events");
    const request = { temperature: 0, tool_choice: { type: "function" as const, name: "Book" }, parallel_tool_calls: false };
    const events: ResponseStreamEvent[] = [];
    const stream = await client().responses.create({ ...request, model, input: "Two rooms", max_output_tokens: LIMIT, stream: true });
    for await (const event of stream) events.push(event);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
    const types = events.map(({ type }) => type.replace("response.", "")).filter((type, index, all) => type !== all[index - 1]);
    const call = [
      "output_item.added",
      "mcp_call.in_progress",
      "mcp_call_arguments.delta",
      "mcp_call_arguments.done",
      "mcp_call.completed",
      "output_item.done",
    ];
    const message = [
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
    ];
    expect(types).toEqual(["created", "in_progress", ...call, ...message, "incomplete"]);
  });
});

describe("a response", () => {
  const request = { temperature: 0, tool_choice: { type: "function" as const, name: "Book" }, parallel_tool_calls: false };

  it("shows the call as one of a server's, is read again by its id, and is continued by it", async () => {
    const { model, log, calls } = await agentWith("response");
    const first = await client().responses.create({ ...request, model, input: "Two rooms", max_output_tokens: LIMIT });
    expect(first.output).toMatchObject([
      { type: "mcp_call", server_label: "edge", name: "Book", output: BOOKED, error: null, status: "completed" },
      { type: "message", role: "assistant" },
    ]);
    expect(first.tools).toEqual([{ type: "mcp", server_label: "edge", allowed_tools: ["Book"], require_approval: "never" }]);
    expect(JSON.stringify(first)).not.toContain(server.url);
    expect(await client().responses.retrieve(first.id)).toEqual(first);
    const next = { model, temperature: 0, tool_choice: "none" as const, max_output_tokens: 6 };
    await client().responses.create({ ...next, input: "Thank you", previous_response_id: first.id });
    // What an agents' library sends that keeps the conversation itself: every item, the call without its output.
    const items = first.output.map((item) => (item.type === "mcp_call" ? { ...item, output: undefined } : item));
    const input = [{ role: "user" as const, content: "Two rooms" }, ...items, { role: "user" as const, content: "Or else" }];
    await client().responses.create({ ...next, input: input as OpenAI.Responses.ResponseInput });
    const [, , byId, byItems] = turnsOf(await log.logged("turn:finished", 4));
    for (const turn of [byId, byItems])
      expect(turn?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
    expect([byId?.origin, byItems?.origin]).toEqual(["continuation", "branch"]);
    expect(calls()).toHaveLength(1);
  });
});

describe("tools of both kinds", () => {
  /** An agent with both, and a turn that calls both: the random base chooses by lot what it calls. */
  async function calledTogether(model: string, handler: ToolHandler) {
    const url = server.on(`/${model}`, handler);
    await putAgent(edge, model, { tools: [{ ...book, endpoint: { url } }, cancel] });
    const log = talkTo(edge, model);
    for (let seed = 1; seed < 80; seed++) {
      const extra = { temperature: 1, seed, tool_choice: "required", max_tokens: 300 };
      const { sessionId, message } = await log.ask([says("Two rooms")], { extra, headers: { "x-stainless-retry-count": "0" } });
      const executed = Executed.safeParse(message).data?.executed_tools ?? [];
      const { tool_calls: asked = [], content } = message;
      const ofSession = async () => (await log.events()).filter((event) => event.sessionId === sessionId);
      if (asked.length > 0 && executed.length > 0) return { log, sessionId, asked, content, executed, ofSession };
    }
    throw new Error("a turn that calls both tools expected, got none in 80");
  }

  /** The client gives its results; what the next turn read, and what the log says followed. */
  async function followed({ log, sessionId, asked, content, ofSession }: Awaited<ReturnType<typeof calledTogether>>) {
    const results = asked.map(({ id }) => ({ role: "tool", content: "cancelled", tool_call_id: id }));
    const conversation = [says("Two rooms"), { role: "assistant", content, tool_calls: asked }, ...results];
    const second = await log.ask(conversation, { extra: { tool_choice: "none" } });
    expect([second.status, second.sessionId]).toEqual([200, sessionId]);
    await expect.poll(async () => turnsOf(await ofSession()).length, { timeout: 20_000 }).toBe(2);
    const [, turn] = turnsOf(await ofSession());
    const [state] = nextStatesOf(await ofSession());
    const read = turn?.messages.slice(2).map(({ role, content: text }) => (role === "tool" ? text : role));
    expect(state?.[1].map(({ content: text }) => text)).toEqual(read);
    return read;
  }

  it("called in one turn: the edge runs its own at once, the client its own, and the next state is both", async () => {
    const together = await calledTogether("mixed", json(JSON.parse(BOOKED)));
    const { asked, executed } = together;
    expect(asked.map((call) => (call as never as { function: { name: string } }).function.name)).toEqual(asked.map(() => "Cancel"));
    expect(executed.every(({ name, output }) => name === "Book" && output === BOOKED)).toBe(true);
    const before = server.callsOf("/mixed").length;
    expect(await followed(together)).toEqual([...executed.map(() => BOOKED), ...asked.map(() => "cancelled")]);
    expect(server.callsOf("/mixed")).toHaveLength(before);
  });

  it("called in one turn: a result that the next turn cannot hold is told of, whatever the client sends", async () => {
    const together = await calledTogether("mixed-long", text("word ".repeat(4_000), "text/plain"));
    const read = await followed(together);
    expect(read?.[0]).toMatch(/answer of 20000 characters does not fit the context/);
  });

  it("stand beside each other where the request brings its own, and one name is one tool", async () => {
    const { model, log } = await agentWith("beside");
    await client().chat.completions.create({
      ...calling,
      model,
      messages: [says("Two rooms")] as never,
      max_tokens: LIMIT,
      tools: [cancel],
    });
    const [turn] = turnsOf(await log.logged("turn:finished", 2));
    expect(turn?.tools.map(({ function: { name } }) => name)).toEqual(["Cancel", "Book"]);
    const same = client().chat.completions.create({ model, messages: [says("Two rooms")] as never, tools: [book] });
    await expect(same).rejects.toMatchObject({ status: 400, param: "tools", message: expect.stringMatching(/got Book; leave it out/) });
  });
});

describe("where nothing may be kept", () => {
  it("a tool runs all the same, and leaves no event", async () => {
    const { model, log, calls } = await agentWith("unkept");
    const body = { ...calling, model, messages: [says("Two rooms")] as never, max_tokens: LIMIT, store: false };
    const { choices } = await client().chat.completions.create(body);
    expect(Executed.parse(choices[0]?.message).executed_tools).toHaveLength(1);
    expect(calls()).toHaveLength(1);
    await log.counted({ generations: 2 });
    expect(await log.events()).toEqual([]);
  });
});
