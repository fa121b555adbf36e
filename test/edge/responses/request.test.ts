/** Bodies of the Responses API → what a turn is asked; each refusal names the parameter at fault. */
import { describe, expect, it } from "vitest";
import { parseResponseRequest, toAskedTurn } from "../../../edge/responses/request.ts";
import { referredResponses, withReferred } from "../../../edge/responses/references.ts";
import type { OutputItem } from "../../../edge/responses/wire.ts";
import { refusal } from "../../helpers/refusal.ts";

const parameters = { type: "object", properties: { rooms: { type: "integer" } } };
const book = { type: "function", name: "Book", description: "Books rooms.", parameters, strict: null };
const user = { role: "user", content: "Two rooms" };
const calling = { type: "function_call", id: "fc_1", call_id: "call_1", name: "Book", arguments: '{"rooms": 2}', status: "completed" };
const result = { type: "function_call_output", call_id: "call_1", output: "done" };

const ask = (extra: object, stored: readonly OutputItem[] = []) => {
  const parameters = parseResponseRequest({ model: "assistant", input: "Hello", ...extra });
  return toAskedTurn(withReferred(parameters, stored), undefined);
};

describe("a request", () => {
  it("of a text is a user's message, after the instructions", () => {
    expect(ask({ instructions: "Be kind." }).messages).toEqual([
      { role: "system", content: "Be kind." },
      { role: "user", content: "Hello" },
    ]);
  });

  it("of items is a conversation in which text and calls of one answer are one message", () => {
    const said = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
    const part = { type: "output_text", text: "Let me see.", annotations: [], logprobs: [] };
    const input = [
      { role: "developer", content: [{ type: "input_text", text: "Be kind." }] },
      user,
      { ...said, content: [part] },
      calling,
      { ...calling, call_id: "call_2" },
      result,
      { ...result, call_id: "call_2", output: [{ type: "input_text", text: "done" }] },
      { role: "assistant", content: "Booked." },
      { type: "message", role: "user", content: "Thanks" },
    ];
    const call = { id: "call_1", type: "function", function: { name: "Book", arguments: '{"rooms": 2}' } };
    expect(ask({ input }).messages).toEqual([
      { role: "system", content: "Be kind." },
      { role: "user", content: "Two rooms" },
      { role: "assistant", content: "Let me see.", tool_calls: [call, { ...call, id: "call_2" }] },
      { role: "tool", content: "done", tool_call_id: "call_1" },
      { role: "tool", content: "done", tool_call_id: "call_2" },
      { role: "assistant", content: "Booked." },
      { role: "user", content: "Thanks" },
    ]);
  });

  it("has its settings under the names of this API, and the API's defaults", () => {
    const schema = { type: "object", properties: { a: { type: "boolean" } } };
    const set = ask({
      tools: [book],
      tool_choice: { type: "function", name: "Book" },
      max_output_tokens: 5,
      temperature: 0,
      text: { format: { type: "json_schema", name: "a", schema, strict: true } },
      user: "ann",
    });
    expect(set).toMatchObject({
      tools: [{ type: "function", function: { name: "Book", description: "Books rooms.", parameters } }],
      toolChoice: { type: "function", function: { name: "Book" } },
      answerLimit: { param: "max_output_tokens", tokens: 5 },
      responseFormat: { type: "json_schema", schema },
      temperature: 0,
      user: "ann",
    });
    expect(ask({})).toMatchObject({
      temperature: undefined,
      topP: undefined,
      stop: [],
      tools: undefined,
      answerLimit: undefined,
      store: undefined,
    });
    expect(ask({ tools: [] }).tools).toEqual([]);
  });

  it("may state what is so anyway", () => {
    const defaults = {
      background: false,
      truncation: "disabled",
      reasoning: { effort: null, summary: null },
      include: [],
      service_tier: "auto",
      text: { format: { type: "text" }, verbosity: "medium" },
      previous_response_id: null,
      conversation: null,
      max_tool_calls: null,
    };
    expect(ask(defaults)).toEqual(ask({}));
  });
});

describe("an item that is referred to by its id", () => {
  const said: OutputItem = {
    ...{ type: "message", id: "msg_0a_0", role: "assistant", status: "completed" },
    content: [{ type: "output_text", text: "How many?", annotations: [], logprobs: [] }],
  };
  const call: OutputItem = {
    ...{ type: "function_call", id: "fc_0b_0", call_id: "call_1", name: "Book", arguments: "{}", status: "completed" },
  };
  const refer = ({ id }: OutputItem) => ({ type: "item_reference", id });

  it("stands where its reference stands", () => {
    const full = [user, said, user, call, result];
    const referring = [user, refer(said), user, refer(call), result];
    expect(ask({ input: referring }, [call, said]).messages).toEqual(ask({ input: full }).messages);
  });

  it("is looked for in the responses that the ids name, in each once", () => {
    const input = [refer(said), refer(call), { type: "item_reference", id: "mcp_0b_1" }];
    expect(referredResponses(parseResponseRequest({ model: "assistant", input }))).toEqual(["resp_0a", "resp_0b"]);
  });

  it("is none of ours where its id is another's, and none of too many responses", () => {
    const parsed = (ids: string[]) =>
      parseResponseRequest({ model: "assistant", input: ids.map((id) => ({ type: "item_reference", id })) });
    expect(refusal(() => referredResponses(parsed(["msg_0a_0", "rs_abc"]))).param).toBe("input.1.id");
    const many = Array.from({ length: 101 }, (_, index) => `msg_${index.toString(16)}_0`);
    expect(refusal(() => referredResponses(parsed(many))).message).toMatch(/at most 100 responses expected, got 101/);
  });
});

describe("what another model answered", () => {
  it("is its words, without what it thought and where they came from", () => {
    const input = [
      user,
      { type: "reasoning", id: "rs_1", summary: [] },
      {
        ...{ type: "message", role: "assistant", phase: "final_answer" },
        content: [{ type: "output_text", text: "Two.", annotations: [{ type: "url_citation", url: "https://a.example" }] }],
      },
      user,
      { role: "assistant", content: [{ type: "refusal", refusal: "I cannot." }] },
      user,
    ];
    expect(ask({ input }).messages.map(({ content }) => content)).toEqual([user.content, "Two.", user.content, "I cannot.", user.content]);
  });
});

describe("is refused by name:", () => {
  const cases: [name: string, extra: object, param: string, message: RegExp][] = [
    ["an unknown parameter", { messages: [user] }, "messages", /remove it/],
    ["a background run", { background: true }, "background", /set stream/],
    ["a stored conversation", { conversation: "conv_1" }, "conversation", /previous_response_id/],
    ["effort", { reasoning: { effort: "high", summary: null } }, "reasoning", /"effort":"high"/],
    ["a summary of what was thought", { reasoning: { summary: "auto" } }, "reasoning", /"summary":"auto"/],
    ["truncation elsewhere", { truncation: "middle" }, "truncation", /"disabled"/],
    ["a built-in tool", { tools: [{ type: "web_search" }] }, "tools.0.type", /function/],
    ["two tools of a name", { tools: [book, book] }, "tools.1.name", /twice/],
    [
      "parameters that are no schema",
      { tools: [{ ...book, parameters: { type: "object", required: "a" } }] },
      "tools.0.parameters.required",
      /list/,
    ],
    ["results from elsewhere", { include: ["web_search_call.results"] }, "include.0", /logprobs/],
    ["alternatives without log-probs", { top_logprobs: 2 }, "top_logprobs", /include/],
    ["an option of streams without one", { stream_options: {} }, "stream_options", /stream: true/],
    ["no items", { input: [] }, "input", /at least one/],
    ["an item of another kind", { input: [{ type: "web_search_call" }] }, "input.0.type", /function_call_output/],
    ["an image", { input: [{ role: "user", content: [{ type: "input_image" }] }] }, "input.0.content.0.type", /input_text/],
    ["an item that is stored nowhere", { input: [{ type: "item_reference", id: "msg_0a_0" }] }, "input.0.id", /send the item itself/],
    ["an empty text", { input: "" }, "input", /empty/],
    ["an answer at the end", { input: [user, { role: "assistant", content: "Done." }] }, "input.1", /last message/],
    ["a result without a call", { input: [user, result] }, "input.1", /call_1/],
    ["a call without a name", { input: [user, { ...calling, name: "" }, result] }, "input.1.name", /leave the call out/],
    ["a call without a result", { input: [user, calling, user] }, "input.1", /none for call_1/],
    [
      "a schema that nothing fits",
      { text: { format: { type: "json_schema", name: "a", schema: { enum: [1], type: "string" } } } },
      "text.format.schema",
      /none does/,
    ],
    ["verbosity", { text: { verbosity: "low" } }, "text.verbosity", /./],
  ];

  it.for(cases)("%s", ([, extra, param, message]) => {
    const refused = refusal(() => ask(extra));
    expect(refused.param).toBe(param);
    expect(refused.message).toMatch(message);
  });
});
