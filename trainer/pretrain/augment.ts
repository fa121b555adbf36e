/**
 * Draws one reading of a dialogue for training: a schema variant or made-up names, shuffled tools and parameters,
 * distractor tools, typed parameters, made-up values. What stays the same is what must be learnt: to read the prompt.
 */
import {
  type Conversation,
  type ParameterView,
  plainSystem,
  plainView,
  type ServiceView,
  SGD_TODAY,
  toolDefinition,
  type ToolView,
  toSteps,
  weekday,
} from "./conversation.ts";
import type { Random } from "../random.ts";
import { type Dialogue, type Schemas, type Service, VARIANTS } from "./sgd.ts";
import { madeUpName, madeUpWord } from "./values.ts";

// Shares of training dialogues; the rest keep the original names.
const VARIANT_SHARE = 0.5;
const RENAMED_SHARE = 0.15;
const TYPED_SHARE = 0.15;
const NEW_VALUES_SHARE = 0.5;
const MAX_DISTRACTORS = 2;

export function drawConversation(dialogue: Dialogue, schemas: Schemas, random: Random): Conversation {
  const revalued = random.chance(NEW_VALUES_SHARE) ? withMadeUpValues(dialogue, random) : dialogue;
  const style = drawStyle(random);
  const views = new Map(dialogue.services.map((name) => [name, drawView(serviceOf(schemas, name), schemas, style, random)]));
  const distractors = drawDistractors(dialogue, schemas, style, random);
  const tools = random.shuffled([...views.values(), ...distractors].flatMap((view) => [...view.tools.values()]));
  return { system: drawSystem(dialogue, random), tools: tools.map(toolDefinition), views, steps: toSteps(revalued, views) };
}

/** The dialogue exactly as the data has it: what evaluation shows. */
export function plainConversation(dialogue: Dialogue, schemas: Schemas): Conversation {
  const views = new Map(dialogue.services.map((name) => [name, plainView(serviceOf(schemas, name))]));
  const tools = [...views.values()].flatMap((view) => [...view.tools.values()]).map(toolDefinition);
  return { system: plainSystem(), tools, views, steps: toSteps(dialogue, views) };
}

type Style = { renamed: boolean; variant: boolean; typed: boolean; described: boolean; shuffled: boolean };

function drawStyle(random: Random): Style {
  const draw = random.next();
  return {
    renamed: draw < RENAMED_SHARE,
    variant: draw < RENAMED_SHARE + VARIANT_SHARE,
    typed: random.chance(TYPED_SHARE),
    described: random.chance(0.9),
    shuffled: random.chance(0.7),
  };
}

function drawView(service: Service, schemas: Schemas, style: Style, random: Random): ServiceView {
  const variant = style.variant ? random.pick(VARIANTS.slice(1)) : "original";
  const plain = plainView(service, schemas[variant].get(service.service_name) ?? service);
  const names = new Map(service.slots.map(({ name }) => [name, style.renamed && random.chance(0.8) ? madeUpParameter(random) : undefined]));
  const tools = [...plain.tools].map(([intent, tool]): [string, ToolView] => {
    const parameters = tool.parameters.map((parameter) => drawParameter(parameter, names.get(parameter.slot), style));
    return [
      intent,
      {
        name: style.renamed && random.chance(0.8) ? madeUpTool(random) : tool.name,
        description: style.described || random.chance(0.5) ? tool.description : "",
        parameters: style.shuffled ? random.shuffled(parameters) : parameters,
      },
    ];
  });
  return { service, tools: new Map(tools) };
}

function drawParameter(parameter: ParameterView, madeUp: string | undefined, { typed, described }: Style): ParameterView {
  // A made-up name without its description could only be guessed.
  const description = described || madeUp !== undefined ? parameter.description : "";
  return { ...parameter, name: madeUp ?? parameter.name, description, type: typed ? narrowestType(parameter) : "string" };
}

function narrowestType({ options, fallback }: ParameterView): ParameterView["type"] {
  const known = fallback === undefined ? options : [...options, fallback];
  if (known.length === 0) return "string";
  if (known.every((value) => /^\d+$/.test(value))) return "integer";
  return known.every((value) => /^(true|false)$/i.test(value)) ? "boolean" : "string";
}

function madeUpParameter(random: Random): string {
  return random.chance(0.5) ? `${madeUpWord(random)}_${madeUpWord(random)}` : madeUpWord(random);
}

function madeUpTool(random: Random): string {
  const [first, second] = [madeUpWord(random), madeUpWord(random)];
  const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);
  return random.pick([`${capital(first)}${capital(second)}`, `${first}_${second}`, capital(first)]);
}

function drawDistractors(dialogue: Dialogue, schemas: Schemas, style: Style, random: Random): ServiceView[] {
  // Dialogues of several services already fill the prompt.
  const most = Math.max(0, MAX_DISTRACTORS - (dialogue.services.length - 1));
  const count = most === 0 ? 0 : random.below(most + 1);
  const families = new Set(dialogue.services.map(family));
  const others = [...schemas.original.keys()].filter((name) => !families.has(family(name)));
  return random
    .shuffled(others)
    .slice(0, count)
    .map((name) => drawView(serviceOf(schemas, name), schemas, style, random));
}

/** `Hotels_2` → `Hotels`: two services of one family offer the same thing, so one cannot distract from the other. */
function family(service: string): string {
  return service.split("_")[0] ?? service;
}

function serviceOf(schemas: Schemas, name: string): Service {
  const service = schemas.original.get(name);
  if (service === undefined) throw new Error(`dialogue names service ${name}, which no schema describes`);
  return service;
}

const SYSTEMS = [
  (date: string) => plainSystem(date),
  (date: string) => `You are a helpful assistant. Today is ${date}, ${weekday(date)}.`,
  (date: string) => `Today is ${weekday(date)}, ${date}. Help the user with the tools below.`,
  (date: string) => `Date: ${date} (${weekday(date)}).`,
  (date: string) => `You help people over chat. It is ${weekday(date)}, ${date}. Call a tool when you know what it needs.`,
] as const;

/** Mostly the day on which the data's relative dates hold; any day, or none, where no call has a date. */
function drawSystem(dialogue: Dialogue, random: Random): string {
  const dated = dialogue.turns.some(({ calls = [] }) =>
    calls.some(({ parameters }) => Object.values(parameters).some((value) => /^\d{4}-/.test(value))),
  );
  if (dated) return random.pick(SYSTEMS)(SGD_TODAY);
  if (random.chance(0.15)) return random.chance(0.5) ? "" : "You are a helpful assistant.";
  const day = new Date(Date.UTC(2018, 0, 1) + random.below(3650) * 86_400_000).toISOString().slice(0, 10);
  return random.pick(SYSTEMS)(random.chance(0.5) ? SGD_TODAY : day);
}

/** Swaps free-text argument values that the dialogue spells out for made-up names, everywhere in the dialogue. */
function withMadeUpValues(dialogue: Dialogue, random: Random): Dialogue {
  const texts = dialogue.turns.map(({ text }) => text).join("\n");
  const values = new Set(dialogue.turns.flatMap(({ calls = [] }) => calls.flatMap(({ parameters }) => Object.values(parameters))));
  const swaps = [...values]
    .filter(
      (value) =>
        /^\p{Lu}[\p{L}'&. -]{2,}$/u.test(value) && value !== "True" && value !== "False" && texts.includes(value) && random.chance(0.7),
    )
    .sort((a, b) => b.length - a.length)
    .map((value) => [value, madeUpName(random)] as const);
  if (swaps.length === 0) return dialogue;
  const swap = (text: string): string => swaps.reduce((swapped, [value, name]) => swapped.replaceAll(value, name), text);
  const swapRecord = (record: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(record).map(([key, value]) => [key, swap(value)]));
  const turns = dialogue.turns.map((turn) => ({
    ...turn,
    text: swap(turn.text),
    ...(turn.calls === undefined
      ? {}
      : { calls: turn.calls.map((call) => ({ ...call, parameters: swapRecord(call.parameters), results: call.results.map(swapRecord) })) }),
  }));
  return { ...dialogue, turns };
}
