/** Lessons of aspects: what the policy is held to, what it is left to say, and what it says once it was told yes. */
import { describe, expect, it } from "vitest";
import { type Aspect, aspectParameter } from "../../../../shared/aspects.ts";
import type { ToolDefinition } from "../../../../shared/chat.ts";
import { spacedJson } from "../../../../shared/spaced-json.ts";
import { zipStrict } from "../../../../shared/assert.ts";
import { Tokenizer } from "../../../../shared/tokenizer.ts";
import { repliedTool } from "../../../../shared/wording.ts";
import { countWords, tokenizerJson, trainBpe } from "../../../../trainer/pretrain/bpe.ts";
import { Random } from "../../../../trainer/random.ts";
import { aspectContexts } from "../../../../trainer/learn/lesson/aspect-contexts.ts";
import { askAspect } from "../../../../trainer/learn/lesson/aspect-lessons.ts";
import type { CorrectedExchange } from "../../../../trainer/learn/update/learner.ts";
import { readAnswer } from "../../../../trainer/teacher/answer-text.ts";
import type { ContextKind, Correction } from "../../../../trainer/teacher/contexts.ts";
import type { Asked, AskPolicy } from "../../../../trainer/teacher/lead.ts";
import { withRandomEngine } from "../../../helpers/random-engine.ts";
import { call, result, SEARCH, turn, user, WEATHER } from "../../hotel.ts";

const tiny = withRandomEngine();
const ROOM: ToolDefinition = { ...SEARCH, function: { ...SEARCH.function, name: "FindRoom" } };
const TOOLS = [SEARCH, WEATHER, ROOM];
const COUNTS = { silent: 4, stated: 0, other: 2, anchor: 2 };
const QUESTION = "Please confirm: search hotel (city: Porto). Is that right?";

function correctionTo(parameter: Aspect, value: string): Correction {
  const aspect = aspectParameter(parameter);
  if (aspect === undefined) throw new Error("an aspect expected");
  return { tool: SEARCH, parameter: aspect, hint: { parameter, value } };
}

function exchangeOf(correction: Correction, answer = call("SearchHotel", { city: "Porto" })): CorrectedExchange {
  const made = turn([user("A hotel in Porto.")], answer, { tools: TOOLS });
  return { eventId: `${made.turnId}/next`, seq: made.seq, correction, turns: [made], reward: -1, held: undefined, words: "", share: 1 };
}

/** Stands in for a policy that calls, or asks first where `asks`, and does what it is held to. */
function policy({ asks = false, question = QUESTION } = {}): AskPolicy {
  const { tokenizer } = tiny.base;
  const [open = -1, close = -1] = ["<tool_call>", "</tool_call>"].map((token) => tokenizer.specialIds.get(token));
  const calling = (name: string): number[] => [
    ...[open, ...tokenizer.encode(spacedJson({ name, arguments: { city: "Porto" } })), close],
    tokenizer.eosId,
  ];
  const saying = (text: string): number[] => [...tokenizer.encode(text), tokenizer.eosId];
  const answer = ({ prompt, tools, form: { toolChoice = "auto", responseFormat } = {} }: Asked): number[] => {
    if (typeof toolChoice === "object") return calling(toolChoice.name);
    if (responseFormat?.type === "exact") return saying(responseFormat.text);
    if (!tools.some(({ function: { name } }) => name === "SearchHotel")) return saying("Done.");
    return asks && !tokenizer.decode([...prompt]).includes(question) ? saying(question) : calling("SearchHotel");
  };
  return async (asked) => asked.map(answer);
}

async function lessonsOf(correction: Correction, ask: AskPolicy) {
  const random = new Random(1);
  const contexts = aspectContexts([exchangeOf(correction)], { correction, counts: COUNTS, own: true, random });
  const { lessons, asked, failed } = await askAspect(contexts, { ...tiny.base, correction, ask }, random);
  const told = lessons.map(({ context: { kind }, guidance, answer }) => {
    const { calls, text } = readAnswer(tiny.base.tokenizer, answer);
    return `${kind} by ${guidance}: ${calls[0]?.name ?? text}`;
  });
  return { told: [...new Set(told)].toSorted(), asked, failed, lessons };
}

describe("aspectContexts", () => {
  it("offers both tools wherever one of them is due", () => {
    const correction = correctionTo("@tool", "FindRoom");
    const contexts = aspectContexts([exchangeOf(correction)], { correction, counts: COUNTS, own: false, random: new Random(2) });
    const silent = contexts.filter(({ kind }) => kind === "silent");
    expect(silent).toHaveLength(4);
    expect(new Set(silent.map(({ tool }) => tool))).toEqual(new Set(["SearchHotel", "FindRoom"]));
    for (const { tools } of silent)
      expect(tools.map((tool) => tool.function.name)).toEqual(expect.arrayContaining(["SearchHotel", "FindRoom"]));
  });

  it("has the corrected conversation among other tools where nobody is to be asked, looked at and not trained on, too", () => {
    const correction = correctionTo("@ask", "never");
    const contexts = aspectContexts([exchangeOf(correction)], { correction, counts: COUNTS, own: false, random: new Random(2) });
    const again = contexts.filter(({ messages }) => messages.length === 1 && messages[0]?.content === "A hotel in Porto.");
    expect(again).toHaveLength(2);
    for (const { tools, kind, origin } of again) {
      expect([kind, origin]).toEqual(["silent", "generated"]);
      expect(tools.map((tool) => tool.function.name)).toContain("SearchHotel");
    }
  });

  it("goes on from where the corrected conversation stood, in half of the requests", () => {
    const correction = correctionTo("@ask", "first");
    const before = [user("Rain?"), call("GetWeather", {}), result("No."), { role: "assistant", content: "No rain." } as const];
    const made = turn([...before, user("A hotel in Porto.")], call("SearchHotel", { city: "Porto" }), { tools: TOOLS });
    const exchange: CorrectedExchange = { ...exchangeOf(correction), turns: [made] };
    const contexts = aspectContexts([exchange], { correction, counts: COUNTS, own: false, random: new Random(2) });
    const begins = contexts.filter(({ kind }) => kind === "silent").map(({ messages }) => messages[0]?.content === "Rain?");
    expect(begins).toEqual([false, true, false, true]);
  });
});

describe("askAspect", () => {
  it("holds calls to the other tool, and leaves what is none", async () => {
    const { told, asked, failed } = await lessonsOf(correctionTo("@tool", "FindRoom"), policy());
    expect(told.filter((each) => each.startsWith("silent"))).toEqual(["silent by forced: FindRoom"]);
    expect(asked).toBeGreaterThan(4);
    expect(failed).toBe(0);
  });

  it("has the policy ask before the call, and call after a yes", async () => {
    const { told, lessons } = await lessonsOf(correctionTo("@ask", "first"), policy());
    expect(told).toEqual(expect.arrayContaining([`silent by forced: ${QUESTION}`, "stated by none: SearchHotel"]));
    const after = lessons.filter(({ context: { kind } }) => kind === "stated");
    expect(after.every(({ context: { messages } }) => messages.at(-2)?.content === QUESTION)).toBe(true);
  });

  it("has it call after a yes where it would ask once more", async () => {
    const { told } = await lessonsOf(correctionTo("@ask", "first"), async (given) => {
      const answers = await policy()(given);
      const again = [...tiny.base.tokenizer.encode("Is that all?"), tiny.base.tokenizer.eosId];
      const agreed = ({ prompt, form }: Asked): boolean => form === undefined && tiny.base.tokenizer.decode([...prompt]).includes(QUESTION);
      return zipStrict(given, answers).map(([asked, answer]) => (agreed(asked) ? again : answer));
    });
    expect(told).toContain("stated by forced: SearchHotel");
  });

  it("has it call where it asked, whatever the call has, and ask on where something is missing", async () => {
    const correction = correctionTo("@ask", "never");
    const { tokenizer } = tiny.base;
    const saidBy = async (question: string, kind: ContextKind): Promise<Set<string>> => {
      const { lessons } = await lessonsOf(correction, policy({ asks: true, question }));
      return new Set(lessons.filter(({ context }) => context.kind === kind).map(({ answer }) => tokenizer.decode([...answer])));
    };
    expect(await saidBy(QUESTION, "silent")).toEqual(new Set(['<tool_call>{"name": "SearchHotel", "arguments"']));
    const end = tokenizer.decode([tokenizer.eosId]);
    expect(await saidBy("Which city?", "stated")).toContain(`Which city?${end}`);
    // Who asks whether all is right where something is missing has made it up.
    expect(await saidBy(QUESTION, "stated")).not.toContain(`${QUESTION}${end}`);
  });

  it("teaches nothing where the teacher does not do it either", async () => {
    const { lessons, asked, failed } = await lessonsOf(correctionTo("@ask", "first"), async (given) => {
      const answers = await policy()(given);
      const done = [...tiny.base.tokenizer.encode("Booked."), tiny.base.tokenizer.eosId];
      return answers.map((answer, index) => (given[index]?.form?.toolChoice === "none" ? done : answer));
    });
    expect(lessons.some(({ context: { kind } }) => kind === "silent")).toBe(false);
    expect(failed).toBe(asked);
  });
});

describe("lessons of how replies are worded", () => {
  const correction = correctionTo("@question", "none");
  const asked = [
    user("A hotel in Porto."),
    call("SearchHotel", { city: "Porto" }),
    result(spacedJson({ count: 9, hotels: ["Aria", "Corner", "Sea House"] })),
  ];
  const made = turn(asked, { role: "assistant", content: "How about Aria?" }, { tools: TOOLS });
  const exchange: CorrectedExchange = { ...exchangeOf(correction), turns: [made] };

  it("vary what was found, and teach the policy's own replies, worded so", async () => {
    const { tokenizer } = tiny.base;
    const saying = (text: string): number[] => [...tokenizer.encode(text), tokenizer.eosId];
    const ask: AskPolicy = async (all) =>
      all.map(({ prompt, form }) => {
        if (form?.responseFormat?.type === "exact") return saying(form.responseFormat.text);
        const [, first] = /hotels": \["([^"]+)"/.exec(tokenizer.decode([...prompt])) ?? [];
        return saying(first === undefined ? "Hello." : `How about ${first}?`);
      });
    const random = new Random(1);
    const contexts = aspectContexts([exchange], { correction, counts: { ...COUNTS, silent: 12 }, own: true, random });
    const { lessons, failed } = await askAspect(contexts, { ...tiny.base, correction, tokenizer, ask }, random);
    const told = lessons.filter(({ guidance }) => guidance === "forced").map(({ answer }) => readAnswer(tokenizer, answer).text);
    expect(new Set(told)).toEqual(new Set(["I found Aria.", "I found Corner.", "I found Sea House."]));
    expect([told.length, failed]).toEqual([49, 0]);
    expect(lessons.some(({ guidance }) => guidance === "none")).toBe(true);
  });

  it("leave the replies to other tools' results as they are", () => {
    const contexts = aspectContexts([exchange], { correction, counts: COUNTS, own: true, random: new Random(1) });
    const elsewhere = contexts.filter(({ tool, messages }) => tool !== "SearchHotel" && messages.at(-1)?.role === "tool");
    expect(elsewhere.map(({ kind }) => kind).toSorted()).toEqual(["anchor", "anchor", "other", "other"]);
    for (const { messages, tool, tools } of elsewhere) {
      expect(repliedTool(messages)).toBe(tool);
      expect(tools.map((each) => each.function.name)).toContain(tool);
    }
  });

  it("are in the tokens that a text has, whatever tokens it was held to letter by letter", async () => {
    const words = tokenizerJson(trainBpe(countWords(["I found Aria. How about Aria?"]), 300));
    const tokenizer = new Tokenizer({ ...tiny.base.tokenizerFiles, tokenizer: words });
    const spelled = (text: string): number[] => [...Array.from(text).flatMap((letter) => tokenizer.encode(letter)), tokenizer.eosId];
    const ask: AskPolicy = async (all) =>
      all.map(({ form }) => spelled(form?.responseFormat?.type === "exact" ? form.responseFormat.text : "How about Aria?"));
    const contexts = aspectContexts([exchange], { correction, counts: COUNTS, own: true, random: new Random(1) });
    const { lessons } = await askAspect(contexts, { ...tiny.base, correction, tokenizer, ask }, new Random(1));
    const [first] = lessons.filter(({ guidance }) => guidance === "forced");
    expect(first?.answer).toEqual([...tokenizer.encode("I found Aria."), tokenizer.eosId]);
    expect(first?.own).toEqual([...tokenizer.encode("How about Aria?"), tokenizer.eosId]);
    expect(first?.answer.length).toBeLessThan(spelled("I found Aria.").length);
  });
});
