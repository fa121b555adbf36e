/** Notes that an answer passes over, and tools as a call is held to them: real grammars say what they let through. */
import { describe, expect, it } from "vitest";
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { FREE_FORM } from "../../shared/grammar/answer-form.ts";
import { answerMasks } from "../../shared/grammar/answer-masks.ts";
import { holdTo, isWorded, mayHold, passesOver, standsIn } from "../../shared/held-notes.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import { loadBase } from "../../trainer/policy/base.ts";

const { tokenizer, grammars } = loadBase("base");
const TOOL: ToolDefinition = {
  type: "function",
  function: {
    name: "ReserveHotel",
    parameters: {
      type: "object",
      properties: {
        place: { type: "string" },
        rooms: { type: "integer" },
        view: { type: "string", enum: ["sea", "yard"], default: "yard" },
      },
      required: ["place"],
    },
  },
};
const ROOMS = { tool: "ReserveHotel", parameter: "rooms", value: "2", corrected: "1" };
const VIEW = { tool: "ReserveHotel", parameter: "view", value: "sea", corrected: null };

function isPassedOver(note: typeof ROOMS | typeof VIEW, args: Record<string, unknown>, said = "A hotel in Porto."): boolean {
  const heard = { messages: [{ role: "user" as const, content: said }], tools: [TOOL] };
  return passesOver(note, { calls: [{ name: "ReserveHotel", arguments: args }], text: "", heard });
}

describe("passesOver", () => {
  it.each([
    { name: "leaves the argument out", note: ROOMS, args: {}, is: true },
    { name: "has what was corrected, made up again", note: ROOMS, args: { rooms: 1 }, is: true },
    { name: "has what was corrected, and somebody said it", note: ROOMS, args: { rooms: 1 }, said: "1 room in Porto.", is: false },
    { name: "has the value", note: ROOMS, args: { rooms: 2 }, is: false },
    {
      name: "has another number, which may have been said in other words",
      note: ROOMS,
      args: { rooms: 3 },
      said: "For a couple and their son.",
      is: false,
    },
    { name: "has another option that nobody named", note: { ...VIEW, value: "yard" }, args: { view: "sea" }, is: true },
    { name: "has another one that somebody named", note: ROOMS, args: { rooms: 3 }, said: "3 rooms in Porto.", is: false },
    { name: "leaves it out where another option is asked for", note: VIEW, args: {}, said: "With a view of the yard, please.", is: false },
    { name: "leaves it out where another option is refused", note: VIEW, args: {}, said: "A hotel, and no yard.", is: true },
    { name: "leaves out what the schema puts there otherwise", note: VIEW, args: {}, is: true },
    { name: "leaves out what the schema puts there anyway", note: { ...VIEW, value: "yard" }, args: {}, is: false },
    { name: "has no such parameter", note: { ...VIEW, parameter: "floor" }, args: {}, is: false },
    { name: "is another tool's", note: { ...VIEW, tool: "SearchHotel" }, args: {}, is: false },
  ])("$is where the call $name", ({ note, args, said, is }) => {
    expect(isPassedOver(note, args, said)).toBe(is);
  });

  it("is where the call has a word that is another argument's for who does not read the note", () => {
    const said = { text: "", heard: { messages: [{ role: "user" as const, content: "A hotel by Siza in Porto." }], tools: [TOOL] } };
    const calls = [{ name: "ReserveHotel", arguments: { place: "Siza" } }];
    const note = { ...VIEW, parameter: "place", value: "Faro" };
    const unread = (args: Record<string, unknown>) => ({ name: "ReserveHotel", arguments: args });
    expect(passesOver(note, { ...said, calls })).toBe(false);
    expect(passesOver(note, { ...said, calls, unread: unread({ view: "Siza" }) })).toBe(true);
    expect(passesOver(note, { ...said, calls, unread: unread({ view: "sea" }) })).toBe(false);
  });
});

describe("holdTo, an argument", () => {
  const nothing = { before: { calls: [], text: "" }, heard: { messages: [], tools: [TOOL] } };
  const lets = (tools: readonly ToolDefinition[], args: object): boolean => {
    const [open = -1, close = -1] = ["<tool_call>", "</tool_call>"].map((token) => tokenizer.specialIds.get(token));
    const body = tokenizer.encode(spacedJson({ name: "ReserveHotel", arguments: args }));
    return answerMasks(grammars, { tools, form: FREE_FORM, tokens: [open, ...body, close, tokenizer.eosId] }) !== undefined;
  };

  it("lets calls through that have the values, in the schema's own types, and no others", () => {
    const { tools } = holdTo([ROOMS, VIEW], { ...FREE_FORM, tools: [TOOL] }, nothing);
    expect(lets(tools, { place: "Porto", rooms: 2, view: "sea" })).toBe(true);
    expect([
      lets(tools, { place: "Porto", rooms: 1, view: "sea" }),
      lets(tools, { place: "Porto", rooms: "2", view: "sea" }),
      lets(tools, { place: "Porto", rooms: 2 }),
      lets(tools, { rooms: 2, view: "sea" }),
    ]).toEqual([false, false, false, false]);
    expect(lets([TOOL], { place: "Porto", rooms: 1 })).toBe(true);
  });

  it("lets nothing else change of the call in whose place it is, but for several calls, and lists", () => {
    const made = (...calls: Record<string, unknown>[]) => ({
      ...nothing,
      before: { calls: calls.map((args) => ({ name: "ReserveHotel", arguments: args })), text: "" },
    });
    const { tools } = holdTo([ROOMS], { ...FREE_FORM, tools: [TOOL] }, made({ place: "Porto", rooms: 1 }));
    expect(lets(tools, { place: "Porto", rooms: 2 })).toBe(true);
    expect([
      lets(tools, { place: "Porto", rooms: 2, view: "sea" }),
      lets(tools, { place: "Faro", rooms: 2 }),
      lets(tools, { rooms: 2 }),
    ]).toEqual([false, false, false]);
    for (const before of [made({ place: "Porto" }, { place: "Faro" }), made({ place: ["Porto"] })])
      expect(lets(holdTo([ROOMS], { ...FREE_FORM, tools: [TOOL] }, before).tools, { place: "Faro", rooms: 2, view: "sea" })).toBe(true);
  });

  it("is of one answer alone where a tool has what that answer called, and of all others else", () => {
    const onceOf = (note: typeof ROOMS, ...calls: Record<string, unknown>[]): boolean => {
      const before = { calls: calls.map((args) => ({ name: "ReserveHotel", arguments: args })), text: "" };
      return holdTo([note], { ...FREE_FORM, tools: [TOOL] }, { ...nothing, before }).once;
    };
    expect(onceOf(ROOMS, { place: "Porto" })).toBe(true);
    expect([onceOf(ROOMS), onceOf(ROOMS, { place: "Porto" }, { place: "Faro" }), onceOf(ROOMS, { place: ["Porto"] })]).toEqual([
      false,
      false,
      false,
    ]);
    expect(onceOf({ ...ROOMS, parameter: "@tool", value: "BookRoom" }, { place: "Porto" })).toBe(false);
  });

  it("leaves a tool as it is whose schema has no place for the value, and other tools", () => {
    for (const note of [
      { ...VIEW, value: "mountains" },
      { ...ROOMS, value: "two" },
      { ...ROOMS, parameter: "floor" },
      { ...ROOMS, tool: "X" },
    ])
      expect(holdTo([note], { ...FREE_FORM, tools: [TOOL] }, nothing).tools).toEqual([TOOL]);
  });
});

describe("notes of aspects", () => {
  const twin = (name: string): ToolDefinition => ({ ...TOOL, function: { ...TOOL.function, name } });
  const tools = [twin("ReserveHotel"), twin("BookRoom")];
  const OTHER = { tool: "ReserveHotel", parameter: "@tool", value: "BookRoom", corrected: null };
  const FIRST = { tool: "ReserveHotel", parameter: "@ask", value: "first", corrected: null };
  const NEVER = { ...FIRST, value: "never" };
  const QUESTION = "Please confirm: reserve hotel (place: Porto). Is that right?";
  const heardOf = (...texts: string[]) => ({
    tools,
    messages: texts.map((content, index) => ({ role: index % 2 === 0 ? ("user" as const) : ("assistant" as const), content })),
  });
  const heard = heardOf("A hotel in Porto.");
  const withCall = (name: string, text = "A hotel in Porto.", ...more: ChatMessage[]) => ({
    tools,
    messages: [
      { role: "user" as const, content: text },
      {
        role: "assistant" as const,
        content: null,
        tool_calls: [{ id: "c", type: "function" as const, function: { name, arguments: '{ "place": "Porto" }' } }],
      },
      { role: "tool" as const, content: "{}", tool_call_id: "c" },
      ...more,
    ],
  });
  const calling = (name: string, args: Record<string, unknown> = { place: "Porto" }) => ({ calls: [{ name, arguments: args }], text: "" });
  const saying = (text: string) => ({ calls: [], text });

  it.each([
    { name: "the tool that is replaced", note: OTHER, said: calling("ReserveHotel"), heard, is: true },
    { name: "the tool in its place", note: OTHER, said: calling("BookRoom"), heard, is: false },
    {
      name: "the tool that the user chose",
      note: OTHER,
      said: calling("ReserveHotel"),
      heard: heardOf("Use ReserveHotel, Porto."),
      is: false,
    },
    { name: "a call before anybody was asked", note: FIRST, said: calling("ReserveHotel"), heard, is: true },
    {
      name: "a call after a yes",
      note: FIRST,
      said: calling("ReserveHotel"),
      heard: heardOf("A hotel in Porto.", "A hotel in Porto, is that right?", "Yes."),
      is: false,
    },
    {
      name: "the tool that the user chose, after another call of the same request",
      note: OTHER,
      said: calling("ReserveHotel"),
      heard: withCall("SearchHotel", "Find hotels in Porto and use ReserveHotel."),
      is: false,
    },
    {
      name: "a second call of one answer",
      note: FIRST,
      said: { calls: [...calling("BookRoom").calls, ...calling("ReserveHotel").calls], text: "Sure." },
      heard,
      is: true,
    },
    { name: "another tool's call", note: FIRST, said: calling("BookRoom"), heard, is: false },
    { name: "a question in place of a call", note: NEVER, said: saying("A hotel in Porto, is that right?"), heard, is: true },
    {
      name: "a question behind another tool's result",
      note: NEVER,
      said: saying("Porto, right?"),
      heard: withCall("SearchHotel"),
      is: true,
    },
    {
      name: "what is said of the call's own result",
      note: NEVER,
      said: saying("Porto is confirmed."),
      heard: withCall("ReserveHotel"),
      is: false,
    },
    { name: "a statement", note: NEVER, said: saying("There are no hotels."), heard, is: false },
    { name: "a call that nobody asked about", note: NEVER, said: calling("ReserveHotel"), heard, is: false },
  ])("are passed over by $name: $is", ({ note, said, heard: before, is }) => {
    expect(passesOver(note, { ...said, heard: before })).toBe(is);
  });

  it("hold an answer to one tool, to a question about the call, or to a call", () => {
    const held = (note: typeof OTHER) => {
      const { tools: own, ...form } = holdTo([note], { ...FREE_FORM, tools }, { before: calling("ReserveHotel"), heard });
      expect(own).toEqual(tools);
      return form;
    };
    expect(held(OTHER)).toMatchObject({ toolChoice: { name: "BookRoom" }, responseFormat: { type: "text" } });
    expect(held(FIRST)).toMatchObject({ toolChoice: "none", responseFormat: { type: "exact", text: QUESTION } });
    expect(held(NEVER)).toMatchObject({ toolChoice: { name: "ReserveHotel" }, responseFormat: { type: "text" } });
  });

  it("let through the question about a call, and no other words", () => {
    const { tools: own, ...held } = holdTo([FIRST], { ...FREE_FORM, tools }, { before: calling("ReserveHotel"), heard });
    const lets = (said: string): boolean =>
      answerMasks(grammars, {
        tools: own,
        form: { ...FREE_FORM, ...held },
        tokens: [...tokenizer.encode(said), tokenizer.eosId],
      }) !== undefined;
    expect([lets(QUESTION), lets("Which town?"), lets(QUESTION.slice(0, -1))]).toEqual([true, false, false]);
  });

  it("make no call a second time that was made before", () => {
    const thanked = withCall("ReserveHotel", "A hotel in Porto.", { role: "user", content: "Thanks, is it Faro that is near?" });
    const stands = (place: string): boolean =>
      standsIn([NEVER], { before: saying(`${place} is confirmed, right?`), after: calling("ReserveHotel", { place }), heard: thanked });
    expect([stands("Porto"), stands("Faro")]).toEqual([false, true]);
  });

  it("hold an answer to the call once the user has agreed to it", () => {
    const agreed = heardOf("A hotel in Porto.", QUESTION, "Yes, please.");
    const again = { before: saying(QUESTION), heard: agreed };
    expect(passesOver(FIRST, { ...again.before, heard: agreed })).toBe(true);
    expect(holdTo([FIRST], { ...FREE_FORM, tools }, again)).toMatchObject({ toolChoice: { name: "ReserveHotel" } });
    expect(standsIn([FIRST], { ...again, after: calling("ReserveHotel") })).toBe(true);
    expect(standsIn([FIRST], { ...again, after: calling("ReserveHotel", { place: "Faro" }) })).toBe(false);
    const reworded = { before: calling("ReserveHotel", { place: "Porto, town" }), heard: agreed };
    expect(passesOver(FIRST, { ...reworded.before, heard: agreed })).toBe(true);
    const exactly = holdTo([FIRST], { ...FREE_FORM, tools }, reworded);
    expect(exactly).toMatchObject({ toolChoice: { name: "ReserveHotel" }, once: true });
    expect(exactly.tools.map(({ function: { parameters } }) => parameters)).toEqual([
      { type: "object", properties: { place: { enum: ["Porto"] } }, required: ["place"], additionalProperties: false },
      TOOL.function.parameters,
    ]);
    const refused = heardOf("A hotel in Porto.", QUESTION, "No, thanks.");
    expect(passesOver(FIRST, { ...saying("All right."), heard: refused })).toBe(false);
  });

  it("hold an answer to the call with what the user changes in it on agreeing", () => {
    const heard = heardOf("A hotel in Porto.", QUESTION, "Yes, but the place should be Faro.");
    const before = calling("ReserveHotel");
    expect(passesOver(FIRST, { ...before, heard })).toBe(true);
    const { tools: own } = holdTo([FIRST], { ...FREE_FORM, tools }, { before, heard });
    expect(own[0]?.function.parameters).toMatchObject({ properties: { place: { enum: ["Faro"] } } });
    expect(standsIn([FIRST], { before, after: calling("ReserveHotel", { place: "Faro" }), heard })).toBe(true);
    expect(standsIn([FIRST], { before, after: before, heard })).toBe(false);
  });

  it("decide nothing that the request has decided", () => {
    const text = { responseFormat: { type: "text" } } as const;
    const may = (note: { parameter: string }, toolChoice: "auto" | "required" | "none"): boolean => mayHold(note, { toolChoice, ...text });
    expect([may(OTHER, "auto"), may(OTHER, "required"), may(OTHER, "none")]).toEqual([true, true, false]);
    expect([may(FIRST, "auto"), may(NEVER, "required"), may(FIRST, "none")]).toEqual([true, false, false]);
    expect(mayHold(FIRST, { toolChoice: "auto", responseFormat: { type: "json_object" } })).toBe(false);
    expect(may(ROOMS, "none")).toBe(true);
  });

  it("let stand in for an answer what does the same", () => {
    const stands = (note: typeof OTHER, before: Parameters<typeof standsIn>[1]["before"], after: typeof before): boolean =>
      standsIn([note], { before, after, heard });
    expect(stands(OTHER, calling("ReserveHotel"), calling("BookRoom"))).toBe(true);
    expect(stands(OTHER, calling("ReserveHotel"), saying("Which one?"))).toBe(false);
    expect(stands(FIRST, calling("ReserveHotel"), saying(QUESTION))).toBe(true);
    const begun = { before: calling("ReserveHotel"), after: saying(QUESTION.slice(0, 30)), heard };
    expect([standsIn([FIRST], begun), standsIn([FIRST], { ...begun, cut: true })]).toEqual([false, true]);
    expect(standsIn([FIRST], { ...begun, after: saying(""), cut: true })).toBe(false);
    expect(stands(FIRST, calling("ReserveHotel"), saying("Your hotel in Porto is booked."))).toBe(false);
    expect(stands(FIRST, calling("ReserveHotel"), saying(""))).toBe(false);
    const question = saying("A hotel in Porto, is that right?");
    expect(stands(NEVER, question, calling("ReserveHotel"))).toBe(true);
    expect(stands(NEVER, question, calling("ReserveHotel", { place: "Faro" }))).toBe(false);
    expect(stands(NEVER, question, calling("ReserveHotel", { place: "Porto", view: "sea" }))).toBe(false);
    expect(stands(NEVER, saying("Which town?"), calling("ReserveHotel"))).toBe(false);
    expect(stands(NEVER, question, calling("ReserveHotel", {}))).toBe(false);
    // Of two notes each is tried by itself: what was written for one says nothing of the other.
    expect(stands({ ...NEVER, tool: "BookRoom" }, question, calling("ReserveHotel"))).toBe(false);
  });

  const REPLIED = withCall("SearchHotel", "Hotels in Porto.");
  const found = {
    ...REPLIED,
    messages: REPLIED.messages.map((message) =>
      message.role === "tool" ? { ...message, content: '{"count": 2, "hotels": ["Aria", "Corner"]}' } : message,
    ),
  };
  const wording = (parameter: string, value: string) => ({ tool: "SearchHotel", parameter, value, corrected: null });
  const [SHORT, KIM] = [wording("@length", "4"), wording("@name", "Kim")];
  const REPLY = saying("There are two hotels: one is Aria. Do you like it?");

  it("of how replies are worded are about replies to their tool's results, and nothing else", () => {
    const over = (note: typeof SHORT, said: ReturnType<typeof saying>, heard: typeof found | ReturnType<typeof heardOf>): boolean =>
      passesOver(note, { ...said, heard });
    expect([over(SHORT, REPLY, found), over(KIM, REPLY, found)]).toEqual([true, true]);
    expect([over(SHORT, saying("I found Aria."), found), over({ ...SHORT, tool: "FindBus" }, REPLY, found)]).toEqual([false, false]);
    expect(over(SHORT, REPLY, heardOf("Hotels in Porto."))).toBe(false);
    expect(passesOver(SHORT, { ...calling("ReserveHotel"), heard: found })).toBe(false);
  });

  it("hold a reply to its own words, worded as all of them have it", () => {
    const before = { before: REPLY, heard: found };
    const held = holdTo([SHORT, KIM], { ...FREE_FORM, tools }, before);
    expect(held).toMatchObject({ toolChoice: "none", responseFormat: { type: "exact", text: "Kim, how about Aria?" } });
    const stands = (text: string, cut = false): boolean => standsIn([SHORT, KIM], { ...before, after: saying(text), cut });
    expect([stands("Kim, how about Aria?"), stands("Kim, how"), stands("Kim, how", true), stands("Aria.", true)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(standsIn([SHORT], { ...before, after: calling("SearchHotel") })).toBe(false);
    const may = (toolChoice: "auto" | "none" | "required"): boolean => mayHold(SHORT, { toolChoice, responseFormat: { type: "text" } });
    expect([may("auto"), may("none"), may("required")]).toEqual([true, true, false]);
  });

  it("are obeyed by other words, too, that name what was found if it was named", () => {
    const obeys = (text: string): boolean => isWorded(SHORT, { before: REPLY, after: saying(text), heard: found });
    expect([obeys("Take Aria."), obeys("Corner is nice."), obeys("Here you are."), obeys("Aria is the one of them."), obeys("")]).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it("are obeyed by what the note itself would have made of the reply, and by nothing that makes numbers up", () => {
    const results = [
      spacedJson({ count: 80, hotels: [{ name: "Aria", city: "Porto" }] }),
      spacedJson({ count: 70, hotels: [{ name: "Corner" }] }),
    ];
    const calls = results.map((_, index) => ({
      id: `c${index}`,
      type: "function" as const,
      function: { name: "SearchHotel", arguments: "{}" },
    }));
    const messages = [
      { role: "user" as const, content: "Hotels." },
      { role: "assistant" as const, content: null, tool_calls: calls },
      ...results.map((content, index) => ({ role: "tool" as const, tool_call_id: `c${index}`, content })),
    ];
    const heard = { messages, tools: [] };
    const obeys = (parameter: string, value: string, before: string, after: string): boolean =>
      isWorded({ tool: "SearchHotel", parameter, value }, { before: saying(before), after: saying(after), heard });
    expect(obeys("@question", "none", "How about Aria in Porto?", "I found Aria.")).toBe(true);
    expect(obeys("@count", "told", "How about Aria?", "I found 150. How about Aria?")).toBe(true);
    expect(obeys("@name", "Kim", "Aria has 80 rooms.", "Kim, Aria has 80 rooms.")).toBe(true);
    expect(obeys("@name", "Kim", "Aria has 80 rooms.", "Kim, Aria has 801 rooms.")).toBe(false);
    expect(obeys("@name", "Kim", "Aria is in Porto.", "Kim, Aria it is.")).toBe(false);
  });
});
