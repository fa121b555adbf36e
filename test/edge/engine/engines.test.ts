/** The conformance suite against every OpenAI-compatible engine, and what is special about each. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startAdapterHost, type AdapterHost } from "../../../cli/adapter-host.ts";
import { capabilitiesOf, EngineSettings } from "../../../shared/engine.ts";
import { call, putAgent } from "../../helpers/call.ts";
import { putAdapter } from "../../helpers/adapters.ts";
import { withEdge } from "../../helpers/edge.ts";
import { says, talkTo, turnsOf } from "../session/talk.ts";
import { publishOn } from "../../helpers/publish-on.ts";
import { testEngine } from "./conformance.ts";
import { END_ID, END_LOGPROB, KEY, PROMPT_IDS, type StandIn } from "./stand-in.ts";
import { Generic, LlamaCpp, SgLang, Vllm } from "./stand-ins.ts";

const MODEL = "Qwen/Qwen3-4B";
const HOST_KEY = "key-of-the-host";
const IDLE_MS = 400;

const edge = withEdge({ vars: { ENGINE_KEY_TEST: KEY, ENGINE_KEY_HOST: HOST_KEY, ENGINE_IDLE_MS: String(IDLE_MS) } });
const engines: StandIn[] = [new Vllm(), new SgLang(), new LlamaCpp(), new Generic()];
let folder = "";
let host: AdapterHost | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-adapters-"));
  host = await startAdapterHost({ folder, key: HOST_KEY });
  await Promise.all(engines.map((engine) => engine.start()));
});
afterAll(async () => {
  await Promise.all([host?.close(), ...engines.map((engine) => engine.stop())]);
  await rm(folder, { recursive: true, force: true });
});

const settingsOf = ({ flavour, url }: StandIn, changes: object = {}): object => ({
  ...{ kind: "openai", flavour, url, model: MODEL, keySecret: "ENGINE_KEY_TEST", timeoutMs: 5_000 },
  adapterHost: { url: host?.url, keySecret: "ENGINE_KEY_HOST" },
  ...changes,
});

for (const engine of engines)
  testEngine(edge, {
    name: engine.flavour,
    capabilities: capabilitiesOf(
      EngineSettings.parse({ kind: "openai", flavour: engine.flavour, url: "http://127.0.0.1:1", model: MODEL }),
    ),
    settings: (changes) => settingsOf(engine, changes),
    play: (script) => engine.play(script),
    watch: async () => {
      const before = engine.aborted;
      return { hasGivenUp: () => engine.aborted === before + 1 };
    },
    asked: () => engine.questions,
  });

let agents = 0;
/** An agent on an engine, with a first version that has an adapter. */
async function adaptedAgent(engine: StandIn) {
  const name = `adapted-${engine.flavour}-${(agents += 1)}`;
  engine.play({ text: ["Hel", "lo"] });
  await putAgent(edge, name, { engine: settingsOf(engine) });
  const adapter = await putAdapter(edge, name);
  return { name, adapter, talk: talkTo(edge, name), publish: () => publishOn(edge, name, adapter) };
}

describe.each(engines.filter(({ flavour }) => flavour === "vllm" || flavour === "sglang"))("$flavour, adapters", (engine) => {
  it("is given the adapter's files, loads it under its digest, and answers with that very version", async () => {
    const { name, adapter, talk, publish } = await adaptedAgent(engine);
    const published = await publish();
    expect(published).toMatchObject({ status: 200, body: { status: "published", version: 1, release: "stable" } });
    const { body: version } = await call(edge, "admin", `GET /api/agents/${name}/versions/1`);
    const loadedAs = `nextstate-${version.policyDigest}`;
    expect(engine.moves.at(-1)).toBe(`load ${loadedAs}`);
    const path = engine.adapters.get(loadedAs) ?? "";
    const stored = JSON.parse(await readFile(join(path, "adapter_config.json"), "utf8"));
    expect(stored).toMatchObject({ peft_type: "LORA", r: adapter.rank, lora_alpha: adapter.alpha });
    await talk.ask([says("hi")]);
    expect(engine.question).toMatchObject(engine.flavour === "vllm" ? { model: loadedAs } : { lora_path: loadedAs });
    const [turn] = turnsOf(await talk.logged("turn:finished", 1));
    expect(turn).toMatchObject({ policyVersion: 1, policyDigest: version.policyDigest });
    expect(turn?.rollout.unusable).toBeUndefined();
  });

  it("that was restarted loads it again before anything is sent", async () => {
    const { name, talk, publish } = await adaptedAgent(engine);
    await publish();
    await talk.ask([says("hi")]);
    engine.adapters.clear();
    const loads = engine.moves.length;
    const { status, message } = await talk.ask([says("hi again")]);
    expect([status, message.content]).toEqual([200, "Hello"]);
    expect(engine.moves.slice(loads)).toEqual([expect.stringMatching(/^load /)]);
    const { body } = await call(edge, "admin", `GET /api/agents/${name}/engine`);
    expect(body).toMatchObject({
      error: null,
      capabilities: { loadAtRuntime: true },
      adapters: [{ version: 1, needed: true, failure: null }],
    });
  });

  const tooLong = "The input (5000 tokens) is longer than the model's context length (4096 tokens).";
  const refusals = [tooLong, ...(engine.flavour === "vllm" ? ["Value error, top_k must be -1, 0, or at least 1"] : [])];
  it.each(refusals)("is asked once for what it refuses whoever answers: %s", async (message) => {
    const { talk, publish } = await adaptedAgent(engine);
    await publish();
    await talk.ask([says("hi")]);
    engine.play({ fails: { kind: "status", status: 400, body: { error: { message } } } });
    const [questions, asked] = [engine.questions, engine.asked.length];
    const { status, error } = await talk.ask([says("hi again")]);
    expect([status, error?.message]).toEqual([400, expect.stringContaining(message)]);
    expect([engine.questions - questions, engine.asked.slice(asked).filter(({ path }) => path === "/v1/models")]).toEqual([1, []]);
  });

  it("that refuses an adapter keeps its version from existing, with the reason", async () => {
    const { name, publish } = await adaptedAgent(engine);
    engine.refusesLoads = true;
    const { status, body } = await publish();
    engine.refusesLoads = false;
    expect([status, body.error.code]).toEqual([422, "policy/refused"]);
    expect(body.error.message).toMatch(/No adapter found|rank 64 is larger/);
    const { body: versions } = await call(edge, "admin", `GET /api/agents/${name}/versions`);
    expect(versions).toMatchObject({ stable: 0, latest: 0 });
  });

  it("is given no adapter that waits for its invocation, which it would apply to every token", async () => {
    const { name } = await adaptedAgent(engine);
    const moves = engine.moves.length;
    const { status, body } = await publishOn(edge, name, await putAdapter(edge, name, { invocation: [1, 2] }));
    expect([status, body.error.code]).toEqual([422, "policy/refused"]);
    expect(body.error.message).toContain("got one with alora_invocation_tokens");
    expect(engine.moves).toHaveLength(moves);
  });

  it("unloads what nobody needs, and a failed unload is an error until it succeeds", async () => {
    const { name, publish } = await adaptedAgent(engine);
    await publish();
    engine.refusesUnloads = true;
    await call(edge, "admin", `POST /api/agents/${name}/rollback`, { to: 0 });
    const state = async () => (await call(edge, "admin", `GET /api/agents/${name}/engine`)).body.adapters;
    await expect
      .poll(state, { timeout: 20_000 })
      .toMatchObject([{ version: 1, needed: false, failure: expect.stringMatching(/still listed|in use/) }]);
    const { body } = await call(edge, "admin", `GET /api/agents/${name}/audit`);
    expect(body.audit).toContainEqual(
      expect.objectContaining({ move: "engine", actor: "edge:engine", reason: expect.stringContaining("could not be unloaded") }),
    );
    engine.refusesUnloads = false;
    await expect.poll(state, { timeout: 20_000 }).toEqual([]);
    expect(engine.moves.at(-1)).toMatch(/^unload nextstate-/);
  });
});

describe("what engines tell", () => {
  const named = (flavour: string): StandIn => engines.find((engine) => engine.flavour === flavour) ?? new Generic();
  const rolloutOf = async (engine: StandIn, extra: object) => {
    const name = `told-${engine.flavour}-${(agents += 1)}`;
    engine.play({ text: ["Hel", "lo"] });
    await putAgent(edge, name, { engine: settingsOf(engine) });
    const { ask, logged } = talkTo(edge, name);
    await ask([says("hi")], { extra });
    return turnsOf(await logged("turn:finished", 1))[0]?.rollout;
  };

  it("is what is logged, to the digit, with the end", async () => {
    const whole = { promptTokens: PROMPT_IDS, responseTokens: [100, 101, END_ID], rolloutLogProbs: [-0.1, -0.2, END_LOGPROB] };
    expect(await rolloutOf(named("vllm"), {})).toMatchObject(whole);
    expect(await rolloutOf(named("sglang"), {})).toMatchObject(whole);
    expect(await rolloutOf(named("llamacpp"), {})).toMatchObject(whole);
  });

  it("is not used where the log-probs are of another distribution than the answer", async () => {
    const hot = await rolloutOf(named("vllm"), { temperature: 0.7 });
    expect(hot).toMatchObject({
      responseTokens: [100, 101, END_ID],
      rolloutLogProbs: [],
      unusable: { reason: expect.stringContaining("0.7") },
    });
    // SGLang's are of after temperature.
    expect(await rolloutOf(named("sglang"), { temperature: 0.7 })).toMatchObject({ rolloutLogProbs: [-0.1, -0.2, END_LOGPROB] });
    const held = await rolloutOf(named("vllm"), { response_format: { type: "json_object" } });
    expect(held).toMatchObject({ rolloutLogProbs: [], unusable: { reason: expect.stringContaining("form") } });
  });

  it("is asked for with every sampling setting, so that no default of the model's stands in", async () => {
    for (const flavour of ["vllm", "sglang", "llamacpp"]) {
      await rolloutOf(named(flavour), { temperature: 0.5, top_p: 0.9 });
      const { sampling_params: nested, ...flat } = named(flavour).question;
      const plain = { min_p: 0, presence_penalty: 0, frequency_penalty: 0 };
      expect(nested ?? flat).toMatchObject({ temperature: 0.5, top_p: 0.9, ...plain });
      expect((nested ?? flat).top_k).toBeLessThanOrEqual(0);
    }
  });
});

describe("a seed that an engine takes for none", () => {
  it.each([
    ["vllm", -1, 400],
    ["vllm", 4_294_967_295, 200],
    ["llamacpp", -1, 400],
    ["llamacpp", 4_294_967_295, 400],
    ["sglang", -1, 200],
  ] as const)("is refused: %s, %i", async (flavour, seed, expected) => {
    const engine = engines.find((each) => each.flavour === flavour) as StandIn;
    const name = `seeded-${flavour}-${(agents += 1)}`;
    await putAgent(edge, name, { engine: settingsOf(engine) });
    engine.play({ text: ["Hello"] });
    const { status, error } = await talkTo(edge, name).ask([says("hi")], { extra: { seed } });
    expect([status, error?.param]).toEqual([expected, expected === 400 ? "seed" : undefined]);
  });
});

describe.each(engines)("$flavour, a connection that breaks", (engine) => {
  it("once the question was read is told of: the answer may have been begun, and is not asked for again", async () => {
    const name = `broken-${engine.flavour}`;
    await putAgent(edge, name, { engine: settingsOf(engine) });
    engine.play({ fails: { kind: "drops" } });
    const asked = engine.questions;
    const { status, error } = await talkTo(edge, name).ask([says("hi")]);
    expect([status, error?.code]).toEqual([502, "upstream/unreachable"]);
    expect(engine.questions - asked).toBe(1);
  });
});

describe("what may be done twice is, where a connection breaks", () => {
  it.each([
    ["sglang", "/v1/tokenize"],
    ["llamacpp", "/lora-adapters"],
    ["llamacpp", "/apply-template"],
  ] as const)("%s: %s", async (flavour, path) => {
    const engine = engines.find((each) => each.flavour === flavour) as StandIn;
    const name = `again-${flavour}-${(agents += 1)}`;
    await putAgent(edge, name, { engine: settingsOf(engine) });
    engine.play({ text: ["Hel", "lo"] });
    engine.drops.set(path, 2);
    expect(await talkTo(edge, name).ask([says("hi")])).toMatchObject({ status: 200, message: { content: "Hello" } });
    expect(engine.drops.get(path)).toBeLessThan(0);
  });

  it.each(["/v1/load_lora_adapter", "/load_lora_adapter"])(
    "not %s, which the engine may have done: what it lists decides",
    async (path) => {
      const engine = engines.find(({ flavour }) => flavour === (path.startsWith("/v1") ? "vllm" : "sglang")) as StandIn;
      const { publish } = await adaptedAgent(engine);
      engine.drops.set(path, 1);
      const moves = engine.moves.length;
      expect(await publish()).toMatchObject({ status: 200, body: { status: "published", version: 1 } });
      expect(engine.moves.slice(moves)).toEqual([expect.stringMatching(/^load /)]);
    },
  );
});

describe("an engine that is busy", () => {
  it("is asked again while nothing was sent, and told of where it stays so", async () => {
    const engine = engines[0] as Vllm;
    await putAgent(edge, "busy", { engine: settingsOf(engine) });
    const { ask } = talkTo(edge, "busy");
    const busy = { kind: "status", status: 503, body: { error: { message: "Loading model" } } } as const;
    engine.play({ text: ["Hello"], fails: { ...busy, times: 2 } });
    expect(await ask([says("hi")])).toMatchObject({ status: 200, message: { content: "Hello" } });
    engine.play({ text: ["Hello"], fails: busy });
    const asked = engine.asked.length;
    expect(await ask([says("hi there")])).toMatchObject({
      status: 502,
      error: { code: "upstream/failed", message: expect.stringContaining("Loading model") },
    });
    expect(engine.asked.length - asked).toBe(3);
  });

  it("is not asked again for what it refuses; a conversation that is too long is the client's", async () => {
    const engine = engines[0] as Vllm;
    const { ask } = talkTo(edge, "busy");
    const message = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.";
    engine.play({ fails: { kind: "status", status: 400, body: { error: { message } } } });
    const asked = engine.asked.length;
    expect(await ask([says("x".repeat(100))])).toMatchObject({
      status: 400,
      error: { code: "context_length_exceeded", param: "messages", type: "invalid_request_error" },
    });
    expect(engine.asked.length - asked).toBe(1);
  });

  it("is not asked where a conversation is to be shortened to what it has room for, which nobody knows", async () => {
    const engine = engines[0] as Vllm;
    await putAgent(edge, "unmeasured", { engine: settingsOf(engine) });
    const asked = engine.asked.length;
    const reply = await talkTo(edge, "unmeasured").ask([says("hi")], { extra: { truncation: "auto" } });
    expect(reply).toMatchObject({ status: 400, error: { param: "truncation", message: expect.stringContaining("vllm Qwen/Qwen3-4B") } });
    expect(engine.asked.length).toBe(asked);
  });

  it("or is not there at all is told of without its address", async () => {
    await putAgent(edge, "absent", { engine: settingsOf(engines[0] as Vllm, { url: "http://127.0.0.1:9" }) });
    const { status, error } = await talkTo(edge, "absent").ask([says("hi")]);
    expect([status, error?.code]).toEqual([502, "upstream/unreachable"]);
    expect(error?.message).not.toContain("127.0.0.1");
  });

  it("or wants another key is told of as such, and a secret that is missing by its name", async () => {
    await putAgent(edge, "keyless", { engine: settingsOf(engines[0] as Vllm, { keySecret: undefined }) });
    expect((await talkTo(edge, "keyless").ask([says("hi")])).error?.message).toContain("refused its key (401)");
    await putAgent(edge, "unset", { engine: settingsOf(engines[0] as Vllm, { keySecret: "ENGINE_KEY_UNSET" }) });
    expect(await talkTo(edge, "unset").ask([says("hi")])).toMatchObject({
      status: 502,
      error: { message: expect.stringContaining("ENGINE_KEY_UNSET") },
    });
  });
});
