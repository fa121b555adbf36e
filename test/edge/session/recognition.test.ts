/** Conversations are recognised, and what follows an answer is paired with it, in real workerd. */
import { describe, expect, it } from "vitest";
import { call, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { nextStatesOf, says, talkTo, turnsOf, type Message } from "./talk.ts";

const edge = withEdge();

const book = { type: "function", function: { name: "Book", parameters: { type: "object", properties: { rooms: { type: "integer" } } } } };

async function agentFor(name: string, settings: object = {}) {
  await putAgent(edge, name, settings);
  return talkTo(edge, name);
}

describe("a conversation without any header", () => {
  it("is one session, and each thing the user says is the next state of the answer before", async () => {
    const { ask, logged } = await agentFor("plain");
    const history: Message[] = [says("one")];
    const first = await ask(history);
    history.push(first.message, says("two"));
    const second = await ask(history);
    history.push(second.message, says("three"));
    const third = await ask(history);
    expect(new Set([first, second, third].map(({ sessionId }) => sessionId)).size).toBe(1);
    const events = await logged("turn:finished", 3);
    expect(turnsOf(events).map(({ turnIndex, origin }) => [turnIndex, origin])).toEqual([
      [0, "opening"],
      [1, "continuation"],
      [2, "continuation"],
    ]);
    expect(nextStatesOf(events)).toEqual([
      [first.id, [says("two")]],
      [second.id, [says("three")]],
    ]);
  });

  it("pays for new tokens only: the second prompt finds the first in the cache", async () => {
    const { ask } = await agentFor("cached");
    const first = await ask([says("a rather long opening, so that there is something to keep")]);
    const second = await ask([says("a rather long opening, so that there is something to keep"), first.message, says("go on")]);
    expect(first.usage.cached).toBe(0);
    expect(second.usage.cached).toBeGreaterThanOrEqual(first.usage.prompt - 1);
  });

  it("is taken up again after it was closed", async () => {
    const { ask, logged } = await agentFor("closing");
    const first = await ask([says("one")], { headers: { "x-session-done": "1" } });
    expect((await logged("session:closed", 1)).at(-1)?.payload).toEqual({ kind: "session:closed", reason: "done" });
    const second = await ask([says("one"), first.message, says("two")]);
    expect(second.sessionId).toBe(first.sessionId);
  });
});

describe("calls of one answer", () => {
  it("get all their results in one next state", async () => {
    const { ask, logged } = await agentFor("parallel");
    const extra = { tools: [book], tool_choice: "required", temperature: 1.5, max_tokens: 500 };
    // A model with random weights writes two calls in about one answer of five; these seeds were seen to.
    let calling = await ask([says("Book two.")], { extra: { ...extra, seed: 128 } });
    for (let seed = 1; (calling.message.tool_calls?.length ?? 0) < 2 && seed < 50; seed++)
      calling = await ask([says("Book two.")], { extra: { ...extra, seed } });
    const results = (calling.message.tool_calls ?? []).map(({ id }, index) => ({
      role: "tool",
      tool_call_id: id,
      content: index === 0 ? "error: no room" : "booked",
    }));
    expect(results.length).toBeGreaterThan(1);
    const reply = await ask([says("Book two."), calling.message, ...results], { extra: { tools: [book] } });
    expect(reply.sessionId).toBe(calling.sessionId);
    expect(nextStatesOf(await logged("nextState:arrived", 1))).toEqual([[calling.id, results]]);
  });
});

describe("a history that was edited", () => {
  it("is a branch of the session, and the first next state stays", async () => {
    const { ask, logged } = await agentFor("branching");
    const first = await ask([says("one")]);
    const second = await ask([says("one"), first.message, says("two")]);
    const other = await ask([says("one"), first.message, says("two, I mean three")]);
    expect([second.sessionId, other.sessionId]).toEqual([first.sessionId, first.sessionId]);
    const events = await logged("turn:finished", 3);
    expect(turnsOf(events).map(({ origin }) => origin)).toEqual(["opening", "continuation", "branch"]);
    expect(nextStatesOf(events)).toEqual([[first.id, [says("two")]]]);
  });

  it("is recognised by the longest part that is known", async () => {
    const { ask, logged } = await agentFor("edited");
    const first = await ask([says("one")]);
    const second = await ask([says("one"), first.message, says("two")]);
    const edited = await ask([says("one"), first.message, says("two"), { ...second.message, content: "Something else." }, says("three")]);
    expect(edited.sessionId).toBe(first.sessionId);
    expect(turnsOf(await logged("turn:finished", 3)).at(-1)?.origin).toBe("branch");
  });
});

describe("an answer asked for again", () => {
  it("is a regeneration in the same session, not a signal", async () => {
    const { ask, logged } = await agentFor("again");
    const first = await ask([says("one")]);
    const conversation = [says("one"), first.message, says("two")];
    const [second, third] = [await ask(conversation), await ask(conversation)];
    expect(third.sessionId).toBe(first.sessionId);
    expect(third.id).not.toBe(second.id);
    const events = await logged("turn:finished", 3);
    expect(turnsOf(events).map(({ origin }) => origin)).toEqual(["opening", "continuation", "regeneration"]);
    expect(nextStatesOf(events)).toHaveLength(1);
  });
});

describe("a transcript that two open sessions hold", () => {
  it("is served in a session of its own, logged as ambiguous, and is no signal to either", async () => {
    const { ask, logged, counted } = await agentFor("twins");
    const [first, second] = [await ask([says("one")]), await ask([says("one")])];
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(second.message).toEqual(first.message);
    const third = await ask([says("one"), first.message, says("two")]);
    expect([first.sessionId, second.sessionId]).not.toContain(third.sessionId);
    const events = await logged("turn:finished", 3);
    expect(turnsOf(events).at(-1)?.origin).toBe("ambiguous");
    expect(nextStatesOf(events)).toEqual([]);
    await counted({ ambiguous: 1 });
  });
});

describe("a session that the client names", () => {
  it("is the same by header, by body and by metadata, whatever its history", async () => {
    const { ask, logged } = await agentFor("named");
    const named = [
      await ask([says("one")], { headers: { "x-session-id": "trip-7" } }),
      await ask([says("two")], { extra: { session_id: "trip-7" } }),
      await ask([says("three")], { extra: { metadata: { session_id: "trip-7", colour: "blue" } } }),
    ];
    expect(new Set(named.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(turnsOf(await logged("turn:finished", 3)).map(({ metadata }) => metadata)).toEqual([
      undefined,
      undefined,
      { session_id: "trip-7", colour: "blue" },
    ]);
  });

  it("has any name that metadata holds, and none where that is empty", async () => {
    const { ask } = await agentFor("named-freely");
    const named = (session_id: string, extra: object = {}) => ask([says("one")], { extra: { metadata: { session_id }, ...extra } });
    const free = `Grüße, Trip 7 😀\n${"x".repeat(400)}`;
    const [first, again, other] = [await named(free), await named(free), await named(`${free}y`)];
    expect([first.status, again.status, other.status]).toEqual([200, 200, 200]);
    expect([again.sessionId === first.sessionId, other.sessionId === first.sessionId]).toEqual([true, false]);
    const [unnamed, next] = [await named(""), await named("")];
    expect([unnamed.status, next.sessionId === unnamed.sessionId]).toEqual([200, false]);
    expect(await named("fine", { session_id: "not fine" })).toMatchObject({ status: 400, error: { param: "session_id" } });
    const body = { model: "named-freely", input: "one", max_output_tokens: 4, metadata: { session_id: free } };
    expect((await call(edge, "client", "POST /v1/responses", body)).headers.get("x-session-id")).toBe(first.sessionId);
  });

  it("may be named by the id that an answer stated", async () => {
    const { ask } = await agentFor("renamed");
    const first = await ask([says("one")]);
    const second = await ask([says("something else")], { headers: { "x-session-id": first.sessionId } });
    expect(second.sessionId).toBe(first.sessionId);
  });

  it("runs turns that come at once in order, one after another", async () => {
    const { ask, logged } = await agentFor("ordered");
    const words = ["one", "two", "three", "four"];
    await Promise.all(words.map((word) => ask([says(word)], { headers: { "x-session-id": "busy" }, extra: { max_tokens: 30 } })));
    expect(turnsOf(await logged("turn:finished", 4)).map(({ turnIndex }) => turnIndex)).toEqual([0, 1, 2, 3]);
  });
});

describe("a side turn", () => {
  it("is served and logged as such, and is neither a next state nor followed by one", async () => {
    const { ask, logged } = await agentFor("aside");
    const headers = { "x-session-id": "with-title" };
    const first = await ask([says("one")], { headers });
    const title = await ask([says("one"), first.message, says("Give this a title.")], { headers: { ...headers, "x-turn-type": "side" } });
    const second = await ask([says("one"), first.message, says("two")], { headers });
    expect([title.sessionId, second.sessionId]).toEqual([first.sessionId, first.sessionId]);
    const events = await logged("turn:finished", 3);
    expect(turnsOf(events).map(({ turnKind, origin }) => `${turnKind} ${origin}`)).toEqual([
      "main opening",
      "side continuation",
      "main continuation",
    ]);
    expect(nextStatesOf(events)).toEqual([[first.id, [says("two")]]]);
  });
});

describe("the agent's instructions and tools", () => {
  it("stand before the client's system text and apply where the request names none", async () => {
    const { ask, logged } = await agentFor("instructed", { instructions: "Be brief.", tools: [book] });
    await ask([{ role: "system", content: "Today is Monday." }, says("one")]);
    const [turn] = turnsOf(await logged("turn:finished", 1));
    expect(turn?.messages).toEqual([{ role: "system", content: "Be brief.\nToday is Monday." }, says("one")]);
    expect(turn?.tools).toEqual([book]);
  });
});
