/** An open conversation does not keep its version's adapter on the engine, and still goes on with that very version: it is loaded again. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startAdapterHost, type AdapterHost } from "../../../cli/adapter-host.ts";
import { call, putAgent } from "../../helpers/call.ts";
import { putAdapter } from "../../helpers/adapters.ts";
import { withEdge } from "../../helpers/edge.ts";
import { says, talkTo, turnsOf, type Message } from "../session/talk.ts";
import { publishOn } from "../../helpers/publish-on.ts";
import { KEY, type StandIn } from "./stand-in.ts";
import { SgLang, Vllm } from "./stand-ins.ts";

const HOST_KEY = "key-of-the-host";
const SOON = { timeout: 20_000 };

const edge = withEdge({ vars: { ENGINE_KEY_TEST: KEY, ENGINE_KEY_HOST: HOST_KEY, ENGINE_IDLE_MS: "1500" } });
const engines: StandIn[] = [new Vllm(), new SgLang()];
let folder = "";
let host: AdapterHost;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-adapters-"));
  host = await startAdapterHost({ folder, key: HOST_KEY });
  await Promise.all(engines.map((engine) => engine.start()));
});
afterAll(async () => {
  await Promise.all([host.close(), ...engines.map((engine) => engine.stop())]);
  await rm(folder, { recursive: true, force: true });
});

async function agentOn(engine: StandIn, name: string, settings: object = {}) {
  const { flavour, url } = engine;
  const adapterHost = { url: host.url, keySecret: "ENGINE_KEY_HOST" };
  const own = { kind: "openai", flavour, url, model: "Qwen/Qwen3-4B", keySecret: "ENGINE_KEY_TEST", timeoutMs: 5_000, adapterHost };
  engine.play({ text: ["Hel", "lo"] });
  await putAgent(edge, name, { engine: own, ...settings });
  return talkTo(edge, name);
}

const nameOf = async (agent: string, line: string, version: number): Promise<string> => {
  const { body } = await call(edge, "trainer", `GET /trainer/v1/agents/${agent}/lines/${line}/versions/${version}`);
  return `nextstate-${body.policyDigest}`;
};
/** What the engine has by its own word. */
const loadedOn = (engine: StandIn): string[] => [...engine.adapters.keys()];
/** Which model the last question was for. */
const askedOf = ({ question }: StandIn): string => question.lora_path ?? question.model;

it.each(engines)("$flavour: one that comes back is answered by the version that began it", async (engine) => {
  const agent = `pinned-${engine.flavour}`;
  const { ask, logged } = await agentOn(engine, agent);
  await publishOn(edge, agent, await putAdapter(edge, "first"));
  const opening = await ask([says("hi")]);
  await publishOn(edge, agent, await putAdapter(edge, "second"));
  const [first, second] = [await nameOf(agent, "shared", 1), await nameOf(agent, "shared", 2)];
  await expect.poll(() => loadedOn(engine), SOON).toEqual([second]);
  const moves = engine.moves.length;

  const going = [says("hi"), opening.message, says("and now?")];
  expect(await ask(going)).toMatchObject({ status: 200, sessionId: opening.sessionId, message: { content: "Hello" } });
  expect([askedOf(engine), engine.moves[moves]]).toEqual([first, `load ${first}`]);
  await ask([says("a new one")]);
  expect(askedOf(engine)).toBe(second);
  const turns = turnsOf(await logged("turn:finished", 3));
  expect(turns.map(({ policyVersion, policyDigest }) => [policyVersion, `nextstate-${policyDigest}`])).toEqual([
    [1, first],
    [1, first],
    [2, second],
  ]);
  await expect.poll(() => loadedOn(engine), SOON).toEqual([second]);
});

it("a user's own version goes with its idleness and comes with its user, in a conversation and in a new one", async () => {
  const engine = engines[0] as StandIn;
  const agent = "own";
  const { ask, logged } = await agentOn(engine, agent, { learning: { scope: "personal" } });
  const asAnna = (messages: Message[]) => ask(messages, { extra: { user: "anna" } });
  await asAnna([says("hi")]);
  const [turn] = turnsOf(await logged("turn:finished", 1));
  const line = (await logged("turn:finished", 1))[0]?.user ?? "";
  expect(turn?.policyVersion).toBe(0);
  await call(edge, "trainer", `GET /trainer/v1/agents/${agent}/lines?cursor=0&waitMs=0`);
  expect(await publishOn(edge, agent, await putAdapter(edge, "anna"), { line })).toMatchObject({ status: 200 });
  const opening = await asAnna([says("hi again")]);
  const mine = await nameOf(agent, line, 1);
  expect(askedOf(engine)).toBe(mine);
  for (const messages of [[says("hi again"), opening.message, says("and now?")], [says("anew")]]) {
    await expect.poll(() => loadedOn(engine).includes(mine), SOON).toBe(false);
    const moves = engine.moves.length;
    expect((await asAnna(messages)).status).toBe(200);
    expect([askedOf(engine), engine.moves[moves]]).toEqual([mine, `load ${mine}`]);
  }
  await ask([says("somebody else")]);
  expect(askedOf(engine)).toBe("Qwen/Qwen3-4B");
});
