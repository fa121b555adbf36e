/** A call that its user does not want to be asked about, in real workerd with the shipped base: it is made as if the question had been agreed to, and the log says so. */
import { describe, expect, it } from "vitest";
import { RESERVE_TABLE } from "../../../shared/example.ts";
import { readCheckpoint } from "../../../trainer/model/checkpoint.ts";
import { call, judgement, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { says, talkTo, turnsOf } from "./talk.ts";

const edge = withEdge({ baseFolder: "base" });
const AGENT = "tables";
const NOTE = "Call ReserveRestaurant without asking.";
const REQUEST = "Please reserve a table for 2 people at Aria in San Jose at 6:30 pm on March 5th.";
const CONTEXT = 1024; // of the shipped base

describe("a call that nobody is to be asked about", { timeout: 120_000 }, () => {
  const { tokenizer } = readCheckpoint("base");
  let turns = 0;

  /** The request anew, and what the log has of the turn. */
  async function reserve(extra: object = {}) {
    const { ask, logged } = talkTo(edge, AGENT);
    await ask([says(REQUEST)], { extra: { user: "ann", temperature: 0, max_tokens: 100, ...extra } });
    turns += 1;
    const event = (await logged("turn:finished", turns)).filter(({ payload }) => payload.kind === "turn:finished").at(-1);
    const [payload] = event === undefined ? [] : turnsOf([event]);
    if (event === undefined || payload === undefined) throw new Error("a turn in the log expected, got none");
    const { answer, rollout, notes, agreedTo } = payload;
    const [made] = answer.role === "assistant" ? (answer.tool_calls ?? []) : [];
    const prompt = tokenizer.decode(rollout.promptTokens);
    return { event, answer, rollout, notes, agreedTo, prompt, args: made === undefined ? undefined : JSON.parse(made.function.arguments) };
  }

  it("is the one that the question told of, where an answer has room behind it, and the log has that question", async () => {
    await putAgent(edge, AGENT, { tools: [RESERVE_TABLE] });
    const first = await reserve();
    const question = first.answer.content ?? "";
    expect([question, first.agreedTo]).toEqual([expect.stringContaining("Aria"), undefined]);
    expect(first.args).toBeUndefined();
    const made = judgement(AGENT, first.event.turnId);
    const judged = { ...made, user: first.event.user, payload: { ...made.payload, hint: NOTE, tool: "ReserveRestaurant" } };
    expect((await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [judged] })).status).toBe(200);

    const { args, notes, agreedTo, prompt, rollout } = await reserve();
    expect(args).toEqual({ restaurant_name: "Aria", city: "San Jose", time: "18:30", date: "2019-03-05", party_size: "2" });
    expect([notes?.map(({ held }) => held), agreedTo]).toEqual([[true], question]);
    expect([REQUEST, question, "Yes, that is right."].map((said) => prompt.indexOf(said))).toEqual(
      [REQUEST, question, "Yes, that is right."].map((said) => prompt.indexOf(said)).toSorted((one, other) => one - other),
    );
    expect(prompt).toContain("Yes, that is right.");
    expect(rollout.rolloutLogProbs).toHaveLength(rollout.responseTokens.length);
    const { turns: listed } = (await call(edge, "admin", `GET /api/agents/${AGENT}/turns`)).body;
    expect(listed[0]).toMatchObject({ agreedTo: question });

    const tight = await reserve({ max_tokens: CONTEXT - first.rollout.promptTokens.length - 20 });
    expect([tight.args?.restaurant_name, tight.agreedTo]).toEqual(["Aria", undefined]);
    expect(tight.prompt).toBe(first.prompt);
  });
});
