/** What is a retry, to the letter of the rule. */
import { describe, expect, it } from "vitest";
import { decideRetry, holdsClaim, type KnownTurn, type RetryFacts, type RunningTurn, withRunning } from "../../../edge/session/retry.ts";

const facts = (changes: Partial<RetryFacts> = {}): RetryFacts => ({
  requestDigest: "body",
  idempotencyKey: undefined,
  retryCount: undefined,
  ...changes,
});
const turn = (changes: Partial<KnownTurn> = {}): KnownTurn => ({
  turnId: "t1",
  requestDigest: "body",
  idempotencyKey: null,
  state: "finished",
  delivered: true,
  replayable: true,
  ...changes,
});

describe("an identical body", () => {
  const cases: [claim: string, facts: RetryFacts, turns: KnownTurn[], kind: string][] = [
    ["is new where nothing like it came before", facts({ retryCount: 1 }), [], "new"],
    ["is new after its answer was delivered", facts(), [turn()], "new"],
    ["is replayed where the client says that it tries again", facts({ retryCount: 1 }), [turn()], "replay"],
    ["is replayed before the final chunk was sent", facts(), [turn({ delivered: false })], "replay"],
    ["joins while the first is in flight", facts(), [turn({ state: "open", delivered: false })], "join"],
    ["is new after the first was aborted", facts({ retryCount: 2 }), [turn({ state: "aborted" })], "new"],
    ["is new where the answer was not to be stored", facts({ retryCount: 1 }), [turn({ replayable: false })], "new"],
    ["follows the newest of several", facts({ retryCount: 1 }), [turn(), turn({ turnId: "t2", state: "aborted" })], "new"],
    ["is new under a key of its own", facts({ idempotencyKey: "k2", retryCount: 1 }), [turn({ idempotencyKey: "k1" })], "new"],
    ["joins one that came with a key", facts(), [turn({ idempotencyKey: "k1", state: "open" })], "join"],
  ];

  it.for(cases)("%s", ([, given, turns, kind]) => {
    expect(decideRetry(given, turns, { opens: false }).kind).toBe(kind);
  });
});

describe("an opening with the words of another", () => {
  const decide = (changes: Partial<RetryFacts>, opens = true) =>
    decideRetry(facts(changes), [turn({ state: "open", delivered: false })], { opens }).kind;

  it("is new where the client numbers it as its first attempt", () => {
    expect(decide({ retryCount: 0 })).toBe("new");
    expect(decide({ retryCount: 0 }, false)).toBe("join");
  });

  it("joins where the client says nothing, or that it tries again", () => {
    expect(decide({})).toBe("join");
    expect(decide({ retryCount: 1 })).toBe("join");
  });
});

describe("the same idempotency key", () => {
  it("replays without a retry count", () => {
    expect(decideRetry(facts({ idempotencyKey: "k1" }), [turn({ idempotencyKey: "k1" })], { opens: true })).toEqual({
      kind: "replay",
      turnId: "t1",
    });
  });

  it("conflicts where the body is another", () => {
    expect(decideRetry(facts({ idempotencyKey: "k1", requestDigest: "other" }), [turn({ idempotencyKey: "k1" })], { opens: true })).toEqual(
      {
        kind: "conflict",
      },
    );
  });
});

describe("the claim of a request that was refused", () => {
  const keyed = facts({ idempotencyKey: "k1" });
  const cases: [claim: string, facts: RetryFacts, turns: KnownTurn[], held: boolean][] = [
    ["is held by no turn", keyed, [], false],
    ["is held by a turn of its key", keyed, [turn({ idempotencyKey: "k1", state: "aborted" })], true],
    ["is not held by its body alone where it has a key", keyed, [turn(), turn({ idempotencyKey: "k2" })], false],
    ["is not held by its key with another body", keyed, [turn({ idempotencyKey: "k1", requestDigest: "other" })], false],
    ["is held by its body where it has no key", facts(), [turn({ idempotencyKey: "k1" })], true],
  ];

  it.for(cases)("%s", ([, given, turns, held]) => {
    expect(holdsClaim(given, turns)).toBe(held);
  });
});

describe("turns that run", () => {
  const running = (changes: Partial<RunningTurn> = {}): RunningTurn => ({ turnId: "t1", retry: facts(), abandoned: false, ...changes });
  const cases: [claim: string, recorded: KnownTurn[], running: RunningTurn[], kind: string][] = [
    ["is joined before it is on record", [], [running()], "join"],
    ["is joined while its tools run, although its first turn is on record", [turn({ delivered: false })], [running()], "join"],
    ["is made anew where one that nobody reads any more is not on record", [], [running({ abandoned: true })], "new"],
    ["is made anew while such a turn is still open", [turn({ state: "open", delivered: false })], [running({ abandoned: true })], "new"],
    [
      "goes on from such an answer's first turn, once it is on record",
      [turn({ delivered: false })],
      [running({ abandoned: true })],
      "replay",
    ],
    [
      "joins the answer that was begun in the place of one that is given up",
      [turn({ state: "open", delivered: false })],
      [running({ abandoned: true }), running({ turnId: "t2" })],
      "join",
    ],
  ];

  it.for(cases)("an answer %s", ([, recorded, runs, kind]) => {
    expect(decideRetry(facts({ retryCount: 1 }), withRunning(recorded, runs), { opens: false }).kind).toBe(kind);
  });
});
