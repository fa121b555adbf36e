/** What judges make of a next state: reward, grounded hint, or the reason why there is none. */
import { describe, expect, it } from "vitest";
import { createEmbeddedJudge } from "../../../trainer/judge/embedded.ts";
import type { JobSampler } from "../../../trainer/judge/job-sampler.ts";
import { hintText } from "../../../shared/jobs.ts";
import { groundedCandidates } from "../../../shared/correction/candidates.ts";
import { groundHint } from "../../../shared/correction/ground.ts";
import { failed, type ToolOutcome, unavailable, UNKNOWN_OUTCOME } from "../../../edge/tools/outcome.ts";
import { verifiableJudge } from "../../../trainer/judge/verifiable.ts";
import { ASK, call, result, SEARCH, signalOf, user } from "../hotel.ts";

/** The parameters with more said of one of them, or with one more. */
function withMore(parameters: object | undefined, name: string, more: object): Record<string, unknown> {
  const { properties = {}, ...rest } = { properties: {}, ...parameters } as { properties?: Record<string, object> };
  return { ...rest, properties: { ...properties, [name]: { ...properties[name], ...more } } };
}

describe("verifiableJudge", () => {
  it.each([
    { name: "an unknown tool", answer: call("BookFlight", {}), next: [result("{}")], detail: "unknown tool BookFlight" },
    {
      name: "arguments that are not JSON",
      answer: call("SearchHotel", "{city"),
      next: [result("{}")],
      detail: "arguments of SearchHotel are not a JSON object",
    },
    {
      name: "a missing argument",
      answer: call("SearchHotel", {}),
      next: [result("{}")],
      detail: "SearchHotel.city must be given, got nothing",
    },
    {
      name: "a value outside the enum",
      answer: call("SearchHotel", { city: "Porto", number_of_rooms: "9" }),
      next: [result("{}")],
      detail: /one of "1", "2", "3", got "9"/,
    },
    {
      name: "an argument the tool does not declare",
      answer: call("SearchHotel", { city: "Porto", pool: "True" }),
      next: [result("{}")],
      detail: /only declared arguments, got pool/,
    },
    {
      name: "a tool's own error",
      answer: call("SearchHotel", { city: "Porto" }),
      next: [result('{"error": "no such city"}')],
      detail: /the tool failed/,
    },
    {
      name: "an error among several results",
      answer: call("SearchHotel", { city: "Porto" }),
      next: [result("Error: timeout"), result("{}", "call_2")],
      detail: /the tool failed/,
    },
  ])("gives −1 to $name", async ({ answer, next, detail }) => {
    const verdict = await verifiableJudge.judge(signalOf(answer, next), { votes: 1, seed: 0 });
    expect(verdict).toMatchObject({ judge: "verifiable", reward: -1, detail: expect.stringMatching(detail) });
  });

  it("counts what a tool that the edge ran says against the call, and not that it could not be reached", async () => {
    const rewardOf = async ({ text }: ToolOutcome) =>
      (await verifiableJudge.judge(signalOf(call("SearchHotel", { city: "Porto" }), [result(text)]), { votes: 1, seed: 1 }))?.reward;
    expect([
      await rewardOf(failed("no such city")),
      await rewardOf(unavailable("it took too long")),
      await rewardOf(UNKNOWN_OUTCOME),
    ]).toEqual([-1, 0, 0]);
  });

  it("reads what is nested as deep as nobody walks as no JSON", async () => {
    const deep = "[".repeat(20_000) + "]".repeat(20_000);
    const verdictOn = (args: string, text: string) =>
      verifiableJudge.judge(signalOf(call("SearchHotel", args), [result(text)]), { votes: 1, seed: 0 });
    expect(await verdictOn(`{"city": ${deep}}`, "{}")).toMatchObject({
      reward: -1,
      detail: "arguments of SearchHotel are not a JSON object",
    });
    expect(await verdictOn('{"city": "Porto"}', `{"error": ${deep}}`)).toMatchObject({ reward: 0 });
  });

  it("gives 0 to a call that ran, even one with an empty error member", async () => {
    const verdict = await verifiableJudge.judge(signalOf(call("SearchHotel", { city: "Porto" }), [result('{"count": 1, "error": null}')]), {
      votes: 1,
      seed: 0,
    });
    expect(verdict?.reward).toBe(0);
  });
});

describe("groundHint", () => {
  const called = call("SearchHotel", { city: "Porto", number_of_rooms: "1" });

  it("takes the value as the schema writes it", () => {
    expect(groundHint({ parameter: "has_wifi", value: "true" }, signalOf(called, [user("I always want wifi.")]))).toMatchObject({
      status: "grounded",
      hint: { value: "True" },
    });
  });

  it.each([
    { name: "a parameter of no called tool", hint: { parameter: "place", value: "Porto" }, said: "Porto!", code: "hint/ungrounded" },
    { name: "a value outside the enum", hint: { parameter: "number_of_rooms", value: "7" }, said: "7 rooms", code: "hint/ungrounded" },
    {
      name: "a value that the user never said",
      hint: { parameter: "number_of_rooms", value: "3" },
      said: "two rooms",
      code: "hint/ungrounded",
    },
    { name: "a parameter where the user names another", hint: { parameter: "city", value: "2" }, said: "2 rooms", code: "hint/ungrounded" },
    { name: "a value that the call already had", hint: { parameter: "number_of_rooms", value: "1" }, said: "1 room", code: "hint/held" },
    {
      name: "who is spoken of briefly",
      hint: { parameter: "host", value: "Dana" },
      said: "Check with me before it goes to Dana.",
      code: "hint/held",
    },
    {
      name: "a name where a code stands",
      hint: { parameter: "code", value: "Dana" },
      said: "Check with me before it goes to Dana.",
      code: "hint/ungrounded",
    },
  ])("refuses $name", ({ hint, said, code }) => {
    const parameters = withMore(withMore(SEARCH.function.parameters, "host", { type: "string", description: "Who welcomes" }), "code", {
      type: "string",
    });
    const tools = [{ ...SEARCH, function: { ...SEARCH.function, parameters } }];
    const more = call("SearchHotel", { city: "Porto", number_of_rooms: "1", host: "Dana Wirth", code: "CC-100" });
    expect(groundHint(hint, signalOf(more, [user(said)], ASK, { tools }))).toMatchObject({ status: "refused", code });
  });

  it.each([
    ["host", "Dana", "Dana, please."],
    ["host", "Dana", "The host has to be Dana from now on."],
    ["code", "CC-340", "CC-340 for all of these."],
    ["track", "wav", "No, wav of course."],
    ["host", "Dana", "No, the other Dana of the two should get it."],
  ])("takes %s = %s of who says %s", (parameter, value, said) => {
    const text = { type: "string", description: parameter === "host" ? "Who welcomes" : "" };
    const parameters = ["host", "code", "track"].reduce((all, name) => withMore(all, name, text), SEARCH.function.parameters);
    const tools = [{ ...SEARCH, function: { ...SEARCH.function, parameters } }];
    const more = call("SearchHotel", { city: "Porto", number_of_rooms: "1", host: "Dana Wirth", code: "CC-100", track: "mp3" });
    expect(groundHint({ parameter, value }, signalOf(more, [user(said)], ASK, { tools }))).toMatchObject({ status: "grounded" });
  });

  it.each([
    { name: "an option of another parameter", hint: { parameter: "city", value: "Spa" }, said: "I was hoping for Spa." },
    { name: "a name that goes on in another script", hint: { parameter: "city", value: "Ōsaka" }, said: "Ōsaka 大阪, as the city." },
    { name: "an option that is an ending", hint: { parameter: "extras", value: "Spa" }, said: "Open notes/list.spa, please." },
    { name: "a number with another sign", hint: { parameter: "number_of_rooms", value: "2" }, said: "The number of rooms is -2." },
    { name: "a number for a place", hint: { parameter: "city", value: "2" }, said: "I gave up on 2 years ago." },
    { name: "a part of a name", hint: { parameter: "city", value: "San" }, said: "I meant San Remo, of course." },
    { name: "a name up to its initial", hint: { parameter: "city", value: "Port S" }, said: "I always go to Port S. John." },
  ])("refuses $name", ({ hint, said }) => {
    const { function: search } = SEARCH;
    const parameters = withMore(search.parameters, "extras", { type: "string", enum: ["Spa", "Pool"] });
    const signal = signalOf(called, [user(said)], ASK, { tools: [{ ...SEARCH, function: { ...search, parameters } }] });
    expect(groundHint(hint, signal)).toMatchObject({ status: "refused", code: "hint/ungrounded" });
  });

  it.each(["I meant Remo I think.", "I meant Remo I'm sure.", "I meant Remo\nThanks."])(
    "takes a name up to where the sentence goes on: %j",
    (said) => {
      const signal = signalOf(called, [user(said)]);
      expect(groundHint({ parameter: "city", value: "Remo" }, signal)).toMatchObject({ status: "grounded" });
      expect(groundedCandidates(signal).map(({ hint }) => hintText(hint))).toContain("city should be Remo.");
    },
  );

  it("offers whole names and what an option names", () => {
    const named = signalOf(called, [user("I meant Port S. John.")]);
    expect(groundedCandidates(named).map(({ hint }) => hintText(hint))).toContain("city should be Port S. John.");
    const { function: search } = SEARCH;
    const parameters = withMore(search.parameters, "extras", { type: "string", enum: ["Spa", "Pool"] });
    const option = signalOf(called, [user("I was hoping for Spa.")], ASK, { tools: [{ ...SEARCH, function: { ...search, parameters } }] });
    expect(groundedCandidates(option).flatMap(({ hint }) => (hint.parameter === "extras" ? [hint] : []))).toEqual([
      { parameter: "extras", value: "Spa" },
    ]);
  });

  describe("where the user names what the call had, and nothing else", () => {
    const other = { parameter: "number_of_rooms", value: "3" };

    it.each([
      "Anything but one room!",
      "Never just 1 room.",
      "One room? That would never be enough for us.",
      "Would you mind avoiding 1 as number of rooms?",
    ])("takes any other value that the schema lists: %s", (said) => {
      expect(groundHint(other, signalOf(called, [user(said)]))).toMatchObject({ status: "grounded", hint: other });
    });

    it.each([
      { name: "another value is named, too", said: "Not 1 room, 2 rooms." },
      { name: "a question behind which nothing is said of it", said: "Why one room? I never said that." },
      { name: "a number that is about something else", said: "No, not that one." },
      { name: "a parameter that the call left out", said: "1 room is not enough.", used: call("SearchHotel", { city: "Porto" }) },
    ])("refuses where there is $name", ({ said, used = called }) => {
      expect(groundHint(other, signalOf(used, [user(said)]))).toMatchObject({ status: "refused", code: "hint/ungrounded" });
    });

    it.each(["No, the number of rooms should be 1.", "No no, 1 room please, number of rooms 1.", "Nope, number of rooms: 1, as I said."])(
      "takes nothing for another one that wants what the call had: %s",
      (said) => {
        expect(groundHint(other, signalOf(called, [user(said)]))).toMatchObject({ status: "refused" });
      },
    );

    it("counts what the schema puts where the call left it out", () => {
      const { function: search } = SEARCH;
      const withDefault = {
        ...SEARCH,
        function: { ...search, parameters: withMore(search.parameters, "number_of_rooms", { default: "1" }) },
      };
      const signal = signalOf(call("SearchHotel", { city: "Porto" }), [user("1 room is not enough.")], ASK, { tools: [withDefault] });
      expect(groundHint(other, signal)).toMatchObject({ status: "grounded" });
      expect(groundHint({ ...other, value: "1" }, signal)).toMatchObject({ status: "refused", code: "hint/held" });
    });
  });
});

describe("createEmbeddedJudge", () => {
  const signal = signalOf(call("SearchHotel", { city: "Porto" }), [user("No, I want two rooms.")]);

  // Stands in for a base that gives these texts in turn: what is tested is what the judge makes of them.
  function saying(...texts: string[]): JobSampler {
    let given = 0;
    return {
      answer: async (prompts) => prompts.map(() => texts[given++] ?? ""),
      call: async () => undefined,
      knowsWishes: false,
      score: async (_, answers) => answers.map((answer) => -answer.length),
    };
  }

  /** A call that used so many rooms, and a user who wants two. */
  function correctedToTwo(asked: string, used: string) {
    const corrected = signalOf(call("SearchHotel", { city: "Porto", number_of_rooms: used }), [user("No, I want two rooms.")], user(asked));
    return createEmbeddedJudge(saying("-1", "number_of_rooms should be 2.")).judge(corrected, { votes: 1, seed: 0 });
  }

  it("takes the plurality of votes and the most frequent grounded hint", async () => {
    const judge = createEmbeddedJudge(
      saying("-1", "0", "-1", "number_of_rooms should be 3.", "number_of_rooms should be 2.", "number_of_rooms should be 2."),
    );
    expect(await judge.judge(signal, { votes: 3, seed: 0 })).toMatchObject({
      reward: -1,
      votes: [-1, 0, -1],
      hint: { text: "number_of_rooms should be 2.", toolName: "SearchHotel" },
    });
  });

  it("asks for no hint where the answer was approved", async () => {
    const verdict = await createEmbeddedJudge(saying("+1", "+1", "0", "number_of_rooms should be 2.")).judge(signal, { votes: 3, seed: 0 });
    expect(verdict).toMatchObject({ reward: 1 });
    expect(verdict?.hint).toBeUndefined();
  });

  describe("where the votes tell nothing", () => {
    const neutral = (hint: string, said = "Could you redo this with two rooms?") =>
      createEmbeddedJudge(saying("0", "0", "-1", hint)).judge(signalOf(call("SearchHotel", { city: "Porto" }), [user(said)]), {
        votes: 3,
        seed: 0,
      });

    it("takes words for a rejection that say which argument should have been what", async () => {
      expect(await neutral("number_of_rooms should be 2.")).toMatchObject({
        ...{ reward: -1, votes: [0, 0, -1], detail: "by what should have been different" },
        hint: { text: "number_of_rooms should be 2.", toolName: "SearchHotel" },
      });
    });

    describe("and somebody will never have what the call had", () => {
      const { function: search } = SEARCH;
      const types = { type: "string", enum: ["Standard", "Compact", "Suite"], default: "Standard" };
      const tools = [{ ...SEARCH, function: { ...search, parameters: withMore(search.parameters, "room_type", types) } }];
      const heard = async (said: string, { args = {}, hint = "none" }: { args?: Record<string, string>; hint?: string } = {}) => {
        const denied = signalOf(call("SearchHotel", { city: "Porto", ...args }), [user(said)], ASK, { tools });
        return createEmbeddedJudge(saying("0", "0", "0", hint)).judge(denied, { votes: 3, seed: 0 });
      };

      it.each([
        "Anything but Standard as room type!",
        "I can’t stand Standard, pick any other.",
        "Nope, Standard is something I never accept.",
        "I don't do Standard.",
        "I can't stand Standard, can you change that?",
        "Can you please pick anything but Standard?",
        "Sorry, would you mind avoiding Standard whenever you book for me?",
      ])("wants another that the schema lists: %s", async (said) => {
        // The shortest text is the likeliest here. The hint job may take what is rejected for what is wanted.
        for (const hint of ["none", "room_type should be Standard."])
          expect(await heard(said, { hint })).toMatchObject({ reward: -1, hint: { text: "room_type should be Suite." } });
      });

      it.each([
        { said: "And is there a Standard one, too?" },
        { said: "I never accept that." },
        { said: "I can't stand waiting. Make it two rooms." },
        { said: "I hate to ask, but is the Standard room refundable?" },
        { said: "I can't stand noise. Is the Standard room quiet?" },
        { said: "Standard is fine, I never use the gym anyway." },
        { said: "Is there anything other than Standard?" },
        { said: "Anything but Standard!", args: { room_type: "Compact" } },
      ])("hears nothing in $said", async ({ said, args }) => {
        const verdict = await heard(said, { args: args ?? {} });
        expect([verdict?.reward, verdict?.hint?.hint.parameter]).toEqual([0, undefined]);
      });
    });

    it.each([
      { name: "the base says none", hint: "none" },
      { name: "the user names no parameter", hint: "number_of_rooms should be 2.", said: "And now for two?" },
      { name: "the hint is none of the user's words", hint: "city should be Faro.", said: "Thanks, and the weather?" },
      { name: "it is a misreading and no default", hint: "city should be Porto.", said: "The city is Porto." },
    ])("leaves it at 0 where $name", async ({ hint, said }) => {
      const verdict = await neutral(hint, said);
      expect(verdict).toMatchObject({ reward: 0, detail: "by votes" });
      expect(verdict?.hint).toBeUndefined();
    });
  });

  it("takes the likeliest grounded hint where the base writes none that is grounded", async () => {
    const verdict = await createEmbeddedJudge(saying("-1", "place should be Paris.")).judge(signal, { votes: 1, seed: 0 });
    expect(verdict).toMatchObject({ reward: -1, hint: { text: "number_of_rooms should be 2.", toolName: "SearchHotel" } });
  });

  it("believes a base that says none every time, unless the user names the parameter", async () => {
    const denying = () => createEmbeddedJudge(saying("-1", "-1", "-1", "none", "none", "none"));
    const elsewhere = signalOf(call("SearchHotel", { city: "Porto" }), [user("Now one in Bergen, for 3.")]);
    const verdict = await denying().judge(elsewhere, { votes: 3, seed: 0 });
    expect(verdict).toMatchObject({ reward: -1, refused: { code: "hint/none" } });
    expect(verdict?.hint).toBeUndefined();
    expect(await denying().judge(signal, { votes: 3, seed: 0 })).toMatchObject({ hint: { text: "number_of_rooms should be 2." } });
  });

  it.each([
    { asked: "A hotel in Porto for 2 people.", used: "1" },
    { asked: "A hotel in Porto, numbered 1.", used: "1" },
  ])("takes a number of something else for no word about the argument: $asked", async ({ asked, used }) => {
    const verdict = await correctedToTwo(asked, used);
    expect(verdict?.hint?.text).toBe("number_of_rooms should be 2.");
  });

  it.each([
    { asked: "A hotel in Porto with 2 rooms.", used: "1", why: /already said number_of_rooms = 2/ },
    { asked: "A hotel in Porto with 3 rooms.", used: "3", why: /said number_of_rooms = 3/ },
  ])("takes no default from a correction of what the request had said: $asked", async ({ asked, used, why }) => {
    const verdict = await correctedToTwo(asked, used);
    expect(verdict).toMatchObject({ reward: -1, refused: { code: "hint/spokenBefore", detail: expect.stringMatching(why) } });
    expect(verdict?.hint).toBeUndefined();
  });

  it("takes none of several hints that the base could not weigh", async () => {
    const blind: JobSampler = { ...saying("-1", "nonsense"), score: async (_, answers) => answers.map(() => Number.NEGATIVE_INFINITY) };
    const either = signalOf(call("SearchHotel", { city: "Porto" }), [user("Wrong, the number of rooms is 2 or 3.")]);
    const verdict = await createEmbeddedJudge(blind).judge(either, { votes: 1, seed: 0 });
    expect(verdict?.hint).toBeUndefined();
  });

  it("looks for values in no more than 2,000 characters", async () => {
    const heard = async (said: string) => {
      const told = signalOf(call("SearchHotel", { city: "Porto" }), [user(said)]);
      return (await createEmbeddedJudge(saying("-1", "nonsense")).judge(told, { votes: 1, seed: 0 }))?.hint?.text;
    };
    const said = "No, the number of rooms should be 2.";
    expect(await heard(said.padEnd(2_000))).toBe("number_of_rooms should be 2.");
    expect(await heard(said.padEnd(2_001))).toBeUndefined();
  });

  it("keeps the reason where no hint could be grounded", async () => {
    const vague = signalOf(call("SearchHotel", { city: "Porto" }), [user("No, that is not what I want.")]);
    const verdict = await createEmbeddedJudge(saying("-1", "number_of_rooms should be 3.")).judge(vague, { votes: 1, seed: 0 });
    expect(verdict).toMatchObject({ reward: -1, refused: { code: "hint/ungrounded" } });
  });

  it("hears a correction with thanks around it, and leaves thanks alone to the votes", async () => {
    const heard = (said: string, ...texts: string[]) => {
      const thanked = signalOf(call("SearchHotel", { city: "Porto" }), [user(said)]);
      return createEmbeddedJudge(saying(...texts)).judge(thanked, { votes: 1, seed: 0 });
    };
    const hint = "number_of_rooms should be 2.";
    expect(await heard("No, I want two rooms. Thank you very much!", "+1", "-1", hint)).toMatchObject({ reward: -1, hint: { text: hint } });
    // Where what is left tells nothing, it stays at what was said as a whole.
    expect(await heard("No, that is all. Thank you!", "+1", "-1", "none")).toMatchObject({ reward: 1 });
    expect(await heard("That was great. Thank you!", "+1", "+1")).toMatchObject({ reward: 1 });
    expect(await heard("Thank you. Bye!", "+1")).toMatchObject({ reward: 1, votes: [1] });
  });

  it("says so when no vote can be read", async () => {
    expect(await createEmbeddedJudge(saying("bad", "worse", "")).judge(signal, { votes: 3, seed: 0 })).toMatchObject({
      reward: 0,
      refused: { code: "judge/unparsable" },
    });
  });
});
