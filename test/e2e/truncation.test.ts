/** Conversations that do not fit the policy's context, through the `openai` package: answered without their beginning where the request allows that. */
import OpenAI from "openai";
import { beforeAll, expect, it } from "vitest";
import { nextStatesOf, talkTo, turnsOf } from "../edge/session/talk.ts";
import { putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";

const edge = withEdge();
const model = "talkative";
const CONTEXT = 2048; // of the base that tests serve
const ANSWER_ROOM = 128; // where a request sets no limit
const client = () => new OpenAI({ apiKey: edge.keys.client, baseURL: `${edge.url}/v1`, maxRetries: 0 });
const short = { model, temperature: 0, max_output_tokens: 12 };
const said = (content: string) => ({ role: "user" as const, content });
const told = (content: string) => ({ role: "assistant" as const, content });
const long = [said("word ".repeat(300)), told("Well."), said("more ".repeat(300)), told("I see."), said("Hello")];
const kept = [said("more ".repeat(300)), told("I see."), said("Hello")];

beforeAll(() => putAgent(edge, model));

it("a response is answered as if the conversation had begun later, and so are those that continue it", async () => {
  const response = await client().responses.create({ ...short, input: long, truncation: "auto" });
  const alone = await client().responses.create({ ...short, input: kept, user: "another" });
  expect([response.truncation, alone.truncation]).toEqual(["auto", "disabled"]);
  expect([response.output_text, response.usage?.input_tokens]).toEqual([alone.output_text, alone.usage?.input_tokens]);
  expect(await client().responses.retrieve(response.id)).toEqual(response);
  const after = { ...short, input: "Thanks", previous_response_id: response.id };
  const next = await client().responses.create({ ...after, truncation: "auto" });
  expect(next.usage?.input_tokens).toBeGreaterThan(0);
});

it("a chat completion may ask for it, too, and its next turn is known by its whole transcript", async () => {
  const { ask, logged } = talkTo(edge, "chatty");
  await putAgent(edge, "chatty");
  const extra = { truncation: "auto", temperature: 0, max_tokens: 12 };
  const first = await ask(long, { extra });
  expect(first.status).toBe(200);
  const second = await ask([...long, first.message, said("Go on.")], { extra });
  expect([second.status, second.sessionId]).toEqual([200, first.sessionId]);
  const events = await logged("turn:finished", 2);
  expect(turnsOf(events).map(({ messages }) => messages)).toEqual([kept, [...kept, told(first.message.content ?? ""), said("Go on.")]]);
  expect(nextStatesOf(events)).toEqual([[first.id, [said("Go on.")]]]);
});

it("an answer without a limit has room, and so have notes; one that nothing could be left out for has what there is", async () => {
  await putAgent(edge, "roomy");
  const { ask } = talkTo(edge, "roomy");
  const many = Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? said(`word ${at}`) : told(`Well, ${at}.`)));
  const extra = { truncation: "auto", temperature: 0, max_tokens: null };
  const { usage } = await ask([...many, said("Hello")], { extra });
  expect(usage.prompt).toBeLessThanOrEqual(CONTEXT - ANSWER_ROOM);
  expect(usage.prompt).toBeGreaterThan(CONTEXT - 2 * ANSWER_ROOM);
  const one = await ask([said("word ".repeat(385))], { extra });
  expect([one.status, one.error, one.usage.prompt > CONTEXT - ANSWER_ROOM]).toEqual([200, undefined, true]);
  const greedy = await ask([...many, said("Hello")], { extra: { truncation: "auto", max_tokens: CONTEXT } });
  expect(greedy).toMatchObject({ status: 400, error: { param: "max_tokens" } });
});

it("what cannot be left out is refused as ever, and so is anything else for `truncation`", async () => {
  const alone = client().responses.create({ ...short, input: "word ".repeat(1200), truncation: "auto" });
  await expect(alone).rejects.toMatchObject({ status: 400, param: "input", code: "context_length_exceeded" });
  const refused = client().responses.create({ ...short, input: long });
  await expect(refused).rejects.toMatchObject({ status: 400, code: "context_length_exceeded" });
  const unknown = client().chat.completions.create({ model, messages: [said("Hello")], truncation: "middle" } as never);
  await expect(unknown).rejects.toMatchObject({ status: 400, param: "truncation" });
});
