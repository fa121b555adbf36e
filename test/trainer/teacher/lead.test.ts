/** Contexts go on, in the policy's own words, until it calls; a policy of fixed answers stands in for one. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findParameter } from "../../../shared/speech/parameters.ts";
import { loadBase } from "../../../trainer/policy/base.ts";
import { Random } from "../../../trainer/random.ts";
import type { Context, Correction } from "../../../trainer/teacher/contexts.ts";
import { leadToCalls } from "../../../trainer/teacher/lead.ts";
import { SEARCH, user } from "../hotel.ts";

const { tokenizer } = loadBase(join(import.meta.dirname, "../../../base"));
const parameter = findParameter(SEARCH, "number_of_rooms");
if (parameter === undefined) throw new Error("the hotel tool has rooms");
const correction: Correction = { tool: SEARCH, parameter, hint: { parameter: "number_of_rooms", value: "2" } };
const silent: Context = {
  kind: "silent",
  origin: "generated",
  messages: [user("A hotel in Porto.")],
  tools: [SEARCH],
  tool: "SearchHotel",
};
const CALL = '{"name": "SearchHotel", "arguments": {"city": "Porto"}}';

function written(text: string): number[] {
  const [open, close] = [tokenizer.specialIds.get("<tool_call>"), tokenizer.specialIds.get("</tool_call>")];
  if (open === undefined || close === undefined) throw new Error("the base marks tool calls");
  return [...(text.startsWith('{"name"') ? [open, ...tokenizer.encode(text), close] : tokenizer.encode(text)), tokenizer.eosId];
}

/** Gives one answer a round, whatever the prompts. */
async function led(context: Context, says: readonly string[], room = 1_000) {
  let round = 0;
  const [first] = await leadToCalls([context], {
    correction,
    tokenizer,
    ask: async (prompts) => {
      const text = says[round] ?? CALL;
      round += 1;
      return prompts.map(() => written(text));
    },
    fits: (promptTokens) => promptTokens <= room,
    random: new Random(1),
  });
  return { first, rounds: round };
}

describe("leadToCalls", () => {
  it("lets the user agree until the policy calls", async () => {
    const { first, rounds } = await led(silent, ["Shall I look in Porto?", CALL]);
    expect(rounds).toBe(2);
    expect(first?.context.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(tokenizer.decode([...(first?.answer ?? [])])).toContain("SearchHotel");
  });

  it("goes on twice at most", async () => {
    const { first, rounds } = await led(silent, ["Shall I?", "Really?", "Truly?", CALL]);
    expect([rounds, first?.context.messages.length]).toEqual([3, 5]);
  });

  it("drops a context in which the policy names the value that it then uses", async () => {
    const calls = '{"name": "SearchHotel", "arguments": {"city": "Porto", "number_of_rooms": "1"}}';
    const { first } = await led(silent, ["Porto, for 1?", calls]);
    expect(first).toBeUndefined();
  });

  it("does not agree to a value of the corrected argument", async () => {
    const { first, rounds } = await led(silent, ["A hotel in Porto with 1 room, right?", CALL]);
    expect([rounds, first?.context]).toEqual([1, silent]);
  });

  it("leaves what must stay as it is, and what has no room", async () => {
    const other: Context = { ...silent, kind: "other" };
    expect(await led(other, ["Where to?", CALL])).toMatchObject({ rounds: 1, first: { context: other } });
    expect((await led(silent, [CALL], 3)).first).toBeUndefined();
  });
});
