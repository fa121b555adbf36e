/** A session that nobody continues is closed by its alarm, and taken up again by whoever comes back, in real workerd. */
import { describe, expect, it } from "vitest";
import { putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { nextStatesOf, says, talkTo, turnsOf } from "./talk.ts";

const edge = withEdge({ vars: { SESSION_IDLE_MS: "200" } });

describe("an idle session", () => {
  it("closes once, is found again by its transcript, and closes again", async () => {
    await putAgent(edge, "idle");
    const { ask, logged } = talkTo(edge, "idle");
    const first = await ask([says("one")]);
    const [finished, closed] = await logged("session:closed", 1);
    expect(closed).toMatchObject({ sessionId: first.sessionId, turnId: finished?.turnId, payload: { reason: "idle" } });

    const second = await ask([says("one"), first.message, says("two")]);
    expect(second.sessionId).toBe(first.sessionId);
    const events = await logged("session:closed", 2);
    expect(turnsOf(events).map(({ origin }) => origin)).toEqual(["opening", "continuation"]);
    expect(nextStatesOf(events)).toEqual([[first.id, [says("two")]]]);
  });

  it("is not chosen over another that holds the same transcript", async () => {
    await putAgent(edge, "given-way");
    const { ask, logged } = talkTo(edge, "given-way");
    const old = await ask([says("one")]);
    await logged("session:closed", 1);
    const fresh = await ask([says("one")]);
    const next = await ask([says("one"), fresh.message, says("two")]);
    // Either the fresh one is open and meant, or it has closed too and neither is.
    expect(next.sessionId).not.toBe(old.sessionId);
  });
});
