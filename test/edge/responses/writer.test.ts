/** An answer's deltas as events and as one response: the two say the same, in the shapes of the `openai` package. */
import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses";
import { describe, expect, it } from "vitest";
import { collectResponse, responseEvents } from "../../../edge/responses/answer.ts";
import { toMessages } from "../../../edge/responses/items.ts";
import { parseResponseRequest } from "../../../edge/responses/request.ts";
import { toEcho, type ResponseEvent, type ResponseOnWire } from "../../../edge/responses/wire.ts";
import type { FinishedDelta, TurnDelta } from "../../../edge/session/port.ts";
import { canonicalMessage } from "../../../edge/session/transcript.ts";

// The package's types are the contract: what we send is assignable to them. `output_text` is the client's own addition.
type Writable<T> = T extends readonly (infer Each)[]
  ? Writable<Each>[]
  : T extends object
    ? { -readonly [K in keyof T]: Writable<T[K]> }
    : T;
type ItemEvent = Exclude<ResponseEvent, { response: object }>;
const asEvent = (event: Writable<ItemEvent>): ResponseStreamEvent => event;
const asResponse = (response: Writable<ResponseOnWire>): Omit<Response, "output_text"> => response;
void [asEvent, asResponse];

const echo = toEcho(parseResponseRequest({ model: "assistant", input: "Hi" }), {
  tools: [],
  store: true,
  drawn: { temperature: 1, topP: 1 },
});
const base = { id: `resp_${"0".repeat(48)}`, createdAt: 1_700_000_000, echo };
const logprob = { token: "Hi", logprob: -0.5, bytes: [72, 105], top_logprobs: [] };
const finished: FinishedDelta = { kind: "finished", finishReason: "tool_calls", promptTokens: 10, cachedTokens: 4, completionTokens: 6 };
const answer: TurnDelta[] = [
  { kind: "content", text: "H", logprobs: [logprob] },
  { kind: "content", text: "i" },
  { kind: "call", index: 0, id: "call_1", name: "Book" },
  { kind: "arguments", index: 0, text: '{"rooms"' },
  { kind: "arguments", index: 0, text: ": 1}" },
  { kind: "content", text: "\n" },
  { kind: "call", index: 1, id: "call_2", name: "Pay" },
  { kind: "arguments", index: 1, text: "{}" },
  finished,
];
const id = (prefix: string, index: number) => `${prefix}_${"0".repeat(48)}_${index}`;

async function* streamOf(deltas: TurnDelta[]): AsyncGenerator<TurnDelta, void, void> {
  yield* deltas;
}

async function eventsOf(deltas: TurnDelta[]): Promise<ResponseEvent[]> {
  const events: ResponseEvent[] = [];
  for await (const event of responseEvents(streamOf(deltas), base)) events.push(event);
  return events;
}

describe("the events of an answer", () => {
  it("tell of each item from its beginning to its end, and number themselves", async () => {
    const [created, progress, ...events] = await eventsOf(answer);
    expect([created, progress]).toMatchObject([
      { type: "response.created", sequence_number: 0, response: { status: "in_progress", output: [] } },
      { type: "response.in_progress", sequence_number: 1 },
    ]);
    const text = { item_id: id("msg", 0), output_index: 0, content_index: 0 };
    const part = { type: "output_text", text: "Hi", annotations: [], logprobs: [logprob] };
    const book = {
      type: "function_call",
      id: id("fc", 1),
      call_id: "call_1",
      name: "Book",
      arguments: '{"rooms": 1}',
      status: "completed",
    };
    const inBook = { item_id: book.id, output_index: 1 };
    const pay = { ...book, id: id("fc", 2), call_id: "call_2", name: "Pay", arguments: "{}" };
    const inPay = { item_id: pay.id, output_index: 2 };
    const message = { type: "message", id: text.item_id, role: "assistant", status: "completed", content: [part] };
    const empty = { ...part, text: "", logprobs: [] };
    const item = "response.output_item";
    const args = "response.function_call_arguments";
    expect(events.slice(0, -1).map((event) => ({ ...event, sequence_number: undefined }))).toEqual([
      { type: `${item}.added`, output_index: 0, item: { ...message, status: "in_progress", content: [] } },
      { type: "response.content_part.added", ...text, part: empty },
      { type: "response.output_text.delta", ...text, delta: "H", logprobs: [logprob] },
      { type: "response.output_text.delta", ...text, delta: "i", logprobs: [] },
      { type: "response.output_text.done", ...text, text: "Hi", logprobs: [logprob] },
      { type: "response.content_part.done", ...text, part },
      { type: `${item}.done`, output_index: 0, item: message },
      { type: `${item}.added`, output_index: 1, item: { ...book, arguments: "", status: "in_progress" } },
      { type: `${args}.delta`, ...inBook, delta: '{"rooms"' },
      { type: `${args}.delta`, ...inBook, delta: ": 1}" },
      { type: `${args}.done`, ...inBook, name: "Book", arguments: '{"rooms": 1}' },
      { type: `${item}.done`, output_index: 1, item: book },
      // White space between calls is no message.
      { type: `${item}.added`, output_index: 2, item: { ...pay, arguments: "", status: "in_progress" } },
      { type: `${args}.delta`, ...inPay, delta: "{}" },
      { type: `${args}.done`, ...inPay, name: "Pay", arguments: "{}" },
      { type: `${item}.done`, output_index: 2, item: pay },
    ]);
    expect(events.at(-1)).toEqual({
      type: "response.completed",
      sequence_number: events.length + 1,
      response: await collectResponse(streamOf(answer), base),
    });
  });

  it("end as incomplete where the limit of tokens cut the answer short", async () => {
    const events = await eventsOf([
      { kind: "content", text: "Hi" },
      { ...finished, finishReason: "length" },
    ]);
    expect(events.at(-1)).toMatchObject({
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, output: [{ status: "incomplete" }] },
    });
  });

  it("say when the answer came to its end, and of one that did not, or whose record does not tell, nothing", async () => {
    const completedAt = async (end: Partial<typeof finished>) => {
      const events = await eventsOf([
        { kind: "content", text: "Hi" },
        { ...finished, ...end },
      ]);
      return events.flatMap((event) => ("response" in event ? [event.response.completed_at] : []));
    };
    expect(await completedAt({ finishedAt: 1_700_000_001_999 })).toEqual([null, null, 1_700_000_001]);
    expect(await completedAt({ finishedAt: 1_700_000_001_999, finishReason: "length" })).toEqual([null, null, null]);
    expect(await completedAt({})).toEqual([null, null, null]);
  });

  it("tell of an empty message where nothing was said", async () => {
    const { output, usage } = await collectResponse(streamOf([finished]), base);
    expect(output).toMatchObject([{ type: "message", content: [{ type: "output_text", text: "" }] }]);
    expect(usage).toMatchObject({ input_tokens: 10, output_tokens: 6, total_tokens: 16, input_tokens_details: { cached_tokens: 4 } });
  });

  it("end as failed where the turn fails or breaks off", async () => {
    const failed: TurnDelta = { kind: "failed", error: { code: "upstream/failed", message: "gone", details: {} } };
    const [event] = (await eventsOf([{ kind: "content", text: "Hi" }, failed])).slice(-1);
    expect(event).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "server_error", message: "gone" } },
    });
    expect((await eventsOf([])).at(-1)).toMatchObject({
      type: "response.failed",
      response: { error: { message: expect.stringMatching(/without an end/) } },
    });
    await expect(collectResponse(streamOf([failed]), base)).rejects.toThrow("gone");
  });
});

it("sends back as the message that the session recorded, whatever stands between the calls", async () => {
  const around: TurnDelta[] = [...answer.slice(0, -1), { kind: "content", text: "\nDone." }, finished];
  const { output } = await collectResponse(streamOf(around), base);
  expect(output.map(({ type }) => type)).toEqual(["message", "function_call", "function_call", "message"]);
  const [back, ...rest] = toMessages(output.map((item) => ({ item, place: "input" })));
  const calls = [
    { id: "call_1", type: "function" as const, function: { name: "Book", arguments: '{"rooms": 1}' } },
    { id: "call_2", type: "function" as const, function: { name: "Pay", arguments: "{}" } },
  ];
  expect(rest).toEqual([]);
  expect(back && canonicalMessage(back.message)).toBe(canonicalMessage({ role: "assistant", content: "Hi\n\nDone.", tool_calls: calls }));
});
