/**
 * Draws one reading of a dialogue for training: other names, shuffled tools and parameters, distractor tools, parameters
 * that nobody speaks of, typed parameters, made-up values. What stays the same is what must be learnt: to read the prompt.
 */
import {
  type Conversation,
  type ParameterView,
  plainSystem,
  plainView,
  type ServiceView,
  SGD_TODAY,
  type Step,
  toolDefinition,
  type ToolView,
  toSteps,
  weekday,
} from "./conversation.ts";
import { writtenForm } from "../../shared/speech/spoken.ts";
import type { Random } from "../random.ts";
import { drawNaming, drawShown, type Naming } from "./naming.ts";
import { revalued, type Revaluer, type Swap } from "./revalue.ts";
import { type Dialogue, type Schemas, type Service, VARIANTS } from "./sgd.ts";
import { madeUpWord } from "./values.ts";

// Shares of training dialogues.
const TYPED_SHARE = 0.15;
const EXTENDED_SHARE = 0.5;
const NEW_VALUES_SHARE = 0.65;
const LOWER_CASE_SHARE = 0.1;
const MAX_DISTRACTORS = 2;

export function drawConversation(dialogue: Dialogue, schemas: Schemas, revaluer: Revaluer, random: Random): Conversation {
  const swap = random.chance(NEW_VALUES_SHARE) ? revaluer.drawSwap(dialogue, random) : (text: string): string => text;
  const style = { ...drawStyle(random), swap };
  const views = new Map(dialogue.services.map((name) => [name, drawView(serviceOf(schemas, name), schemas, style, random)]));
  const distractors = drawDistractors(dialogue, schemas, style, random);
  const tools = random.shuffled([...views.values(), ...distractors].flatMap((view) => [...view.tools.values()]));
  return {
    system: drawSystem(hasDates(dialogue), random),
    tools: tools.map(toolDefinition),
    views,
    steps: drawCasing(toSteps(revalued(dialogue, swap), views), random),
  };
}

// "F-GH 55" is one code.
const CODE_OR_WORD = /((?<!\S)[A-Z][A-Z-]*(?= \S*\d))|\S+/g;

/** Now and then a user who writes no capitals: the call has them all the same. Codes are written as they are: nobody could tell how they were. */
export function drawCasing(steps: Step[], random: Random): Step[] {
  if (!random.chance(LOWER_CASE_SHARE)) return steps;
  const lowered = (text: string): string =>
    text.replace(CODE_OR_WORD, (word, code?: string) => code ?? (/\d/.test(word) ? word : word.toLowerCase()));
  return steps.map((step) => (step.kind === "user" ? { ...step, text: lowered(step.text) } : step));
}

/** The dialogue exactly as the data has it: what evaluation shows. */
export function plainConversation(dialogue: Dialogue, schemas: Schemas): Conversation {
  const views = new Map(dialogue.services.map((name) => [name, plainView(serviceOf(schemas, name))]));
  const tools = [...views.values()].flatMap((view) => [...view.tools.values()]).map(toolDefinition);
  return { system: plainSystem(), tools, views, steps: toSteps(dialogue, views) };
}

type Style = { naming: Naming; typed: boolean; described: boolean; shuffled: boolean; extended: boolean; swap: Swap };

function drawStyle(random: Random): Omit<Style, "swap"> {
  return {
    naming: drawNaming(random),
    typed: random.chance(TYPED_SHARE),
    described: random.chance(0.9),
    shuffled: random.chance(0.7),
    extended: random.chance(EXTENDED_SHARE),
  };
}

function drawView(service: Service, schemas: Schemas, style: Style, random: Random): ServiceView {
  const plain = plainView(service, drawShown(service, schemas, style.naming, random));
  const tools = [...plain.tools].map(([intent, tool]): [string, ToolView] => {
    const extra = style.extended && random.chance(0.4) ? drawExtra(service, schemas, random) : undefined;
    // Two parameters of one name could not be told apart.
    const added = extra === undefined || tool.parameters.some(({ name }) => name === extra.name) ? [] : [extra];
    const parameters = [...tool.parameters, ...added].map((parameter) => drawParameter(parameter, style));
    return [
      intent,
      {
        name: tool.name,
        description: style.described || random.chance(0.5) ? tool.description : "",
        parameters: style.shuffled ? random.shuffled(parameters) : parameters,
      },
    ];
  });
  return { service, tools: new Map(tools) };
}

function drawParameter(parameter: ParameterView, { typed, described, naming, swap }: Style): ParameterView {
  // A made-up name without its description could only be guessed.
  const description = described || naming === "madeUp" ? parameter.description : "";
  const { options, fallback } = parameter;
  const valued = { ...parameter, options: options.map(swap), fallback: fallback === undefined ? undefined : swap(fallback) };
  return { ...valued, description, type: typed ? narrowestType(valued) : "string" };
}

/**
 * An optional parameter of a service of another family; none where this service has the slot, too. Nobody
 * speaks of it: it is to be left out, unless a hint or a note names it.
 */
function drawExtra(service: Service, schemas: Schemas, random: Random): ParameterView | undefined {
  const donors = [...schemas.original.values()].filter(({ service_name }) => family(service_name) !== family(service.service_name));
  if (donors.length === 0) return undefined;
  const donor = random.pick(donors);
  const index = random.below(donor.slots.length);
  const slot = donor.slots[index];
  if (slot === undefined || service.slots.some(({ name }) => name === slot.name)) return undefined;
  const shown = schemas[random.pick(VARIANTS)].get(donor.service_name)?.slots[index] ?? slot;
  // Under its own name, or in borrowed words, a place or a date would be what the user says of another slot.
  const named = slot.is_categorical && random.chance(0.7);
  return {
    slot: slot.name,
    name: named ? shown.name : madeUpWord(random),
    description: slot.is_categorical ? shown.description : "",
    type: "string",
    options: slot.is_categorical ? [...slot.possible_values] : [],
    required: false,
    fallback: undefined,
  };
}

function narrowestType({ options, fallback }: ParameterView): ParameterView["type"] {
  const known = fallback === undefined ? options : [...options, fallback];
  if (known.length === 0) return "string";
  if (known.every((value) => /^\d+$/.test(value))) return "integer";
  return known.every((value) => /^(true|false)$/i.test(value)) ? "boolean" : "string";
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

function hasDates({ turns }: Dialogue): boolean {
  const values = turns.flatMap(({ calls = [] }) => calls.flatMap(({ parameters }) => Object.values(parameters)));
  return values.some((value) => writtenForm(value) === "date");
}

const SYSTEMS = [
  (date: string) => plainSystem(date),
  (date: string) => `You are a helpful assistant. Today is ${date}, ${weekday(date)}.`,
  (date: string) => `Today is ${weekday(date)}, ${date}. Help the user with the tools below.`,
  (date: string) => `Date: ${date} (${weekday(date)}).`,
  (date: string) => `You help people over chat. It is ${weekday(date)}, ${date}. Call a tool when you know what it needs.`,
] as const;

/** Mostly the day on which the data's relative dates hold; any day, or none, where no call has a date. */
export function drawSystem(dated: boolean, random: Random): string {
  if (dated) return random.pick(SYSTEMS)(SGD_TODAY);
  if (random.chance(0.15)) return random.chance(0.5) ? "" : "You are a helpful assistant.";
  const day = new Date(Date.UTC(2018, 0, 1) + random.below(3650) * 86_400_000).toISOString().slice(0, 10);
  return random.pick(SYSTEMS)(random.chance(0.5) ? SGD_TODAY : day);
}
