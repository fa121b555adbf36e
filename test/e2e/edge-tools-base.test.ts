/** Tools that the edge runs, with the shipped base and an agents' library that is told nothing of them. */
import { Agent, OpenAIProvider, Runner } from "@openai/agents";
import { afterAll, beforeAll, expect, it } from "vitest";
import { nextStatesOf, talkTo, turnsOf } from "../edge/session/talk.ts";
import { putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";
import { json, startToolServer, type ToolServer } from "../helpers/tool-server.ts";

const edge = withEdge({ baseFolder: "base", vars: { TOOLS_ON_LOOPBACK: "1" } });
let server: ToolServer;
beforeAll(async () => void (server = await startToolServer()));
afterAll(() => server.close());

const QUESTION = "What will the weather be like in Berkeley?";
const RESULT = { temperature: "66", precipitation: "6" };
const city = { type: "string", description: "Name of the city" };
const definition = { name: "GetWeather", description: "Get the weather of a certain location on a date" };
const weather = { type: "function", function: { ...definition, parameters: { type: "object", required: ["city"], properties: { city } } } };

it("`@openai/agents` asks, the edge calls as often as it may, and the conversation goes on by what the library kept of it", async () => {
  const model = "library";
  const url = server.on("/weather", json(RESULT));
  // The base would ask for the same weather a second time: one step is all that it has.
  const instructions = "You are a helpful assistant. Today is Friday, 2019-03-01.";
  await putAgent(edge, model, { instructions, tools: [{ ...weather, endpoint: { url } }], maxToolSteps: 1 });
  const modelProvider = new OpenAIProvider({ apiKey: edge.keys.client, baseURL: `${edge.url}/v1` });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const agent = new Agent({ name: "desk", model, modelSettings: { temperature: 0 } });
  const run = await runner.run(agent, QUESTION);
  expect(run.finalOutput?.length).toBeGreaterThan(0);
  expect(run.output.map(({ type }) => type)).toEqual(["hosted_tool_call", "message"]);
  expect(server.callsOf("/weather").map(({ body }) => JSON.parse(body) as unknown)).toEqual([{ city: "Berkeley" }]);
  const thanks = await runner.run(agent, [...run.history, { role: "user", content: "Thank you." }]);
  expect(thanks.finalOutput?.length).toBeGreaterThan(0);
  const log = talkTo(edge, model);
  const turns = turnsOf(await log.logged("turn:finished", 3));
  expect(turns.map(({ origin }) => origin)).toEqual(["opening", "continuation", "continuation"]);
  expect(turns[1]?.rollout.sampling.form?.toolChoice ?? "none").toBe("none");
  expect(turns[2]?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
  const states = nextStatesOf(await log.logged("nextState:arrived", 2));
  expect(states).toMatchObject([
    [turns[0]?.completionId, [{ role: "tool", content: JSON.stringify(RESULT) }]],
    [turns[1]?.completionId, [{ role: "user", content: "Thank you." }]],
  ]);
});
