/**
 * The loop over an engine that tells no token ids: llama.cpp's stand-in with tools, the shipped base behind it. A correction in plain words becomes a
 * hint, a note and a version that the engine serves, and the version is made again from the log; what is about sampled tokens is not learned.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startAdapterHost, type AdapterHost } from "../../cli/adapter-host.ts";
import { Engine } from "../../trainer/engine/engine.ts";
import { loadBase } from "../../trainer/policy/base.ts";
import { rebuildCommand } from "../../trainer/rebuild/command.ts";
import { uploadCommand } from "../../trainer/upload/command.ts";
import { ModelLlama } from "../edge/engine/model-llama.ts";
import { KEY } from "../edge/engine/stand-in.ts";
import { says, talkTo, turnsOf, type Message } from "../edge/session/talk.ts";
import { call, putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";
import { SEARCH, WEATHER } from "../trainer/hotel.ts";
import { runCommand } from "../trainer/run-command.ts";

const BASE = "base";
const LEARN_MS = 500_000; // an update of the shipped base on one core that others use, too
const HOST_KEY = "key-of-the-host";
const edge = withEdge({ vars: { ENGINE_KEY_TEST: KEY, ENGINE_KEY_HOST: HOST_KEY } });
const extra = { tools: [SEARCH, WEATHER], temperature: 0, max_tokens: 96 };

let folder = "";
let engine: Engine;
let served: ModelLlama;
let host: AdapterHost;
let trainer: ChildProcess | undefined;
let said = "";
let base = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-untold-loop-"));
  const loaded = loadBase(BASE);
  engine = await Engine.start({ config: loaded.config, threads: 1, tokenizer: loaded.tokenizerFiles });
  await engine.loadCheckpoint(BASE);
  served = await new ModelLlama(loaded, engine).start();
  const adapters = join(folder, "adapters");
  base = JSON.parse((await runCommand(uploadCommand, "--base", BASE, ...access())).out).base;
  host = await startAdapterHost({ folder: adapters, key: HOST_KEY, place: (name) => served.place(name, join(adapters, name)) });
});
afterAll(async () => {
  trainer?.kill("SIGTERM");
  if (trainer?.exitCode === null) await once(trainer, "exit");
  await Promise.all([served.stop(), host.close(), engine.close()]);
  await rm(folder, { recursive: true, force: true });
});

const access = () => ["--url", edge.url, "--key", edge.keys.trainer];

function startTrainer(): void {
  const args = ["trainer/main.ts", ...access(), "--base", BASE, "--state", join(folder, "state"), "--threads", "1", "--wait-ms", "500"];
  trainer = spawn(process.execPath, args, { env: { PATH: process.env["PATH"] ?? "" }, stdio: ["ignore", "pipe", "inherit"] });
  trainer.stdout?.on("data", (chunk: Buffer) => void (said += chunk.toString()));
}

/** Asks for a hotel, gives the call its result, and corrects the reply. */
async function correct(agent: string): Promise<Message> {
  const { ask, logged } = talkTo(edge, agent);
  const asked = says("Find me a hotel in Porto.");
  const { message } = await ask([asked], { extra });
  const [made] = message.tool_calls ?? [];
  const found: Message = { role: "tool", content: '{"name": "Aria", "city": "Porto", "number_of_rooms": "1"}', tool_call_id: made?.id };
  const { message: reply } = await ask([asked, message, found], { extra });
  await ask([asked, message, found, reply, says("No, make it 2 rooms.")], { extra });
  await logged("turn:finished", 3);
  return message;
}

const settingsOf = (flavour: "llamacpp" | "generic") => ({
  learning: { maxWaitMs: 0 },
  // What a gate asks does not depend on whose turns were learned from, and takes as long again.
  release: { gate: { enabled: false } },
  engine: {
    ...{ kind: "openai", flavour, url: served.url, model: "Qwen/Qwen3-4B", keySecret: "ENGINE_KEY_TEST", base },
    ...(flavour === "llamacpp" && { adapterHost: { url: host.url, keySecret: "ENGINE_KEY_HOST" } }),
  },
});

it("learns a correction in words from turns whose tokens nobody told, refusing what needs them", async () => {
  const agent = "untold-desk";
  await putAgent(edge, agent, settingsOf("llamacpp"));
  const first = await correct(agent);
  expect(JSON.stringify(first)).not.toContain("number_of_rooms");
  const { ask, events } = talkTo(edge, agent);
  for (const { rollout } of turnsOf(await events())) {
    expect(rollout).toMatchObject({ promptTokens: [], responseTokens: [], unusable: { reason: expect.stringContaining("token ids") } });
    expect(rollout.unusable?.promptTokens).toBeGreaterThan(0);
  }

  startTrainer();
  const told = /policy:(published|refused|rejected)|update:refused|cursor:advanced/;
  await expect.poll(() => said, { timeout: LEARN_MS, interval: 500 }).toMatch(told);
  expect(said).toContain("policy:published");
  expect(said).toMatch(/update:taught .*corrected untold"?=1/);
  const { body: notes } = await call(edge, "admin", `GET /api/agents/${agent}/notes`);
  expect(notes.notes).toMatchObject([{ text: "number_of_rooms should be 2.", learnedBy: 1 }]);
  const { versions, stable } = (await call(edge, "admin", `GET /api/agents/${agent}/versions`)).body;
  expect(stable).toBe(1);
  expect(versions[0]).toMatchObject({
    version: 1,
    hints: ["number_of_rooms should be 2."],
    events: [{ reward: -1, reencoded: true }],
    changes: [
      { prompt: "Find me a hotel in Porto.", before: expect.stringContaining('"city": "Porto"'), after: expect.stringContaining("2") },
    ],
  });

  const next = await ask([says("I need a hotel in Paris.")], { extra });
  expect([...served.adapters.keys()]).toEqual([`nextstate-${versions[0].policyDigest}`]);
  expect(served.question.lora).toEqual([{ id: 0, scale: 1 }]);
  expect(JSON.stringify(next.message.tool_calls)).toContain('\\"number_of_rooms\\":\\"2\\"');

  const rebuilt = await runCommand(rebuildCommand, ...["--agent", agent, "--version", "1", "--base", BASE], ...access());
  expect([rebuilt.code, JSON.parse(rebuilt.out)]).toMatchObject([0, { same: true, expected: versions[0].adapter.weightsDigest }]);
}, 1_200_000);

/** What the audit says was refused of an agent's signals. */
const refusedOf = async (agent: string): Promise<{ code: string; detail: string }[]> => {
  const { audit } = (await call(edge, "admin", `GET /api/agents/${agent}/audit`)).body;
  return audit.flatMap(({ refused }: { refused: { code: string; detail: string }[] }) => refused);
};

it("learns nothing where the engine counts another prompt than the base's template writes, and says both numbers", async () => {
  const agent = "other-template";
  await putAgent(edge, agent, settingsOf("llamacpp"));
  served.extraTokens = 3;
  await correct(agent);
  served.extraTokens = 0;
  const other = async () => (await refusedOf(agent)).find(({ code }) => code === "turn/template")?.detail;
  await expect.poll(other, { timeout: 60_000 }).toMatch(/^a prompt of \d+ tokens expected, as its engine read it, .* writes one of \d+$/);
  const [read = 0, written = 0] = ((await other()) ?? "").match(/\d+/g)?.map(Number) ?? [];
  expect(read - written).toBe(3);
}, 120_000);

it("keeps a correction as a note, and trains nothing, where the engine takes no adapters", async () => {
  const agent = "no-adapters";
  await putAgent(edge, agent, settingsOf("generic"));
  await correct(agent);
  await expect.poll(() => refusedOf(agent), { timeout: 60_000 }).toContainEqual(expect.objectContaining({ code: "engine/noAdapters" }));
  const { notes } = (await call(edge, "admin", `GET /api/agents/${agent}/notes`)).body;
  expect(notes).toMatchObject([{ text: "number_of_rooms should be 2.", status: "inForce", learnedBy: null }]);
}, 120_000);
