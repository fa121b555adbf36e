/**
 * What people say of a result that asks for nothing: approval, small talk, questions. Its words are those of the tool and of its values, so that nothing but
 * what is said with them tells that no call is due. In the data nearly every message that names a value wants one.
 */
import type { Random } from "../random.ts";
import { besideExchange } from "./beside.ts";
import type { Conversation, Step } from "./conversation.ts";
import { type CallStep, otherValue } from "./guidance.ts";
import type { Lexicon } from "./lexicon.ts";
import { THANKED } from "./phrases.ts";
import { ACKNOWLEDGED, CONFIRMED, DENIED, remarksOf, TOLD, UNKNOWN } from "./remark-words.ts";
import { sayingsOf } from "./sayings.ts";
import { spokenName, spokenValue } from "./values.ts";

const REMARKED_SHARE = 0.5; // of results after which nobody goes on about the same
const MORE_SHARE = 0.25; // of remarks: one more follows
const KINDS = { approved: 0.24, remarked: 0.32, wondered: 0.18 } as const; // the rest are questions that have an answer
const GENERAL_SHARE = 0.4; // of approval: in words that name nothing
const CHECKED_SHARE = 0.3; // of questions that have an answer: whether it is what they name
const SPOKEN_SHARE = 0.6; // of values: as people say them
const LONGEST_VALUE = 40; // in characters: nobody says a longer one by the way

/** Something that was asked for or found, under the name by which people call it. */
type Fact = { readonly slot: string; readonly value: string; readonly other: string | undefined };

/** The conversation with such remarks, and answers in words, where a result has been told and nobody goes on about it. */
export function withRemarks(conversation: Conversation, lexicon: Lexicon, random: Random): Conversation {
  const { steps } = conversation;
  const remarked = steps.flatMap((step, at) => {
    const call = settledAt(steps, at);
    if (call === undefined || !random.chance(REMARKED_SHARE)) return [step];
    const facts = factsOf(call, steps[at - 1], lexicon, random);
    const said = [...remark(facts, random)];
    while (random.chance(MORE_SHARE)) said.push(...remark(facts, random));
    return [step, ...said];
  });
  return { ...conversation, steps: remarked };
}

/** The call whose result the reply at `at` tells, where the next message is of something else. */
function settledAt(steps: readonly Step[], at: number): CallStep | undefined {
  const [call, result, reply, next] = [steps[at - 2], steps[at - 1], steps[at], steps[at + 1]];
  if (call?.kind !== "call" || result?.kind !== "result" || reply?.kind !== "reply" || reply.mistaken === true) return undefined;
  const opens = next === undefined || (next.kind === "user" && next.acts.some(([act]) => act === "INFORM_INTENT"));
  return opens ? call : undefined;
}

function factsOf(call: CallStep, result: Step | undefined, lexicon: Lexicon, random: Random): { asked: Fact[]; found: Fact[] } {
  const asked = call.tool.parameters.flatMap((parameter): Fact[] => {
    const value = call.values[parameter.slot];
    if (value === undefined || !isSaid(value)) return [];
    const other = otherValue(parameter, value, lexicon, random);
    return [{ slot: spokenName(parameter.name), value, other: other !== undefined && isSaid(other) ? other : undefined }];
  });
  const known = new Set(asked.map(({ slot }) => slot));
  const found = result?.kind === "result" ? scalarsOf(result.content).filter(({ slot }) => !known.has(slot)) : [];
  return { asked, found };
}

/** What the first object of a result says, as far as it is said in one value. */
function scalarsOf(content: string): Fact[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch {
    return []; // a line of text
  }
  const first = firstObject(parsed);
  return Object.entries(first).flatMap(([name, value]): Fact[] =>
    (typeof value === "string" || typeof value === "number") && isSaid(String(value))
      ? [{ slot: spokenName(name), value: String(value), other: undefined }]
      : [],
  );
}

function firstObject(value: unknown): Record<string, unknown> {
  if (Array.isArray(value)) return firstObject(value[0]);
  if (typeof value !== "object" || value === null) return {};
  const list = Object.values(value).find((each) => Array.isArray(each));
  return list === undefined ? (value as Record<string, unknown>) : firstObject(list);
}

function isSaid(value: string): boolean {
  return value !== "" && value.length <= LONGEST_VALUE && value !== "dontcare" && !/^(?:true|false|\[.*)$/i.test(value);
}

function remark({ asked, found }: { asked: readonly Fact[]; found: readonly Fact[] }, random: Random): Step[] {
  const { approved, remarked, wondered } = KINDS;
  const draw = random.next();
  if (draw < approved) {
    const text = random.chance(GENERAL_SHARE) ? random.pick(sayingsOf(1)).text : worded(remarksOf("approved"), asked, random);
    return besideExchange(text ?? random.pick(sayingsOf(1)).text, random.pick(THANKED));
  }
  if (draw < approved + remarked) return exchanged(worded(remarksOf("remarked"), asked, random), random.pick(ACKNOWLEDGED));
  if (draw < approved + remarked + wondered) return exchanged(worded(remarksOf("wondered"), asked, random), random.pick(UNKNOWN));
  return answered(found.length > 0 && random.chance(0.6) ? found : asked, random);
}

function exchanged(text: string | undefined, reply: string): Step[] {
  return text === undefined ? [] : besideExchange(text, reply);
}

/** A question and what call or result answer it with. */
function answered(facts: readonly Fact[], random: Random): Step[] {
  if (facts.length === 0) return [];
  const fact = random.pick(facts);
  const reply = (wordings: readonly string[]): string =>
    random
      .pick(wordings)
      .replaceAll("{slot}", () => fact.slot)
      .replaceAll("{value}", () => fact.value);
  if (!random.chance(CHECKED_SHARE))
    return besideExchange(
      random.pick(remarksOf("recalled")).replaceAll("{slot}", () => fact.slot),
      reply(TOLD),
    );
  const other = random.chance(0.5) ? fact.other : undefined;
  const text = random
    .pick(remarksOf("checked"))
    .replaceAll("{slot}", () => fact.slot)
    .replaceAll("{named}", () => spoken(other ?? fact.value, random));
  return besideExchange(text, reply(other === undefined ? CONFIRMED : DENIED));
}

/** One of the wordings that can be filled; none where the call said nothing that can be named. */
function worded(wordings: readonly string[], asked: readonly Fact[], random: Random): string | undefined {
  const fact = asked.length === 0 ? undefined : random.pick(asked);
  const fits = wordings.filter((wording) => (fact?.other ?? !wording.includes("{other}")) && (fact ?? !/\{\w+\}/.test(wording)));
  if (fits.length === 0) return undefined;
  return random
    .pick(fits)
    .replaceAll("{slot}", () => fact?.slot ?? "")
    .replaceAll("{value}", () => spoken(fact?.value ?? "", random))
    .replaceAll("{other}", () => spoken(fact?.other ?? "", random));
}

function spoken(value: string, random: Random): string {
  return random.chance(SPOKEN_SHARE) ? spokenValue(value, random) : value;
}
