/** What people say that no tool is for, put between the requests of a conversation, each with an answer in words. */
import type { Random } from "../random.ts";
import { ABOUT_ITSELF, BESIDE, DECLINED, FILLINGS, GREETED, GREETINGS, INTRODUCED } from "./beside-words.ts";
import type { Conversation, Step } from "./conversation.ts";
import { plainRemarksOf } from "./remark-words.ts";
import { readParameters } from "../../shared/speech/parameters.ts";
import { sameStem, wordsOf } from "../../shared/speech/words.ts";
import { spokenName } from "./values.ts";

const BARE_SHARE = 0.18; // of conversations: there is no tool at all
const UNINSTRUCTED_SHARE = 0.6; // of those
const MAX_BARE = 4;
const FIRST_SHARE = 0.55; // of conversations: something beside where they begin; of the others at one of their messages
const MORE_SHARE = 0.35; // of conversations: something beside once more
const ASKED_SHARE = 0.3; // of what is said beside: about the assistant
const GREETED_SHARE = 0.4; // of beginnings
const WONDERED_SHARE = 0.5; // of what is no request of a service: as people wonder by the way
const ELSEWHERE_SHARE = 0.35; // of the rest: a request of a service that is not there, of which there are many more
const MAX_REDRAWS = 20;

/** A request, and words that tell what it is about. */
export type Elsewhere = { readonly text: string; readonly about: string };
/** Draws one, of whichever service. */
type DrawElsewhere = (random: Random) => Elsewhere;

/** The conversation with such exchanges before messages of its user, the rest as it was; or, without tools, nothing but them. */
export function withBeside(conversation: Conversation, random: Random, elsewhere?: DrawElsewhere): Conversation {
  if (random.chance(BARE_SHARE)) return drawBare(conversation, random);
  const starts = conversation.steps.flatMap(({ kind }, at) => (kind === "user" ? [at] : []));
  const places = new Set([random.chance(FIRST_SHARE) ? 0 : random.pick(starts)]);
  while (random.chance(MORE_SHARE)) places.add(random.pick(starts));
  const words = wordsOfTools(conversation);
  const steps = conversation.steps.flatMap((step, at) =>
    places.has(at) ? [...drawBeside({ toolWords: words, isFirst: at === 0, elsewhere }, random), step] : [step],
  );
  return { ...conversation, steps };
}

/** Words of the user that no call answers, and the answer. */
export function besideExchange(text: string, reply: string): Step[] {
  return [
    { kind: "user", text, acts: [] },
    { kind: "reply", text: reply, acts: [], beside: true },
  ];
}

/** Who tries an agent before it is given anything has neither tools nor, mostly, instructions. */
function drawBare(conversation: Conversation, random: Random): Conversation {
  const system = random.chance(UNINSTRUCTED_SHARE) ? "" : conversation.system;
  const steps = Array.from({ length: 1 + random.below(MAX_BARE) }, (_, at) =>
    drawBeside({ toolWords: [], isFirst: at === 0 }, random),
  ).flat();
  return { system, tools: [], views: new Map(), steps };
}

type Place = { readonly toolWords: readonly string[]; readonly isFirst: boolean; readonly elsewhere?: DrawElsewhere | undefined };

function drawBeside({ toolWords, isFirst, elsewhere }: Place, random: Random): Step[] {
  if (isFirst && random.chance(GREETED_SHARE)) return besideExchange(random.pick(GREETINGS), random.pick(GREETED));
  if (random.chance(ASKED_SHARE)) return besideExchange(random.pick(ABOUT_ITSELF), random.pick(INTRODUCED));
  for (let tries = 0; tries < MAX_REDRAWS; tries++) {
    // Weights that saw requests of other services declined where a dialogue begins declined their own tool's there, too.
    const isElsewhere = !isFirst && elsewhere !== undefined && random.chance(ELSEWHERE_SHARE);
    const drawn = isElsewhere ? elsewhere(random) : drawOther(random);
    if (isForNone(drawn, toolWords)) return besideExchange(drawn.text, random.pick(DECLINED));
  }
  return [];
}

/** Whether a request is for no tool that has these words: whose words a tool has might be what the tool is for. */
export function isForNone({ text, about }: Elsewhere, toolWords: readonly string[]): boolean {
  return !wordsOf(`${text} ${about}`).some((word) => toolWords.some((own) => sameStem(word, own)));
}

function drawOther(random: Random): Elsewhere {
  if (random.chance(WONDERED_SHARE)) return { text: random.pick(plainRemarksOf("wondered")), about: "" };
  return { text: random.pick(BESIDE).replace(/\{(\w+)\}/g, (_, kind: string) => random.pick(FILLINGS[kind] ?? [])), about: "" };
}

/** Of tools, their descriptions and their parameters, those that tell something. */
export function wordsOfTools({ tools }: Pick<Conversation, "tools">): string[] {
  const texts = tools.flatMap((tool) => [
    tool.function.name,
    tool.function.description ?? "",
    ...readParameters(tool).map(({ name }) => name),
  ]);
  const telling = texts.flatMap((text) => wordsOf(spokenName(text))).filter((word) => word.length > 3);
  return [...new Set(telling)];
}
