/** Ids of several hints of one event, and judgements that have several, one or none. */
import { describe, expect, it } from "vitest";
import { hintsOf, JudgementMade } from "../../shared/events.ts";
import { eventIdOf, hintIdOf } from "../../shared/hint-id.ts";

const MADE = { kind: "judgement:made", subject: "s/0/next", reward: -1, votes: [-1], judge: "embedded" } as const;
const ROOMS = { hint: "rooms should be 2.", tool: "Search", held: "1" };

describe("a hint's id", () => {
  it("is the event's for the first, and has a number behind it for each further one", () => {
    const ids = [1, 2, 4].map((nth) => hintIdOf("s/0/next", nth));
    expect(ids).toEqual(["s/0/next", "s/0/next#2", "s/0/next#4"]);
    expect(ids.map(eventIdOf)).toEqual(Array(3).fill("s/0/next"));
  });
});

describe("a judgement", () => {
  it("of before there were several parses as it is, with the hint that it has", () => {
    const old = JudgementMade.parse({ ...MADE, ...ROOMS });
    expect(old).toEqual({ ...MADE, ...ROOMS });
    expect(hintsOf(old)).toEqual([{ hintId: "s/0/next", ...ROOMS }]);
    expect(hintsOf(JudgementMade.parse(MADE))).toEqual([]);
  });

  it("tells every hint under its id", () => {
    const wifi = { hint: "wifi should be True.", tool: "Search" };
    const several = JudgementMade.parse({ ...MADE, ...ROOMS, further: [wifi] });
    expect(hintsOf(several)).toEqual([
      { hintId: "s/0/next", ...ROOMS },
      { hintId: "s/0/next#2", ...wifi, held: undefined },
    ]);
    expect(JudgementMade.safeParse({ ...several, further: Array(4).fill(wifi) }).success).toBe(false);
  });
});
