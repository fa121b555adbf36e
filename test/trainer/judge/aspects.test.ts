/** What the judge hears about a call beside its arguments: another tool, and whether somebody wants to be asked. */
import { describe, expect, it } from "vitest";
import { WISH_SYSTEM } from "../../../shared/jobs.ts";
import { type ChatMessage, ToolDefinition } from "../../../shared/chat.ts";
import { assembleSignal, type Signal } from "../../../trainer/data/exchange.ts";
import { EventCache } from "../../../trainer/feed/cache.ts";
import { groundAspect } from "../../../trainer/judge/aspects.ts";
import { createEmbeddedJudge } from "../../../trainer/judge/embedded.ts";
import type { JobSampler } from "../../../trainer/judge/job-sampler.ts";
import { toJudgement, verdictFromLog } from "../../../trainer/judge/judgement.ts";
import { call, nextState, result, SEARCH, turn, user, WEATHER } from "../hotel.ts";

const ROOMS: ToolDefinition = { ...SEARCH, function: { ...SEARCH.function, name: "FindRoom" } };
const RESERVE: ToolDefinition = {
  type: "function",
  function: {
    name: "ReserveHotel",
    parameters: { type: "object", properties: { city: { type: "string" }, number_of_rooms: { type: "string" } } },
  },
};
const TOOLS = [SEARCH, WEATHER, ROOMS, RESERVE];
const PORTO = { city: "Porto", number_of_rooms: "2" };
const SEARCHED = call("SearchHotel", PORTO);
const RESERVED = call("ReserveHotel", PORTO);

function signalOf(
  answer: Parameters<typeof turn>[1],
  said: string,
  { asked = [user("Two rooms in Porto.")] as ChatMessage[], tools = TOOLS } = {},
): Signal {
  const cache = new EventCache(10);
  const made = turn(asked, answer, { tools });
  cache.add(made);
  const results = answer.role === "assistant" && answer.tool_calls !== undefined ? [result("{}")] : [];
  const assembled = assembleSignal(nextState(made, [...results, user(said)]), cache);
  if (assembled?.status !== "signal") throw new Error("a signal expected");
  return assembled.signal;
}

// Stands in for a base that votes so, writes no hint of an argument, hears this wish, and would call the first tool that it may call so, behind a yes the last.
function hearing({ vote = "-1", wish = "none", sure = 0.99, args = PORTO as Record<string, string> }): JobSampler {
  const isAgreed = (messages: readonly ChatMessage[]): boolean => messages.at(-1)?.content === "Yes, that is right.";
  return {
    knowsWishes: true,
    answer: async (prompts) => prompts.map(({ messages: [system] }) => (system?.content?.startsWith("Judge") ? vote : "none")),
    call: async ({ messages, callable }) => {
      const tool = callable.at(isAgreed(messages) ? -1 : 0);
      return tool === undefined ? undefined : { status: "read", name: tool.function.name, arguments: args };
    },
    score: async ({ messages: [system] }, answers) =>
      answers.map((answer) =>
        system?.content === WISH_SYSTEM && answer === wish ? Math.log(sure) : Math.log((1 - sure) / (answers.length - 1)),
      ),
  };
}

function judge(signal: Signal, base: Parameters<typeof hearing>[0]) {
  return createEmbeddedJudge(hearing(base)).judge(signal, { votes: 3, seed: 0 });
}

describe("a tool", () => {
  const other = {
    toolName: "SearchHotel",
    hint: { parameter: "@tool", value: "FindRoom" },
    text: "Call FindRoom in place of SearchHotel.",
  };

  it.each([
    ["Use FindRoom for that.", "-1"],
    ["Try find room next time.", "0"],
    ["I like find room better.", "-1"],
    ["Not search hotel but find room!", "-1"],
  ])("is heard in %s, voted %s", async (said, vote) => {
    expect(await judge(signalOf(SEARCHED, said), { vote })).toMatchObject({ reward: -1, hint: other });
  });

  it("is a default for nobody where the answer was approved, or where it would do something else", async () => {
    expect((await judge(signalOf(SEARCHED, "Great, find room works too."), { vote: "+1" }))?.hint).toBeUndefined();
    for (const said of ["Now use find room in Faro.", "Then find room in Porto, too.", "Can you search hotel prices there?"]) {
      const elsewhere = await judge(signalOf(SEARCHED, said), { vote: "0", args: said.includes("Faro") ? { city: "Faro" } : PORTO });
      expect([elsewhere?.reward, elsewhere?.hint]).toEqual([0, undefined]);
    }
  });

  it("is asked for after all that was said, so that a new request shows", async () => {
    const seen: string[] = [];
    const base = hearing({});
    const spying: JobSampler = {
      ...base,
      call: async (asked, options) => (seen.push(JSON.stringify(asked.messages)), base.call(asked, options)),
    };
    await createEmbeddedJudge(spying).judge(signalOf(SEARCHED, "Use FindRoom in Faro."), { votes: 1, seed: 0 });
    expect(seen).toEqual([expect.stringContaining("Use FindRoom in Faro.")]);
  });

  it("that was called is not wrong where an argument was", async () => {
    const base: JobSampler = {
      ...hearing({}),
      answer: async (prompts) => prompts.map(({ job }) => (job === "judge" ? "-1" : "city should be Faro.")),
    };
    const verdict = await createEmbeddedJudge(base).judge(
      signalOf(SEARCHED, "No, I said search hotel in Faro.", { asked: [user("Two rooms, please.")] }),
      { votes: 1, seed: 0 },
    );
    expect(verdict?.hint?.text).toBe("city should be Faro.");
  });

  it("is none that the base writes by itself, whatever the user says", async () => {
    const base: JobSampler = {
      ...hearing({}),
      answer: async (prompts) => prompts.map(({ job }) => (job === "judge" ? "-1" : "Call GetWeather in place of SearchHotel.")),
    };
    const verdict = await createEmbeddedJudge(base).judge(signalOf(SEARCHED, "No, that is wrong."), { votes: 1, seed: 0 });
    expect(verdict?.hint).toBeUndefined();
  });

  it("is no default where the request had chosen it", async () => {
    const signal = signalOf(SEARCHED, "No, FindRoom!", { asked: [user("Use find room, two in Porto.")] });
    expect(await judge(signal, {})).toMatchObject({ reward: -1, refused: { code: "hint/spokenBefore" } });
  });

  describe("that somebody wanted alone, or says should have been used", () => {
    const offer = { ...RESERVE, function: { ...RESERVE.function, name: "compare_offers" } };
    const draft = { ...RESERVE, function: { ...RESERVE.function, name: "save_draft" } };
    const heard = async (said: string, { vote = "-1", tools = [RESERVE, offer, draft, WEATHER] } = {}) =>
      // The base would call another one with other values: what is said outright is believed all the same.
      (await judge(signalOf(RESERVED, said, { tools }), { vote, wish: "ask", args: {} }))?.hint?.text;

    it.each([
      ["I only wanted a draft, for heaven's sake.", "save_draft"],
      ["Drafts only from now on!", "save_draft"],
      ["You could have kept it as a draft.", "save_draft"],
      ["You should've compared a few of them first!", "compare_offers"],
      ["You should have just compared them.", "compare_offers"],
    ])("is heard in %s", async (said, wanted) => {
      expect(await heard(said)).toBe(`Call ${wanted} in place of ReserveHotel.`);
    });

    it("is none where an argument is heard, nor of what is no such wish", async () => {
      const base: JobSampler = {
        ...hearing({}),
        answer: async (prompts) => prompts.map(({ job }) => (job === "judge" ? "-1" : "city should be Faro.")),
      };
      const signal = signalOf(RESERVED, "You should have compared Faro!", { asked: [user("Two rooms, please.")], tools: [RESERVE, offer] });
      expect((await createEmbeddedJudge(base).judge(signal, { votes: 1, seed: 0 }))?.hint?.text).toBe("city should be Faro.");
      const note = { ...draft, function: { ...draft.function, name: "create_note" } };
      for (const said of ["No, that is not right.", "I should have saved it.", "I only wanted a note of thanks to come with it."])
        expect((await heard(said, { tools: [RESERVE, note, draft] })) ?? "").not.toMatch(/^Call/);
    });

    it("is none that takes nothing of the same, nor of which two are named", async () => {
      expect(await heard("I only wanted the weather.")).toBeUndefined();
      const more = { ...draft, function: { ...draft.function, name: "send_draft" } };
      expect(await heard("I only wanted a draft.", { tools: [RESERVE, draft, more] })).toBeUndefined();
    });

    it("is none of who approves, asks for more, or wants to be asked", async () => {
      expect(await heard("Great, I only wanted a draft of it.", { vote: "+1" })).toBeUndefined();
      for (const said of ["You should have asked me first!", "You should have confirmed that with me!"])
        expect(await heard(said, { tools: [RESERVE, offer, { ...draft, function: { ...draft.function, name: "confirm_booking" } }] })).toBe(
          "Ask before ReserveHotel is called.",
        );
    });
  });

  it("that is rejected is replaced by its like alone: one that is named after the same thing", async () => {
    const like: ToolDefinition = { ...SEARCH, function: { ...SEARCH.function, name: "FindHotel" } };
    const signal = signalOf(SEARCHED, "SearchHotel is always wrong.", { tools: [SEARCH, ROOMS, like] });
    expect((await judge(signal, {}))?.hint?.text).toBe("Call FindHotel in place of SearchHotel.");
  });

  it("is not rejected by who only asks once more, nor replaced by one that is called with much else", async () => {
    const like: ToolDefinition = { ...SEARCH, function: { ...SEARCH.function, name: "FindHotel" } };
    const asked = [user("Search hotel offers in Porto, two rooms.")];
    const heard = async (said: string, args: Record<string, string> = PORTO) =>
      (await judge(signalOf(SEARCHED, said, { asked, tools: [SEARCH, like] }), { args }))?.hint?.text;
    expect(await heard("Once again: Search hotel offers in Porto, two rooms.")).toBeUndefined();
    expect(await heard("SearchHotel is always wrong.")).toBe("Call FindHotel in place of SearchHotel.");
    expect(await heard("SearchHotel is always wrong.", { ...PORTO, stars: "5", pool: "True", view: "sea" })).toBeUndefined();
  });

  it("is heard where the call had no values to compare, or both are named, if the two take the same", async () => {
    const args = { city: "Faro" };
    const tools = [SEARCH, ROOMS];
    const empty = call("SearchHotel", {});
    expect(await judge(signalOf(empty, "Wrong one, find room!", { tools }), { args })).toMatchObject({ hint: other });
    expect(await judge(signalOf(SEARCHED, "Don't run search hotel, pick find room.", { tools }), { args })).toMatchObject({ hint: other });
    expect((await judge(signalOf(SEARCHED, "Wrong one, find room!", { tools }), { args }))?.hint).toBeUndefined();
    const both = signalOf(SEARCHED, "Thanks! Then search hotel offers and find room prices in Faro.", { tools });
    expect((await judge(both, { vote: "0", args }))?.hint).toBeUndefined();
    const asked = [user("Use FindRoom."), { role: "assistant", content: "OK." } as ChatMessage, user("Two rooms in Porto.")];
    expect((await judge(signalOf(SEARCHED, "Use FindRoom.", { tools, asked }), {}))?.reward).toBe(-1);
    const weather = await judge(signalOf(SEARCHED, "Not search hotel, get weather!", { tools: [SEARCH, WEATHER] }), { args });
    expect(weather?.hint).toBeUndefined();
  });

  it("is told from the one that was called by what each does", async () => {
    const [send, draft] = ["SendHotelRequest", "DraftHotelRequest"].map((name) => ({ ...SEARCH, function: { ...SEARCH.function, name } }));
    const [SENT, tools] = [call("SendHotelRequest", PORTO), [send, draft, WEATHER] as ToolDefinition[]];
    const heard = async (said: string): Promise<string | undefined> => (await judge(signalOf(SENT, said, { tools }), {}))?.hint?.hint.value;
    for (const said of [
      "I wanted a draft, not to send it.",
      "Never send anything, only draft it!",
      "Don't send but draft it.",
      "Drafting instead of sending would be right.",
    ])
      expect([said, await heard(said)]).toEqual([said, "DraftHotelRequest"]);
    for (const said of [
      "Not so fast, where is the draft?",
      "I never said that you should draft it.",
      "Send it again, no draft.",
      "Don't send two requests for a hotel.",
    ])
      expect([said, await heard(said)]).toEqual([said, undefined]);
  });

  it("is none where no tool does the same", async () => {
    const signal = signalOf(SEARCHED, "SearchHotel is always wrong.", { tools: [SEARCH, WEATHER] });
    expect((await judge(signal, {}))?.hint).toBeUndefined();
  });

  it("is read from the log as it was judged", async () => {
    const signal = signalOf(SEARCHED, "Use FindRoom for that.");
    const verdict = await judge(signal, {});
    if (verdict === undefined) throw new Error("a verdict expected");
    const { payload } = toJudgement(signal, verdict, new Date());
    expect(payload).toMatchObject({ hint: other.text, tool: "SearchHotel" });
    expect(verdictFromLog(payload, signal).hint).toEqual(verdict.hint);
    const gone = signalOf(SEARCHED, "Use FindRoom for that.", { tools: [SEARCH] });
    expect(verdictFromLog(payload, gone)).toMatchObject({ refused: { code: "hint/ungrounded" } });
  });
});

describe("a wish for other words", () => {
  const FOUND: ChatMessage[] = [user("Rooms in Porto."), SEARCHED, result('{"count": 2, "hotels": ["Aria", "Corner"]}')];
  const REPLY: ChatMessage = { role: "assistant", content: "There are some nice ones, and Aria is one of them. Do you like it?" };
  const heard = (said: string, { answer = REPLY, asked = FOUND, vote = "-1" } = {}) => judge(signalOf(answer, said, { asked }), { vote });

  it.each([
    ["Too long.", "@length", "7"],
    ["Use at most five words.", "@length", "5"],
    ["No more questions, please.", "@question", "none"],
    ["Call me Kim.", "@name", "Kim"],
    ["And how many were there? Always tell me!", "@count", "told"],
  ])("is heard in %s", async (said, parameter, value) => {
    for (const vote of ["-1", "0", "+1"])
      expect(await heard(said, { vote })).toMatchObject({ reward: -1, hint: { toolName: "SearchHotel", hint: { parameter, value } } });
  });

  it("is none where the reply is worded so, or is none to a result, or the words do not tell the name", async () => {
    expect((await heard("Keep it short.", { answer: { role: "assistant", content: "How about Aria?" } }))?.hint).toBeUndefined();
    expect((await heard("No more questions.", { answer: { role: "assistant", content: "Aria." } }))?.hint).toBeUndefined();
    expect((await heard("Keep it short.", { asked: [user("Rooms in Porto.")] }))?.hint).toBeUndefined();
    expect((await heard("use my name!"))?.hint).toBeUndefined();
  });

  it("is read from the log as it was judged", async () => {
    const signal = signalOf(REPLY, "Call me Kim.", { asked: FOUND });
    const verdict = await judge(signal, { vote: "-1" });
    if (verdict === undefined) throw new Error("a verdict expected");
    const { payload } = toJudgement(signal, verdict, new Date());
    expect(payload).toMatchObject({ hint: "Reply to SearchHotel with the name Kim.", tool: "SearchHotel" });
    expect(verdictFromLog(payload, signal).hint).toEqual(verdict.hint);
    expect(groundAspect({ parameter: "@name", value: "Kim" }, "ReserveHotel", signal)).toMatchObject({ status: "refused" });
  });
});

describe("a wish to be asked", () => {
  const first = { toolName: "ReserveHotel", hint: { parameter: "@ask", value: "first" } };

  it("is about the call that was made", async () => {
    expect(await judge(signalOf(RESERVED, "I like to see what I sign."), { vote: "0", wish: "ask" })).toMatchObject({
      reward: -1,
      hint: first,
    });
  });

  it("is about the tool that the user names, or that is due where none was called", async () => {
    const said = "Before you reserve hotels, ask me.";
    expect(await judge(signalOf(SEARCHED, said), { vote: "0", wish: "ask" })).toMatchObject({ hint: first });
    const slot: ChatMessage = { role: "assistant", content: "Which day?" };
    const due = await judge(signalOf(slot, "Run it by me first.", { tools: [RESERVE, SEARCH] }), { vote: "0", wish: "ask" });
    expect(due).toMatchObject({ hint: first });
    const none = { ...hearing({ wish: "ask" }), call: async () => undefined };
    const verdict = await createEmbeddedJudge(none).judge(signalOf(slot, "Run it by me first."), { votes: 1, seed: 0 });
    expect(verdict?.hint).toBeUndefined();
  });

  it("is about the one of several named tools that was called, and about none where none of them was", async () => {
    const hotel = (answer: Parameters<typeof turn>[1], said: string) =>
      judge(signalOf(answer, said), { vote: "0", wish: "ask", sure: 0.995 });
    expect((await hotel(SEARCHED, "Ask me before you search hotels!"))?.hint?.toolName).toBe("SearchHotel");
    expect((await hotel(RESERVED, "Ask me before you search hotels!"))?.hint?.toolName).toBe("SearchHotel");
    expect((await hotel(RESERVED, "Search hotels, but ask before you reserve hotels!"))?.hint?.toolName).toBe("ReserveHotel");
    const both = "Ask me before you find room or search hotel!";
    expect((await hotel(SEARCHED, both))?.hint?.toolName).toBe("SearchHotel");
    expect((await hotel(RESERVED, both))?.hint).toBeUndefined();
  });

  it.each([{ sure: 0.99 }, { sure: 0.7 }])("speaks against an approval where it is beyond doubt: $sure", async ({ sure }) => {
    const verdict = await judge(signalOf(RESERVED, "I like to see what I sign."), { vote: "+1", wish: "ask", sure });
    expect(verdict?.reward).toBe(sure > 0.9 ? -1 : 1);
    expect(verdict?.hint?.hint).toEqual(sure > 0.9 ? first.hint : undefined);
  });

  it("is read from the log where nothing was called, and of the tool that was named", () => {
    const slot: ChatMessage = { role: "assistant", content: "Which day?" };
    expect(groundAspect(first.hint, "ReserveHotel", signalOf(slot, "Run it by me first."))).toMatchObject({ status: "grounded" });
    expect(groundAspect(first.hint, "ReserveHotel", signalOf(SEARCHED, "Ask before you reserve hotels."))).toMatchObject({
      status: "grounded",
    });
    expect(groundAspect(first.hint, "ReserveHotel", signalOf(SEARCHED, "Ask me first."))).toMatchObject({ status: "refused" });
  });

  it("is believed of a rejection sooner than of words that are none", async () => {
    const signal = signalOf(RESERVED, "I like to see what I sign.");
    expect(await judge(signal, { vote: "-1", wish: "ask", sure: 0.7 })).toMatchObject({ hint: first });
    expect((await judge(signal, { vote: "0", wish: "ask", sure: 0.7 }))?.hint).toBeUndefined();
  });

  it("is hardly ever about a tool that changes nothing", async () => {
    const verdict = await judge(signalOf(SEARCHED, "The second one is worth a look."), { vote: "-1", wish: "ask", sure: 0.95 });
    expect(verdict?.hint).toBeUndefined();
  });

  it("is none where the user had been asked about it", async () => {
    const asked: ChatMessage[] = [user("Rooms in Porto."), { role: "assistant", content: "Two rooms in Porto, right?" }, user("Yes.")];
    const verdict = await judge(signalOf(RESERVED, "Ask me next time!", { asked }), { wish: "ask" });
    expect(verdict?.hint).toBeUndefined();
  });

  it.each([
    [RESERVED, "Don't reserve hotels without asking me!", "ReserveHotel"],
    [RESERVED, "Never do that unless I confirm it.", "ReserveHotel"],
    [SEARCHED, "Ask me before you search anything!", "SearchHotel"],
    [SEARCHED, "Don't reserve hotels without my okay.", "ReserveHotel"],
  ])("that is ordered outright is heard whatever the base makes of it: %#", async (answer, said, tool) => {
    for (const vote of ["-1", "0", "+1"])
      expect(await judge(signalOf(answer, said), { vote, wish: "none" })).toMatchObject({ hint: { ...first, toolName: tool } });
  });

  it("before something is booked is none before a search", async () => {
    expect((await judge(signalOf(SEARCHED, "Check with me before you book anything!"), { wish: "none" }))?.hint).toBeUndefined();
  });

  it.each(["I never have anything before 10 am.", "Always first class, please.", "That's not what I asked for!"])(
    "is not in %s",
    async (said) => {
      for (const vote of ["-1", "0", "+1"]) expect((await judge(signalOf(RESERVED, said), { vote, wish: "ask" }))?.hint).toBeUndefined();
    },
  );

  it.each([
    "Who asked you to do this?",
    "You paid it already, without asking me!",
    "We prefer the terrace, always.",
    "Just do what I say.",
    "Never pay without asking me.",
  ])("or not is taken for no leave to act: %s", async (said) => {
    const question: ChatMessage = { role: "assistant", content: "Please confirm: two rooms in Porto." };
    for (const vote of ["-1", "0", "+1"])
      expect((await judge(signalOf(question, said), { vote, wish: "go" }))?.hint?.hint).not.toEqual({ parameter: "@ask", value: "never" });
  });

  it("not to be asked is about the call that the question is about", async () => {
    const question: ChatMessage = { role: "assistant", content: "Please confirm: two rooms in Porto." };
    // Whatever the base would call without it: what comes of a yes is what was asked about.
    expect(await judge(signalOf(question, "Just do it, always.", { tools: [SEARCH, RESERVE] }), { wish: "go" })).toMatchObject({
      reward: -1,
      hint: { toolName: "ReserveHotel", hint: { parameter: "@ask", value: "never" } },
    });
    // What is to be confirmed is so, whatever the base would call it with.
    const misread = signalOf({ role: "assistant", content: "Please confirm that you want the 5th." }, "Just do it, always.", {
      tools: [RESERVE],
    });
    expect(await judge(misread, { wish: "go" })).toMatchObject({ hint: { toolName: "ReserveHotel" } });
    const other: ChatMessage = { role: "assistant", content: "Which day?" };
    expect((await judge(signalOf(other, "Just do it, always."), { wish: "go" }))?.hint).toBeUndefined();
  });

  it("is not asked for where the base does not know the job", async () => {
    const base = { ...hearing({ wish: "ask" }), knowsWishes: false };
    const verdict = await createEmbeddedJudge(base).judge(signalOf(RESERVED, "Ask me first!"), { votes: 1, seed: 0 });
    expect(verdict?.hint).toBeUndefined();
  });
});
