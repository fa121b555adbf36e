/** What a chat completion request may say, and which refusal names what it may not. */
import { describe, expect, it } from "vitest";
import { parseChatRequest } from "../../../edge/openai/request.ts";
import { toToolChoice } from "../../../edge/openai/tools.ts";
import { refusal } from "../../helpers/refusal.ts";

const user = { role: "user", content: "Book a room." };
const call = { id: "call_1", type: "function", function: { name: "Book", arguments: "{}" } };
const calling = { role: "assistant", content: null, tool_calls: [call] };
const result = { role: "tool", tool_call_id: "call_1", content: "ok" };
const tool = (parameters: unknown) => ({ type: "function", function: { name: "Book", parameters } });

const format = (schema: unknown, strict?: boolean) => ({ type: "json_schema", json_schema: { name: "answer", schema, strict } });

const parse = (extra: object) => parseChatRequest({ model: "assistant", messages: [user], ...extra });

describe("a request", () => {
  it("has the API's defaults where it says nothing", () => {
    expect(parse({})).toEqual({
      model: "assistant",
      messages: [user],
      tools: undefined,
      toolChoice: undefined,
      parallelToolCalls: true,
      responseFormat: { type: "text" },
      seed: undefined,
      temperature: undefined,
      topP: undefined,
      stop: [],
      logprobs: false,
      topLogprobs: 0,
      stream: false,
      includeUsage: false,
      store: undefined,
      truncation: "disabled",
      user: undefined,
      metadata: {},
      sessionId: undefined,
    });
  });

  it("is the same with every parameter at its default spelled out", () => {
    const defaults = {
      audio: null,
      frequency_penalty: 0,
      function_call: null,
      functions: null,
      logit_bias: null,
      logprobs: false,
      max_completion_tokens: null,
      metadata: null,
      modalities: ["text"],
      n: 1,
      parallel_tool_calls: true,
      prediction: null,
      presence_penalty: 0,
      reasoning_effort: null,
      response_format: { type: "text" },
      seed: null,
      service_tier: "auto",
      stop: null,
      store: null,
      stream: false,
      stream_options: null,
      temperature: null,
      tool_choice: null,
      tools: null,
      top_p: null,
      top_logprobs: null,
      verbosity: null,
    };
    expect(parse(defaults)).toEqual(parse({}));
  });

  it("reads what is asked for", () => {
    const request = parse({
      seed: 7,
      temperature: 0,
      top_p: 0.5,
      stop: "END",
      max_tokens: 9,
      logprobs: true,
      top_logprobs: 3,
      stream: true,
      stream_options: { include_usage: true },
      store: false,
      user: "ada",
      metadata: { session_id: "m1" },
    });
    expect(request).toMatchObject({
      seed: 7,
      temperature: 0,
      topP: 0.5,
      stop: ["END"],
      answerLimit: { param: "max_tokens", tokens: 9 },
      logprobs: true,
      topLogprobs: 3,
      stream: true,
      includeUsage: true,
      store: false,
      user: "ada",
      sessionId: undefined,
      metadata: { session_id: "m1" },
    });
    expect(parse({ user: "ada", safety_identifier: "hash", session_id: "s1", metadata: { session_id: "m1" } })).toMatchObject({
      user: '["hash","ada"]',
      sessionId: "s1",
    });
    expect(parse({ turn_type: "side", session_done: "on" })).toMatchObject({ turnKind: "side", closes: true });
    for (const done of [true, 1, "1", "True", "yes"]) expect(parse({ session_done: done }).closes).toBe(true);
    for (const done of [false, 0, "0", "no"]) expect(parse({ session_done: done }).closes).toBe(false);
    expect(refusal(() => parse({ session_done: "maybe" })).param).toBe("session_done");
    expect(refusal(() => parse({ turn_type: "both" })).param).toBe("turn_type");
    expect(parse({ safety_identifier: "hash" }).user).toBe("hash");
    expect(parse({ user: "ada", safety_identifier: "ada" }).user).toBe("ada");
    expect(parse({ user: "ada", safety_identifier: "" }).user).toBe("ada");
  });

  it("turns text parts into text and developer into system", () => {
    const parts = [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ];
    const { messages } = parseChatRequest({
      model: "a",
      messages: [
        { role: "developer", content: "Be brief." },
        { role: "user", content: parts },
      ],
    });
    expect(messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "one\ntwo" },
    ]);
  });

  it("takes back an answer with everything that clients keep of it", () => {
    // `parsed` is added by the client's own helpers.
    const echoed = { ...calling, refusal: null, annotations: [], audio: null, function_call: null, parsed: { a: 1 } };
    expect(parse({ messages: [user, echoed, result] }).messages).toEqual([user, calling, result]);
    // The Python package's stream helper leaves `parsed_arguments` and the delta's `index` on every call.
    const calls = calling.tool_calls.map((call) => ({ ...call, index: 0, function: { ...call.function, parsed_arguments: null } }));
    expect(parse({ messages: [user, { ...calling, tool_calls: calls }, result] }).messages).toEqual([user, calling, result]);
    const said = { role: "assistant", content: "Hello" };
    expect(parse({ messages: [user, { ...said, tool_calls: null, function_call: null }, user] }).messages).toEqual([user, said, user]);
  });

  it("takes back an answer in the parts that `@openai/agents` makes of it", () => {
    const part = { type: "text", text: "Hello", role: "assistant", refusal: null, annotations: [] };
    const said = { role: "assistant", content: "Hello" };
    expect(parse({ messages: [user, { ...said, content: [part] }, user] }).messages).toEqual([user, said, user]);
  });

  it("reads another model's refusal as what it said", () => {
    const said = { role: "assistant", content: "I cannot." };
    const refused = { role: "assistant", content: null, refusal: said.content };
    const inParts = { role: "assistant", content: [{ type: "refusal", refusal: said.content }] };
    expect(parse({ messages: [user, refused, user, inParts, user] }).messages).toEqual([user, said, user, said, user]);
  });

  it("may say how it is to be cached, which is no part of what is asked", () => {
    expect(parse({ messages: [user], prompt_cache_key: "desk", prompt_cache_retention: "24h" }).messages).toEqual([user]);
  });

  it("is the same with names on its messages, so that an answer which a framework has named is recognised", () => {
    const system = { role: "system", content: "Be brief." };
    const messages = [system, user, calling, result];
    expect(parse({ messages: messages.map((message) => ({ ...message, name: "ada" })) }).messages).toEqual(messages);
    expect(parse({ messages: messages.map((message) => ({ ...message, name: null })) }).messages).toEqual(messages);
  });

  it("takes the schemas that schema libraries write", () => {
    const parameters = {
      type: "object",
      properties: {
        day: { anyOf: [{ $ref: "#/$defs/Day" }, { type: "null" }], default: null },
        tags: { type: "array", items: { type: ["string", "null"] } },
      },
      required: ["day"],
      additionalProperties: false,
      $defs: { Day: { type: "string", enum: ["mon", "tue"] } },
    };
    expect(parse({ tools: [tool(parameters)] }).tools).toHaveLength(1);
    expect(parse({ tools: [tool({})] }).tools).toHaveLength(1);
  });
});

describe("the form of an answer", () => {
  const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"], additionalProperties: false };

  it.each([
    [undefined, { type: "text" }],
    [null, { type: "text" }],
    [{ type: "text" }, { type: "text" }],
    [{ type: "json_object" }, { type: "json_object" }],
    [format(schema, true), { type: "json_schema", schema, name: "answer", strict: true }],
    [
      format({ contains: "kept, and enforced by nobody" }),
      { type: "json_schema", schema: { contains: "kept, and enforced by nobody" }, name: "answer" },
    ],
  ])("is %j as asked", (asked, expected) => {
    expect(parse({ response_format: asked }).responseFormat).toEqual(expected);
  });

  it("may be that of a strict tool", () => {
    const strict = { type: "function", function: { name: "Book", strict: true, parameters: schema } };
    expect(parse({ tools: [strict] }).tools).toEqual([strict]);
  });
});

describe("a refusal names the parameter and says what to change", () => {
  const cases: [name: string, extra: object, param: string, message: RegExp][] = [
    ["an unknown parameter", { temprature: 1 }, "temprature", /remove it/],
    ["a number that no double holds", { n: Number.POSITIVE_INFINITY }, "n", /got Infinity/],
    ["several choices", { n: 2 }, "n", /got 2; send several requests/],
    ["a bias", { logit_bias: { "50256": -100 } }, "logit_bias", /got/],
    [
      "a response schema without a name",
      { response_format: { type: "json_schema", json_schema: {} } },
      "response_format.json_schema.name",
      /./,
    ],
    ["a response format of another kind", { response_format: { type: "grammar" } }, "response_format.type", /json_object/],
    [
      "a response schema that is none",
      { response_format: format({ type: "object", properties: { a: { type: "text" } } }) },
      "response_format.json_schema.schema.properties.a.type",
      /"text"/,
    ],
    [
      "a strict response schema with a keyword that nothing enforces",
      { response_format: format({ type: "object", properties: { zip: { type: "array", contains: {} } } }, true) },
      "response_format.json_schema.schema.properties.zip.contains",
      /set strict to false/,
    ],
    [
      "a strict response schema with a pattern that no automaton reads",
      { response_format: format({ type: "object", properties: { zip: { type: "string", pattern: "^(\\d)\\1$" } } }, true) },
      "response_format.json_schema.schema.properties.zip.pattern",
      /back references expected, got \\1: it cannot be enforced/,
    ],
    [
      "a strict response schema with a format that is unknown",
      { response_format: format({ type: "object", properties: { zip: { type: "string", format: "zip-code" } } }, true) },
      "response_format.json_schema.schema.properties.zip.format",
      /one of date, time, .* expected, got zip-code/,
    ],
    [
      "a pattern that no text within its lengths fits",
      { response_format: format({ type: "object", properties: { a: { type: "string", pattern: "^a$", minLength: 5 } }, required: ["a"] }) },
      "response_format.json_schema.schema.properties.a",
      /none does/,
    ],
    [
      "a pattern that is no text",
      { response_format: format({ type: "string", pattern: ["a"] }) },
      "response_format.json_schema.schema.pattern",
      /a text expected, got \["a"\]/,
    ],
    [
      "multiples of nothing",
      { response_format: format({ type: "number", multipleOf: 0 }) },
      "response_format.json_schema.schema.multipleOf",
      /above 0 expected, got 0/,
    ],
    [
      "a schema of many pages",
      { response_format: format({ enum: Array.from({ length: 9_000 }, (_, index) => index) }) },
      "response_format.json_schema.schema",
      /at most 32768 characters/,
    ],
    [
      "a schema that no value fits",
      { response_format: format({ type: "object", properties: { a: false }, required: ["a"] }) },
      "response_format.json_schema.schema.properties.a",
      /none does/,
    ],
    ["functions", { functions: [{ name: "f" }] }, "functions", /use tools/],
    ["a penalty", { frequency_penalty: 0.5 }, "frequency_penalty", /got 0.5/],
    ["a temperature out of range", { temperature: 3 }, "temperature", /2/],
    ["a temperature whose inverse is no number", { temperature: 1e-40 }, "temperature", /0 or at least 0.000001/],
    ["top_p of 0", { top_p: 0 }, "top_p", /temperature to 0/],
    ["no tokens", { max_tokens: 0 }, "max_tokens", /1/],
    ["two limits", { max_tokens: 1, max_completion_tokens: 1 }, "max_tokens", /got both/],
    ["five stops", { stop: ["a", "b", "c", "d", "e"] }, "stop", /at most 4/],
    ["an empty stop", { stop: "" }, "stop", /at least 1 character expected, got 0/],
    ["alternatives without log-probs", { top_logprobs: 2 }, "top_logprobs", /logprobs: true/],
    ["stream options without a stream", { stream_options: { include_usage: true } }, "stream_options", /stream: true/],
    ["a seed that is no integer", { seed: 1.5 }, "seed", /a whole number expected, got 1.5/],
    ["no messages", { messages: [] }, "messages", /at least one/],
    [
      "an image",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] }] },
      "messages.0.content.0.type",
      /text/,
    ],
    ["an unknown role", { messages: [{ role: "bot", content: "x" }] }, "messages.0.role", /./],
    ["a member of a message that there is not", { messages: [{ ...user, names: "ada" }] }, "messages.0.names", /member names: remove it/],
    ["an empty user message", { messages: [{ role: "user", content: "" }] }, "messages.0.content", /empty/],
    ["an assistant without anything", { messages: [user, { role: "assistant" }, user] }, "messages.1", /neither/],
    ["an assistant turn at the end", { messages: [user, { role: "assistant", content: "Done." }] }, "messages.1", /last message/],
    ["a result without a call", { messages: [user, result] }, "messages.1.tool_call_id", /call_1/],
    [
      "a result for another call",
      { messages: [user, calling, { ...result, tool_call_id: "call_2" }] },
      "messages.2.tool_call_id",
      /call_2/,
    ],
    ["a call without a result", { messages: [user, calling, user] }, "messages.1.tool_calls", /none for call_1/],
    [
      "a call without a name",
      { messages: [user, { ...calling, tool_calls: [{ ...call, function: { name: "", arguments: "{" } }] }, result] },
      "messages.1.tool_calls.0.function.name",
      /leave the call out/,
    ],
    ["one id for two calls", { messages: [user, { ...calling, tool_calls: [call, call] }, result] }, "messages.1.tool_calls", /twice/],
    ["no tools in the list", { tools: [] }, "tools", /leave it out/],
    ["a tool without a name", { tools: [{ type: "function", function: {} }] }, "tools.0.function.name", /./],
    ["two tools of a name", { tools: [tool({}), tool({})] }, "tools.1.function.name", /twice/],
    ["parameters that are no object", { tools: [tool({ type: "string" })] }, "tools.0.function.parameters", /"string"/],
    [
      "an unknown type",
      { tools: [tool({ type: "object", properties: { a: { type: "text" } } })] },
      "tools.0.function.parameters.properties.a.type",
      /"text"/,
    ],
    ["required that is no list", { tools: [tool({ type: "object", required: "a" })] }, "tools.0.function.parameters.required", /list/],
    [
      "a strict tool with a keyword that nothing enforces",
      {
        tools: [
          {
            type: "function",
            function: { name: "f", strict: true, parameters: { type: "object", properties: { n: { type: "array", uniqueItems: true } } } },
          },
        ],
      },
      "tools.0.function.parameters.properties.n.uniqueItems",
      /set strict to false/,
    ],
    [
      "a tool whose arguments nothing fits",
      { tools: [tool({ type: "object", properties: { a: { type: "string", enum: [1] } }, required: ["a"] })] },
      "tools.0.function.parameters.properties.a",
      /none does/,
    ],
    [
      "the member within others that nothing fits",
      {
        tools: [
          tool({
            type: "object",
            properties: { b: {}, a: { type: "object", properties: { c: { enum: [1], type: "string" } }, required: ["c"] } },
            required: ["b", "a"],
          }),
        ],
      },
      "tools.0.function.parameters.properties.a.properties.c",
      /none does/,
    ],
    [
      "alternatives of which nothing fits any",
      { tools: [tool({ type: "object", properties: { a: { anyOf: [false, false] } }, required: ["a"] })] },
      "tools.0.function.parameters.properties.a",
      /none does/,
    ],
    ["a custom tool", { tools: [{ type: "custom", custom: { name: "f" } }] }, "tools.0.type", /function/],
    ["an unknown choice", { tool_choice: "always" }, "tool_choice", /required/],
    [
      "audio of an old answer",
      { messages: [user, { role: "assistant", content: "a", audio: { id: "x" } }, user] },
      "messages.1.audio",
      /audio/,
    ],
  ];

  it.for(cases)("%s", ([, extra, param, message]) => {
    const refused = refusal(() => parse(extra));
    expect(refused.param).toBe(param);
    expect(refused.message).toMatch(message);
  });

  it.for([null, [], "text", 3])("a body that is %j", (body) => {
    expect(refusal(() => parseChatRequest(body)).message).toMatch(/JSON object expected/);
  });

  it("a choice of a tool that is not there", () => {
    const choice = { type: "function" as const, function: { name: "Cancel" } };
    expect(refusal(() => toToolChoice(choice, [{ type: "function", function: { name: "Book" } }])).message).toMatch(/Cancel/);
    expect(refusal(() => toToolChoice("required", [])).message).toMatch(/got none/);
  });
});

describe("the choice of tools", () => {
  it("is auto where there are tools and none where there are not", () => {
    expect(toToolChoice(undefined, [{ type: "function", function: { name: "Book" } }])).toBe("auto");
    expect([toToolChoice(undefined, []), toToolChoice("auto", [])]).toEqual(["none", "none"]);
  });
});
