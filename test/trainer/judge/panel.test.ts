/** Whom a signal goes to, and what a person's feedback says by itself; what was judged is read back as it was. */
import { describe, expect, it } from "vitest";
import type { FeedbackGiven } from "../../../shared/events.ts";
import { assembleSignal, type Signal } from "../../../trainer/data/exchange.ts";
import { EventCache } from "../../../trainer/feed/cache.ts";
import type { JobSampler } from "../../../trainer/judge/job-sampler.ts";
import { toJudgement, verdictFromLog } from "../../../trainer/judge/judgement.ts";
import { createPanel } from "../../../trainer/judge/panel.ts";
import { call, nextState, result, turn, user } from "../hotel.ts";

const CALL = call("SearchHotel", { city: "Porto", number_of_rooms: "1" });
const made = turn([user("A hotel in Porto, please.")], CALL);
const cache = new EventCache(100);
cache.add(made);

function signalOf(event: ReturnType<typeof nextState>): Signal {
  const assembled = assembleSignal(event, cache);
  if (assembled?.status !== "signal") throw new Error("a signal expected");
  return assembled.signal;
}

function feedback(given: Partial<FeedbackGiven>): Signal {
  const event = nextState(made, []);
  return signalOf({ ...event, payload: { kind: "feedback:given", completionId: made.payload.completionId, ...given } });
}

// Stands in for a base that always writes this hint: what is tested is who is asked, and what is made of it.
function writing(hint: string): JobSampler & { asked: number } {
  const sampler = {
    asked: 0,
    answer: async (prompts: readonly unknown[]) => ((sampler.asked += 1), prompts.map(() => hint)),
    call: async () => undefined,
    knowsWishes: false,
    score: async (_: unknown, answers: readonly string[]) => answers.map(() => Number.NEGATIVE_INFINITY),
  };
  return sampler;
}

const OPTIONS = { votes: 3, seed: 0 };
const TWO = "number_of_rooms should be 2.";

describe("createPanel", () => {
  it.each([
    { given: { score: 1 }, reward: 1 },
    { given: { score: 0 }, reward: 0 },
    { given: { score: -0.5 }, reward: -1 },
    { given: { comment: "hm" }, reward: 0 },
  ])("takes $given for what it says and asks the base nothing", async ({ given, reward }) => {
    const sampler = writing(TWO);
    const verdict = await createPanel(sampler).judge(feedback(given), OPTIONS);
    expect(verdict).toMatchObject({ judge: "feedback", reward, votes: [reward] });
    expect(verdict?.hint).toBeUndefined();
    expect(sampler.asked).toBe(0);
  });

  it.each([{}, { score: -1 }, { score: 0 }, { score: 1 }])("learns from a correction, with whatever score: %j", async (score) => {
    const given = feedback({ ...score, correction: "The number of rooms should be 2." });
    expect(await createPanel(writing(TWO)).judge(given, OPTIONS)).toMatchObject({ judge: "feedback", reward: -1, hint: { text: TWO } });
  });

  it.each([
    { answer: call("SearchHotel", { city: "Porto", number_of_rooms: "2" }), reward: -1 },
    { answer: call("SearchHotel", { number_of_rooms: "1", city: "Porto" }), reward: 1 },
  ])("takes an answer supplied for what it says of the one given: $reward", async ({ answer, reward }) => {
    if (answer.role !== "assistant") throw new Error("an answer expected");
    const sampler = writing(TWO);
    const signal = feedback({ answer });
    const verdict = await createPanel(sampler).judge(signal, OPTIONS);
    expect(verdict).toMatchObject({ judge: "feedback", reward });
    expect(sampler.asked).toBe(0);
    if (verdict === undefined) throw new Error("a verdict expected");
    expect(toJudgement(signal, verdict, new Date()).payload).toMatchObject({ teaches: "answer", tool: "SearchHotel" });
  });

  it("judges tool results that came alone by what they say, without the base", async () => {
    const sampler = writing(TWO);
    const verdict = await createPanel(sampler).judge(signalOf(nextState(made, [result('{"error": "no such city"}')])), OPTIONS);
    expect(verdict).toMatchObject({ judge: "verifiable", reward: -1 });
    expect(sampler.asked).toBe(0);
  });

  it("asks the base where a user spoke, whatever the tools said before", async () => {
    const verdict = await createPanel(writing("+1")).judge(signalOf(nextState(made, [result("{}"), user("Thanks!")])), OPTIONS);
    expect(verdict).toMatchObject({ judge: "embedded", reward: 1 });
  });
});

describe("a flood of the same", () => {
  it("is read a few times, whatever ids its calls have, and anything else afresh", async () => {
    const sampler = writing("+1");
    const panel = createPanel(sampler);
    for (let seed = 0; seed < 50; seed += 1) {
      const again = turn([user("A hotel in Porto, please.")], call("SearchHotel", { city: "Porto", number_of_rooms: "1" }, `call_${seed}`));
      cache.add(again);
      const thanks = [result("{}", `call_${seed}`), user("Thanks!")];
      expect(await panel.judge(signalOf(nextState(again, thanks)), { votes: 3, seed })).toMatchObject({ judge: "embedded", reward: 1 });
    }
    expect(sampler.asked).toBe(4);
    await panel.judge(signalOf(nextState(made, [result("{}"), user("Thanks a lot!")])), OPTIONS);
    await panel.judge(signalOf(nextState(made, [result("{}"), user("Thanks!")])), { votes: 5, seed: 0 });
    expect(sampler.asked).toBe(6);
  });

  it("is not the same after another conversation, where a value may have been said before", async () => {
    const votes = (prompts: readonly unknown[]): string[] => prompts.map(() => (prompts.length === OPTIONS.votes ? "-1" : TWO));
    const panel = createPanel({ ...writing(""), answer: async (prompts) => votes(prompts) });
    const ask = user("A hotel in Porto, please.");
    const before = [user("The number of rooms is 2."), { role: "assistant" as const, content: "In which city?" }];
    const heard: unknown[] = [];
    for (const messages of [...Array.from({ length: 8 }, () => [...before, ask]), [ask]]) {
      const again = turn(messages, CALL);
      cache.add(again);
      const corrected = [result("{}"), user("No, the number of rooms should be 2.")];
      heard.push((await panel.judge(signalOf(nextState(again, corrected)), OPTIONS))?.refused?.code);
    }
    expect(heard).toEqual([...Array.from({ length: 8 }, () => "hint/spokenBefore"), undefined]);
  });

  it("gives what was drawn in turn, so that one bad draw does not stand for all", async () => {
    const drawn = ["-1", "+1", "+1", "+1"];
    const sampler = { ...writing(""), answer: async (prompts: readonly unknown[]) => prompts.map(() => drawn[asked++] ?? "none") };
    let asked = 0;
    const panel = createPanel(sampler);
    const rewards: (number | undefined)[] = [];
    for (let seed = 0; seed < 8; seed += 1)
      rewards.push((await panel.judge(signalOf(nextState(made, [user("Fine, fine.")])), { votes: 1, seed }))?.reward);
    expect(rewards.slice(4)).toEqual(rewards.slice(0, 4));
    expect(new Set(rewards).size).toBeGreaterThan(1);
  });
});

describe("a judgement in the log", () => {
  it("is read back with its hint, or with the reason why it has none", async () => {
    const given = feedback({ correction: "The number of rooms should be 2." });
    for (const hint of [TWO, "number_of_rooms should be 7."]) {
      const verdict = await createPanel(writing(hint)).judge(given, OPTIONS);
      if (verdict === undefined) throw new Error("a verdict expected");
      const { payload } = toJudgement(given, verdict, new Date(0));
      const { detail: _, ...told } = verdict;
      expect(payload.held).toBe(verdict.hint === undefined ? undefined : "1"); // of the call that was corrected
      expect(verdictFromLog(payload, given)).toEqual({ ...told, detail: "read from the log" });
    }
  });

  it("is read back with all that one message corrects, each with what the call had", async () => {
    const given = feedback({ correction: "Two rooms, please, and with wifi." });
    const verdict = await createPanel(writing(TWO)).judge(given, OPTIONS);
    if (verdict === undefined) throw new Error("a verdict expected");
    const { payload } = toJudgement(given, verdict, new Date(0));
    expect(payload).toMatchObject({ hint: TWO, held: "1", further: [{ hint: "has_wifi should be True.", tool: "SearchHotel" }] });
    const { detail: _, ...told } = verdict;
    expect(verdictFromLog(payload, given)).toEqual({ ...told, detail: "read from the log" });
    const { further: __, ...old } = payload;
    expect(verdictFromLog(old, given)).not.toHaveProperty("further");
  });
});
