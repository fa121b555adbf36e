/** An agent on an engine whose tools the edge runs: what fails between its turns is gone on from, on the engine and the version that it began on. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { putAdapter } from "../../helpers/adapters.ts";
import { putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { startToolServer, type ToolServer } from "../../helpers/tool-server.ts";
import { startAdapterHost, type AdapterHost } from "../../../cli/adapter-host.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { says, talkTo, turnsOf } from "../session/talk.ts";
import { publishOn } from "../../helpers/publish-on.ts";
import { KEY, type Json, type Script } from "./stand-in.ts";
import { Vllm } from "./stand-ins.ts";

const edge = withEdge({ vars: { ENGINE_KEY_TEST: KEY, ENGINE_KEY_HOST: "key-of-the-host", TOOLS_ON_LOOPBACK: "1" } });
const engine = new Vllm();
let server: ToolServer;
let host: AdapterHost;
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-adapters-"));
  host = await startAdapterHost({ folder, key: "key-of-the-host" });
  server = await startToolServer();
  await engine.start();
});
afterAll(async () => {
  await Promise.all([engine.stop(), server.close(), host.close()]);
  await rm(folder, { recursive: true, force: true });
});

const CALL: Script = { call: { name: "Book", arguments: ['{"rooms":', "2}"] } };
const parameters = { type: "object", properties: { rooms: { type: "integer" } }, required: ["rooms"] };

/** An agent on the engine with one tool; once it has run, the engine goes on by the script. */
async function agentWith(name: string, then: Script, result: string) {
  const url = server.on(`/${name}`, (_, response) => {
    engine.play(then);
    response.writeHead(200, { "content-type": "text/plain" }).end(result);
  });
  await putAgent(edge, name, {
    engine: {
      ...{ kind: "openai", flavour: "vllm", url: engine.url, model: "Qwen/Qwen3-4B", keySecret: "ENGINE_KEY_TEST", timeoutMs: 5_000 },
      adapterHost: { url: host.url, keySecret: "ENGINE_KEY_HOST" },
    },
    tools: [{ type: "function", function: { name: "Book", parameters }, endpoint: { url } }],
  });
  engine.play(CALL);
  return talkTo(edge, name);
}

it("an answer that an engine broke off after a tool has run is brought to its end by the engine and the version that began it", async () => {
  const fails: Script["fails"] = { kind: "status", status: 500, body: { error: { message: "EngineCore died" } } };
  const { ask, logged } = await agentWith("broken", { fails }, "booked");
  await publishOn(edge, "broken", await putAdapter(edge, "broken"));
  const asked = { headers: { "idempotency-key": "k1" } };
  expect((await ask([says("Two rooms")], asked)).status).toBe(502);
  engine.play({ text: ["It is ", "booked"] });
  const again = await ask([says("Two rooms")], asked);
  expect([again.status, again.message.content]).toEqual([200, "It is booked"]);
  expect(server.callsOf("/broken")).toHaveLength(1);
  const turns = turnsOf(await logged("turn:finished", 2));
  expect(turns.map(({ policyVersion }) => policyVersion)).toEqual([1, 1]);
  expect(new Set(turns.map(({ baseDigest }) => baseDigest)).size).toBe(1);
});

it("whoever asks once more after a failure, without a sign that it is a retry, gets the rest of the answer: the tool has run", async () => {
  const fails: Script["fails"] = { kind: "status", status: 500, body: { error: { message: "EngineCore died" } } };
  const { ask, logged } = await agentWith("failed", { fails }, "booked");
  const first = await ask([says("Two rooms")]);
  engine.play({ text: ["It is ", "booked"] });
  const again = await ask([says("Two rooms")]);
  expect([first.status, again.status, again.message.content]).toEqual([502, 200, "It is booked"]);
  expect(server.callsOf("/failed")).toHaveLength(1);
  const turns = await logged("turn:finished", 2);
  expect(new Set(turns.map(({ sessionId }) => sessionId))).toEqual(new Set([again.sessionId]));
});

it("a result that is too long for the engine is told to the policy as such, and the answer comes", async () => {
  const fails: Script["fails"] = {
    kind: "status",
    status: 400,
    times: 1,
    body: { error: { message: "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens." } },
  };
  const { ask, logged } = await agentWith("long", { fails, text: ["Too ", "long"] }, "x".repeat(20_000));
  const { status, message } = await ask([says("Two rooms")]);
  expect([status, message.content]).toEqual([200, "Too long"]);
  expect(engine.question.messages.at(-1)).toMatchObject({ role: "tool", content: expect.stringMatching(/20000 characters does not fit/) });
  const turns = turnsOf(await logged("turn:finished", 2));
  expect(turns[1]?.messages.at(-1)?.content).toMatch(/does not fit/);
  expect(server.callsOf("/long")).toHaveLength(1);
});

it("a version whose engine is away is neither published nor refused for good: its trainer comes again", async () => {
  const away = await new Vllm().start();
  await putAgent(edge, "away", {
    engine: {
      ...{ kind: "openai", flavour: "vllm", url: away.url, model: "Qwen/Qwen3-4B", keySecret: "ENGINE_KEY_TEST", timeoutMs: 5_000 },
      adapterHost: { url: host.url, keySecret: "ENGINE_KEY_HOST" },
    },
  });
  const adapter = await putAdapter(edge, "away");
  const { port } = new URL(away.url);
  await away.stop();
  const first = await publishOn(edge, "away", adapter);
  expect([first.status, first.body.error?.code]).toEqual([502, "upstream/unreachable"]);
  await away.start(Number(port));
  expect(await publishOn(edge, "away", adapter)).toMatchObject({ status: 200, body: { status: "published", version: 1 } });
  await away.stop();
});

/** Says of a prompt that it has so many tokens, and which. */
class LongPrompts extends Vllm {
  readonly count = 300_000;

  protected override events(path: string, body: Json): unknown[] {
    const [first, ...rest] = super.events(path, body) as Json[];
    const usage = rest.at(-1).usage;
    usage.prompt_tokens = this.count;
    return [{ ...first, prompt_token_ids: Array.from({ length: this.count }, (_, index) => 100_000 + index) }, ...rest];
  }
}

it("a prompt of more tokens than a record holds is answered, and the turn says why it has none", async () => {
  const large = await new LongPrompts().start();
  large.play({ text: ["Hel", "lo"] });
  await putAgent(edge, "large", {
    engine: { kind: "openai", flavour: "vllm", url: large.url, model: "Qwen/Qwen3-4B", keySecret: "ENGINE_KEY_TEST" },
  });
  const { ask, logged } = talkTo(edge, "large");
  const { status, message } = await ask([says("a long story")]);
  expect([status, message.content]).toEqual([200, "Hello"]);
  const [turn] = turnsOf(await logged("turn:finished", 1));
  expect(turn?.rollout).toMatchObject({ promptTokens: [], responseTokens: [], unusable: { promptTokens: 300_000, responseTokens: 3 } });
  await large.stop();
});

it("nothing of an engine's key is told where the engine quotes it", async () => {
  const { ask } = await agentWith("quoted", {}, "booked");
  const message = `Incorrect API key provided: ${KEY}. You can find your key at https://engine.example.`;
  engine.play({ fails: { kind: "status", status: 401, body: { error: { message } } } });
  const { status, error } = await ask([says("hi")]);
  expect([status, error?.message]).toEqual([502, "the agent's engine refused its key (401)"]);
});
