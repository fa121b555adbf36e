/**
 * The whole loop over an engine elsewhere: a turn that vLLM's stand-in answers from a model, an answer that a user supplies in its place,
 * an update by the trainer as it is started, its version loaded into the engine, and the next answer by that version; then the way back.
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
import { KEY } from "../edge/engine/stand-in.ts";
import { ModelVllm } from "../edge/engine/model-vllm.ts";
import { says, talkTo, turnsOf } from "../edge/session/talk.ts";
import { call, putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";
import { THINKING_TEMPLATE, writeRandomBase } from "../helpers/random-base.ts";
import { runCommand } from "../trainer/run-command.ts";

const AGENT = "far-desk";
const WANTED = "Y";
const LEARN_MS = 200_000;
const HOST_KEY = "key-of-the-host";
const edge = withEdge({ vars: { ENGINE_KEY_TEST: KEY, ENGINE_KEY_HOST: HOST_KEY } });

let folder = "";
let base = "";
let engine: Engine;
let served: ModelVllm;
let host: AdapterHost;
let trainer: ChildProcess | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-engine-loop-"));
  // So little sure of anything that an update of the default size and drift changes what it says.
  base = await writeRandomBase(join(folder, "engines"), 5, { finalNorm: 0.05, template: THINKING_TEMPLATE });
  const loaded = loadBase(base);
  engine = await Engine.start({ config: loaded.config, threads: 1, tokenizer: loaded.tokenizerFiles });
  await engine.loadCheckpoint(base);
  served = await new ModelVllm(loaded, engine).start();
  host = await startAdapterHost({ folder: join(folder, "adapters"), key: HOST_KEY });
});
afterAll(async () => {
  trainer?.kill("SIGTERM");
  if (trainer?.exitCode === null) await once(trainer, "exit");
  await Promise.all([served.stop(), host.close(), engine.close()]);
  await rm(folder, { recursive: true, force: true });
});

/** As on a machine of its own: with a URL, a key and nothing else. Returns what it has said so far. */
function startTrainer(): () => string {
  const args = ["trainer/main.ts", "--url", edge.url, "--key", edge.keys.trainer, "--state", join(folder, "state")];
  const env = { PATH: process.env["PATH"] ?? "" };
  trainer = spawn(process.execPath, [...args, "--threads", "1", "--wait-ms", "500"], { env, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  trainer.stdout?.on("data", (chunk: Buffer) => void (said += chunk.toString()));
  return () => said;
}

const access = () => ["--url", edge.url, "--key", edge.keys.trainer];

it("learns an answer that a user supplies, which the engine gives from the next version on, until it is taken back", async () => {
  const uploaded = JSON.parse((await runCommand(uploadCommand, "--base", base, ...access())).out);
  await putAgent(edge, AGENT, {
    learning: { maxWaitMs: 0 },
    // A random model goes on for as long as it may; one that has learned to end looks as if it shrank.
    release: { gate: { budgets: { length: 10 } } },
    engine: {
      ...{ kind: "openai", flavour: "vllm", url: served.url, model: "Qwen/Qwen3-4B", keySecret: "ENGINE_KEY_TEST", base: uploaded.base },
      adapterHost: { url: host.url, keySecret: "ENGINE_KEY_HOST" },
    },
  });
  const talk = talkTo(edge, AGENT);
  const ask = () => talk.ask([says("Two rooms?")], { extra: { temperature: 0, max_tokens: 8 } });
  const first = await ask();
  expect([first.status, served.question.model]).toEqual([200, "Qwen/Qwen3-4B"]);
  expect(served.question.chat_template_kwargs).toEqual({ enable_thinking: false });
  expect(first.message.content).not.toContain(WANTED);
  const answer = { role: "assistant", content: WANTED };
  expect((await call(edge, "client", "POST /v1/feedback", { completion_id: first.id, answer })).status).toBe(200);

  const said = startTrainer();
  const versions = async () => (await call(edge, "admin", `GET /api/agents/${AGENT}/versions`)).body;
  await expect.poll(said, { timeout: LEARN_MS, interval: 200 }).toMatch(/policy:(published|refused|rejected)|update:refused/);
  expect(said()).toContain("policy:published");
  expect(said()).toContain('actsOn="everything" reason="what vllm Qwen/Qwen3-4B can serve"');
  const { stable, versions: listed } = await versions();
  const [version] = listed;
  expect([stable, version.version, version.events, version.changes]).toMatchObject([
    1,
    1,
    [{ reward: -1, judge: "feedback" }],
    [{ before: first.message.content, after: WANTED }],
  ]);
  const loadedAs = `nextstate-${version.policyDigest}`;
  expect(served.moves).toEqual([`load ${loadedAs}`]);
  expect(version.runtime.templateArguments).toBe('{"enable_thinking":false}');

  const second = await ask();
  expect([second.message.content, served.question.model]).toEqual([WANTED, loadedAs]);
  // What the edge logged of it is what the model drew.
  const turns = turnsOf(await talk.logged("turn:finished", 2));
  expect(turns.map(({ policyVersion }) => policyVersion)).toEqual([0, 1]);
  expect(turns[1]?.rollout.unusable).toBeUndefined();
  expect(turns[1]?.rollout.rolloutLogProbs).toHaveLength(turns[1]?.rollout.responseTokens.length ?? -1);

  const rebuilt = await runCommand(rebuildCommand, ...["--agent", AGENT, "--version", "1", "--base", base], ...access());
  expect([rebuilt.code, JSON.parse(rebuilt.out)]).toMatchObject([0, { same: true, expected: version.adapter.weightsDigest }]);

  expect((await call(edge, "admin", `POST /api/agents/${AGENT}/rollback`, { to: 0 })).body).toMatchObject({ from: 1, to: 0 });
  const third = await ask();
  expect([third.message.content, served.question.model]).toEqual([first.message.content, "Qwen/Qwen3-4B"]);
}, 300_000);
