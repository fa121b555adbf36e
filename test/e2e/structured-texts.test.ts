/** Formats, patterns and multiples of zod schemas, through the `openai` package's helpers, unmodified, against the real edge with the shipped base. */
import OpenAI from "openai";
import { zodFunction, zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";

const edge = withEdge({ baseFolder: "base" });
const AGENT = "forms";
const client = (): OpenAI => new OpenAI({ apiKey: edge.keys.client, baseURL: `${edge.url}/v1`, maxRetries: 0 });
const asked: OpenAI.ChatCompletionUserMessageParam = {
  role: "user",
  content: "Book a table at Ada's for 2024-05-17 at half past seven; my address is ada@example.com, and 12.50 is enough.",
};

const Visit = z.object({
  mail: z.email(),
  id: z.uuid(),
  at: z.iso.datetime(),
  day: z.iso.date(),
  clock: z.iso.time({ precision: 0 }),
  host: z.ipv4().nullable(),
  code: z.string().regex(/^[A-Z]{2}-\d{3}$/),
  price: z.number().multipleOf(0.01).min(0).max(1_000),
  seats: z.int().multipleOf(2).min(2).max(12),
});

const Visit3 = z3.object({
  mail: z3.string().email(),
  id: z3.string().uuid(),
  at: z3.string().datetime(),
  day: z3.string().date(),
  lasts: z3.string().duration(),
  code: z3.string().regex(/^[A-Z]{2}-\d{3}$/),
  seats: z3.number().int().multipleOf(2).min(2).max(12),
});

beforeAll(() => putAgent(edge, AGENT));

describe.each([0, 1.5])("at temperature %d", (temperature) => {
  const sampling = { model: AGENT, temperature, seed: 3 };

  it("a chat completion is parsed by the schema that it was asked for", async () => {
    const { choices } = await client().chat.completions.parse({
      ...sampling,
      messages: [asked],
      response_format: zodResponseFormat(Visit, "visit"),
    });
    expect(choices[0]?.finish_reason).toBe("stop");
    expect(Visit.parse(JSON.parse(choices[0]?.message.content ?? ""))).toEqual(choices[0]?.message.parsed);
  });

  it("a response is, too, by a schema of zod 3", async () => {
    const { output_parsed: parsed } = await client().responses.parse({
      model: AGENT,
      temperature,
      input: asked.content as string,
      text: { format: zodTextFormat(Visit3, "visit") },
    });
    expect(Visit3.safeParse(parsed).success).toBe(true);
  });

  it("a strict tool is called with arguments that its schema parses", async () => {
    const { choices } = await client().chat.completions.parse({
      ...sampling,
      messages: [asked],
      tools: [zodFunction({ name: "plan_visit", parameters: Visit })],
      tool_choice: { type: "function", function: { name: "plan_visit" } },
    });
    const [called] = choices[0]?.message.tool_calls ?? [];
    if (called?.type !== "function") throw new Error(`a function call expected, got ${called?.type}`);
    expect(Visit.parse(called.function.parsed_arguments)).toEqual(JSON.parse(called.function.arguments));
  });
});

describe("what a pattern cannot be held to", () => {
  it.each([
    ["^(a)\\1$", /back references expected, got \\1/],
    ["^(a{1000}){1000}$", /4000 states/],
    ["(a|b)*a(a|b){20}$", /steps to compile|4000 states/],
    [`(?:${"(".repeat(2_000)}a${")".repeat(2_000)})*`, /64 groups|too large/],
    ["a".repeat(30_000), /steps to compile|4000 states/],
    ["[", /regular expression expected/],
  ])("is refused by its place where a schema is strict: %.30s", async (pattern, why) => {
    const schema = { type: "object", properties: { x: { type: "string", pattern } }, required: ["x"], additionalProperties: false };
    const refused = client().chat.completions.create({
      model: AGENT,
      messages: [asked],
      response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema } },
    });
    const param = "response_format.json_schema.schema.properties.x.pattern";
    await expect(refused).rejects.toMatchObject({ status: 400, param, message: expect.stringMatching(why) });
  });
});
