/** Streams of engines → steps: what adds up is told, what does not is not used, and what breaks off is an error. */
import { describe, expect, it } from "vitest";
import { ChatStream } from "../../../edge/engine/chat-stream.ts";
import { CompletionStream, GenerateStream } from "../../../edge/engine/native-streams.ts";
import type { EngineTurn } from "../../../edge/engine/port.ts";
import { distortionOf, reportOf, type Told } from "../../../edge/engine/report.ts";
import { createWorkersAiEngine } from "../../../edge/engine/workers-ai-engine.ts";
import type { Env } from "../../../edge/env.ts";
import type { WorkersAiEngine } from "../../../shared/engine.ts";
import { FREE_FORM } from "../../../shared/grammar/answer-form.ts";

const asTold = (told: Told) => reportOf(told, { silence: undefined, distortion: undefined });
const usage = { prompt_tokens: 2, completion_tokens: 2 };
const delta = (content: string, ids: number[], rest: object = {}) => ({
  choices: [
    { delta: { content }, token_ids: ids, logprobs: { content: ids.map((id) => ({ token: content, logprob: -id / 10 })) }, ...rest },
  ],
});

describe("a streamed chat completion", () => {
  it("tells its tokens where their number is the one stated", () => {
    const stream = new ChatStream();
    const chunks = [
      { choices: [{ delta: { role: "assistant" } }], prompt_token_ids: [5, 6] },
      delta("A", [1]),
      delta("B", [2], { finish_reason: "stop" }),
    ];
    const deltas = [...chunks, { choices: [], usage }].flatMap((chunk) => stream.push(chunk).deltas);
    expect(deltas).toEqual([{ kind: "content", text: "A" }, { kind: "content", text: "B" }]); // prettier-ignore
    const { report, content, finishReason } = stream.end(asTold);
    expect([content, finishReason]).toEqual(["AB", "stop"]);
    expect(report).toEqual({
      promptTokens: [5, 6],
      responseTokens: [1, 2],
      rolloutLogProbs: [-0.1, -0.2],
      responseCount: 2,
      unusable: undefined,
    });
  });

  it("shows as many alternatives as the client asked for, whatever was told", () => {
    const token = { token: "A", logprob: -1, top_logprobs: [{ token: "B", logprob: -0.5 }] };
    const shown = (alternatives?: number) => new ChatStream(alternatives).push({ choices: [{ logprobs: { content: [token] } }] }).logProbs;
    expect(shown()).toEqual([]);
    expect([shown(0), shown(1)]).toMatchObject([[{ logProb: -1, topLogProbs: [] }], [{ topLogProbs: [{ logProb: -0.5 }] }]]);
  });

  it("does not where tokens are missing: a parser may swallow some", () => {
    const stream = new ChatStream();
    for (const chunk of [{ choices: [], prompt_token_ids: [5, 6] }, delta("A", [1], { finish_reason: "stop" }), { choices: [], usage }])
      stream.push(chunk);
    expect(stream.end(asTold).report).toMatchObject({
      responseTokens: [],
      rolloutLogProbs: [],
      unusable: "the engine reported 1 response tokens and stated 2",
    });
  });

  it("is an error where it ends without saying why, or for a reason that is none", () => {
    const stream = new ChatStream();
    stream.push(delta("A", []));
    expect(() => stream.end(asTold)).toThrow("without an end");
    expect(() => stream.push(delta("", [], { finish_reason: "content_filter" }))).toThrow("content_filter");
    expect(() => stream.push({ choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: "{}" } }] } }] })).toThrow(
      "begins with its name",
    );
    expect(() => stream.push("nonsense")).toThrow("chunks of a chat completion expected");
  });

  it("is not disturbed by pieces without anything, by which Workers AI closes a call", () => {
    const stream = new ChatStream();
    const piece = (call: object) => ({ choices: [{ delta: { tool_calls: [call] } }] });
    const closing = piece({ id: null, type: null, function: { name: null, arguments: "" } });
    for (const index of [0, 1])
      for (const chunk of [piece({ index, function: { name: "A", arguments: "{}" } }), closing]) stream.push(chunk);
    stream.push({ choices: [{ delta: {}, finish_reason: "tool_calls" }], usage });
    expect(stream.end(asTold).calls).toMatchObject([{ valid: true }, { valid: true }]);
  });

  it("has several calls in order, each closed before the next", () => {
    const stream = new ChatStream();
    const piece = (index: number, name: string | undefined, text: string) => ({
      choices: [{ delta: { tool_calls: [{ index, function: { name, arguments: text } }] } }],
    });
    const kinds = [
      piece(0, "A", ""),
      piece(0, undefined, "{}"),
      piece(1, "B", "[]"),
      { choices: [{ delta: {}, finish_reason: "tool_calls" }], usage },
    ]
      .flatMap((chunk) => stream.push(chunk).deltas)
      .map(({ kind, index }: { kind: string; index?: number }) => `${kind} ${index}`);
    expect(kinds).toEqual(["call:opened 0", "call:arguments 0", "call:closed 0", "call:opened 1", "call:arguments 1"]);
    const end = stream.end(asTold);
    expect(end.deltas).toEqual([{ kind: "call:closed", index: 1, valid: false }]);
    expect([end.finishReason, end.content, end.calls.map(({ valid }) => valid)]).toEqual(["tool_calls", null, [true, false]]);
  });
});

describe("the calls of an answer", () => {
  type Piece = { index?: number; id?: string | null; name?: string; text?: string };
  const read = (pieces: readonly Piece[]) => {
    const stream = new ChatStream();
    for (const { name, text, ...call } of pieces)
      stream.push({ choices: [{ delta: { tool_calls: [{ ...call, function: { name, arguments: text } }] } }] });
    stream.push({ choices: [{ delta: {}, finish_reason: "tool_calls" }], usage });
    return stream.end(asTold).calls.map(({ name, arguments: text }) => `${name} ${text}`);
  };
  const TWO = ['A {"a": 1}', 'B {"b": 2}'];

  it.each<[string, Piece[]]>([
    ["by their ids, whole", [{ index: 0, id: "x", name: "A", text: '{"a": 1}' }, { index: 0, id: "y", name: "B", text: '{"b": 2}' }]], // prettier-ignore
    ["by their ids, without numbers", [{ id: "x", name: "A", text: '{"a"' }, { id: "x", text: ": 1}" }, { id: "y", name: "B" }, { text: '{"b": 2}' }]], // prettier-ignore
    ["by their ids, on the first piece alone", [{ id: "x", name: "A" }, { text: '{"a": 1}' }, { id: "y", name: "B" }, { text: '{"b": 2}' }]], // prettier-ignore
    ["by whole arguments, where there are no ids", [{ name: "A", text: '{"a"' }, { name: "A", text: ": 1}" }, { id: "", name: "B", text: '{"b": 2}' }]], // prettier-ignore
    ["by their numbers, whatever ids their pieces have", [{ index: 0, id: "x", name: "A" }, { index: 0, id: "z", text: '{"a": 1}' }, { index: 1, id: "x", name: "B", text: '{"b": 2}' }]], // prettier-ignore
  ])("are told apart %s", (_, pieces) => expect(read(pieces)).toEqual(TWO));

  it("may be of one tool with the same arguments", () => {
    const piece = { index: 0, name: "A", text: "{}" };
    expect(read([{ ...piece, id: "x" }, { ...piece, id: "y" }])).toEqual(["A {}", "A {}"]); // prettier-ignore
  });

  it("are an error where a closed one goes on", () => {
    const [first, second] = [{ index: 0, id: "x", name: "A", text: "{" }, { index: 0, id: "y", name: "B", text: "{}" }]; // prettier-ignore
    expect(() => read([first, second, { ...first, text: "}" }])).toThrow("comes in one go");
  });
});

describe("SGLang's generate", () => {
  const event = (text: string, pairs: [number, number][], completion_tokens: number, type?: string) => ({
    text,
    meta_info: { prompt_tokens: 1, completion_tokens, output_token_logprobs: pairs, finish_reason: type === undefined ? null : { type } },
  });
  it.for([
    ["all so far", [event("A", [[-0.1, 1]], 1), event("AB", [[-0.1, 1], [-0.2, 2]], 2, "stop")]], // prettier-ignore
    ["what is new", [event("A", [[-0.1, 1]], 1), event("B", [[-0.2, 2]], 2, "stop")]],
  ] as const)("is read alike where events hold %s", ([, events]) => {
    const stream = new GenerateStream([9]);
    const text = events.flatMap((each) => stream.push(each).deltas).map((each) => ("text" in each ? each.text : ""));
    expect(text.join("")).toBe("AB");
    expect(stream.end(asTold).report).toMatchObject({
      promptTokens: [9],
      responseTokens: [1, 2],
      rolloutLogProbs: [-0.1, -0.2],
      unusable: undefined,
    });
  });

  it("that gives up is an error with its reason", () => {
    expect(() =>
      new GenerateStream([9]).push({
        meta_info: { prompt_tokens: 1, completion_tokens: 0, finish_reason: { type: "abort", message: "out of memory" } },
      }),
    ).toThrow("out of memory");
  });
});

describe("llama.cpp's completion", () => {
  // Of "é" in two tokens it reports the second alone, and counts both.
  it("is not told where a character of several tokens swallowed one", () => {
    const told = (stop_type: string, tokens_predicted: number) => {
      const stream = new CompletionStream([9]);
      stream.push({ content: "é", tokens: [1], stop: false, completion_probabilities: [{ id: 1, logprob: -0.1 }] });
      stream.push({ content: "", tokens: [2], stop: false, completion_probabilities: [{ id: 2, logprob: -0.2 }] });
      stream.push({ content: "", stop: true, stop_type, tokens_predicted, tokens_evaluated: 1 });
      return stream.end(asTold).report?.unusable;
    };
    expect([told("eos", 2), told("limit", 2), told("word", 2)]).toEqual([undefined, undefined, undefined]);
    expect([told("eos", 3), told("limit", 3)]).toEqual([expect.stringContaining("stated 3"), expect.stringContaining("stated 3")]);
  });

  it("that was cut to the context is an error: the policy did not see what it was asked", () => {
    expect(() => new CompletionStream([9]).push({ content: "", stop: true, truncated: true })).toThrow("a larger context");
    expect(() => new CompletionStream([8, 9]).push({ content: "A", stop: false, tokens_evaluated: 1 })).toThrow("got 2 tokens");
  });
});

describe("log-probs", () => {
  it("are of another distribution where a form held the answer or the temperature was another", () => {
    const of = (changes: object, atTemperature = false) =>
      distortionOf({ ...FREE_FORM, temperature: 1, ...changes }, { tools: [], atTemperature });
    expect([of({}), of({ temperature: 0 }), of({ temperature: 0.7 }, true)]).toEqual([undefined, undefined, undefined]);
    expect(of({ temperature: 0.7 })).toContain("0.7");
    expect([of({ toolChoice: "required" }), of({ responseFormat: { type: "json_object" } })]).toEqual([
      expect.stringContaining("form"),
      expect.stringContaining("form"),
    ]);
  });

  it("that are none are not used", () => {
    const told = { promptTokens: [1], responseTokens: [2], promptCount: 1, responseCount: 1 };
    for (const bad of [Number.NaN, 0.5, -9999])
      expect(asTold({ ...told, logProbs: [bad] })).toMatchObject({
        responseTokens: [2],
        rolloutLogProbs: [],
        unusable: expect.any(String),
      });
  });
});

describe("a stream of Workers AI's", () => {
  it("is cancelled where it comes once its reader has left", async () => {
    const late = Promise.withResolvers<unknown>();
    const cancelled = Promise.withResolvers<void>();
    const env = { AI: { run: () => late.promise } } as unknown as Env;
    const engine = createWorkersAiEngine(env, { kind: "workers-ai", model: "@cf/x", timeoutMs: 60_000 } as WorkersAiEngine, async () => {});
    const sampling = { ...FREE_FORM, temperature: 1, topP: 1, stop: [], answerLimit: undefined, logprobs: false, topLogprobs: 0 };
    const turn = { messages: [], tools: [], sampling, policy: { adapter: null }, seed: 1 } as unknown as EngineTurn;
    const leave = new AbortController();
    const first = (await engine.prepare(turn)).answer(leave.signal).steps.next();
    leave.abort();
    await expect(first).rejects.toMatchObject({ code: "session/aborted" });
    late.resolve(new ReadableStream({ cancel: () => cancelled.resolve() }));
    await cancelled.promise;
  });
});
