/** What one user says reaches no other user's session, retry record, feedback or feed, whatever ids they guess or copy. */
import { beforeAll, describe, expect, it } from "vitest";
import { parseAnswerId } from "../../edge/session/identity.ts";
import { sha256 } from "../../shared/digest.ts";
import { FeedPage, type LoggedEvent } from "../../shared/events.ts";
import { bearer, withEdge } from "../helpers/edge.ts";
import { call, putAgent } from "../helpers/call.ts";

const edge = withEdge();
const OTHER_KEY = "nsk_client_another_key_of_the_same_kind";
const hello = { role: "user", content: "Hello there" };

beforeAll(async () => {
  const db = await edge.getD1();
  const insert = db.prepare("INSERT INTO keys (id, kind, hash, name, created_at) VALUES ('k_other', 'client', ?, 'other', 1)");
  await insert.bind(await sha256(OTHER_KEY)).run();
});

type Message = { role: string; content: string | null; [member: string]: unknown };
type Caller = { key?: string; user?: string; agent?: string; headers?: Record<string, string> };
type Reply = { sessionName: string; sessionId: string; id: string; message: Message };

async function say(messages: Message[], { key = edge.keys.client, user, agent = "isolated", headers = {} }: Caller = {}): Promise<Reply> {
  const body = JSON.stringify({ model: agent, messages, max_tokens: 8, seed: 1, ...(user === undefined ? {} : { user }) });
  const response = await fetch(`${edge.url}/v1/chat/completions`, { method: "POST", headers: bearer(key, headers), body });
  const answer = (await response.json()) as { id: string; choices?: { message: Message }[] };
  const [choice] = answer.choices ?? [];
  if (choice === undefined) throw new Error(`an answer expected, got ${JSON.stringify(answer)}`);
  return {
    sessionName: response.headers.get("x-session-id") ?? "",
    sessionId: sessionOf(answer.id),
    id: answer.id,
    message: choice.message,
  };
}

/** The session that gave an answer: the name in the header is the client's, this is ours. */
function sessionOf(completionId: string): string {
  return parseAnswerId(completionId)?.sessionId ?? "";
}

/** The conversation after the reply, with something more to say. */
const continued = (reply: Reply, text: string): Message[] => [hello, reply.message, { role: "user", content: text }];

async function eventsOf(agent: string): Promise<LoggedEvent[]> {
  return FeedPage.parse((await call(edge, "trainer", `GET /trainer/v1/feed?agent=${agent}`)).body).events;
}

/** The log once it holds this many finished turns. */
async function logged(agent: string, turns: number): Promise<LoggedEvent[]> {
  await expect
    .poll(async () => (await eventsOf(agent)).filter(({ payload }) => payload.kind === "turn:finished").length, { timeout: 20_000 })
    .toBe(turns);
  return eventsOf(agent);
}

describe("sessions", () => {
  it("are two for two openings with the same words: of one key, of two users, of two keys, at two agents", async () => {
    await Promise.all([putAgent(edge, "isolated"), putAgent(edge, "elsewhere")]);
    const callers: Caller[] = [
      {},
      {},
      { user: "ada" },
      { user: "bob" },
      { key: OTHER_KEY },
      { key: OTHER_KEY, user: "ada" },
      { agent: "elsewhere" },
    ];
    const sessions = [];
    for (const caller of callers) sessions.push((await say([hello], caller)).sessionId);
    expect(new Set(sessions).size).toBe(callers.length);
  });

  it("named by the same header are two for two keys and for two users", async () => {
    await putAgent(edge, "isolated");
    const headers = { "x-session-id": "the-same-name" };
    const callers: Caller[] = [{}, { user: "ada" }, { user: "bob" }, { key: OTHER_KEY }, { key: OTHER_KEY, user: "ada" }];
    const sessions = [];
    for (const caller of callers) sessions.push((await say([hello], { ...caller, headers })).sessionId);
    expect(new Set(sessions).size).toBe(callers.length);
  });

  it("are not continued by a copy of their transcript under another key, user or agent", async () => {
    await Promise.all([putAgent(edge, "copied"), putAgent(edge, "copycat")]);
    const owner: Caller = { agent: "copied", user: "ada" };
    const opening = await say([hello], owner);
    const copies: Caller[] = [{ ...owner, user: "bob" }, { agent: "copied" }, { ...owner, key: OTHER_KEY }, { ...owner, agent: "copycat" }];
    for (const copy of copies) {
      const sessionIds = [
        (await say(continued(opening, "This is wrong!"), copy)).sessionId,
        (await say(continued(opening, "This is wrong!"), { ...copy, headers: { "x-session-id": opening.sessionName } })).sessionId,
      ];
      expect(sessionIds).not.toContain(opening.sessionId);
    }
    const own = await say(continued(opening, "Thank you."), owner);
    expect(own.sessionId).toBe(opening.sessionId);

    // Two turns of the owner and two for each of the three copies at this agent.
    const events = await logged("copied", 8);
    const heard = events.filter(({ payload, sessionId }) => payload.kind === "nextState:arrived" && sessionId === opening.sessionId);
    expect(heard.map(({ payload }) => payload.kind === "nextState:arrived" && payload.messages)).toEqual([
      [{ role: "user", content: "Thank you." }],
    ]);
    const foreign = events.filter(({ payload, sessionId }) => payload.kind === "nextState:arrived" && sessionId !== opening.sessionId);
    expect(foreign).toEqual([]);
  });

  it("carry the user that the key's owner named, and the same name under two keys is two users", async () => {
    await putAgent(edge, "users");
    for (const key of [edge.keys.client, OTHER_KEY])
      for (const user of ["ada", "bob", "ada"]) await say([hello], { agent: "users", key, user });
    const events = await logged("users", 6);
    expect(new Set(events.map(({ user }) => user)).size).toBe(4);
    expect(events.map(({ user }) => user).join()).not.toMatch(/\b(?:ada|bob)\b/);
  });
});

describe("the retry record", () => {
  it("answers its own key only, also to the same idempotency key and body", async () => {
    await putAgent(edge, "isolated");
    const headers = { "idempotency-key": "one-and-the-same", "x-stainless-retry-count": "1" };
    const mine = await say([hello], { user: "ada", headers });
    expect((await say([hello], { user: "ada", headers })).id).toBe(mine.id);
    expect((await say([hello], { user: "ada", key: OTHER_KEY, headers })).id).not.toBe(mine.id);
  });

  it("refuses an idempotency key that came with another user's request under the same key", async () => {
    await putAgent(edge, "isolated");
    const headers = { "idempotency-key": "taken" };
    await say([hello], { user: "ada", headers });
    await expect(say([hello], { user: "bob", headers })).rejects.toThrow("session/conflict");
  });
});

describe("feedback", () => {
  it("is taken from the key that got the answer, and from no other", async () => {
    await putAgent(edge, "feedback");
    const { id } = await say([hello], { agent: "feedback" });
    const give = async (key: string): Promise<number> => {
      const body = JSON.stringify({ completion_id: id, score: -1, comment: "no" });
      return (await fetch(`${edge.url}/v1/feedback`, { method: "POST", headers: bearer(key), body })).status;
    };
    expect(await give(OTHER_KEY)).toBe(404);
    expect(await give(edge.keys.client)).toBe(200);
    await expect
      .poll(async () => (await eventsOf("feedback")).filter(({ payload }) => payload.kind === "feedback:given").length, { timeout: 20_000 })
      .toBe(1);
  });
});

describe("the feed", () => {
  it("of an agent holds no event of another", async () => {
    await Promise.all([putAgent(edge, "feed-a"), putAgent(edge, "feed-b")]);
    for (const agent of ["feed-a", "feed-b", "feed-b"]) await say([hello], { agent });
    expect(new Set((await logged("feed-a", 1)).map(({ agent }) => agent))).toEqual(new Set(["feed-a"]));
    expect(new Set((await logged("feed-b", 2)).map(({ agent }) => agent))).toEqual(new Set(["feed-b"]));
  });
});
