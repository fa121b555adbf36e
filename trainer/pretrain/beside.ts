/** What people say that no tool is for, put between the requests of a conversation, each with an answer in words. */
import type { Random } from "../random.ts";
import {
  ABOUT_ITSELF,
  BESIDE,
  DECLINED,
  DEEDS,
  FORMS,
  GREETED,
  GREETINGS,
  INTRODUCED,
  PERSONS,
  THINGS,
  TONGUES,
  TOPICS,
} from "./beside-words.ts";
import type { Conversation, Step } from "./conversation.ts";
import { spokenName } from "./values.ts";

const BARE_SHARE = 0.12; // of conversations: there is no tool at all
const MAX_BARE = 4;
const MORE_SHARE = 0.35; // of conversations: something beside once more
const ASKED_SHARE = 0.3; // of what is said beside: about the assistant
const GREETED_SHARE = 0.4; // of beginnings
const MAX_REDRAWS = 20;
const FILLINGS: Readonly<Record<string, readonly string[]>> = {
  topic: TOPICS,
  deed: DEEDS,
  form: FORMS,
  person: PERSONS,
  tongue: TONGUES,
  thing: THINGS,
};

/** The conversation with such exchanges before messages of its user, the rest as it was; or, without tools, nothing but them. */
export function withBeside(conversation: Conversation, random: Random): Conversation {
  if (random.chance(BARE_SHARE)) {
    const bare = { ...conversation, tools: [], views: new Map() };
    return { ...bare, steps: Array.from({ length: 1 + random.below(MAX_BARE) }, (_, at) => drawBeside(bare, at === 0, random)).flat() };
  }
  const starts = conversation.steps.flatMap(({ kind }, at) => (kind === "user" ? [at] : []));
  const places = new Set([random.chance(0.5) ? 0 : random.pick(starts)]);
  while (random.chance(MORE_SHARE)) places.add(random.pick(starts));
  const steps = conversation.steps.flatMap((step, at) => (places.has(at) ? [...drawBeside(conversation, at === 0, random), step] : [step]));
  return { ...conversation, steps };
}

function drawBeside({ tools }: Conversation, isFirst: boolean, random: Random): Step[] {
  const exchange = (text: string, reply: string): Step[] => [
    { kind: "user", text, acts: [] },
    { kind: "reply", text: reply, acts: [], beside: true },
  ];
  if (isFirst && random.chance(GREETED_SHARE)) return exchange(random.pick(GREETINGS), random.pick(GREETED));
  if (random.chance(ASKED_SHARE)) return exchange(random.pick(ABOUT_ITSELF), random.pick(INTRODUCED));
  const words = new Set(tools.flatMap((tool) => spokenName(tool.function.name).split(" ")));
  // Whose words a tool's name has might be what the tool is for.
  const isFor = (text: string): boolean =>
    text
      .toLowerCase()
      .split(/\W+/)
      .some((word) => word.length > 2 && words.has(word.replace(/s$/, "")));
  for (let tries = 0; tries < MAX_REDRAWS; tries++) {
    const text = random.pick(BESIDE).replace(/\{(\w+)\}/g, (_, kind: string) => random.pick(FILLINGS[kind] ?? []));
    if (!isFor(text)) return exchange(text, random.pick(DECLINED));
  }
  return [];
}
