/** The shipped base judges: what it hears of plain words, with its adapter in the real engine. */
import { describe, expect, it } from "vitest";
import type { ChatMessage, ToolDefinition } from "../../../shared/chat.ts";
import { assembleSignal } from "../../../trainer/data/exchange.ts";
import { Engine } from "../../../trainer/engine/engine.ts";
import { EventCache } from "../../../trainer/feed/cache.ts";
import { createEmbeddedJudge } from "../../../trainer/judge/embedded.ts";
import type { Judge, Verdict } from "../../../trainer/judge/judge.ts";
import { openJudge } from "../../../trainer/policy/answerer.ts";
import { loadBase } from "../../../trainer/policy/base.ts";
import { call, nextState, result, SEARCH, turn, user } from "../hotel.ts";

const named = (name: string): ToolDefinition => ({ ...SEARCH, function: { ...SEARCH.function, name } });
const TOOLS = [SEARCH, named("FindRoom"), named("ReserveHotel")];
const PORTO = { city: "Porto", number_of_rooms: "1" };
const ASKED = [user("I need a room in Porto, please.")];
const SAID: ChatMessage = { role: "assistant", content: "Please confirm: one room in Porto." };

async function withJudge<Value>(use: (judge: Judge) => Promise<Value>): Promise<Value> {
  const base = loadBase("base");
  const engine = await Engine.start({ config: base.config, threads: 2, tokenizer: base.tokenizerFiles });
  try {
    await engine.loadCheckpoint(base.folder);
    return await use(createEmbeddedJudge(await openJudge(engine, base)));
  } finally {
    await engine.close();
  }
}

async function heard(judge: Judge, answer: ChatMessage, said: string): Promise<Verdict | undefined> {
  const cache = new EventCache(10);
  const calls = answer.role === "assistant" && answer.tool_calls !== undefined;
  const first = turn(ASKED, answer, { tools: TOOLS });
  cache.add(first);
  const reply: ChatMessage = { role: "assistant", content: "I found the Grand Hotel." };
  const made = calls ? turn([...ASKED, answer, result('{"count": 1}')], reply, { tools: TOOLS }) : first;
  cache.add(made);
  const assembled = assembleSignal(nextState(made, [user(said)]), cache);
  if (assembled?.status !== "signal") throw new Error("a signal expected");
  return judge.judge(assembled.signal, { votes: 3, seed: 1 });
}

/** In no order that anybody promises. */
function byText(one: unknown, other: unknown): number {
  return String(one).localeCompare(String(other));
}

describe("the shipped base", { timeout: 60_000 }, () => {
  it("hears what was wrong about an argument, a tool, and a call that nobody was asked about", async () => {
    const verdicts = await withJudge(async (judge) => [
      await heard(judge, call("SearchHotel", PORTO), "No, the number of rooms should be 2."),
      await heard(judge, call("SearchHotel", PORTO), "No, I always use FindRoom for that."),
      await heard(judge, call("ReserveHotel", PORTO), "No! You should have asked me before booking that."),
      await heard(judge, SAID, "Don't ask me for confirmation, just book it."),
      await heard(judge, call("SearchHotel", PORTO), "Great, thank you."),
    ]);
    expect(verdicts.map((verdict) => verdict?.hint?.text ?? verdict?.reward)).toEqual([
      "number_of_rooms should be 2.",
      "Call FindRoom in place of SearchHotel.",
      "Ask before ReserveHotel is called.",
      expect.stringMatching(/^Call \w+ without asking\.$/),
      1,
    ]);
  });

  it("hears orders to ask first as they are meant, and takes no complaint or taste for leave to act", async () => {
    const verdicts = await withJudge(async (judge) => [
      await heard(judge, call("ReserveHotel", PORTO), "Don't reserve hotels without asking me!"),
      await heard(judge, call("ReserveHotel", PORTO), "Never reserve one unless I approve it."),
      await heard(judge, SAID, "Who told you to do that?"),
      await heard(judge, SAID, "We like to sit outside, always."),
      await heard(judge, call("ReserveHotel", PORTO), "I never have anything before 9 am."),
      await heard(judge, SAID, "There's no need for such a question, I said it all."),
    ]);
    const asked = "Ask before ReserveHotel is called.";
    expect(verdicts.map((verdict) => verdict?.hint?.text)).toEqual([
      asked,
      asked,
      undefined,
      undefined,
      undefined,
      expect.stringMatching(/^Call \w+ without asking\.$/),
    ]);
  });

  it("hears each of several corrections in one message, and no number of a reason", async () => {
    const made = call("SearchHotel", PORTO);
    const verdicts = await withJudge(async (judge) => [
      await heard(judge, made, "No, make it 2 rooms, and with wifi."),
      await heard(judge, made, "No, I always want wifi and three rooms."),
      await heard(judge, made, "No, 2 rooms, since my 3 kids come along."),
    ]);
    const texts = verdicts.map((verdict) => [verdict?.hint, ...(verdict?.further ?? [])].map((each) => each?.text).toSorted(byText));
    const [two, three, wifi] = ["number_of_rooms should be 2.", "number_of_rooms should be 3.", "has_wifi should be True."];
    expect(texts).toEqual([[wifi, two], [wifi, three], [two]]);
  });

  it("hears corrections that name no argument, and none where a value is only spoken of", async () => {
    const made = call("SearchHotel", PORTO);
    const verdicts = await withJudge(async (judge) => [
      await heard(judge, made, "Wrong, we need 2."),
      await heard(judge, made, "not 1, three!"),
      await heard(judge, made, "how come only 1? make that 3 please"),
      await heard(judge, made, "Thanks! My brother always takes 3."),
      await heard(judge, made, "Is 3 the most that they have?"),
      await heard(judge, made, "haha my boss would have said 3"),
    ]);
    const [two, three] = ["number_of_rooms should be 2.", "number_of_rooms should be 3."];
    expect(verdicts.map((verdict) => verdict?.hint?.text)).toEqual([two, three, three, undefined, undefined, undefined]);
  });
});
