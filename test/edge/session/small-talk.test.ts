/** Who greets, thanks or parts is answered in words by the shipped base, whatever tools there are, none among them; who asks for something is not kept from it. */
import { describe, expect, it } from "vitest";
import { DECLINED, GREETED, INTRODUCED } from "../../../trainer/pretrain/beside-words.ts";
import { putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { says, talkTo, turnsOf } from "./talk.ts";

const edge = withEdge({ baseFolder: "base" });

const text = { type: "string" };
const parameters = {
  type: "object",
  properties: { title: text, priority: { type: "string", enum: ["low", "high"] } },
  required: ["title"],
};
const tools = [{ type: "function", function: { name: "create_ticket", description: "Opens a ticket", parameters } }];
const extra = { tools, temperature: 0, max_tokens: 60 };

describe("an agent that was given neither instructions nor tools", () => {
  it.for([
    { what: "greets who greets it", said: ["hi", "hello", "Good morning", "Good evening", "hey"], answers: GREETED },
    { what: "says what it is to who asks", said: ["who are you?", "what can you do?"], answers: INTRODUCED },
    { what: "says that it cannot help with what it knows nothing of", said: ["tell me a joke", "Why is the sky blue?"], answers: DECLINED },
  ])("$what, in words that the base has learned", async ({ said, answers }) => {
    await putAgent(edge, "bare");
    const { ask } = talkTo(edge, "bare");
    for (const words of said)
      for (const before of [[], [{ role: "system", content: "" }]]) {
        const { message } = await ask([...before, says(words)], { extra: { temperature: 0, max_tokens: 60 } });
        expect(answers, words).toContain(message.content);
      }
  });
});

describe("small talk", () => {
  it("is answered in words, under a form that the log tells", async () => {
    await putAgent(edge, "small-talk");
    const { ask, logged } = talkTo(edge, "small-talk");
    for (const words of ["Hello!", "Thank you so much, bye!"]) {
      const { message, status } = await ask([says(words)], { extra });
      expect([status, message.tool_calls, (message.content ?? "").length > 0]).toEqual([200, undefined, true]);
    }
    const [turn] = turnsOf(await logged("turn:finished", 2));
    expect(turn?.rollout.sampling.form?.toolChoice).toBe("none");
  });

  it("is no reason not to call where a call is asked for or demanded", async () => {
    await putAgent(edge, "asked");
    const { ask, logged } = talkTo(edge, "asked");
    const asked = await ask([says("Hi, please create a ticket with the title Login broken.")], { extra });
    const demanded = await ask([says("Hello!")], { extra: { ...extra, tool_choice: "required" } });
    expect([asked.message.tool_calls?.length, demanded.message.tool_calls?.length]).toEqual([1, 1]);
    const waits = [
      says("Please create a ticket with the title Printer jam."),
      { role: "assistant", content: "Anything else before I create it?" },
    ];
    await ask([...waits, says("That's all, thanks.")], { extra });
    const forms = turnsOf(await logged("turn:finished", 3)).map((turn) => turn.rollout.sampling.form?.toolChoice);
    expect(forms).not.toContain("none");
  });

  it("is who agrees and parts where nothing was asked but for more, and not where a call waits for a yes", async () => {
    await putAgent(edge, "parting");
    const { ask, logged } = talkTo(edge, "parting");
    const request = says("Please create a ticket with the title Printer jam.");
    const made = { id: "c1", type: "function", function: { name: "create_ticket", arguments: '{"title":"Printer jam"}' } };
    const done = [request, { role: "assistant", content: null, tool_calls: [made] }, { role: "tool", tool_call_id: "c1", content: "ok" }];
    const form = async (said: string, before: Parameters<typeof ask>[0], turns: number): Promise<unknown> => {
      await ask([...before, says(said)], { extra });
      return turnsOf(await logged("turn:finished", turns)).at(-1)?.rollout.sampling.form?.toolChoice;
    };
    expect(await form("Ok, bye!", [...done, { role: "assistant", content: "It is open. Anything else?" }], 1)).toBe("none");
    const offered = [...done, { role: "assistant", content: "It is open. Shall I create one for the scanner?" }];
    expect(await form("Ok, bye!", offered, 2)).not.toBe("none");
    expect(await form("Yes, bye!", [request, { role: "assistant", content: "Shall I create it?" }], 3)).not.toBe("none");
  });
});
