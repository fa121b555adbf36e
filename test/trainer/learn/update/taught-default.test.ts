/** What a correction teaches, and what the base has in its place. */
import { describe, expect, it } from "vitest";
import { findParameter } from "../../../../shared/speech/parameters.ts";
import type { EngineCalls } from "../../../../trainer/engine/protocol.ts";
import type { CorrectedExchange } from "../../../../trainer/learn/update/learner.ts";
import { taughtBy, withBase } from "../../../../trainer/learn/update/taught-default.ts";
import { withRandomEngine } from "../../../helpers/random-engine.ts";
import { calls, text, tokenizer, type Written } from "../../../helpers/written-answer.ts";
import { call, SEARCH, turn, user } from "../../hotel.ts";

const tiny = withRandomEngine();

/** Of two conversations, in which the version made up one room, and then five. */
function group(): CorrectedExchange[] {
  const parameter = findParameter(SEARCH, "number_of_rooms");
  if (parameter === undefined) throw new Error("the hotel tool has rooms");
  return ["1", "5"].map((held, index) => {
    const messages = [user(`A hotel in ${index === 0 ? "Faro" : "Porto"}.`)];
    const promptTokens = tokenizer.encodePrompt({ messages, tools: [SEARCH], addGenerationPrompt: true });
    const responseTokens = tokenizer.encode("one room");
    const sampling = { seed: 1, temperature: 1, topP: 1, masked: false };
    const rollout = { promptTokens, responseTokens, rolloutLogProbs: responseTokens.map(() => -1), sampling };
    const made = turn(messages, call("SearchHotel", { city: "Porto", number_of_rooms: held }), { tools: [SEARCH], rollout });
    const correction = { tool: SEARCH, parameter, hint: { parameter: "number_of_rooms", value: "2" } };
    return { eventId: `${made.turnId}/next`, correction, turns: [made], reward: -1, held, words: "No, two rooms.", share: 1 };
  });
}

describe("withBase", { timeout: 60_000 }, () => {
  /** What is learned where the base says so; and what it was asked. */
  async function learned(said: Written): Promise<{ byBase: string | null | undefined; asked: string[] }> {
    const asked: string[] = [];
    const generate: EngineCalls["generate"] = async ({ prompts, adapter }) => {
      expect(adapter).toBeUndefined();
      asked.push(...prompts.map((prompt) => tokenizer.decode([...prompt])));
      return prompts.map(() => ({ tokens: Int32Array.from(said.tokens), logProbs: Float32Array.from(said.logProbs) }));
    };
    const engine = Object.assign(Object.create(tiny.engine) as typeof tiny.engine, { generate });
    const base = { ...tiny.base, tokenizer };
    const { byBase, ...taught } = await withBase({ base, engine }, { group: group(), seed: 1 });
    expect(taught).toEqual(taughtBy(group()));
    return { byBase, asked };
  }

  it("has what the base's call has for the argument in the conversation that was corrected last", async () => {
    const { byBase, asked } = await learned(calls("SearchHotel", { city: "Porto", number_of_rooms: "4" }));
    expect(byBase).toBe("4");
    expect(asked).toEqual([expect.stringContaining("A hotel in Porto.")]);
  });

  it("has nothing where the base leaves the argument out, calls another tool, or only speaks", async () => {
    for (const said of [calls("SearchHotel", { city: "Porto" }), calls("FindHotel", { number_of_rooms: "4" }), text("How many rooms?")])
      expect((await learned(said)).byBase).toBeNull();
  });

  it("leaves open what is too long to be kept", async () => {
    expect((await learned(calls("SearchHotel", { number_of_rooms: "4".repeat(201) }))).byBase).toBeUndefined();
  });
});
