/** The turns of one answer: what is run, what the next turn is asked, and what a client sees of it all. */
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../../shared/chat.ts";
import { ChatView } from "../../../edge/openai/chat-view.ts";
import type { TurnDelta, TurnRequest } from "../../../edge/session/port.ts";
import { answerOf, goesOn, ShownAnswer } from "../../../edge/session/shown-answer.ts";
import { nextRequest, planCalls, withoutDropped, withOwnResults } from "../../../edge/session/steps.ts";
import { answered, failed, unavailable } from "../../../edge/tools/outcome.ts";

const runner = { kind: "endpoint" as const, label: "edge", place: { url: "https://example.com/", timeoutMs: 1_000, maxBytes: 1_000 } };
const runners = { Book: runner };
const callOf = (name: string, id = name) => ({ id, type: "function" as const, function: { name, arguments: "{}" } });
const calls = (...names: string[]): ChatMessage => ({ role: "assistant", content: null, tool_calls: names.map((name) => callOf(name)) });
const plan = (answer: ChatMessage, change: Partial<Parameters<typeof planCalls>[2]> = {}, reason: "length" | "tool_calls" = "tool_calls") =>
  planCalls(answer, reason, { runners, stored: true, room: true, ...change }).map(({ position, dropped }) => [position, dropped]);

describe("calls of an answer", () => {
  it("are run where they are the edge's, beside the client's too", () => {
    expect(plan(calls("Book", "Cancel"))).toEqual([[0, false]]);
    expect(plan(calls("Cancel", "Book", "Book"))).toEqual([[1, false], [2, false]]); // prettier-ignore
    expect(plan(calls("Cancel"))).toEqual([]);
    expect(plan(calls("constructor", "__proto__"))).toEqual([]);
  });

  it("are not run where the answer was cut, where nothing can follow, and beside the client's where nothing is kept", () => {
    expect(plan(calls("Book"), {}, "length")).toEqual([[0, true]]);
    expect(plan(calls("Book"), { room: false })).toEqual([[0, true]]);
    expect(plan(calls("Book"), { stored: false })).toEqual([[0, false]]);
    expect(plan(calls("Book", "Cancel"), { stored: false })).toEqual([[0, true]]);
  });

  it("that are not run are no part of the conversation, which goes on by itself only where the client has nothing to do", () => {
    const mixed = calls("Book", "Cancel");
    const own = planCalls(mixed, "tool_calls", { runners, stored: false, room: true });
    expect(withoutDropped(mixed, own)).toEqual({ role: "assistant", content: "", tool_calls: [callOf("Cancel")] });
    const alone = calls("Book");
    expect(goesOn(alone, planCalls(alone, "tool_calls", { runners, stored: true, room: true }))).toBe(true);
    expect(goesOn(mixed, planCalls(mixed, "tool_calls", { runners, stored: true, room: true }))).toBe(false);
    expect(goesOn(alone, planCalls(alone, "length", { runners, stored: true, room: true }))).toBe(false);
  });
});

describe("the next turn", () => {
  const sampling = { answerLimit: { param: "max_tokens", tokens: 100 }, toolChoice: { name: "Book" } };
  const request = {
    messages: [{ role: "user", content: "hi" }],
    digests: ["d0"],
    maxToolSteps: 2,
    asked: "{}",
    sampling,
  } as unknown as TurnRequest;
  const turn = { turnId: "s/1", answer: calls("Book"), finished: {} as never, own: [] };
  const results: ChatMessage[] = [{ role: "tool", content: "ok", tool_call_id: "Book" }];
  const next = (step: number) => nextRequest(request, turn, { results, head: "s/1", step, usedTokens: 30 });

  it("is asked the same with the answer and its results, and what is left of the limit", async () => {
    const { messages, digests, sampling: asked, follows, retry } = await next(1);
    expect(messages).toEqual([...request.messages, turn.answer, ...results]);
    expect(digests).toHaveLength(3);
    expect(asked.answerLimit).toEqual({ param: "max_tokens", tokens: 70, rest: true });
    expect([follows, retry.requestDigest]).toEqual(["s/1", "s/1#1"]);
  });

  it("need not call again, and cannot once the steps are used up", async () => {
    expect((await next(1)).sampling.toolChoice).toBe("auto");
    expect((await next(2)).sampling.toolChoice).toBe("none");
  });
});

describe("results of the edge's own calls", () => {
  const own: ChatMessage[] = [{ role: "tool", content: "ok", tool_call_id: "a" }];
  it("stand before the client's, once", () => {
    const given: ChatMessage = { role: "tool", content: "done", tool_call_id: "b" };
    expect(withOwnResults([given], own)).toEqual([...own, given]);
    expect(withOwnResults([...own, given], own)).toEqual([...own, given]);
  });

  it("say whose fault it was: only the call's own is an error", () => {
    expect([answered("x").text, failed("x").text, unavailable("x").text]).toEqual(["x", '{"error":"x"}', '{"unavailable":"x"}']);
  });
});

describe("an answer of two turns", () => {
  const label = (name: string): string | undefined => (name === "Book" ? "edge" : undefined);
  const first: TurnDelta[] = [
    { kind: "content", text: "Let me see. " },
    { kind: "call", index: 0, id: "a", name: "Book" },
    { kind: "arguments", index: 0, text: "{}" },
  ];
  const second: TurnDelta[] = [
    { kind: "content", text: " \n" },
    { kind: "content", text: "Done." },
    { kind: "call", index: 0, id: "b", name: "Cancel" },
    { kind: "arguments", index: 0, text: "{}" },
  ];
  const end = { kind: "finished" as const, finishReason: "tool_calls" as const, promptTokens: 10, cachedTokens: 2, completionTokens: 5 };

  function shownOf(): { deltas: TurnDelta[]; shown: ShownAnswer } {
    const shown = new ShownAnswer();
    const accept = (delta: TurnDelta) =>
      delta.kind === "content" || delta.kind === "call" || delta.kind === "arguments" ? shown.accept(delta, label) : [];
    const deltas = first.flatMap(accept);
    shown.count({ ...end, finishedAt: 2000 });
    deltas.push(shown.result(0, answered("ok")), shown.nextStep(), ...second.flatMap(accept));
    shown.count({ ...end, finishedAt: 3000 });
    deltas.push(shown.finished("tool_calls"));
    return { deltas, shown };
  }

  it("numbers its calls through, sums its usage, ends with its last turn, and is one message with a paragraph for each text", () => {
    const { deltas, shown } = shownOf();
    expect(deltas.filter(({ kind }) => kind === "call")).toMatchObject([{ index: 0, runner: "edge" }, { index: 1 }]);
    expect(deltas.at(-1)).toMatchObject({ promptTokens: 20, cachedTokens: 4, completionTokens: 10, finishedAt: 3000 });
    expect(shown.message([callOf("Cancel", "b")])).toEqual({
      role: "assistant",
      content: "Let me see. \n\n \nDone.",
      tool_calls: [callOf("Cancel", "b")],
    });
  });

  it("is to a chat client the very message that the session expects back", () => {
    const { deltas, shown } = shownOf();
    const view = new ChatView();
    const pieces = deltas.flatMap((delta) => (delta.kind === "failed" ? [] : view.accept(delta)));
    const seen = pieces.filter((piece) => piece.kind === "content" || piece.kind === "call" || piece.kind === "arguments");
    expect(answerOf(seen)).toEqual(shown.message([callOf("Cancel", "b")]));
    expect(seen.filter(({ kind }) => kind === "call")).toEqual([{ kind: "call", index: 0, id: "b", name: "Cancel" }]);
  });
});
