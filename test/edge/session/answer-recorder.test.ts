/** What is kept of an answer: the client's deltas, the log's message and tokens, and the usage, all of one run. */
import { describe, expect, it } from "vitest";
import { FREE_FORM } from "../../../shared/grammar/answer-form.ts";
import { AnswerRecorder } from "../../../edge/session/answer-recorder.ts";
import type { AnswerDelta, CompletionStep, EndStep } from "../../../edge/policy/completion.ts";

const END = 2;
const token = (tokenId: number, deltas: AnswerDelta[] = []): CompletionStep => ({
  kind: "token",
  tokenId,
  logProb: -tokenId / 10,
  bytes: new Uint8Array([tokenId]),
  topLogProbs: [],
  masked: false,
  special: tokenId < 10,
  deltas,
});
const end = (changes: Partial<EndStep> = {}): EndStep => ({
  kind: "end",
  deltas: [],
  finishReason: "stop",
  content: "A",
  calls: [],
  masked: false,
  reusedTokens: 3,
  prefilledTokens: 4,
  ...changes,
});
const recorder = (logprobs = true) => new AnswerRecorder({ logprobs, newCallId: () => "call_x" });

describe("an answer's record", () => {
  it("keeps every sampled token with its log-prob, and shows those of the content alone", () => {
    const answer = recorder();
    const shown = [token(65, [{ kind: "content", text: "A" }]), token(END), end()].flatMap((step) => answer.accept(step));
    expect(shown).toEqual([{ kind: "content", text: "A", logprobs: [{ token: "A", logprob: -6.5, bytes: [65], top_logprobs: [] }] }]);
    expect(answer.rollout({ promptTokens: [1], seed: 7, temperature: 1, topP: 1, form: FREE_FORM })).toEqual({
      promptTokens: [1],
      responseTokens: [65, END],
      rolloutLogProbs: [-6.5, -0.2],
      sampling: { seed: 7, temperature: 1, topP: 1, masked: false },
    });
    expect(answer.finished()).toEqual({ kind: "finished", finishReason: "stop", promptTokens: 7, cachedTokens: 3, completionTokens: 2 });
  });

  it("shows the log-probs of tokens that were held back with the text that releases them", () => {
    const answer = recorder();
    expect(answer.accept(token(65))).toEqual([]);
    const [delta] = answer.accept(token(66, [{ kind: "content", text: "AB" }]));
    expect(delta).toMatchObject({ text: "AB", logprobs: [{ token: "A" }, { token: "B" }] });
  });

  it("gives calls the ids that the stream and the message share, and their tokens no log-probs", () => {
    const answer = recorder();
    const call = { name: "Book", arguments: "{}", valid: true };
    const steps = [
      token(5),
      token(6, [
        { kind: "call:opened", index: 0, name: "Book" },
        { kind: "call:arguments", index: 0, text: "{}" },
      ]),
      token(7, [{ kind: "call:closed", index: 0, valid: true }]),
      token(65, [{ kind: "content", text: "A" }]),
      end({ calls: [call], content: "A", finishReason: "tool_calls" }),
    ];
    expect(steps.flatMap((step) => answer.accept(step))).toMatchObject([
      { kind: "call", index: 0, id: "call_x", name: "Book" },
      { kind: "arguments", index: 0, text: "{}" },
      { kind: "content", logprobs: [{ token: "A" }] },
    ]);
    const calls = [{ id: "call_x", type: "function", function: { name: "Book", arguments: "{}" } }];
    expect(answer.message()).toEqual({ role: "assistant", content: "A", tool_calls: calls });
  });

  it("has no end before the last step", () => {
    expect(() => recorder().message()).toThrow("internal");
  });
});
