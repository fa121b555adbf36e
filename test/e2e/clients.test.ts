/** Clients other than the `openai` package, unmodified, against the real edge with the shipped base: each runs a tool and goes on with its result. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent, MemorySession, OpenAIChatCompletionsModel, OpenAIProvider, Runner, tool as agentTool } from "@openai/agents";
import { generateText, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { z } from "zod";
import { nextStatesOf, talkTo, turnsOf } from "../edge/session/talk.ts";
import { putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";

const edge = withEdge({ baseFolder: "base" });

const INSTRUCTIONS = "You are a helpful assistant. Today is Friday, 2019-03-01.";
const QUESTION = "What will the weather be like in Berkeley?";
const RESULT = '{"temperature":"66","precipitation":"6"}';
const City = z.object({ city: z.string().describe("Name of the city") });
const description = "Get the weather of a certain location on a date";

/** What the log has to say of one question, one call, its result and a reply: a conversation, and one next state. */
async function expectLogged(model: string): Promise<void> {
  const log = talkTo(edge, model);
  const events = await log.logged("nextState:arrived", 1);
  const [first] = turnsOf(events);
  expect(first).toMatchObject({ origin: "opening", finishReason: "tool_calls" });
  const [call] = first?.answer.role === "assistant" ? (first.answer.tool_calls ?? []) : [];
  expect(nextStatesOf(events)).toEqual([[first?.completionId, [{ role: "tool", content: RESULT, tool_call_id: call?.id }]]]);
  const turns = turnsOf(await log.logged("turn:finished", 2));
  expect(turns[1]).toMatchObject({ origin: "continuation", finishReason: "stop" });
}

it("`ai` with its OpenAI-compatible provider streams text around a tool that it runs", async () => {
  const model = "vercel-ai";
  await putAgent(edge, model);
  const provider = createOpenAICompatible({ name: "nextstate", baseURL: `${edge.url}/v1`, apiKey: edge.keys.client });
  const asked: unknown[] = [];
  const execute = async (input: unknown): Promise<unknown> => {
    asked.push(input);
    return JSON.parse(RESULT);
  };
  const result = streamText({
    model: provider(model),
    instructions: INSTRUCTIONS,
    prompt: QUESTION,
    temperature: 0,
    tools: { GetWeather: tool({ description, inputSchema: City, execute }) },
    stopWhen: stepCountIs(2),
    prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? "required" : "none" }),
  });
  let text = "";
  for await (const piece of result.textStream) text += piece;
  expect(asked).toEqual([{ city: "Berkeley" }]);
  expect(text.length).toBeGreaterThan(0);
  expect(await result.finishReason).toBe("stop");
  await expectLogged(model);
});

/** A tool that can be called once, so that the run comes to its end whatever the policy would rather do. */
function weatherOnce(asked: unknown[]) {
  return agentTool({
    name: "GetWeather",
    description,
    parameters: City,
    isEnabled: () => asked.length === 0,
    execute: (input) => {
      asked.push(input);
      return RESULT;
    },
  });
}

/** As it comes, but for the export of traces to OpenAI: the Responses API, and the whole conversation sent each time. */
function agentsRun(model: string, asked: unknown[]) {
  const modelProvider = new OpenAIProvider({ apiKey: edge.keys.client, baseURL: `${edge.url}/v1` });
  const modelSettings = { temperature: 0, toolChoice: "required" };
  const agent = new Agent({ name: "desk", instructions: INSTRUCTIONS, model, tools: [weatherOnce(asked)], modelSettings });
  return { agent, runner: new Runner({ modelProvider, tracingDisabled: true }) };
}

it("`@openai/agents` runs an agent with a tool to its final output", async () => {
  const model = "openai-agents";
  await putAgent(edge, model);
  const asked: unknown[] = [];
  const { agent, runner } = agentsRun(model, asked);
  const run = await runner.run(agent, QUESTION);
  expect(asked).toEqual([{ city: "Berkeley" }]);
  expect(run.lastResponseId).toMatch(/^resp_/);
  expect(run.finalOutput?.length).toBeGreaterThan(0);
  await expectLogged(model);
});

it("`@openai/agents` streams a run, and goes on from the last response by its id", async () => {
  const model = "openai-agents-stream";
  await putAgent(edge, model);
  const asked: unknown[] = [];
  const { agent, runner } = agentsRun(model, asked);
  const run = await runner.run(agent, QUESTION, { stream: true });
  let text = "";
  for await (const piece of run.toTextStream()) text += piece;
  await run.completed;
  expect(asked).toEqual([{ city: "Berkeley" }]);
  expect(text).toBe(run.finalOutput);
  await expectLogged(model);
  const thanks = await runner.run(agent.clone({ modelSettings: { temperature: 0 } }), "Thank you.", {
    previousResponseId: run.lastResponseId,
  });
  expect(thanks.finalOutput?.length).toBeGreaterThan(0);
  const [, , last] = turnsOf(await talkTo(edge, model).logged("turn:finished", 3));
  expect(last).toMatchObject({ origin: "continuation" });
  expect(last?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
});

it("an application that was written for OpenAI moves over with base URL, key and model name, and nothing else", async () => {
  const model = "moved";
  await putAgent(edge, model);
  const env = { OPENAI_BASE_URL: `${edge.url}/v1`, OPENAI_API_KEY: edge.keys.client, OPENAI_MODEL: model };
  const { stdout } = await promisify(execFile)(process.execPath, ["test/e2e/sample-app.ts"], { env });
  const { chat, responses, form } = JSON.parse(stdout);
  expect([chat.length, responses.length].every((length) => length > 0)).toBe(true);
  expect(form).toMatchObject({ wants: expect.stringMatching(/^(weather|hotel)$/), urgent: expect.any(Boolean) });
  const log = talkTo(edge, model);
  const turns = turnsOf(await log.logged("turn:finished", 5));
  expect(turns.map(({ finishReason }) => finishReason)).toEqual(["tool_calls", "stop", "tool_calls", "stop", "stop"]);
  expect(nextStatesOf(await log.logged("nextState:arrived", 2))).toHaveLength(2);
});

it("`ai` with OpenAI's own provider refers to the items of stored responses by their ids, and goes on with the conversation", async () => {
  const model = "vercel-ai-openai";
  await putAgent(edge, model);
  const sent: unknown[] = [];
  const sendAndKeep: typeof fetch = (url, init) => {
    sent.push(init?.body);
    return fetch(url, init);
  };
  const provider = createOpenAI({ baseURL: `${edge.url}/v1`, apiKey: edge.keys.client, fetch: sendAndKeep });
  const shared = { model: provider(model), instructions: INSTRUCTIONS, temperature: 0 };
  const opening = { role: "user" as const, content: QUESTION };
  const first = await generateText({
    ...shared,
    messages: [opening],
    tools: { GetWeather: tool({ description, inputSchema: City, execute: async () => JSON.parse(RESULT) }) },
    stopWhen: stepCountIs(2),
    prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? "required" : "none" }),
  });
  await expectLogged(model);
  const messages = [opening, ...first.responseMessages, { role: "user" as const, content: "Thank you." }];
  await generateText({ ...shared, messages });
  expect(sent.at(-1)).toContain('"item_reference"');
  const [, , last] = turnsOf(await talkTo(edge, model).logged("turn:finished", 3));
  expect(last?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
  expect(last).toMatchObject({ origin: "continuation" });
});

it("`@openai/agents` over Chat Completions goes on with a session", async () => {
  const model = "openai-agents-chat";
  await putAgent(edge, model);
  const client = new OpenAI({ apiKey: edge.keys.client, baseURL: `${edge.url}/v1` });
  const agent = new Agent({ name: "desk", instructions: INSTRUCTIONS, model: new OpenAIChatCompletionsModel(client, model) });
  const [session, runner] = [new MemorySession(), new Runner({ tracingDisabled: true })];
  await runner.run(agent, "Hello", { session });
  await runner.run(agent, "Thank you.", { session });
  const turns = turnsOf(await talkTo(edge, model).logged("turn:finished", 2));
  expect(turns.map(({ origin }) => origin)).toEqual(["opening", "continuation"]);
});
