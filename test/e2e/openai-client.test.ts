/** The `openai` package, unmodified, against the real edge: what a user of the API sees. */
import OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { call, putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";

const edge = withEdge();
const AGENT = "assistant";
const short = { model: AGENT, max_completion_tokens: 12, seed: 7 };
const hello: OpenAI.ChatCompletionUserMessageParam = { role: "user", content: "Hello" };
const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: "function",
    function: {
      name: "Book",
      description: "Books rooms.",
      parameters: { type: "object", properties: { rooms: { type: "integer" } }, required: ["rooms"] },
    },
  },
  { type: "function", function: { name: "Cancel", parameters: { type: "object", properties: {} } } },
];

const client = (options: { apiKey?: string; maxRetries?: number; fetch?: typeof fetch } = {}) =>
  new OpenAI({ apiKey: edge.keys.client, baseURL: `${edge.url}/v1`, maxRetries: 0, ...options });

const only = <Value>([value, ...rest]: readonly Value[]): Value => {
  if (value === undefined || rest.length > 0) throw new Error(`exactly one expected, got ${rest.length + (value === undefined ? 0 : 1)}`);
  return value;
};

beforeAll(() => putAgent(edge, AGENT));

describe("models", () => {
  it("are the agents", async () => {
    const page = await client().models.list();
    expect(page.data).toMatchObject([{ id: AGENT, object: "model", owned_by: "nextstate" }]);
    expect(await client().models.retrieve(AGENT)).toEqual(only(page.data));
    await expect(client().models.retrieve("nobody")).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });
});

describe("a completion", () => {
  it("states its policy version, its usage and why it ended", async () => {
    const { data, response } = await client()
      .chat.completions.create({ ...short, messages: [hello] })
      .withResponse();
    expect(data.id).toMatch(/^chatcmpl-/);
    expect(data.object).toBe("chat.completion");
    expect(data.system_fingerprint).toBe(`v0-${edge.baseDigest.slice(0, 12)}`);
    expect(response.headers.get("x-policy-version")).toBe("0");
    expect(response.headers.get("x-policy-digest")).toBe(edge.baseDigest);
    expect(response.headers.get("x-request-id")).toMatch(/./);
    expect(["stop", "length"]).toContain(only(data.choices).finish_reason);
    expect(data.usage?.total_tokens).toBe((data.usage?.prompt_tokens ?? 0) + (data.usage?.completion_tokens ?? 0));
  });

  it("is the same for the same seed, and at temperature 0 for any", async () => {
    const text = async (options: object): Promise<string | null> =>
      only((await client().chat.completions.create({ ...short, messages: [hello], ...options })).choices).message.content;
    expect(await text({ seed: 11, temperature: 1 })).toBe(await text({ seed: 11, temperature: 1 }));
    expect(await text({ temperature: 0, seed: 1 })).toBe(await text({ temperature: 0, seed: 2 }));
  });

  it("is drawn as the agent says where the request does not, and at 0 unless it says", async () => {
    const text = async (model: string, options: object = {}): Promise<string | null> =>
      only((await client().chat.completions.create({ ...short, model, messages: [hello], ...options })).choices).message.content;
    expect(await text(AGENT, { seed: 1 })).toBe(await text(AGENT, { temperature: 0 }));
    await putAgent(edge, "warm", { sampling: { temperature: 1.5 } });
    expect(await text("warm", { seed: 1 })).toBe(await text("warm", { temperature: 1.5, seed: 1 }));
    expect(await text("warm", { seed: 1 })).not.toBe(await text("warm", { temperature: 0 }));
  });

  it("ends at the limit of tokens, and before a stop text", async () => {
    const limited = await client().chat.completions.create({ ...short, messages: [hello], temperature: 0, max_completion_tokens: 9 });
    expect(only(limited.choices).finish_reason).toBe("length");
    expect(limited.usage?.completion_tokens).toBe(9);
    const full = only(limited.choices).message.content ?? "";
    const stop = full.slice(2, 4);
    const stopped = await client().chat.completions.create({
      ...short,
      messages: [hello],
      temperature: 0,
      max_completion_tokens: 9,
      stop: [stop],
    });
    expect(only(stopped.choices)).toMatchObject({ finish_reason: "stop", message: { content: full.slice(0, full.indexOf(stop)) } });
  });

  it("reports log-probs of its content and of the alternatives", async () => {
    const { choices } = await client().chat.completions.create({
      ...short,
      messages: [hello],
      temperature: 0,
      logprobs: true,
      top_logprobs: 3,
    });
    const tokens = only(choices).logprobs?.content ?? [];
    expect(tokens.length).toBeGreaterThan(0);
    for (const { logprob, top_logprobs: top } of tokens) {
      expect(logprob).toBeLessThanOrEqual(0);
      expect(top).toHaveLength(3);
      expect(top[0]?.logprob).toBeCloseTo(logprob, 6); // greedy: the first alternative is the token itself
    }
  });
});

describe("a stream", () => {
  it("says piece by piece what the completion says at once", async () => {
    const request = { ...short, messages: [hello], max_completion_tokens: 40, seed: 3 };
    const whole = await client().chat.completions.create(request);
    const stream = await client().chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    expect(text).toBe(only(whole.choices).message.content);
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe(only(whole.choices).finish_reason);
    const { prompt_tokens_details: _, ...usage } = whole.usage ?? {};
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it("is assembled by the client's own helper", async () => {
    const run = client().chat.completions.stream({
      ...short,
      messages: [hello],
      tools,
      tool_choice: "required",
      max_completion_tokens: 80,
    });
    const message = await run.finalMessage();
    expect(message.tool_calls?.length).toBeGreaterThan(0);
    expect(await run.totalUsage()).toBeDefined();
  });
});

describe("tools", () => {
  it("can be forced by name, and the call can be answered", async () => {
    const asked = { ...short, max_completion_tokens: 80, messages: [hello], tools };
    const first = await client().chat.completions.create({ ...asked, tool_choice: { type: "function", function: { name: "Cancel" } } });
    const { message } = only(first.choices);
    const [forced] = message.tool_calls ?? [];
    expect(forced).toMatchObject({ type: "function", function: { name: "Cancel" } });
    const results = (message.tool_calls ?? []).map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "done" }));
    const second = await client().chat.completions.create({ ...asked, messages: [hello, message, ...results], tool_choice: "none" });
    expect(only(second.choices).message.tool_calls).toBeUndefined();
  });

  it("are not called where there are none", async () => {
    for (const seed of [7, 8, 9]) {
      const { choices } = await client().chat.completions.create({
        ...short,
        seed,
        temperature: 2,
        max_completion_tokens: 400,
        messages: [hello],
      });
      expect(only(choices).message.tool_calls).toBeUndefined();
    }
  });

  it("are called once where calls in parallel are not wanted", async () => {
    for (const seed of [82, 84, 93]) {
      const { choices } = await client().chat.completions.create({
        ...short,
        seed,
        temperature: 1.5,
        max_completion_tokens: 400,
        messages: [hello],
        tools,
        tool_choice: "required",
        parallel_tool_calls: false,
      });
      expect(only(choices).message.tool_calls).toHaveLength(1);
    }
  });
});

describe("structured output", () => {
  // Members that end soon: random weights come upon the end of a free text by chance.
  const Booking = z.object({ kind: z.enum(["single", "double"]), breakfast: z.boolean(), who: z.literal('Ada "the first"').nullable() });

  it("is parsed by the client's own helper", async () => {
    const completion = await client().chat.completions.parse({
      model: AGENT,
      messages: [hello],
      response_format: zodResponseFormat(Booking, "booking"),
    });
    const { message, finish_reason: reason } = only(completion.choices);
    expect(reason).toBe("stop");
    expect(Booking.parse(JSON.parse(message.content ?? ""))).toEqual(message.parsed);
  });

  it("streams as JSON piece by piece", async () => {
    const stream = client().chat.completions.stream({
      model: AGENT,
      messages: [hello],
      response_format: zodResponseFormat(Booking, "booking"),
    });
    const final = await stream.finalChatCompletion();
    expect(Booking.safeParse(only(final.choices).message.parsed).success).toBe(true);
  });

  it("is any object where no schema is given", async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((seed) =>
        client().chat.completions.create({ ...short, seed, messages: [hello], response_format: { type: "json_object" } }),
      ),
    );
    const contents = answers
      .map(({ choices }) => only(choices))
      .map(({ message, finish_reason: reason }) => ({ text: message.content ?? "", reason }));
    expect(contents.every(({ text }) => text.startsWith("{"))).toBe(true);
    for (const { text } of contents.filter(({ reason }) => reason === "stop")) expect(JSON.parse(text)).toBeTypeOf("object");
  });

  it("is a strict tool's arguments, parsed by the client's own helper", async () => {
    const completion = await client().chat.completions.parse({
      model: AGENT,
      messages: [hello],
      tools: [zodFunction({ name: "book", parameters: Booking })],
      tool_choice: { type: "function", function: { name: "book" } },
    });
    const called = only(only(completion.choices).message.tool_calls ?? []);
    if (called.type !== "function") throw new Error(`a function call expected, got ${called.type}`);
    expect(Booking.parse(called.function.parsed_arguments)).toEqual(JSON.parse(called.function.arguments));
  });

  it("that cannot be enforced is refused by its keyword", async () => {
    const Zip = z.object({ zip: z.string().regex(/^(\d)\1$/) });
    const refused = client().chat.completions.parse({ ...short, messages: [hello], response_format: zodResponseFormat(Zip, "zip") });
    await expect(refused).rejects.toMatchObject({ status: 400, param: "response_format.json_schema.schema.properties.zip.pattern" });
  });
});

describe("the client's own retries", () => {
  it("after an answer that was lost on the way get that answer, not another", async () => {
    await putAgent(edge, "flaky");
    const ids: string[] = [];
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      ids.push(((await response.clone().json()) as { id: string }).id);
      if (ids.length === 1) throw new TypeError("connection lost");
      return response;
    };
    const answer = await client({ maxRetries: 2, fetch: losing }).chat.completions.create({ ...short, model: "flaky", messages: [hello] });
    expect(ids).toEqual([answer.id, answer.id]);
    const counters = async () =>
      (await call(edge, "admin", "GET /api/stats")).body.agents.find((each: { agent: string }) => each.agent === "flaky");
    await expect.poll(counters, { timeout: 20_000 }).toMatchObject({ generations: 1, replays: 1 });
  });
});

describe("errors", () => {
  it("are the client's own classes, with the parameter at fault", async () => {
    const create = (extra: object, options = {}) => client(options).chat.completions.create({ ...short, messages: [hello], ...extra });
    await expect(create({ n: 2 })).rejects.toMatchObject({ status: 400, param: "n", type: "invalid_request_error" });
    await expect(create({ model: "nobody" })).rejects.toMatchObject({ status: 404, code: "model_not_found" });
    await expect(create({}, { apiKey: "nsk_client_wrong" })).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    await expect(create({}, { apiKey: edge.keys.admin })).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError);
    const many = [{ role: "user", content: "word ".repeat(600) }];
    await expect(create({ messages: many })).rejects.toMatchObject({ status: 400, code: "context_length_exceeded" });
  });
});
