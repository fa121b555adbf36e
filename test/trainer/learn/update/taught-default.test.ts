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

/** Of two conversations, in which that version made up one room, and then five. */
function group(policyVersion: number): CorrectedExchange[] {
  const parameter = findParameter(SEARCH, "number_of_rooms");
  if (parameter === undefined) throw new Error("the hotel tool has rooms");
  return ["1", "5"].map((held, index) => {
    const messages = [user(`A hotel in ${index === 0 ? "Faro" : "Porto"}.`)];
    const promptTokens = tokenizer.encodePrompt({ messages, tools: [SEARCH], addGenerationPrompt: true });
    const responseTokens = tokenizer.encode("one room");
    const sampling = { seed: 1, temperature: 1, topP: 1, masked: false };
    const rollout = { promptTokens, responseTokens, rolloutLogProbs: responseTokens.map(() => -1), sampling };
    const made = turn(messages, call("SearchHotel", { city: "Porto", number_of_rooms: held }), { tools: [SEARCH], rollout, policyVersion });
    const correction = { tool: SEARCH, parameter, hint: { parameter: "number_of_rooms", value: "2" } };
    return {
      eventId: `${made.turnId}/next`,
      seq: made.seq,
      correction,
      turns: [made],
      reward: -1,
      held,
      words: "No, two rooms.",
      share: 1,
    };
  });
}

describe("withBase", { timeout: 60_000 }, () => {
  /** What is learned where the base says so in the one conversation and in the other; and what it was asked. */
  async function learned(
    said: [Written, Written],
    by = 1,
    corrected = group(by),
  ): Promise<{ byBase: string[] | undefined; asked: string[] }> {
    const asked: string[] = [];
    const generate: EngineCalls["generate"] = async ({ prompts, adapter }) => {
      expect(adapter).toBeUndefined();
      asked.push(...prompts.map((prompt) => tokenizer.decode([...prompt])));
      return said.map(({ tokens, logProbs }) => ({ tokens: Int32Array.from(tokens), logProbs: Float32Array.from(logProbs) }));
    };
    const engine = Object.assign(Object.create(tiny.engine) as typeof tiny.engine, { generate });
    const base = { ...tiny.base, tokenizer };
    const { byBase, ...taught } = await withBase({ base, engine }, { group: corrected, seed: 1 });
    expect(taught).toEqual(taughtBy(corrected));
    return { byBase, asked };
  }
  const rooms = (number: string): Written => calls("SearchHotel", { city: "Porto", number_of_rooms: number });
  const none = calls("SearchHotel", { city: "Porto" });

  it("has what the base's calls have for the argument in the conversations that were corrected", async () => {
    const { byBase, asked } = await learned([rooms("4"), rooms("3")]);
    expect(byBase).toEqual(["4", "3"]);
    expect(asked).toEqual([expect.stringContaining("A hotel in Faro."), expect.stringContaining("A hotel in Porto.")]);
    expect((await learned([none, rooms("3")])).byBase).toEqual(["3"]);
    expect((await learned([rooms("4"), rooms("4")])).byBase).toEqual(["4"]);
  });

  it("has nothing where the base leaves the argument out of its calls", async () => {
    expect((await learned([none, text("How many rooms?")])).byBase).toEqual([]);
  });

  it("leaves open what the base has where it calls the tool in neither of them", async () => {
    expect((await learned([calls("FindHotel", { number_of_rooms: "4" }), text("How many rooms?")])).byBase).toBeUndefined();
  });

  it("counts what was corrected where the base itself had said it", async () => {
    expect((await learned([rooms("4"), none], 0)).byBase).toEqual(["1", "5", "4"]);
  });

  it("counts nothing that the base was held to", async () => {
    const held = group(0).map((each) => {
      const heldTo = [{ tool: "SearchHotel", parameter: "number_of_rooms", value: each.held ?? "" }];
      return { ...each, turns: each.turns.map((one) => ({ ...one, payload: { ...one.payload, heldTo } })) };
    });
    expect((await learned([rooms("4"), none], 0, held)).byBase).toEqual(["4"]);
  });

  it("leaves open what is too long to be kept", async () => {
    expect((await learned([rooms("4".repeat(201)), none])).byBase).toBeUndefined();
  });
});
