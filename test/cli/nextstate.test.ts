/** `npx nextstate` against a running edge: what each command prints for people and for programs, what it refuses, and how it ends. */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { SHARED_LINE } from "../../shared/policy.ts";
import { putAdapter } from "../helpers/adapters.ts";
import { call, fillLog, judgement, lineage, manifestOf, putAgent } from "../helpers/call.ts";
import { bearer, withEdge } from "../helpers/edge.ts";
import { SEARCH } from "../trainer/hotel.ts";
import { BIN, runCommand, runNextstate, type Ended, type RunOptions } from "./run-nextstate.ts";

const ESCAPE = "\u001B";
const [DONE, REFUSED, USAGE] = [0, 1, 2];

const edge = withEdge();
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-cli-"));
  await fillLog(edge);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const nextstate = (args: string, options: RunOptions = {}): Promise<Ended> =>
  runNextstate([...args.split(" "), "--url", edge.url, "--state", edge.stateFolder], options);

/** What people read: the command ends well, and nothing of it is a colour, since nobody has a terminal here. */
async function said(args: string, options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await nextstate(args, { ...options, env: { FORCE_COLOR: "1", ...options.env } });
  expect({ code, stderr }).toMatchObject({ code: DONE });
  expect(stdout + stderr).not.toContain(ESCAPE);
  return stdout;
}

/** What a program reads: all of stdout is one JSON document. */
async function json(args: string, options: RunOptions = {}): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await nextstate(`${args} --json`, options);
  expect({ code, stderr }).toMatchObject({ code: DONE });
  return JSON.parse(stdout) as Record<string, unknown>;
}

const api = async (path: string): Promise<unknown> => (await call(edge, "admin", `GET /api${path}`)).body;

/** A version that learned from an event. @returns how it was published */
async function publish(agent: string, seq: number, eventId = `${agent}-${seq}`): Promise<unknown> {
  const line = `/trainer/v1/agents/${agent}/lines/${SHARED_LINE}`;
  const { parent, cursor } = (await call(edge, "trainer", `GET ${line}/head`)).body;
  const adapter = await putAdapter(edge, `adapter ${agent} ${seq}`);
  const events = [lineage(eventId, seq)];
  const made = manifestOf({ agent, baseDigest: edge.baseDigest, parent, adapter, fromSeq: cursor, toSeq: seq, events });
  const after = '<tool_call>{"name": "SearchHotel", "arguments": {"number_of_rooms": "1"}}</tool_call>';
  const changes = [{ prompt: "A hotel, please.", before: "SearchHotel({})", after }];
  const defaults = [{ tool: "SearchHotel", parameter: "number_of_rooms", value: "2", corrected: "1" }];
  const manifest = { ...made, hints: ["number_of_rooms should be 2."], defaults, changes };
  return (await call(edge, "trainer", `POST ${line}/versions`, { parent, manifest })).body;
}

/** A user's turn. */
async function ask(agent: string, content: string): Promise<void> {
  const body = JSON.stringify({ model: agent, user: "ann", messages: [{ role: "user", content }], max_tokens: 2 });
  const response = await fetch(`${edge.url}/v1/chat/completions`, { method: "POST", headers: bearer(edge.keys.client), body });
  expect(response.status).toBe(200);
}

describe("nextstate agents", () => {
  it("puts settings from a file of the caller's folder, and from stdin", async () => {
    await writeFile(join(folder, "desk.json"), JSON.stringify({ instructions: "Be brief.", tools: [SEARCH] }));
    expect(await said("agents put desk --file desk.json", { cwd: folder })).toContain("Be brief.");
    const put = await json("agents put desk --file -", { stdin: JSON.stringify({ instructions: "Be kind.", tools: [SEARCH] }) });
    expect(put).toEqual(await api("/agents/desk"));
    expect(put).toMatchObject({ name: "desk", settings: { instructions: "Be kind." } });
  });

  it("lists them, and shows one with its tools", async () => {
    expect(await said("agents")).toMatch(/^agent +stable +canary +learning\n(.*\n)*desk +v0 +– +on\n/);
    expect(await json("agents list")).toEqual(await api("/agents"));
    expect(await said("agents show desk")).toMatch(/instructions +Be kind\.\n(.*\n)* +SearchHotel/);
    expect(await json("agents show desk")).toEqual(await api("/agents/desk"));
  });

  it("pauses learning, and resumes it", async () => {
    expect(await said("agents pause desk")).toBe("desk: learning is off; serving goes on.\n");
    expect(await said("agents")).toMatch(/\ndesk +v0 +– +off\n/);
    expect(await json("agents resume desk")).toEqual({ learning: true });
  });

  it("says what is wrong with a file, and leaves the agent alone", async () => {
    await writeFile(join(folder, "broken.json"), "{");
    const broken = await nextstate("agents put desk --file broken.json", { cwd: folder });
    expect(broken).toMatchObject({
      code: USAGE,
      stdout: "",
      stderr: expect.stringContaining("JSON expected, got 1 characters in broken.json"),
    });
    const missing = await nextstate("agents put desk --file nowhere.json", { cwd: folder });
    expect(missing).toMatchObject({ code: USAGE, stderr: expect.stringContaining("nowhere.json") });
    const misspelt = await nextstate("agents put desk --file -", { stdin: '{"instruction": "x"}' });
    expect(misspelt).toMatchObject({ code: REFUSED, stdout: "", stderr: expect.stringContaining("unknown member instruction: remove it") });
    expect(await json("agents show desk")).toMatchObject({ settings: { instructions: "Be kind." } });
  });
});

/** An agent with two turns, the second of which was corrected: a note is in force. */
async function corrected(agent: string): Promise<{ eventId: string; user: string }> {
  await putAgent(edge, agent, { tools: [SEARCH], release: { canary: { mode: "off" } } });
  await ask(agent, `A room, please.${ESCAPE}[31m`);
  await ask(agent, "Two rooms.");
  const logged = async () => ((await api(`/agents/${agent}/turns`)) as { turns: { turnId: string; user: string }[] }).turns;
  await vi.waitUntil(async () => (await logged()).length === 2, { timeout: 20_000 });
  const [{ turnId, user } = { turnId: "", user: "" }] = await logged();
  const made = judgement(agent, turnId);
  const payload = { ...made.payload, hint: "number_of_rooms should be 2.", tool: "SearchHotel" };
  await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [{ ...made, user, payload }] });
  return { eventId: made.payload.subject, user };
}

describe("nextstate turns and notes", () => {
  beforeAll(() => corrected("told"));

  it("shows turns with judgement and hint, without the escape sequences of who wrote them", async () => {
    const text = await said("turns told");
    expect(text).toMatch(
      /^#\d+ .* v0 .*\n +user +Two rooms\.\n +assistant .*\n +judged +-1 by embedded, votes -1 -1 0\n +hint +number_of_rooms should be 2\.\n/,
    );
    expect(text).toMatch(/user +A room, please\.\n/);
    const held = `json('[{"tool": "SearchHotel", "parameter": "number_of_rooms", "value": "2"}]')`;
    await (await edge.getD1()).exec(`UPDATE events SET payload = json_set(payload, '$.heldTo', ${held}) WHERE agent = 'told'`);
    expect(await said("turns told --limit 1")).toMatch(/\n +held to +SearchHotel: number_of_rooms 2\n/);
  });

  it("gives the API's turns, narrowed and limited", async () => {
    expect(await json("turns told")).toEqual(await api("/agents/told/turns"));
    const [turn] = (await json("turns told --limit 1")).turns as { user: string; sessionId: string }[];
    expect((await json(`turns told --session ${turn?.sessionId}`)).turns).toHaveLength(1);
    expect((await json(`turns told --user ${turn?.user}`)).turns).toHaveLength(2);
    expect(await said("turns told --user u_0000000000000000")).toBe("No turns.\n");
  });

  it("finds turns by words, reward and version", async () => {
    const found = async (filters: string): Promise<number> => ((await json(`turns told ${filters}`)).turns as unknown[]).length;
    expect(await json("turns told --words two")).toEqual(await api("/agents/told/turns?words=two"));
    const filters = ["--words two", "--reward=-1", "--reward -1", "--reward none", "--version 0", "--version 0 --words two", "--version 1"];
    expect(await Promise.all(filters.map(found))).toEqual([1, 1, 1, 1, 2, 1, 0]);
    expect(await nextstate("turns told --reward 7")).toMatchObject({ code: USAGE, stderr: expect.stringContaining("-1|0|1|none") });
  });

  it("lists notes in force, drops one, and has those that were in force where all are asked for", async () => {
    const { notes } = (await json("notes told")) as { notes: { noteId: string }[] };
    expect({ notes }).toEqual(await api("/agents/told/notes"));
    const id = notes[0]?.noteId ?? "";
    expect(await said("notes told")).toMatch(new RegExp(`\n${id} .*SearchHotel: number_of_rooms should be 2\\.\n$`));
    expect(await json(`notes told drop ${id}`)).toMatchObject({ noteId: id, status: "dropped" });
    expect(await said("notes told")).toBe("No notes in force.\n");
    expect(await json("notes told")).toEqual({ notes: [] });
    expect(await said("notes told --all")).toMatch(new RegExp(`^note +status .*\n${id} +dropped .*number_of_rooms should be 2\\.\n$`));
    expect(await json("notes told --all")).toEqual(await api("/agents/told/notes"));
    // Notes of a user's own line are another list.
    const ofNobody = await nextstate("notes told --line u_none");
    expect(ofNobody).toMatchObject({ code: REFUSED, stderr: expect.stringContaining("line u_none") });
    expect(await nextstate(`notes told drop n_0`)).toMatchObject({ code: REFUSED, stderr: expect.stringContaining("n_0") });
    expect(await nextstate("notes told drop")).toMatchObject({ code: USAGE, stderr: expect.stringContaining("the id of a note expected") });
  });
});

describe("nextstate versions, rollback and promote", () => {
  const statuses = async (): Promise<string[]> =>
    ((await api("/agents/line/versions")) as { versions: { status: string }[] }).versions.map(({ status }) => status);
  beforeAll(async () => {
    await putAgent(edge, "line", { release: { canary: { mode: "off" } } });
    await publish("line", 1);
    await publish("line", 2);
  });

  it("lists versions, all of them or the newest", async () => {
    expect(await json("versions line")).toEqual(await api("/agents/line/versions"));
    expect(await said("versions line --limit 2")).toMatch(/^version .*\nv2 +stable +v1 .*number_of_rooms.*\nv1 +superseded +v0 .*\n$/);
  });

  it("shows one with its gate against the agent's budgets, and what changed", async () => {
    const text = await said("versions line 2");
    expect(text).toContain("\n  default  SearchHotel: number_of_rooms is 2, no longer 1\n");
    expect(text).toMatch(/\nneedlessCalls +0 +0\.2 +0 +holds\n[^]*The gate holds\./);
    expect(text).toMatch(/\nprompt +A hotel, please\.\nbefore +SearchHotel\(\{\}\)\nafter +<tool_call>/);
    expect(text).toMatch(/\nheld +weights alone say 1 for number_of_rooms; what goes out is held to 2 unless the user says otherwise\n$/);
    expect(await json("versions line 2")).toEqual(await api("/agents/line/versions/2"));
    expect(await nextstate("versions line v9")).toMatchObject({ code: REFUSED, stderr: expect.stringContaining("version 9") });
  });

  it("rolls nothing back where nobody can be asked, and says what would be left", async () => {
    const { code, stdout, stderr } = await nextstate("rollback line 1");
    expect([code, stdout]).toEqual([USAGE, ""]);
    expect(stderr).toContain("Version 1 will answer, and version 2 no longer. Taken back will be version 2, with 1 event ");
    expect(stderr).toContain("--yes expected");
    expect(await statuses()).toEqual(["stable", "superseded", "superseded"]);
  });

  it("names the notes that go with a version, and who gave them", async () => {
    const { eventId, user } = await corrected("noted");
    await publish("noted", 4, eventId);
    const said = `  number_of_rooms should be 2. (${user})\n`;
    const { stderr } = await nextstate("rollback noted 0");
    expect(stderr).toContain(`1 note will go out of force, too, for whoever gave it:\n${said}`);
    const { stderr: kept } = await nextstate("rollback noted 0 --no-quarantine");
    expect(kept).toContain(`1 note will be in force until it is learned again:\n${said}`);
  });

  it("rolls back with --yes, with quarantine or without", async () => {
    expect(await said("rollback line 1 --yes --reason worse")).toBe(
      "Version 1 answers now, 2 no longer. Left: version 2.\n1 event quarantined, 0 to be learned from again.\n",
    );
    expect(await statuses()).toEqual(["rolledBack", "stable", "superseded"]);
    expect(await json("rollback line 0 -y --no-quarantine")).toMatchObject({ status: "rolledBack", to: 0, quarantined: 0, reopened: 1 });
    expect(await nextstate("rollback line 7 --yes")).toMatchObject({ code: REFUSED, stderr: expect.stringContaining("got 7") });
    const { audit } = (await api("/agents/line/audit")) as { audit: { move: string; reason: string | null }[] };
    expect(audit.filter(({ move }) => move === "rollback").map(({ reason }) => reason)).toEqual([null, "worse"]);
  });

  it("promotes a version in flight", async () => {
    await putAgent(edge, "trial", { release: { canary: { mode: "on" } } });
    expect(await publish("trial", 3)).toMatchObject({ release: "canary" });
    expect(await said("agents")).toMatch(/\ntrial +v0 +v1, \d+ % +on\n/);
    expect(await said("promote trial 1")).toBe("Version 1 answers now, 0 no longer.\n");
    expect(await json("promote trial 1")).toEqual({ status: "unchanged", stable: 1 });
    expect(await nextstate("promote trial 0 --json")).toMatchObject({
      code: REFUSED,
      stdout: "",
      stderr: expect.stringContaining("in flight"),
    });
  });
});

describe("nextstate suite", () => {
  it("adds a case from a file, lists it and deletes it", async () => {
    await putAgent(edge, "held", { tools: [SEARCH] });
    const asked = { name: "two rooms", messages: [{ role: "user", content: "Hotel?" }], expect: { tool: "SearchHotel" } };
    const { caseId } = await json("suite held add --file -", { stdin: JSON.stringify(asked) });
    expect(await said("suite held")).toMatch(new RegExp(`\n${String(caseId)} +person +two rooms +SearchHotel\\(\\{\\}\\)\n$`));
    expect(await json("suite held list")).toEqual(await api("/agents/held/suite"));
    expect([await json(`suite held delete ${caseId}`), await said("suite held")]).toEqual([{ status: "deleted", caseId }, "No cases.\n"]);
    expect(await nextstate("suite held add")).toMatchObject({ code: USAGE, stderr: expect.stringContaining("--file") });
    expect(await nextstate("suite held burn")).toMatchObject({ code: USAGE, stderr: expect.stringContaining("list|add|delete") });
  });
});

describe("nextstate keys", () => {
  it("makes a key that works, with the secret alone on stdout, rotates it and revokes it", async () => {
    const secret = (await said("keys make --name ci --agents desk,told --expires 2030-01-31 --per-minute 60")).trim();
    expect(secret).toMatch(/^nsk_client_\S+$/);
    const models = (key: string) => fetch(`${edge.url}/v1/models`, { headers: bearer(key) }).then(({ status }) => status);
    expect(await models(secret)).toBe(200);
    const { keys } = (await json("keys")) as { keys: { id: string; name: string }[] };
    expect({ keys }).toEqual(await api("/keys"));
    const made = keys.find(({ name }) => name === "ci");
    expect(made).toMatchObject({ agents: ["desk", "told"], expiresAt: "2030-01-31T00:00:00.000Z", requestsPerMinute: 60 });
    const rotated = await json(`keys rotate ${made?.id}`);
    expect([await models(secret), await models(String(rotated.key))]).toEqual([401, 200]);
    expect(await said(`keys revoke ${made?.id}`)).toBe(`Revoked ${made?.id}, client key of ci.\n`);
    await said("keys make --name brief --expires 2030-01-31");
    await (await edge.getD1()).exec("UPDATE keys SET expires_at = 1 WHERE name = 'brief'");
    const listed = await said("keys list");
    expect(listed).toMatch(/\nkey_\w+ +client +brief .*expired\n/);
    expect(listed).toMatch(new RegExp(`\n${made?.id} +client +ci +desk,told +60 .*revoked\n`));
  });
});

describe("nextstate export", () => {
  const exportTo = (file: string, agent = "filler"): Promise<string> => said(`export ${agent} --out ${file}`, { cwd: folder });
  const read = (file: string): Promise<string> => readFile(join(folder, file), "utf8");

  it("writes the whole log, page after page, as JSON lines", async () => {
    const judgements = Array.from({ length: 80 }, (_, index) => judgement("filler", `filler-${index}-more`));
    await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements }); // beside the 40 that the log was filled with
    expect(await exportTo("log.jsonl")).toBe("120 events written to log.jsonl.\n");
    const log = await read("log.jsonl");
    const seqs = log
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { seq: number }).seq);
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
    const { events } = (await api("/agents/filler/events")) as { events: unknown[] };
    expect(
      log
        .split("\n")
        .slice(0, 100)
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(events);
    for (const args of ["export filler", "export filler --json"]) expect(await said(args)).toBe(log);
  });

  it("continues after the last complete line, whatever was cut behind it", async () => {
    const log = await read("log.jsonl");
    for (const length of [log.length - 1, log.indexOf("\n", 5_000) + 1, log.indexOf("\n") + 7]) {
      await writeFile(join(folder, "log.jsonl"), log.slice(0, length));
      const left = log.slice(0, length).split("\n").length - 1;
      expect(await exportTo("log.jsonl")).toMatch(
        new RegExp(`^${120 - left} events? written to log\\.jsonl, behind those up to seq \\d+ that it had\\.\n$`),
      );
      expect(await read("log.jsonl")).toBe(log);
    }
    expect(await exportTo("log.jsonl")).toMatch(/^0 events written/);
  });

  it("continues no file that is something else, and leaves none for an agent that does not exist", async () => {
    const refusal = (file: string, agent: string) => nextstate(`export ${agent} --out ${file}`, { cwd: folder });
    await writeFile(join(folder, "notes.txt"), "dear diary");
    expect(await refusal("notes.txt", "filler")).toMatchObject({
      code: USAGE,
      stderr: expect.stringContaining("notes.txt does not end in a line of one"),
    });
    expect(await read("notes.txt")).toBe("dear diary");
    expect(await refusal("log.jsonl", "told")).toMatchObject({
      code: USAGE,
      stderr: expect.stringContaining("log.jsonl is one of filler"),
    });
    expect(await refusal("none.jsonl", "nobody")).toMatchObject({ code: REFUSED, stderr: expect.stringContaining("nobody") });
    await expect(read("none.jsonl")).rejects.toThrow("ENOENT");
    expect(await refusal("log.jsonl --json", "filler")).toMatchObject({
      code: USAGE,
      stderr: expect.stringContaining("one of --out and --json"),
    });
  });
});

describe("nextstate, refused", () => {
  it("says that nothing answers, and what to do", async () => {
    for (const args of [["agents"], ["chat", "desk", "--message", "Hello"], ["export", "desk"]]) {
      const { code, stdout, stderr } = await runNextstate([...args, "--url", "http://127.0.0.1:9", "--state", edge.stateFolder]);
      expect([code, stdout]).toEqual([REFUSED, ""]);
      expect(stderr).toBe(
        "nextstate: nothing answers at http://127.0.0.1:9; is `npm start` running? --state names its folder, or --url its address\n",
      );
    }
  });

  it("finds the system of a state folder on whatever port it is; the environment's wins over it", async () => {
    const agents = (env: Record<string, string>) => runNextstate(["agents", "--state", edge.stateFolder], { env });
    expect(await agents({})).toMatchObject({ code: DONE, stdout: expect.stringContaining("stable") });
    expect((await agents({ NEXTSTATE_URL: "http://127.0.0.1:9" })).stderr).toContain("nothing answers at http://127.0.0.1:9;");
  });

  it("says where keys come from, and takes them and the URL from the environment", async () => {
    const lost = await runNextstate(["agents", "--state", folder], { env: { NEXTSTATE_URL: edge.url } });
    expect(lost).toMatchObject({ code: REFUSED, stderr: expect.stringContaining(join(folder, "keys.json")) });
    const env = { NEXTSTATE_URL: edge.url, NEXTSTATE_ADMIN_KEY: edge.keys.admin, NEXTSTATE_KEY: edge.keys.client };
    expect(await runNextstate(["agents", "--state", folder], { env })).toMatchObject({ code: DONE });
    const wrong = await runNextstate(["agents"], { env: { ...env, NEXTSTATE_ADMIN_KEY: "nsk_admin_x" } });
    expect(wrong).toMatchObject({ code: REFUSED, stderr: expect.stringContaining("is the key of this system (--state)?") });
  });

  it.for(["nope", "agents show", "versions desk one", "agents --wat", "turns desk --limit 0", "agents --url x", "--state .h2 agents"])(
    "takes `nextstate %s` for a slip of the keyboard",
    async (args) => {
      const { code, stdout, stderr } = await runNextstate(args.split(" "));
      expect([code, stdout, stderr]).toEqual([USAGE, "", expect.stringMatching(/expected|registered/)]);
    },
  );
});

// util-linux's: it gives a command a terminal of its own, and types what stands on stdin.
describe.skipIf(!existsSync("/usr/bin/script"))("nextstate at a terminal", () => {
  const typed = (args: string, stdin: string, env: Record<string, string> = {}): Promise<Ended> => {
    const command = `${process.execPath} ${BIN} ${args} --url ${edge.url} --state ${edge.stateFolder}`;
    return runCommand("script", ["-qec", command, "/dev/null"], { stdin, env: { TERM: "xterm-256color", ...env } });
  };

  it("has colours, unless NO_COLOR is set", async () => {
    expect((await typed("agents", "")).stdout).toContain(`${ESCAPE}[32mon`);
    expect((await typed("agents", "", { NO_COLOR: "1" })).stdout).not.toContain(ESCAPE);
    expect((await typed("agents --json", "")).stdout).not.toContain(ESCAPE);
  });

  it("asks before it rolls back, and takes no for an answer", async () => {
    await putAgent(edge, "asked", { release: { canary: { mode: "off" } } });
    await publish("asked", 4);
    const stable = async () => ((await api("/agents/asked/versions")) as { stable: number }).stable;
    const no = await typed("rollback asked 0", "n\n");
    expect([no.code, await stable()]).toEqual([REFUSED, 1]);
    expect(no.stdout).toMatch(/Taken back will be version 1.*[^]*Roll asked back to version 0\? \[y\/N\][^]*nothing was changed/);
    const yes = await typed("rollback asked 0", "y\n");
    expect([yes.code, await stable()]).toEqual([DONE, 0]);
  });

  it("draws a bar while it exports, and takes it away", async () => {
    const { stdout } = await typed(`export filler --out ${join(folder, "bar.jsonl")}`, "");
    expect(stdout).toMatch(/\rexport filler █+[^]*\r\S*\[K120 events written to/);
  });
});

describe("npx nextstate", () => {
  it("is this checkout's, needs no registry, and passes the exit code on", async () => {
    const env = { npm_config_cache: join(folder, "npm"), npm_config_offline: "true" };
    const npx = (...args: string[]): Promise<Ended> => runCommand("npx", ["nextstate", ...args], { env });
    expect(await npx("agents", "--url", edge.url, "--state", edge.stateFolder)).toMatchObject({
      code: DONE,
      stdout: expect.stringContaining("desk"),
    });
    expect(await npx("nope")).toMatchObject({ code: USAGE, stdout: "" });
  });
});
