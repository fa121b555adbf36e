/** An agent that moves from the embedded policy to an engine and back: same endpoint, same log, same releases, another base. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { call, fillLog, putAgent } from "../../helpers/call.ts";
import { publishAdapter, putAdapter } from "../../helpers/adapters.ts";
import { withEdge } from "../../helpers/edge.ts";
import { says, talkTo, turnsOf } from "../session/talk.ts";
import { KEY } from "./stand-in.ts";
import { Vllm } from "./stand-ins.ts";

const edge = withEdge({ vars: { ENGINE_KEY_TEST: KEY } });
const engine = new Vllm();
beforeAll(() => engine.start());
afterAll(() => engine.stop());

const moved = () => ({
  engine: { kind: "openai", flavour: "vllm", url: engine.url, model: "Qwen/Qwen3-4B", keySecret: "ENGINE_KEY_TEST" },
});
const patch = (agent: string, settings: object) => call(edge, "admin", `PATCH /api/agents/${agent}`, settings);

it("keeps endpoint, log and releases; its versions restart from the new base and say so", async () => {
  await putAgent(edge, "mover", { instructions: "Be brief." });
  const { ask, logged } = talkTo(edge, "mover");
  await publishAdapter(edge, "mover", await putAdapter(edge, "mover"));
  const before = await ask([says("hi")]);
  expect(before.status).toBe(200);
  await logged("turn:finished", 1);

  engine.play({ text: ["Hello", " from the engine"] });
  expect(await patch("mover", moved())).toMatchObject({
    status: 200,
    body: { settings: { instructions: "Be brief.", engine: { kind: "openai" } } },
  });
  const after = await ask([says("hello")]);
  expect([after.status, after.message.content]).toEqual([200, "Hello from the engine"]);
  expect(engine.question).toMatchObject({ model: "Qwen/Qwen3-4B", messages: [{ role: "system", content: "Be brief." }, says("hello")] });

  const { body } = await call(edge, "admin", "GET /api/agents/mover/versions");
  expect(body).toMatchObject({ stable: 2, latest: 2 });
  const [second, first] = body.versions;
  expect(second).toMatchObject({ version: 2, parent: 2, adapter: null, status: "stable", events: [] });
  expect([first.version, first.status, first.baseDigest === second.baseDigest]).toEqual([1, "superseded", false]);
  const { body: audit } = await call(edge, "admin", "GET /api/agents/mover/audit");
  const rebase = audit.audit.find(({ move }: { move: string }) => move === "rebase");
  expect(rebase).toMatchObject({ from: 1, to: 2, actor: expect.stringMatching(/^admin:/) });
  expect(rebase.reason).toMatch(/version 2 begins from the bare base [0-9a-f]{12} of vllm Qwen\/Qwen3-4B; versions up to 1 are of/);
  // Everything in the log was said by the base before, so nothing of it is learned by the new one.
  const turns = turnsOf(await logged("turn:finished", 2));
  expect(turns.map(({ policyVersion }) => policyVersion)).toEqual([1, 2]);
  expect(body.cursor).toBeGreaterThan(0);
});

it("lets the conversations that a version began go on with it", async () => {
  await putAgent(edge, "talker", {});
  const { ask } = talkTo(edge, "talker");
  const first = await ask([says("hi")]);
  await patch("talker", moved());
  const asked = engine.asked.length;
  const second = await ask([says("hi"), first.message, says("go on")]);
  expect([second.status, second.sessionId]).toEqual([200, first.sessionId]);
  expect(engine.asked.length).toBe(asked);
});

it("rolls back over the boundary in one call, and forward again", async () => {
  engine.play({ text: ["Hello"] });
  const asked = engine.asked.length;
  expect((await call(edge, "admin", "POST /api/agents/mover/rollback", { to: 1 })).body).toMatchObject({
    status: "rolledBack",
    from: 2,
    to: 1,
    versions: [2],
  });
  expect((await talkTo(edge, "mover").ask([says("who is there")])).status).toBe(200);
  expect(engine.asked.length).toBe(asked);
  expect((await call(edge, "admin", "POST /api/agents/mover/rollback", { to: 2 })).body).toMatchObject({ status: "rolledBack", to: 2 });
  expect((await talkTo(edge, "mover").ask([says("who is there now")])).message.content).toBe("Hello");
});

it("changes of limits begin nothing; another model does, and versions of the one before answer nobody", async () => {
  await putAgent(edge, "changer", moved());
  const head = async () => (await call(edge, "trainer", "GET /trainer/v1/agents/changer/lines/shared/head")).body;
  expect(await head()).toMatchObject({ stable: 0, latest: 0, onEngine: true });
  await patch("changer", { engine: { timeoutMs: 9_000 } });
  expect(await head()).toMatchObject({ stable: 0, latest: 0 });
  await patch("changer", { engine: { model: "Qwen/Qwen3-8B" } });
  expect(await head()).toMatchObject({ stable: 1, latest: 1 });
  const { status, body } = await call(edge, "admin", "POST /api/agents/changer/rollback", { to: 0 });
  expect([status, body.error.message]).toEqual([422, expect.stringContaining("give the agent that engine again first")]);
  expect((await patch("changer", { engine: null })).body.settings.engine).toEqual({ kind: "embedded" });
  expect(await head()).toMatchObject({ stable: 2, onEngine: false, engineBase: null, baseDigest: edge.baseDigest });
  expect((await talkTo(edge, "changer").ask([says("hi")])).status).toBe(200);
});

it("settings that cannot be are refused by name", async () => {
  await fillLog(edge, 1);
  const refused = async (changes: object) => {
    const { status, body } = await call(edge, "admin", "PUT /api/agents/refused", { engine: { ...moved().engine, ...changes } });
    return [status, body.error.message];
  };
  expect(await refused({ keySecret: "sk-1234" })).toEqual([400, expect.stringContaining("a key itself is never stored")]);
  expect(await refused({ keySecret: "BASE_DIGEST" })).toEqual([400, expect.stringContaining("ENGINE_KEY_")]);
  expect(await refused({ url: "http://user:pass@127.0.0.1" })).toEqual([400, expect.stringContaining("without credentials")]);
  expect(await refused({ base: "0".repeat(64) })).toEqual([400, expect.stringContaining("engine.base")]);
  expect(await refused({ modle: "x" })).toEqual([400, expect.stringContaining("modle")]);
  const back = await call(edge, "admin", "PUT /api/agents/refused", { engine: { kind: "embedded", url: engine.url } });
  expect([back.status, back.body.error.message]).toEqual([400, expect.stringContaining('{"engine": null}')]);
});

it("only a key of every agent says where an engine is", async () => {
  const { body: made } = await call(edge, "admin", "POST /api/keys", { kind: "admin", name: "of some", agents: ["mover*"] });
  const scoped = { url: edge.url, keys: { ...edge.keys, admin: made.key } };
  const { status, body } = await call(scoped, "admin", "PATCH /api/agents/mover", { engine: { url: "http://127.0.0.1:1" } });
  expect([status, body.error.code]).toEqual([403, "auth/forbidden"]);
  expect((await call(scoped, "admin", "PATCH /api/agents/mover", { instructions: "Be briefer." })).status).toBe(200);
});
