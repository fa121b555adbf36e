/** What an update is asked to learn, by form of signal and setting. The log is the test's own; nothing else stands in. */
import { describe, expect, it } from "vitest";
import { AppError } from "../../../../shared/errors.ts";
import { judgementIdOf, type LoggedEvent } from "../../../../shared/events.ts";
import { SignalSettings } from "../../../../shared/signal-settings.ts";
import { assembleSignal, type LoggedTurn } from "../../../../trainer/data/exchange.ts";
import { EventCache } from "../../../../trainer/feed/cache.ts";
import type { Verdict } from "../../../../trainer/judge/judge.ts";
import { replayFor } from "../../../../trainer/learn/batch/replay.ts";
import type { Judged } from "../../../../trainer/learn/batch/batch.ts";
import { formOf } from "../../../../trainer/learn/batch/form.ts";
import { gather, type GatherPorts } from "../../../../trainer/learn/batch/gather.ts";
import { sharesOf } from "../../../../trainer/learn/batch/influence.ts";
import { call, nextState, result, turn, user } from "../../hotel.ts";

const ASK = user("A hotel in Porto, please.");
const [SEARCHED, FOUND] = [call("SearchHotel", { city: "Porto" }), result("{}")];
const ACCEPTED: Verdict = { judge: "embedded", reward: 1, votes: [1, 1, 1], detail: "by votes" };
const TWO: Verdict = {
  ...ACCEPTED,
  reward: -1,
  hint: { text: "number_of_rooms should be 2.", hint: { parameter: "number_of_rooms", value: "2" }, toolName: "SearchHotel" },
};

function judgedBy(verdict: Verdict, event: LoggedEvent, turns: readonly LoggedTurn[]): Judged {
  const cache = new EventCache(10);
  for (const each of turns) cache.add(each);
  const assembled = assembleSignal(event, cache);
  if (assembled?.status !== "signal") throw new Error("a signal expected");
  return { signal: assembled.signal, verdict };
}

/** Ports over a log of these events; versions have no files. */
function portsOver(events: readonly LoggedEvent[]): GatherPorts {
  return {
    line: { agent: "assistant", line: "shared" },
    edge: {
      readEvents: async (_, ids) => events.filter(({ eventId }) => ids.some((id) => eventId === id || eventId === judgementIdOf(id))),
      readTurns: async () => events.filter(({ payload }) => payload.kind === "turn:finished"),
      readVersion: () => Promise.reject(new AppError("input/notFound", "no such version", { details: { status: 404 } })),
    },
    loadAdapter: async () => null,
  };
}

describe("formOf", () => {
  const replied = turn([ASK], { role: "assistant", content: "Which city?" });
  const event = nextState(replied, [user("Thanks.")]);

  it("takes rewards only where the settings ask for them, and never those of tools", () => {
    const judged = judgedBy(ACCEPTED, event, [replied]);
    expect(formOf(judged, SignalSettings.parse({}))).toBeUndefined();
    expect(formOf(judged, SignalSettings.parse({ rewards: "outcome" }))).toBe("reward");
    expect(
      formOf({ ...judged, verdict: { ...ACCEPTED, judge: "verifiable", reward: -1 } }, SignalSettings.parse({ rewards: "steps" })),
    ).toBeUndefined();
    expect(formOf({ ...judged, verdict: { ...ACCEPTED, reward: 0 } }, SignalSettings.parse({ rewards: "steps" }))).toBeUndefined();
  });

  it("takes supplied answers unless they are switched off, and hints before anything", () => {
    const payload = {
      kind: "feedback:given",
      completionId: replied.payload.completionId,
      answer: { role: "assistant", content: "Yes." },
    } as const;
    const judged = judgedBy({ ...ACCEPTED, judge: "feedback", reward: -1 }, { ...event, payload }, [replied]);
    expect(formOf(judged, SignalSettings.parse({}))).toBe("answer");
    expect(formOf(judged, SignalSettings.parse({ answers: "off" }))).toBeUndefined();
    expect(formOf({ ...judged, verdict: TWO }, SignalSettings.parse({}))).toBe("hint");
  });
});

describe("gather", () => {
  const called = turn([ASK], SEARCHED, { metadata: { task: "porto" } });
  const ran = nextState(called, [FOUND]);
  const replied = turn([ASK, SEARCHED, FOUND], { role: "assistant", content: "I found one." }, { metadata: { task: "porto" } });
  const thanked = nextState(replied, [user("Thanks.")]);
  const failed = { kind: "judgement:made", subject: ran.eventId, reward: -1, votes: [-1], judge: "verifiable" } as const;
  const log = [called, ran, { ...ran, eventId: judgementIdOf(ran.eventId), payload: { ...failed, votes: [-1] } }, replied, thanked];
  const steps = SignalSettings.parse({ rewards: "steps" });

  it("gives an exchange its steps, each with what its own result was judged, and the whole the user's word", async () => {
    const judged = judgedBy(ACCEPTED, thanked, [called, replied]);
    const { rewarded } = await gather(portsOver(log), [judged], { signals: steps, shares: sharesOf([judged]), barred: new Set() });
    expect(rewarded).toMatchObject([
      {
        eventId: thanked.eventId,
        task: "porto",
        outcome: 1,
        share: 1,
        steps: [{ turn: { turnId: called.turnId }, votes: [-1] }, { votes: [] }],
      },
    ]);
  });

  it("tells a preference whose version is gone from one of the base", async () => {
    const answer = { role: "assistant", content: "Yes." } as const;
    const given = { ...thanked, payload: { kind: "feedback:given", completionId: replied.payload.completionId, answer } as const };
    const judged = judgedBy({ ...ACCEPTED, judge: "feedback", reward: -1 }, given, [called, replied]);
    const of = async (signals: Partial<SignalSettings>): Promise<unknown> =>
      (await gather(portsOver(log), [judged], { signals: SignalSettings.parse(signals), shares: sharesOf([judged]), barred: new Set() }))
        .supplied[0]?.reference;
    expect(await of({ answers: "both" })).toBeUndefined();
    expect(await of({ answers: "both", preference: { beta: 1, reference: "base" } })).toBeNull();
    expect(await of({})).toBeNull();
  });

  it("credits a correction to earlier turns of the conversation that it fits, where it is asked to", async () => {
    const first = turn([ASK], SEARCHED);
    const stated = [ASK, SEARCHED, FOUND, user("And one with 3 rooms.")];
    const second = turn(stated, call("SearchHotel", { city: "Porto", number_of_rooms: "3" }));
    const later = [...stated, call("SearchHotel", { city: "Porto", number_of_rooms: "3" }), FOUND, user("And in Faro.")];
    const third = turn(later, call("SearchHotel", { city: "Faro" }));
    const event = nextState(third, [FOUND, user("No, two rooms.")]);
    const judged = judgedBy(TWO, event, [first, second, third]);
    const turnsOf = async (signals: Partial<SignalSettings>, barred: readonly string[] = []): Promise<string[]> => {
      const asked = { signals: SignalSettings.parse(signals), shares: sharesOf([judged]), barred: new Set(barred) };
      const { corrected, leftOut } = await gather(portsOver([first, second, third, event]), [judged], asked);
      expect(leftOut).toEqual(barred);
      return corrected.flatMap(({ turns }) => turns.map(({ turnId }) => turnId));
    };
    expect(await turnsOf({})).toEqual([third.turnId]);
    // Where the user named a number it does not apply.
    expect(await turnsOf({ credit: "conversation" })).toEqual([first.turnId, third.turnId]);
    // Nor where somebody has put the turn in quarantine; which it was is kept for rebuilds.
    expect(await turnsOf({ credit: "conversation" }, [first.turnId])).toEqual([third.turnId]);
  });
});

describe("replayFor", () => {
  it("replays the last turns, or those that were approved of before others", () => {
    const turns = [1, 2, 3].map(() => turn([ASK], SEARCHED));
    const ids = turns.map(({ turnId }) => turnId);
    const idsOf = (replayed: number, approved?: ReadonlySet<string>): string[] =>
      replayFor([], turns, { replayed, ...(approved === undefined ? {} : { approved }) }).map(({ turnId }) => turnId);
    expect(idsOf(2)).toEqual(ids.slice(1));
    expect(idsOf(2, new Set(ids.slice(0, 1)))).toEqual([ids[0], ids[2]]);
    expect(idsOf(0)).toEqual([]);
    expect(idsOf(9)).toEqual(ids);
  });

  it("has the turns that were corrected, though the line remembers them no more, and none that is barred", () => {
    const called = turn([ASK], SEARCHED);
    const learnable = [judgedBy(TWO, nextState(called, [user("Two rooms.")]), [called])];
    const later = turn([ASK], SEARCHED);
    const idsOf = (barred?: LoggedTurn): string[] =>
      replayFor(learnable, [later], { replayed: 1, isUsable: (each) => each.turnId !== barred?.turnId }).map(({ turnId }) => turnId);
    expect(idsOf()).toEqual([called.turnId, later.turnId]);
    expect(idsOf(called)).toEqual([later.turnId]);
  });
});
