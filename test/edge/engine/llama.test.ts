/** What is special about llama.cpp's server, on a stand-in that does what build 4748 was seen to do. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { putAdapter } from "../../helpers/adapters.ts";
import { call, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { says, talkTo, turnsOf } from "../session/talk.ts";
import { publishOn } from "../../helpers/publish-on.ts";
import { KEY, PROMPT_IDS } from "./stand-in.ts";
import { LlamaCpp } from "./stand-ins.ts";

const edge = withEdge({ vars: { ENGINE_KEY_TEST: KEY } });
const engine = new LlamaCpp();
beforeAll(() => engine.start());
afterAll(() => engine.stop());

const tools = ["Book", "Cancel"].map((name) => ({ type: "function", function: { name } }));
const namedIn = (message: string): string => /(nextstate-[0-9a-f]{64})\.gguf/.exec(message)?.[1] ?? "";

let agents = 0;
async function agentOn() {
  const name = `llama-${(agents += 1)}`;
  const settings = { kind: "openai", flavour: "llamacpp", url: engine.url, model: "Qwen/Qwen3-4B", keySecret: "ENGINE_KEY_TEST" };
  await putAgent(edge, name, { engine: settings });
  return { name, ...talkTo(edge, name) };
}

it("is asked with the samplers off that its log-probs know nothing of", async () => {
  const { ask } = await agentOn();
  engine.play({ text: ["Hello"] });
  await ask([says("hi")]);
  expect(engine.question).toMatchObject({ top_n_sigma: -1, adaptive_target: -1, mirostat: 0, dry_multiplier: 0 });
});

it("that does not stream calls is asked for whole answers, with what its parser wants of a tool", async () => {
  const { ask, logged } = await agentOn();
  engine.streamsCalls = false;
  engine.play({ call: { name: "Book", arguments: ["{}"] } });
  const { message } = await ask([says("book it twice")], { extra: { tools } });
  engine.streamsCalls = true;
  expect(message).toMatchObject({ content: null, tool_calls: [{ function: { name: "Book" } }, { function: { name: "Book" } }] });
  expect(engine.question).toMatchObject({
    stream: false,
    tools: [{ function: { description: "", parameters: { type: "object" } } }, {}],
  });
  expect(turnsOf(await logged("turn:finished", 1))[0]).toMatchObject({ finishReason: "tool_calls", rollout: { responseTokens: [] } });
});

it("is held to a call by name and to a schema in the words that it goes by", async () => {
  const { ask } = await agentOn();
  engine.play({ call: { name: "Cancel", arguments: ["{}"] } });
  await ask([says("cancel it")], { extra: { tools, tool_choice: { type: "function", function: { name: "Cancel" } } } });
  expect(engine.question).toMatchObject({ tool_choice: "required", tools: [{ function: { name: "Cancel" } }] });
  engine.play({ text: ["{}"] });
  const schema = { type: "object", properties: {} };
  await ask([says("in JSON")], { extra: { response_format: { type: "json_schema", json_schema: { name: "none", schema } } } });
  expect(engine.question.response_format).toEqual({ type: "json_object", schema });
});

it("shows log-probs where no alternatives are asked for, and none of those then", async () => {
  const { name } = await agentOn();
  engine.play({ text: ["Hel", "lo"] });
  const { body } = await call(edge, "client", "POST /v1/chat/completions", { model: name, messages: [says("hi")], logprobs: true });
  expect(engine.question).toMatchObject({ logprobs: true, top_logprobs: 1 });
  const { content } = body.choices[0].logprobs;
  expect(content).toMatchObject([{ token: "Hel", top_logprobs: [] }, { token: "lo", top_logprobs: [] }]); // prettier-ignore
});

it("that refuses a conversation inside its stream, or cuts it, has the client told that it is too long", async () => {
  const { ask } = await agentOn();
  const tooLong = { status: 400, error: { code: "context_length_exceeded", param: "messages", type: "invalid_request_error" } };
  engine.error = { code: 400, message: "the request exceeds the available context size", type: "invalid_request_error" };
  expect(await ask([says("hi")])).toMatchObject(tooLong);
  engine.error = undefined;
  engine.play({ text: ["Hello"] });
  engine.room = PROMPT_IDS.length - 1;
  expect(await ask([says("hi there")])).toMatchObject(tooLong);
  engine.room = Infinity;
});

it("answers with the adapter of the version among those it was started with, and reuses no prompt across them", async () => {
  const { ask, name } = await agentOn();
  const adapter = await putAdapter(edge, "llama");
  const refused = await publishOn(edge, name, adapter);
  expect([refused.status, refused.body.error.code]).toEqual([422, "policy/refused"]);
  const wanted = namedIn(refused.body.error.message);
  engine.adapters.set("other", "/models/nextstate-0.gguf");
  engine.adapters.set(wanted, `/models/${wanted}.gguf`);
  expect((await publishOn(edge, name, adapter)).body).toMatchObject({ status: "published", version: 1 });
  await ask([says("hi")]);
  const one = { lora: [{ id: 0, scale: 0 }, { id: 1, scale: 1 }], cache_prompt: false }; // prettier-ignore
  expect(engine.question).toMatchObject(one);
  await call(edge, "admin", `POST /api/agents/${name}/rollback`, { to: 0 });
  await ask([says("hello afresh")]);
  expect(engine.question.lora).toEqual([{ id: 0, scale: 0 }, { id: 1, scale: 0 }]); // prettier-ignore
  engine.adapters.clear();
});

it("that would have an activated adapter act on every token, as older builds do, does not get its version", async () => {
  const { name } = await agentOn();
  const adapter = await putAdapter(edge, "activated", { invocation: [7, 8] });
  const wanted = namedIn((await publishOn(edge, name, adapter)).body.error.message);
  engine.adapters.set(wanted, `/models/${wanted}.gguf`);
  const { status, body } = await publishOn(edge, name, adapter);
  expect([status, body.error.message]).toEqual([422, expect.stringContaining("waits for tokens [8] expected, got []")]);
  engine.invocations.set(wanted, [7, 8]);
  const early = "waits for tokens [8] expected, got [7, 8]; llama.cpp begins one token before";
  expect((await publishOn(edge, name, adapter)).body.error.message).toContain(early);
  engine.invocations.set(wanted, [8]);
  expect((await publishOn(edge, name, adapter)).body).toMatchObject({ status: "published", version: 1 });
  engine.adapters.clear();
});
