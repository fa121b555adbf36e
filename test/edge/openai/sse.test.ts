/** An answer's deltas as chunks and as one completion: the two say the same. */
import { describe, expect, it } from "vitest";
import { collectCompletion } from "../../../edge/openai/response.ts";
import { toEvents } from "../../../edge/openai/sse.ts";
import type { TurnDelta } from "../../../edge/session/port.ts";

const envelope = { id: "chatcmpl-1", created: 1_700_000_000, model: "assistant", system_fingerprint: "v3-0123456789ab" };
const logprob = { token: "Hi", logprob: -0.5, bytes: [72, 105], top_logprobs: [] };
const finished: TurnDelta = { kind: "finished", finishReason: "tool_calls", promptTokens: 10, cachedTokens: 4, completionTokens: 6 };
const answer: TurnDelta[] = [
  { kind: "content", text: "Hi", logprobs: [logprob] },
  { kind: "call", index: 0, id: "call_1", name: "Book" },
  { kind: "arguments", index: 0, text: '{"rooms"' },
  { kind: "arguments", index: 0, text: ": 1}" },
  { kind: "call", index: 1, id: "call_2", name: "Pay" },
  { kind: "arguments", index: 1, text: "{}" },
  finished,
];

async function* streamOf(deltas: TurnDelta[]): AsyncGenerator<TurnDelta, void, void> {
  yield* deltas;
}

async function eventsOf(deltas: TurnDelta[], includeUsage = false): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const text of toEvents(streamOf(deltas), { envelope, includeUsage }))
    for (const line of text.split("\n\n").filter((each) => each !== ""))
      events.push(line === "data: [DONE]" ? "[DONE]" : JSON.parse(line.replace(/^data: /, "")));
  return events;
}

describe("a stream", () => {
  it("opens with the role, numbers the calls and ends with the reason and [DONE]", async () => {
    const events = await eventsOf(answer);
    const shared = { ...envelope, object: "chat.completion.chunk", service_tier: "default" };
    const chunk = (delta: object, rest: object = {}) => ({
      ...shared,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...rest }],
    });
    expect(events).toEqual([
      chunk({ role: "assistant", content: "", refusal: null }),
      chunk({ content: "Hi" }, { logprobs: { content: [logprob], refusal: null } }),
      chunk({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "Book", arguments: "" } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"rooms"' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ": 1}" } }] }),
      chunk({ tool_calls: [{ index: 1, id: "call_2", type: "function", function: { name: "Pay", arguments: "" } }] }),
      chunk({ tool_calls: [{ index: 1, function: { arguments: "{}" } }] }),
      chunk({}, { finish_reason: "tool_calls" }),
      "[DONE]",
    ]);
  });

  it("has null usage in every chunk and a last one without choices where usage is asked for", async () => {
    const events = await eventsOf([finished], true);
    expect(events).toMatchObject([
      { usage: null },
      { usage: null },
      { choices: [], usage: { prompt_tokens: 10, completion_tokens: 6, total_tokens: 16, prompt_tokens_details: { cached_tokens: 4 } } },
      "[DONE]",
    ]);
  });

  it("ends with an error and without [DONE] where the turn fails or breaks off", async () => {
    const failed: TurnDelta = { kind: "failed", error: { code: "upstream/failed", message: "gone", details: {} } };
    expect((await eventsOf([failed])).at(-1)).toEqual({
      error: { message: "gone", type: "server_error", param: null, code: "upstream/failed" },
    });
    expect((await eventsOf([])).at(-1)).toMatchObject({ error: { code: "upstream/failed" } });
  });
});

describe("a completion", () => {
  it("holds the whole answer", async () => {
    const completion = await collectCompletion(streamOf(answer), { envelope, logprobs: true });
    expect(completion).toMatchObject({ ...envelope, object: "chat.completion", usage: { total_tokens: 16 } });
    expect(completion.choices).toEqual([
      {
        index: 0,
        message: {
          role: "assistant",
          content: "Hi",
          refusal: null,
          annotations: [],
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "Book", arguments: '{"rooms": 1}' } },
            { id: "call_2", type: "function", function: { name: "Pay", arguments: "{}" } },
          ],
        },
        logprobs: { content: [logprob], refusal: null },
        finish_reason: "tool_calls",
      },
    ]);
  });

  it("has null content where there are calls alone, and empty content where there is nothing", async () => {
    const calls = await collectCompletion(streamOf(answer.slice(1)), { envelope, logprobs: false });
    expect(calls.choices[0]).toMatchObject({ message: { content: null }, logprobs: null });
    const nothing = await collectCompletion(streamOf([{ ...finished, finishReason: "stop" }]), { envelope, logprobs: false });
    expect(nothing.choices[0]).toMatchObject({ message: { content: "" } });
  });

  it("is an error where the answer has no end", async () => {
    await expect(collectCompletion(streamOf(answer.slice(0, 2)), { envelope, logprobs: false })).rejects.toMatchObject({
      code: "upstream/failed",
    });
  });
});
