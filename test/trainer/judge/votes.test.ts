/** Votes: drawn from base and words together where both are heard, sampled as answers where there is no reaction model. */
import { describe, expect, it } from "vitest";
import type { Exchange } from "../../../shared/jobs.ts";
import type { JobSampler } from "../../../trainer/judge/job-sampler.ts";
import { emptyWeights, featuresOf, logSoftmax, ReactionModel } from "../../../trainer/judge/reaction-model.ts";
import { castVotes, namesSomething, rewardLogProbs } from "../../../trainer/judge/votes.ts";

const saying = (content: string): Exchange => ({
  answered: [
    { role: "user", content: "A room in Porto, please." },
    { role: "assistant", content: "I found the Grand Hotel." },
  ],
  nextState: [{ role: "user", content }],
  tools: [],
});

/** A base that finds 0 likeliest, and words of which `heard` speak for +1. */
function sampler({ scores = [-3, -0.1, -3], heard }: { scores?: number[]; heard?: string }): JobSampler {
  const weights = emptyWeights();
  for (const feature of featuresOf(heard ?? "")) weights[feature * 3 + 2] = 4;
  return {
    answer: async (prompts) => prompts.map((_, index) => ["0", "bad", "+1"][index] ?? ""),
    score: async () => scores,
    call: async () => undefined,
    knowsWishes: false,
    ...(heard !== undefined && { reactions: new ReactionModel(weights) }),
  };
}

describe("castVotes", () => {
  it("are the base's answers that can be read where there is no reaction model, or no room", async () => {
    expect(await castVotes(sampler({}), saying("Great!"), { votes: 3, seed: 1 })).toEqual([0, 1]);
    const full = sampler({ heard: "Great!", scores: [0, 0, 0].map(() => Number.NEGATIVE_INFINITY) });
    expect(await castVotes(full, saying("Great!"), { votes: 3, seed: 1 })).toEqual([0, 1]);
  });

  it("are drawn from both, the same for the same seed", async () => {
    const both = sampler({ heard: "Great!" });
    expect(await castVotes(both, saying("Great!"), { votes: 3, seed: 1 })).toEqual([1, 1, 1]);
    const torn = sampler({ heard: "", scores: [-1, -1, -1] });
    const draws = await castVotes(torn, saying("well"), { votes: 300, seed: 7 });
    expect(await castVotes(torn, saying("well"), { votes: 300, seed: 7 })).toEqual(draws);
    for (const reward of [-1, 0, 1]) expect(draws.filter((each) => each === reward).length).toBeGreaterThan(60);
  });
});

describe("namesSomething", () => {
  it.each([
    "Two rooms, please.",
    "please, two rooms",
    "NO, TWO ROOMS",
    "Friday works better.",
    "Tomorrow, I said.",
    "not with KLM",
    "no, Zürich",
    "Great. But the Ritz!",
    "wrong (Ōsaka)",
    "no - the Ritz",
    'I said "Ritz"',
    "👍 but in Porto",
  ])("hears a number, a day or a name: %s", (words) => expect(namesSomething(words)).toBe(true));

  it.each([
    "Great!",
    "THIS IS WRONG",
    "NO WAY",
    "Great\nThanks",
    "Fine.  Thanks, I'm done",
    "It was fine, LOL",
    "That is NOT what I said",
    "that's OK",
    "(Thanks)",
    "- Great",
    '"Great!" he said',
    "Great! 👍 Thanks",
  ])("hears none: %s", (words) => expect(namesSomething(words)).toBe(false));
});

describe("rewardLogProbs", () => {
  it("adds the words' evidence twice, and of words that name something three tenths of it", async () => {
    const scores = [-3, -0.1, -3];
    const both = sampler({ heard: "great", scores });
    const said = (words: string): number[] => both.reactions?.logProbs(words) ?? [];
    const added = (words: string, weight: number): number[] =>
      logSoftmax(scores.map((score, index) => score + weight * (said(words)[index] ?? 0)));
    expect(await rewardLogProbs(both, saying("great"))).toEqual(added("great", 2));
    for (const naming of ["great, 2", "great, on Friday", "great, the Ritz"])
      expect(await rewardLogProbs(both, saying(naming))).toEqual(added(naming, 0.3));
  });

  it("is the base's alone where nobody speaks, and none where there is no room", async () => {
    const both = sampler({ heard: "" });
    const found: Exchange = { ...saying(""), nextState: [{ role: "tool", content: "[]", tool_call_id: "c" }] };
    expect(await rewardLogProbs(both, found)).toEqual(logSoftmax([-3, -0.1, -3]));
    expect(await rewardLogProbs(sampler({ scores: [0, Number.NEGATIVE_INFINITY, 0] }), saying("ok"))).toBeUndefined();
  });
});
