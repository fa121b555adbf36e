/** Who is heard with whom: corrections of others that count, and floods that hide nobody. */
import { describe, expect, it } from "vitest";
import { at } from "../../../../shared/assert.ts";
import { type Evidence, topicOf } from "../../../../shared/influence.ts";
import type { Batch, Judged } from "../../../../trainer/learn/batch/batch.ts";
import { hearOthers } from "../../../../trainer/learn/batch/influence.ts";

let events = 0;
const AUDIENCE = { users: 200, keys: 5, trusted: {} };

function evidence(user: string, keyId: string): Evidence {
  return { eventId: `e${(events += 1)}`, user, keyId, tool: "Reserve", parameter: "rooms", value: "2" };
}

/** A batch with one correction, of what the others have said too. */
function batchOf({ eventId, user, keyId }: Evidence): Batch {
  const hint = { toolName: "Reserve", hint: { parameter: "rooms", value: "2" } };
  const judged = { signal: { event: { eventId, user, keyId } }, verdict: { hint } } as unknown as Judged;
  return { head: {}, toSeq: 1, judged: [judged], learnable: [judged], refusals: [] } as unknown as Batch;
}

describe("hearOthers", () => {
  it("hears the fourth under a fourth key, with the three before", () => {
    const before = ["a", "b", "c"].map((user) => evidence(user, `key ${user}`));
    const last = evidence("d", "key d");
    const heard = hearOthers(batchOf(last), { audience: AUDIENCE, evidence: [...before, last] });
    expect(heard.others).toEqual(before.map(({ eventId }) => eventId));
    expect([...heard.shares.values()]).toEqual([0.25, 0.25, 0.25, 0.25]);
    expect(heard.batch.learnable).toHaveLength(1);
  });

  it("refuses the third with how many it takes", () => {
    const before = ["a", "b"].map((user) => evidence(user, `key ${user}`));
    const { batch } = hearOthers(batchOf(evidence("c", "key c")), { audience: AUDIENCE, evidence: before });
    expect(batch.learnable).toEqual([]);
    const detail = expect.stringContaining("waits for others to say the same: said by 3 users under 3 keys; it takes 4 users under 4 keys");
    expect(batch.refusals[0]).toMatchObject({ code: "user/waiting", detail });
  });

  it("hears those whom a key that says the same a thousand times would hide", () => {
    const before = ["a", "b", "c"].map((user) => evidence(user, `key ${user}`));
    const flood = Array.from({ length: 1_000 }, (_, index) => evidence(`invented ${index}`, "loud key"));
    const heard = hearOthers(batchOf(evidence("d", "key d")), { audience: AUDIENCE, evidence: [...before, ...flood] });
    expect(heard.batch.learnable).toHaveLength(1);
    expect(heard.others).toEqual(expect.arrayContaining(before.map(({ eventId }) => eventId)));
    const ofFlood = flood.reduce((sum, { eventId }) => sum + (heard.shares.get(eventId) ?? 0), 0);
    expect(ofFlood).toBeLessThanOrEqual(0.25 + 1e-9);
  });

  it("keeps the quarter that one user may have where the user floods and the batch has it all", () => {
    const loud = Array.from({ length: 20 }, () => evidence("loud", "one key"));
    const others = Array.from({ length: 25 }, (_, index) => evidence(`u${index}`, "one key"));
    const said = [...loud, ...others];
    const batches = said.map(batchOf);
    const learnable = batches.flatMap((each) => each.learnable);
    const batch = { ...at(batches, 0), judged: learnable, learnable };
    const heard = hearOthers(batch, { audience: { users: 26, keys: 1, trusted: {} }, evidence: said });
    const idsOf = (judged: readonly Judged[]): string[] => judged.map(({ signal }) => signal.event.eventId);
    expect(idsOf(heard.batch.learnable)).toEqual(others.map(({ eventId }) => eventId));
    expect(new Set(heard.shares.keys())).toEqual(new Set(idsOf(heard.batch.learnable)));
    expect(heard.batch.refusals.map(({ eventId, code }) => [eventId, code])).toEqual(loud.map(({ eventId }) => [eventId, "user/waiting"]));
  });

  /** A batch with an answer that somebody supplied, or a score. */
  function saidBy(user: string, { answer, reward }: { answer?: unknown; reward: number }): Batch {
    events += 1;
    const signal = { event: { eventId: `e${events}`, user, keyId: `key ${user}` }, feedback: answer === undefined ? {} : { answer } };
    const judged = { signal, verdict: { reward, judge: "feedback" } } as unknown as Judged;
    return { head: {}, toSeq: 1, judged: [judged], learnable: [judged], refusals: [] } as unknown as Batch;
  }

  const supplied = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c", type: "function", function: { name: "Reserve", arguments: "{}" } }],
  };

  it("counts answers that call the same tool as saying the same, and those of others with them", () => {
    const earlier = ["a", "b", "c"].map((user) => ({ ...evidence(user, `key ${user}`), ...topicOf("answer", "Reserve") }));
    const other = { ...evidence("e", "key e"), ...topicOf("answer", "Search") };
    const heard = hearOthers(saidBy("d", { answer: supplied, reward: -1 }), { audience: AUDIENCE, evidence: [...earlier, other] });
    expect(heard.others).toEqual(earlier.map(({ eventId }) => eventId));
    expect(
      hearOthers(saidBy("d", { answer: supplied, reward: -1 }), { audience: AUDIENCE, evidence: [other] }).batch.refusals,
    ).toMatchObject([{ code: "user/waiting" }]);
  });

  it("lets the rewards of few users move nobody else's policy, and counts those of one batch alone", () => {
    const earlier = ["a", "b", "c"].map((user) => ({ ...evidence(user, `key ${user}`), ...topicOf("reward") }));
    const heard = hearOthers(saidBy("d", { reward: -1 }), { audience: AUDIENCE, evidence: earlier });
    expect(heard.others).toEqual([]);
    expect(heard.batch.refusals).toMatchObject([{ code: "user/waiting" }]);
    expect(hearOthers(saidBy("d", { reward: -1 }), { audience: { ...AUDIENCE, users: 3 }, evidence: [] }).batch.learnable).toHaveLength(1);
  });
});
