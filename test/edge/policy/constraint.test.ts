/** The form of answers on a policy with random weights: what is asked for holds whatever the policy would rather say. */
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import type { CompletionRequest } from "../../../edge/policy/completion.ts";
import type { ToolDefinition } from "../../../shared/chat.ts";
import { type Answered, complete, smallPolicy } from "./small-base.ts";

const policy = await smallPolicy();
const OPEN = policy.tokenizer.specialIds.get("<tool_call>");
const CLOSE = policy.tokenizer.specialIds.get("</tool_call>");
const SEEDS = Array.from({ length: 12 }, (_, seed) => seed);
// Members that end soon: random weights find the end of a free text by chance.
const TEA = {
  type: "object",
  properties: {
    kind: { enum: ["green", "black", 'çay "x"'] },
    cups: { type: "integer" },
    who: { type: "string", maxLength: 12 },
    with: { type: "array", items: { enum: ["milk", null] }, maxItems: 2 },
    at: { anyOf: [{ type: "boolean" }, { type: "object", properties: { hour: { type: "number" } }, required: ["hour"] }] },
  },
  required: ["kind", "cups"],
};
const tool = (name: string, parameters?: Record<string, unknown>): ToolDefinition => ({
  type: "function",
  function: { name, ...(parameters === undefined ? {} : { parameters }) },
});
const tools = [tool("find_tea", TEA), tool("drink")];
const fitsTea = new Ajv({ strict: false }).compile(TEA);

function answers(fields: Partial<CompletionRequest>): Promise<Answered[]> {
  const promptTokens = policy.tokenizer.encode("where is the tea?");
  return Promise.all(SEEDS.map((seed) => complete(policy, { promptTokens, seed, cacheKey: `${seed}`, maxTokens: 700, tools, ...fields })));
}

describe("tool choice", () => {
  it("auto leaves every token free but those of calls", async () => {
    const all = await answers({});
    const opened = all.filter(({ ids }) => ids.includes(OPEN ?? -1));
    expect(opened.length).toBeGreaterThan(0);
    for (const { ids, tokens } of opened) {
      const at = ids.indexOf(OPEN ?? -1);
      expect(tokens.slice(0, at + 1).some(({ masked }) => masked)).toBe(false);
      expect(tokens[at + 1]?.masked).toBe(true);
    }
    expect(all.filter(({ ids }) => !ids.includes(OPEN ?? -1)).every(({ end }) => !end.masked)).toBe(true);
  });

  it("none never opens a call, and says that it masked", async () => {
    for (const { ids, end } of await answers({ toolChoice: "none" })) {
      expect(ids).not.toContain(OPEN);
      expect(end.masked).toBe(true);
    }
  });

  it("required opens a call first", async () => {
    for (const { ids, tokens, end } of await answers({ toolChoice: "required" })) {
      expect(ids[0]).toBe(OPEN);
      expect(tokens[0]).toMatchObject({ logProb: 0, masked: true });
      expect(end.calls.length).toBeGreaterThan(0);
    }
  });

  it("a named function is the one that is called, once, at temperature 0 and above", async () => {
    for (const temperature of [0, 1, 2])
      for (const { end } of await answers({ toolChoice: { name: "find_tea" }, temperature }))
        expect(end.calls.map(({ name }) => name)).toEqual(["find_tea"]);
  });

  it("without parallel calls takes a mark that closes nothing for text", async () => {
    const strayed = (await answers({ parallelToolCalls: false, temperature: 2 })).filter(({ ids }) => {
      const closed = ids.indexOf(CLOSE ?? -1);
      return closed >= 0 && closed < ids.length - 2 && !ids.slice(0, closed).includes(OPEN ?? -1);
    });
    expect(strayed.length).toBeGreaterThan(0);
  });

  it("without parallel calls ends right after the first call", async () => {
    const closed = (await answers({ toolChoice: "required", parallelToolCalls: false })).filter(({ ids }) => ids.includes(CLOSE ?? -1));
    expect(closed.length).toBeGreaterThan(0);
    for (const { ids, end, tokens } of closed) {
      expect(ids.indexOf(CLOSE ?? -1)).toBe(ids.length - 2);
      expect(ids.at(-1)).toBe(policy.tokenizer.eosId);
      expect(tokens.at(-1)).toMatchObject({ logProb: 0, masked: true });
      expect(end).toMatchObject({ finishReason: "tool_calls", masked: true });
      expect(end.calls).toHaveLength(1);
    }
  });
});

describe("a call", () => {
  it("that was closed fits its tool's schema, by a validator of others", async () => {
    const closed = (await answers({ toolChoice: "required" })).flatMap(({ end }) => end.calls.filter(({ valid }) => valid));
    const teas = closed.filter(({ name }) => name === "find_tea");
    expect(teas.length).toBeGreaterThan(3);
    expect(closed.length).toBeGreaterThan(teas.length);
    for (const { name, arguments: args } of closed) {
      if (name === "drink") expect(args).toBe("{}");
      else expect([args, fitsTea(JSON.parse(args))]).toEqual([args, true]);
    }
  });

  it("is cut short by the token limit alone", async () => {
    // A call that is cut before its arguments begin is left out, and one that is cut later is none that fits.
    const all = await answers({ toolChoice: "required", maxTokens: 30 });
    const isCut = ({ end }: Answered): boolean => end.calls.length === 0 || end.calls.some(({ valid }) => !valid);
    expect(all.filter(isCut).length).toBeGreaterThan(0);
    for (const { end, ids } of all.filter(isCut)) expect([end.finishReason, ids.length]).toEqual(["length", 30]);
  });
});

describe("a response format", () => {
  it.each([
    ["a schema", { type: "json_schema", schema: TEA } as const, fitsTea],
    [
      "an object",
      { type: "json_schema", schema: { type: "object", additionalProperties: { type: "null" } } } as const,
      (value: unknown) => typeof value === "object",
    ],
  ])("makes an answer of JSON by %s", async (_, responseFormat, fits) => {
    const all = (await answers({ responseFormat, tools: [], toolChoice: "none" })).filter(({ end }) => end.finishReason === "stop");
    expect(all.length).toBeGreaterThan(2);
    for (const { end } of all) expect([end.content, fits(JSON.parse(end.content ?? ""))]).toEqual([end.content, true]);
  });

  it("leaves the policy the choice to call a tool instead", async () => {
    const responseFormat = { type: "json_schema", schema: { enum: ["yes", "no"] } } as const;
    const all = await answers({ responseFormat, temperature: 2 });
    const [called, told] = [all.filter(({ end }) => end.calls.length > 0), all.filter(({ end }) => end.calls.length === 0)];
    expect(called.length).toBeGreaterThan(0);
    expect(told.length).toBeGreaterThan(0);
    for (const { end } of told) expect(['"yes"', '"no"']).toContain(end.content);
    for (const { end } of called) expect(end.content).toBeNull();
  });
});
