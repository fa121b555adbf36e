/** An answer as it comes: every reader gets all of it, and only the last reader's leaving ends it. */
import { setImmediate as nextTask } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { LiveTurn } from "../../../edge/session/live-turn.ts";
import type { TurnDelta } from "../../../edge/session/port.ts";

const head = { completionId: "chatcmpl-1", createdAt: 0, policyLine: "shared", policyVersion: 0, policyDigest: "d" };
const text = (content: string): TurnDelta => ({ kind: "content", text: content });
const failed: TurnDelta = { kind: "failed", error: { code: "session/aborted", message: "gone", details: {} } };
const finished: TurnDelta = { kind: "finished", finishReason: "stop", promptTokens: 1, cachedTokens: 0, completionTokens: 1 };

async function readAll(stream: ReadableStream<Uint8Array>): Promise<unknown[]> {
  const lines = (await new Response(stream).text()).split("\n").filter((line) => line !== "");
  return lines.map((line): unknown => JSON.parse(line));
}

describe("a live turn", () => {
  it("gives a late reader the same deltas as an early one", async () => {
    const turn = new LiveTurn(head);
    const early = readAll(turn.read());
    turn.push(text("a"));
    turn.push(text("b"));
    const late = readAll(turn.read());
    turn.push(finished);
    turn.end();
    expect(await early).toEqual([text("a"), text("b"), finished]);
    expect(await late).toEqual(await early);
  });

  it("is abandoned when its last reader leaves, and not before", async () => {
    let abandoned = 0;
    const turn = new LiveTurn(head, { onAbandoned: () => void abandoned++ });
    const [first, second] = [turn.read(), turn.read()];
    await first.cancel();
    expect(abandoned).toBe(0);
    await second.cancel();
    expect(abandoned).toBe(1);
  });

  it("is delivered when its last delta is handed to a reader, and cannot be abandoned once it has ended", async () => {
    const seen: string[] = [];
    const turn = new LiveTurn(head, { onAbandoned: () => void seen.push("abandoned"), onDelivered: () => void seen.push("delivered") });
    const [gone, reader] = [turn.read(), turn.read()];
    turn.push(finished);
    turn.end();
    await gone.cancel();
    expect(seen).toEqual([]);
    await readAll(reader);
    expect(seen).toEqual(["delivered"]);
  });

  it("is not delivered by a failure, which is no final chunk", async () => {
    let delivered = 0;
    const turn = new LiveTurn(head, { onDelivered: () => void delivered++ });
    const reader = readAll(turn.read());
    turn.push(text("a"), failed);
    turn.end();
    expect(await reader).toEqual([text("a"), failed]);
    expect(delivered).toBe(0);
  });

  it("is not delivered to a reader that has left while it waited for more", async () => {
    const seen: string[] = [];
    const turn = new LiveTurn(head, { onAbandoned: () => void seen.push("abandoned"), onDelivered: () => void seen.push("delivered") });
    const reader = turn.read().getReader();
    const waiting = reader.read();
    await nextTask();
    await reader.cancel();
    turn.push(finished);
    turn.end();
    expect(await waiting).toEqual({ done: true, value: undefined });
    await nextTask();
    expect(seen).toEqual(["abandoned"]);
  });
});
