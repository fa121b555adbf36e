/** tool_choice on a policy with random weights: what it forces holds whatever the policy would rather say. */
import { describe, expect, it } from "vitest";
import type { CompletionRequest } from "../../../edge/policy/completer.ts";
import { type Answered, complete, smallPolicy } from "./small-base.ts";

const policy = await smallPolicy();
const OPEN = policy.tokenizer.specialIds.get("<tool_call>");
const CLOSE = policy.tokenizer.specialIds.get("</tool_call>");
const SEEDS = Array.from({ length: 12 }, (_, seed) => seed);

function answers(fields: Partial<CompletionRequest>): Promise<Answered[]> {
  const promptTokens = policy.tokenizer.encode("where is the tea?");
  return Promise.all(SEEDS.map((seed) => complete(policy, { promptTokens, seed, cacheKey: `${seed}`, maxTokens: 400, ...fields })));
}

describe("tool choice", () => {
  it("auto leaves every token free", async () => {
    const all = await answers({});
    expect(all.some(({ ids }) => ids.includes(OPEN ?? -1))).toBe(true);
    expect(all.every(({ end }) => !end.masked)).toBe(true);
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
      expect(tokens[1]?.masked).toBe(false);
      expect(end.masked).toBe(true);
    }
  });

  it("a named function writes that call's beginning, at temperature 0 and above", async () => {
    for (const temperature of [0, 1, 2]) {
      for (const { end } of await answers({ toolChoice: { name: "find_tea" }, temperature })) {
        expect(end.calls[0]?.name).toBe("find_tea");
        expect(end.calls[0]?.arguments).toMatch(/^\{/);
        expect(end.calls.map(({ name }) => name)).toEqual(["find_tea"]);
      }
    }
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
