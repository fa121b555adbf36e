/** Turns with what came after each, however much that was, against a real D1 and R2. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { appendEvents, type EventLog } from "../../../edge/db/events.ts";
import { listTurns } from "../../../edge/db/turns.ts";
import { type EventPayload, judgementIdOf, type NewEvent } from "../../../shared/events.ts";
import { withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
let log: EventLog;

beforeAll(async () => {
  log = { DB: await edge.getD1(), ARTIFACTS: await edge.getR2() } as unknown as EventLog;
});

/** Turns of one session, each given feedback and then, where there is feedback, told what was said next; all of it judged. */
async function turnsGiven(agent: string, comments: readonly (readonly string[])[]) {
  const all = comments.map((given, index) => {
    const turnId = `${agent}/t${index}`;
    const event = (name: string, payload: EventPayload): NewEvent => ({
      ...{ eventId: `${turnId}/${name}`, agent, line: "shared", sessionId: agent, turnId, user: "u1" },
      ...{ createdAt: "2026-01-02T03:04:05.678Z", payload },
    });
    const judged = (name: string): NewEvent =>
      event(judgementIdOf(name), { kind: "judgement:made", subject: `${turnId}/${name}`, reward: 0, votes: [0], judge: "embedded" });
    const completionId = turnId;
    const turn = event("aborted", { kind: "turn:aborted", completionId, turnIndex: index, policyVersion: 0, reason: "cut off" });
    const next = event("next", { kind: "nextState:arrived", completionId, messages: [{ role: "user", content: "Thanks." }] });
    const feedback = given.flatMap((comment, place) => [
      event(`feedback/${place}`, { kind: "feedback:given", completionId, comment }),
      judged(`feedback/${place}`),
    ]);
    return { turn, after: given.length === 0 ? [] : [...feedback, next, judged("next")] };
  });
  await appendEvents(log, [...all.map(({ turn }) => turn), ...all.flatMap(({ after }) => after)]);
  const listed = await listTurns(log, { agent, limit: 50 });
  return listed.map(({ next, feedback, judgements, more }) => ({
    next: next.length,
    feedback: feedback.map(({ comment = "" }) => comment.slice(0, 10)),
    judged: judgements.map(({ subject }) => subject.replace(/^[^/]+\/[^/]+\//, "")),
    more,
  }));
}

const numbered = (count: number, from = 0): string[] => Array.from({ length: count }, (_, index) => String(from + index));

describe("a listed turn", () => {
  it("has all that came after it, in order", async () => {
    expect(await turnsGiven("few", [["0", "1"], []])).toEqual([
      { next: 0, feedback: [], judged: [], more: false },
      { next: 1, feedback: ["0", "1"], judged: ["feedback/0", "feedback/1", "next"], more: false },
    ]);
  });

  it("has the newest of much feedback, with its judgements, whatever was said next, and says that there is more", async () => {
    const [turn] = await turnsGiven("many", [numbered(120)]);
    expect(turn).toMatchObject({ next: 1, feedback: numbered(50, 70), more: true });
    expect(turn?.judged).toEqual([...numbered(50, 70).map((place) => `feedback/${place}`), "next"]);
  });

  it("has the last word and what was said next where feedback is large, too", async () => {
    const large = numbered(6).map((name) => `${name} ${"x".repeat(1_000_000)}`);
    const cut = (name: string): string => `${name} ${"x".repeat(8)}`;
    const [small, turn] = await turnsGiven("large", [large, ["small"]]);
    expect(small).toMatchObject({ next: 1, feedback: ["small"], more: false });
    expect(turn).toMatchObject({ next: 1, feedback: [cut("4"), cut("5")], more: true });
    expect(turn?.judged).toHaveLength(7);
  });

  it("has as much of large feedback as there is room for on the page", async () => {
    const comments = numbered(20).map((name) => `${name} ${"x".repeat(60_000)}`);
    const listed = await turnsGiven(
      "page",
      Array.from({ length: 10 }, () => comments),
    );
    const cut = (name: string): string => `${name} ${"x".repeat(7)}`;
    expect(new Set(listed.map((turn) => JSON.stringify(turn.feedback)))).toEqual(new Set([JSON.stringify(numbered(6, 14).map(cut))]));
    expect(listed.every(({ next, judged, more }) => next === 1 && judged.length === 21 && more)).toBe(true);
  });

  it("cannot be logged while the search index is dropped, and is once its migration has been run by hand", async () => {
    await log.DB.prepare("DROP TABLE said").run();
    await expect(turnsGiven("dropped", [["0"]])).rejects.toThrow("said");
    for (const statement of readFileSync("migrations/0006_said.sql", "utf8").split("--> statement-breakpoint"))
      await log.DB.prepare(statement).run();
    expect(await turnsGiven("dropped", [["0"]])).toEqual([{ next: 1, feedback: ["0"], judged: ["feedback/0", "next"], more: false }]);
    const found = await log.DB.prepare("SELECT count(*) AS found FROM said WHERE said MATCH 'afew thanks'").first("found");
    expect(found).toBe(1);
  });
});
