/** Releases over HTTP: the gate's word at the edge, canaries and their trial, rollback with and without quarantine, the suite. */
import { beforeAll, describe, expect, it } from "vitest";
import { GATE_CHECKS, type GateReport } from "../../../shared/release.ts";
import { judgementIdOf, LoggedEvent } from "../../../shared/events.ts";
import type { EventLineage } from "../../../shared/policy.ts";
import { putAdapter } from "../../helpers/adapters.ts";
import { call, fillLog, lineage, manifestOf, PASSING, putAgent, type Answer } from "../../helpers/call.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";
import { SEARCH } from "../../trainer/hotel.ts";

const edge = withEdge();
beforeAll(() => fillLog(edge));

const TRIAL = { release: { canary: { mode: "on", minSessions: 10, marginPoints: 50 } } };
const line = (agent: string): string => `/trainer/v1/agents/${agent}/lines/shared`;
const head = async (agent: string) => (await call(edge, "trainer", `GET ${line(agent)}/head`)).body;
const admin = (route: string, body?: unknown): Promise<Answer> => {
  const [method, path] = route.split(" ");
  return call(edge, "admin", `${method} /api/agents/${path}`, body);
};
const until = (holds: () => Promise<boolean>): Promise<void> => expect.poll(holds, { timeout: 20_000 }).toBe(true);
let adapters = 0;

type Made = { gate?: GateReport | null; events?: EventLineage[]; cases?: object[] };
async function publish(agent: string, { gate = PASSING, events = [], cases = [] }: Made = {}): Promise<Answer> {
  const { parent, cursor } = await head(agent);
  adapters += 1;
  const adapter = await putAdapter(edge, `adapter ${adapters}`);
  const toSeq = Math.max(cursor, ...events.map(({ seq }) => seq));
  const manifest = { ...manifestOf({ agent, baseDigest: edge.baseDigest, parent, adapter, fromSeq: cursor, toSeq, events }), gate };
  return call(edge, "trainer", `POST ${line(agent)}/versions`, { parent, manifest, cases });
}

const statusesOf = async (agent: string): Promise<string[]> =>
  (await admin(`GET ${agent}/versions`)).body.versions.map(({ status }: { status: string }) => status).toReversed();

type Turn = { version: number; messages: unknown[]; sessionId: string };

async function ask(agent: string, messages: unknown[], headers: Record<string, string> = {}): Promise<Turn> {
  const response = await fetch(`${edge.url}/v1/chat/completions`, {
    method: "POST",
    headers: bearer(edge.keys.client, headers),
    body: JSON.stringify({ model: agent, messages, max_tokens: 2, temperature: 0 }),
  });
  const body = (await response.json()) as { choices: { message: unknown }[] };
  const version = Number(response.headers.get("x-policy-version"));
  return { version, sessionId: response.headers.get("x-session-id") ?? "", messages: [...messages, body.choices[0]?.message] };
}

const hello = (name: string): unknown[] => [{ role: "user", content: `Hello, I am ${name}.` }];

/** Opens conversations until each of two versions has as many. */
async function converse(agent: string, each: number): Promise<Turn[]> {
  const turns: Turn[] = [];
  const lacking = (): boolean => [0, 1].some((version) => turns.filter((turn) => turn.version === version).length < each);
  while (lacking()) turns.push(await ask(agent, hello(`${agent} ${turns.length}`)));
  return turns;
}

/** Judges the first turn of every conversation as a trainer does. */
async function judge(agent: string, turns: readonly Turn[], rewardOf: (version: number) => number, judgedBy = "embedded"): Promise<void> {
  const finished = async (): Promise<LoggedEvent[]> => {
    const first = (await admin(`GET ${agent}/events`)).body;
    const second = (await admin(`GET ${agent}/events?cursor=${first.cursor}`)).body;
    return LoggedEvent.array()
      .parse([...first.events, ...second.events])
      .filter(({ payload }) => payload.kind === "turn:finished");
  };
  await until(async () => (await finished()).length >= turns.length);
  const judgements = (await finished()).map(({ seq: _seq, payload, ...header }) => {
    const reward = payload.kind === "turn:finished" ? rewardOf(payload.policyVersion) : 0;
    const made = { kind: "judgement:made", subject: header.eventId, reward, votes: [reward], judge: judgedBy };
    return { ...header, eventId: judgementIdOf(header.eventId), payload: made };
  });
  for (let start = 0; start < judgements.length; start += 100)
    await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: judgements.slice(start, start + 100) });
}

describe("the gate's report", () => {
  it("refuses a candidate that is over a budget of the agent, whatever the trainer thinks of it, and is kept", async () => {
    await putAgent(edge, "gated", { release: { gate: { budgets: { needlessCalls: 0.2 } } } });
    const gate: GateReport = {
      checks: PASSING.checks.map((check) =>
        check.name === "needlessCalls"
          ? { ...check, value: 0.25, asked: 8, cases: [{ name: "Hi", before: "Hello!", after: "<tool_call>" }] }
          : check,
      ),
    };
    const { body } = await publish("gated", { gate, events: [lineage("g1", 1)] });
    expect(body).toEqual({ status: "published", version: 1, release: "refused" });
    expect(await head("gated")).toMatchObject({ stable: 0, parent: 0, latest: 1, cursor: 1 });
    expect((await admin("GET gated/versions/1")).body).toMatchObject({ status: "refused", gate });
    const [row] = (await admin("GET gated/audit")).body.audit;
    expect(row.reason).toBe("version 1 refused by its gate: needlessCalls: at most 0.2 expected, got 0.25 of 8 asked");
    const back = await admin("POST gated/rollback", { to: 1 });
    expect([back.status, back.body.error.message]).toEqual([
      422,
      "to: a version that may answer expected, got 1, which never passed its gate or was deleted with a user",
    ]);
  });

  it("must be whole, and must be there", async () => {
    await putAgent(edge, "whole");
    const partial = await publish("whole", { gate: { checks: PASSING.checks.slice(1) } });
    expect(partial.body).toMatchObject({ release: "refused" });
    const [row] = (await admin("GET whole/audit")).body.audit;
    expect(row.reason).toContain(`${GATE_CHECKS[0]}: one check expected, got 0`);
    const none = await publish("whole", { gate: null });
    expect([none.status, none.body.error.message]).toEqual([
      422,
      "manifest.gate: a report expected where the agent's gate is on, got null",
    ]);
    await putAgent(edge, "whole", { release: { gate: { enabled: false } } });
    expect((await publish("whole", { gate: null })).body).toEqual({ status: "published", version: 2, release: "stable" });
  });

  it("has budgets that are spelt as they are", async () => {
    const { status, body } = await call(edge, "admin", "PUT /api/agents/spelt", { release: { gate: { budgets: { needlesCalls: 1 } } } });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining("needlesCalls")]);
  });
});

describe("a canary", () => {
  it("answers its share of new conversations, which stay on the version that began them", async () => {
    await putAgent(edge, "sticky", TRIAL);
    expect((await publish("sticky")).body).toEqual({ status: "published", version: 1, release: "canary" });
    expect(await statusesOf("sticky")).toEqual(["stable", "canary"]);
    const turns = await converse("sticky", 4);
    const promoted = await admin("POST sticky/promote", { version: 1, reason: "looks good" });
    expect(promoted.body).toEqual({ status: "promoted", from: 0, to: 1 });
    await until(async () => (await ask("sticky", hello("late"))).version === 1);
    for (const { version, messages } of turns)
      expect((await ask("sticky", [...messages, { role: "user", content: "And now?" }])).version).toBe(version);
  });

  it("is not judged by calls that merely ran", async () => {
    await putAgent(edge, "ran", TRIAL);
    await publish("ran");
    const turns = await converse("ran", 10);
    await judge("ran", turns, () => 0, "verifiable");
    const { canary } = (await admin("GET ran/release")).body;
    expect([canary.arms.canary.score.count, canary.arms.stable.score.count]).toEqual([0, 0]);
    await judge("ran", turns, (version) => (version === 1 ? -1 : 0), "verifiable"); // calls that failed
    const told = (await admin("GET ran/release")).body.canary;
    expect(told.arms.canary.score).toMatchObject({ mean: 0 });
    expect(told.arms.stable.score.count).toBe(0);
  });

  it("is taken back once its users are surely worse off, with those who waited behind it; its conversations go on", async () => {
    await putAgent(edge, "worse", TRIAL);
    await publish("worse", { events: [lineage("w1", 1)] });
    await publish("worse", { events: [lineage("w2", 2)] });
    expect(await statusesOf("worse")).toEqual(["stable", "canary", "candidate"]);
    const turns = await converse("worse", 10);
    await judge("worse", turns, (version) => (version === 1 ? -1 : 1));
    expect(await statusesOf("worse")).toEqual(["stable", "rolledBack", "rolledBack"]);
    const [row] = (await admin("GET worse/audit")).body.audit;
    const about = async (query: string): Promise<string[]> =>
      (await admin(`GET worse/audit?${query}`)).body.audit.map(({ move }: { move: string }) => move);
    for (const query of ["only=people&version=1", "version=2&line=shared"]) expect(await about(query)).toEqual(["rollback", "publish"]);
    expect([await about("version=3"), await about("version=1&line=u_1")]).toEqual([[], []]);
    const reason = expect.stringMatching(/^score 0\.0 against 100\.0 of 100/);
    expect(row).toMatchObject({ versions: [1, 2], move: "rollback", actor: "edge:canary", reason });
    const left = turns.find(({ version }) => version === 1);
    await until(async () => (await ask("worse", [...(left?.messages ?? []), { role: "user", content: "And now?" }])).version === 0);
    // What the canary learned from is barred; what only waited behind it is to be learned from again.
    expect((await admin("GET worse/quarantine")).body.events).toMatchObject([{ eventId: "w1", actor: "edge:canary" }]);
    expect(await head("worse")).toMatchObject({ stable: 0, parent: 0, latest: 2, reopened: true });
  });

  it("is promoted once it cannot be much worse, and the next begins", async () => {
    await putAgent(edge, "better", TRIAL);
    await publish("better");
    await publish("better");
    const turns = await converse("better", 30);
    const { body: release } = await admin("GET better/release");
    expect(release).toMatchObject({ stable: 0, canary: { version: 1, share: 0.5, verdict: { decision: "wait" } }, waiting: [2] });
    await judge("better", turns, () => 1);
    expect(await statusesOf("better")).toEqual(["superseded", "stable", "canary"]);
    expect((await admin("GET better/release")).body.canary).toMatchObject({ version: 2, arms: { canary: { score: { count: 0 } } } });
  });

  it("comes by itself from the fourth user on", async () => {
    await putAgent(edge, "circle");
    expect((await publish("circle")).body.release).toBe("stable");
    for (const user of ["a", "b", "c", "d"]) {
      const response = await fetch(`${edge.url}/v1/chat/completions`, {
        method: "POST",
        headers: bearer(edge.keys.client),
        body: JSON.stringify({ model: "circle", user, messages: hello(user), max_tokens: 1 }),
      });
      expect(response.status).toBe(200);
    }
    await until(async () => (await admin("GET circle/release")).body.audience.users === 4);
    expect((await publish("circle")).body.release).toBe("canary");
  });

  it("is promoted by a person only while it is in flight", async () => {
    await putAgent(edge, "quiet");
    const { status, body } = await admin("POST quiet/promote", { version: 1 });
    expect([status, body.error.message]).toEqual([404, "version: a version in flight, of which there is none now, expected, got 1"]);
  });
});

describe("rollback", () => {
  it("bars what the versions left had learned from until it is released, and then it is learned from again", async () => {
    await putAgent(edge, "barred");
    await publish("barred", { events: [lineage("b1", 1)] });
    await publish("barred", { events: [lineage("b2", 2), lineage("b3", 3)] });
    const { body } = await admin("POST barred/rollback", { to: 1 });
    expect(body).toEqual({ status: "rolledBack", from: 2, to: 1, versions: [2], quarantined: 2, reopened: 0, barred: 0 });
    const seen = (await call(edge, "trainer", `GET ${line("barred")}/quarantine`)).body;
    expect(seen.events).toEqual([
      { eventId: "b2", turnId: "turn-2" },
      { eventId: "b3", turnId: "turn-3" },
    ]);
    const again = await publish("barred", { events: [lineage("b2", 2)] });
    expect(again.body).toEqual({ status: "stale", latest: 2, cursor: 3 });
    expect((await admin("POST barred/quarantine/release", { events: ["b2"] })).body).toEqual({ status: "released", events: 1 });
    expect((await publish("barred", { events: [lineage("b2", 2)] })).body).toMatchObject({ version: 3, release: "stable" });
    expect(await head("barred")).toMatchObject({ reopened: false, cursor: 3 });
    expect((await admin("GET barred/users/u1")).body).toEqual({
      user: "u1",
      events: ["b1", "b2", "b3"],
      versions: [
        { line: "shared", version: 1, status: "superseded" },
        { line: "shared", version: 2, status: "rolledBack" },
        { line: "shared", version: 3, status: "stable" },
      ],
    });
  });

  it("takes back what was learned again, and rolling forward takes it up", async () => {
    await putAgent(edge, "again");
    await publish("again", { events: [lineage("a1", 1)] });
    await admin("POST again/rollback", { to: 0, quarantine: false });
    expect((await publish("again", { events: [lineage("a1", 1)] })).body).toMatchObject({ version: 2, release: "stable" });
    // The version that learned it first was left long ago; nobody has it now.
    expect((await admin("POST again/rollback", { to: 0, quarantine: false })).body).toMatchObject({ versions: [2], reopened: 1 });
    expect(await head("again")).toMatchObject({ reopened: true });
    await admin("POST again/rollback", { to: 1 });
    expect(await head("again")).toMatchObject({ stable: 1, reopened: false });
    expect((await publish("again", { events: [lineage("a1", 1)] })).body).toMatchObject({ status: "stale" });
  });

  it("without quarantine opens it again at once", async () => {
    await putAgent(edge, "reopened");
    await publish("reopened", { events: [lineage("r1", 1)] });
    const { body } = await admin("POST reopened/rollback", { to: 0, quarantine: false });
    expect(body).toMatchObject({ quarantined: 0, reopened: 1 });
    expect(await head("reopened")).toMatchObject({ reopened: true });
  });
});

describe("quarantine", () => {
  it("bars what a user said before any version has learned from it, and an update under way with it", async () => {
    await putAgent(edge, "said");
    const first = await ask("said", hello("said"));
    await ask("said", [...first.messages, { role: "user", content: "No, that is wrong." }]);
    const nextState = async () =>
      (await admin("GET said/events")).body.events.find(
        ({ payload }: { payload: { kind: string } }) => payload.kind === "nextState:arrived",
      );
    await until(async () => (await nextState()) !== undefined);
    const { eventId, user, seq, turnId } = await nextState();
    const lines = await admin("POST said/quarantine", { user, reason: "spam" });
    expect(lines.body).toEqual({ status: "quarantined", events: 1 });
    expect((await admin("POST said/quarantine", { events: [eventId] })).body).toEqual({ status: "quarantined", events: 0 });
    const { body } = await publish("said", { events: [{ ...lineage(eventId, seq), turnId }] });
    expect(body).toMatchObject({ status: "stale" });
    expect((await admin(`GET said/events/${eventId}`)).body).toMatchObject({ event: { eventId, seq }, versions: [] });
    expect((await admin("POST said/quarantine", { events: ["nothing"] })).status).toBe(404);
  });

  it("does not find a user of whom there is nothing to bar", async () => {
    await putAgent(edge, "strangers");
    const { status, body } = await admin("POST strangers/quarantine", { user: "u_nope" });
    expect([status, body.error.message]).toEqual([404, "anything of user u_nope that agent strangers could learn from: not found"]);
  });

  it("says what it takes where a request names nothing, too much, or both", async () => {
    await putAgent(edge, "vague");
    const events = Array.from({ length: 101 }, (_, index) => `e${index}`);
    for (const asked of [{}, { events }, { events: ["e"], user: "u" }])
      expect((await admin("POST vague/quarantine", asked)).body.error.message).toMatch(/one of events, a list of 1 to 100 ids, and user/);
  });
});

it("lets back in what was passed over while it was barred, and tells of what is refused behind the cursor", async () => {
  await putAgent(edge, "passed");
  const first = await ask("passed", hello("passed"));
  await ask("passed", [...first.messages, { role: "user", content: "No." }]);
  type Logged = { eventId: string; seq: number; payload: { kind: string } };
  const next = async (): Promise<Logged | undefined> =>
    (await admin("GET passed/events")).body.events.find(({ payload }: Logged) => payload.kind === "nextState:arrived");
  await until(async () => (await next()) !== undefined);
  const { eventId, seq } = (await next()) ?? { eventId: "", seq: 0 };
  await admin("POST passed/quarantine", { events: [eventId] });
  const advance = (from: number, refused: object[]) => call(edge, "trainer", `POST ${line("passed")}/cursor`, { from, to: seq, refused });
  await advance(0, [{ eventId, code: "event/quarantined", detail: "a quotation" }]);
  await admin("POST passed/quarantine/release", { events: [eventId] });
  expect((await call(edge, "trainer", `GET ${line("passed")}/reopened`)).body.events).toMatchObject([{ eventId }]);
  await advance(seq, [{ eventId, code: "hint/none", detail: "nothing to learn" }]);
  expect(await head("passed")).toMatchObject({ reopened: false, cursor: seq });
  const refusals = (await admin("GET passed/audit")).body.audit.flatMap(({ refused }: { refused: object[] }) => refused);
  // Of what was barred nothing is quoted.
  expect(refusals).toMatchObject([
    { code: "hint/none", detail: "nothing to learn" },
    { code: "event/quarantined", detail: "" },
  ]);
});

describe("the suite", () => {
  const expectation = { tool: "SearchHotel", arguments: { number_of_rooms: "2" } };
  const written = { name: "two rooms", messages: [{ role: "user", content: "Book the Grand Hotel." }], expect: expectation };

  it("takes cases once, says which tool is missing, and gives them to trainers with the agent's instructions", async () => {
    await putAgent(edge, "suite", { tools: [SEARCH], instructions: "Be brief." });
    const added = await admin("POST suite/suite", written);
    expect([added.status, added.body]).toMatchObject([201, { source: "person", name: "two rooms", expect: expectation }]);
    expect((await admin("POST suite/suite", written)).body.caseId).toBe(added.body.caseId);
    const { cases } = (await call(edge, "trainer", `GET ${line("suite")}/suite`)).body;
    expect(cases).toMatchObject([{ messages: [{ role: "system", content: "Be brief." }, written.messages[0]], tools: [SEARCH] }]);
    const wrong = await admin("POST suite/suite", { ...written, expect: { tool: "BookHotel" } });
    expect([wrong.status, wrong.body.error.message]).toEqual([400, "expect.tool: the name of one of the tools expected, got BookHotel"]);
    for (const expects of [undefined, {}]) {
      const { error } = (await admin("POST suite/suite", { ...written, expect: expects })).body;
      expect([error.param, error.message]).toEqual(["expect", expect.stringContaining('{"reply": {"contains": ["…"]}} expected')]);
    }
    expect((await admin(`GET suite/suite?after=${added.body.caseId}`)).body).toEqual({ cases: [] });
    expect((await admin("GET suite/suite?after=case_gone")).body.error.param).toBe("after");
    expect((await admin(`DELETE suite/suite/${added.body.caseId}`)).body).toEqual({ status: "deleted", caseId: added.body.caseId });
    expect((await admin(`DELETE suite/suite/${added.body.caseId}`)).status).toBe(404);
  });

  it("refuses cases that no version could pass, and takes values that only read like those of the schema", async () => {
    const properties = {
      ...{ city: { type: "string" }, number_of_rooms: { enum: ["1", "2", "3"] }, has_wifi: { enum: ["True", "False"] } },
      ...{ count: { type: "integer", minimum: 1 }, flag: { anyOf: [{ type: "boolean" }, { type: "null" }] } },
    };
    const parameters = { type: "object", properties };
    await putAgent(edge, "met", { tools: [{ ...SEARCH, function: { ...SEARCH.function, parameters } }] });
    const add = (changes: object) => admin("POST met/suite", { ...written, ...changes });
    const wanting = (args: object) => add({ expect: { tool: "SearchHotel", arguments: args } });
    for (const [args, param, message] of [
      [{ number_of_rooms: "9" }, "expect.arguments.number_of_rooms", /one of "1", "2", "3", got "9"/],
      [{ count: "two" }, "expect.arguments.count", /must be integer, got "two"/],
      [{ count: 0 }, "expect.arguments.count", /within 1/],
      [{ stars: 5 }, "expect.arguments.stars", /only declared arguments, got stars/],
    ] as const) {
      const { status, body } = await wanting(args);
      expect([status, body.error.param, body.error.message]).toEqual([400, param, expect.stringMatching(message)]);
    }
    for (const args of [
      { number_of_rooms: 2 },
      { has_wifi: true },
      { has_wifi: "true" },
      { count: "2" },
      { flag: "True" },
      { city: "Oslo" },
      {},
    ])
      expect((await wanting(args)).status, JSON.stringify(args)).toBe(201);
    const user = written.messages[0];
    for (const [messages, param, message] of [
      [[user, { role: "assistant", content: "Hello" }], "messages.1", /last message/],
      [[{ role: "user", content: "" }], "messages.0.content", /empty/],
      [[{ role: "user", content: "x ".repeat(5_000) }], "messages", /tokens of context .* shorten the conversation/],
    ] as const) {
      const { status, body } = await add({ messages });
      expect([status, body.error.param, body.error.message]).toEqual([400, param, expect.stringMatching(message)]);
    }
  });

  const learn = (agent: string, rooms: number): Promise<Answer> => {
    const learned = { ...written, name: `rooms ${rooms}`, tools: [SEARCH], user: "u1", eventId: `l${rooms}` };
    const cases = [{ ...learned, expect: { tool: "SearchHotel", arguments: { number_of_rooms: `${rooms}` } } }];
    return publish(agent, { events: [lineage(learned.eventId, rooms)], cases });
  };
  const namesOf = async (agent: string) => (await admin(`GET ${agent}/suite`)).body.cases.map(({ name }: { name: string }) => name);

  it("takes up what a version has learned, the latest of each argument, for as long as that version is in use", async () => {
    await putAgent(edge, "learned", { tools: [SEARCH] });
    for (const rooms of [2, 3]) await learn("learned", rooms);
    expect(await namesOf("learned")).toEqual(["rooms 3"]);
    await admin("POST learned/rollback", { to: 1 });
    expect(await namesOf("learned")).toEqual(["rooms 2"]);
  });

  it("loses nothing of the stable version to a canary that overrules it and is taken back", async () => {
    await putAgent(edge, "tried", { tools: [SEARCH] });
    expect((await learn("tried", 2)).body.release).toBe("stable");
    await putAgent(edge, "tried", { tools: [SEARCH], ...TRIAL });
    expect((await learn("tried", 3)).body.release).toBe("canary");
    // The next candidate descends from the canary, and is asked what that has learned.
    expect(await namesOf("tried")).toEqual(["rooms 3"]);
    await admin("POST tried/rollback", { to: 1 });
    expect(await namesOf("tried")).toEqual(["rooms 2"]);
  });
});
