/**
 * Drills: short conversations over tools that never existed, or over the data's own, in which every argument is said
 * outright. Nothing but reading the schema and copying the words explains a call, several calls fit in a row, and hints
 * and notes have plain right answers. Reading and copying are learnt here first and carry over to real dialogues.
 */
import {
  type Conversation,
  type ParameterView,
  plainSystem,
  plainView,
  type ServiceView,
  type Step,
  toolDefinition,
  type ToolView,
} from "./conversation.ts";
import type { ValuePool } from "./lexicon.ts";
import type { Random } from "../random.ts";
import { type Act, type Schemas, VARIANTS } from "./sgd.ts";
import { madeUpName, madeUpWord, spokenName, spokenValue } from "./values.ts";

const KNOWN_SHARE = 0.5; // of drills over the data's own tools
const OPENERS = ["", "", "Please ", "Can you ", "I need you to ", "I'd like to ", "Could you ", "Now ", "Next, ", "Let's "] as const;
const JOINERS = [", ", " and ", ". ", "; ", ", "] as const;
const SAYINGS = [
  "{slot} {value}",
  "the {slot} is {value}",
  "{value} for the {slot}",
  "with {slot} {value}",
  "{slot}: {value}",
  "{value} as {slot}",
  "I want {value} for {slot}",
  "make the {slot} {value}",
  "my {slot} is {value}",
  "{slot} should be {value}",
  "the {slot} must be {value}",
  "use {value} as the {slot}",
] as const;
const REPLIES = ["Done.", "That is done.", "All set.", "It worked.", "Okay, done.", "Finished."] as const;
const DESCRIPTIONS = ["Name of the {slot}", "The {slot}", "What {slot} to use", "{slot} of the request", ""] as const;

/** A conversation of two to five requests; its steps carry the acts that say which slots were spoken of. */
export function drawDrill(names: NameSource, random: Random): Conversation {
  const tools = random.chance(KNOWN_SHARE)
    ? names.drawTools(random)
    : Array.from({ length: 2 + random.below(3) }, () => drawTool(names, random));
  const steps = Array.from({ length: 2 + random.below(4) }, () => drawRequest(random.pick(tools), names, random)).flat();
  const view: ServiceView = {
    service: { service_name: "Drill", description: "", slots: [], intents: [] },
    tools: new Map(tools.map((tool) => [tool.name, tool])),
  };
  const system = random.chance(0.5) ? plainSystem() : random.chance(0.5) ? "" : "You are a helpful assistant.";
  return { system, tools: random.shuffled(tools).map(toolDefinition), views: new Map([["Drill", view]]), steps };
}

/** Slots of the data with the values that the data knows for them. */
export class NameSource {
  readonly #schemas: Schemas;
  readonly #slots: readonly { name: string; slot: string; description: string; options: readonly string[] }[];
  readonly #pool: ValuePool;

  constructor(schemas: Schemas, pool: ValuePool) {
    this.#schemas = schemas;
    this.#pool = pool;
    this.#slots = Object.values(schemas).flatMap((services) =>
      [...services].flatMap(([original, service]) =>
        service.slots.map(({ name, description, possible_values }, index) => ({
          name,
          slot: schemas.original.get(original)?.slots[index]?.name ?? name,
          description,
          options: possible_values,
        })),
      ),
    );
  }

  /** Tools of one service, under the names of one of its variants. */
  drawTools(random: Random): ToolView[] {
    const service = random.pick([...this.#schemas.original.values()]);
    const shown = this.#schemas[random.pick(VARIANTS)].get(service.service_name);
    return [...plainView(service, shown).tools.values()].map((tool) => ({ ...tool, parameters: random.shuffled(tool.parameters) }));
  }

  drawParameter(random: Random): ParameterView {
    const known = random.pick(this.#slots);
    const invented = random.chance(0.5);
    const name = invented ? (random.chance(0.7) ? madeUpWord(random) : `${madeUpWord(random)}_${madeUpWord(random)}`) : known.name;
    const described = invented
      ? random.pick(DESCRIPTIONS).replace("{slot}", spokenName(name))
      : random.chance(0.7)
        ? known.description
        : "";
    const options =
      known.options.length > 0
        ? [...known.options]
        : invented && random.chance(0.2)
          ? Array.from({ length: 3 }, () => madeUpWord(random))
          : [];
    return { slot: known.slot, name, description: described, type: "string", options, required: random.chance(0.5), fallback: undefined };
  }

  drawValue({ slot, options }: ParameterView, random: Random): string {
    if (options.length > 0) return random.pick(options);
    const known = (this.#pool.get(slot) ?? []).filter((value) => value !== "dontcare");
    return known.length > 0 && random.chance(0.5)
      ? random.pick(known)
      : random.chance(0.8)
        ? madeUpName(random)
        : String(random.below(1000));
  }
}

function drawTool(names: NameSource, random: Random): ToolView {
  const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);
  const [verb, noun] = [madeUpWord(random), madeUpWord(random)];
  const parameters = new Map(
    Array.from({ length: 1 + random.below(4) }, () => names.drawParameter(random)).map((parameter) => [parameter.slot, parameter]),
  );
  // Two parameters of one name could not be told apart.
  const distinct = new Map([...parameters.values()].map((parameter) => [parameter.name, parameter]));
  return {
    name: random.chance(0.5) ? `${capital(verb)}${capital(noun)}` : `${verb}_${noun}`,
    description: random.chance(0.5) ? `${capital(verb)} a ${noun}` : "",
    parameters: [...distinct.values()],
  };
}

/** A user message that names the tool and says its values, the call, its result and a short reply. */
function drawRequest(tool: ToolView, names: NameSource, random: Random): Step[] {
  const said = random.shuffled(tool.parameters.filter(({ required }) => required || random.chance(0.5)));
  const values = Object.fromEntries(said.map((parameter) => [parameter.slot, names.drawValue(parameter, random)]));
  const acts = said.map(({ slot }): Act => ["INFORM", slot, [values[slot] ?? ""]]);
  const clauses = said.map((parameter) => sayValue(parameter, values[parameter.slot] ?? "", random));
  const joiner = random.pick(JOINERS);
  const text = `${random.pick(OPENERS)}${spokenTool(tool, random)}${clauses.length > 0 ? joiner : ""}${clauses.join(joiner)}${random.chance(0.6) ? "." : ""}`;
  return [
    { kind: "user", text: random.chance(0.8) ? text.slice(0, 1).toUpperCase() + text.slice(1) : text, acts },
    { kind: "call", service: "Drill", tool, values },
    { kind: "result", content: random.pick(['{"status": "ok"}', '{"count": 1, "results": []}', "ok"]) },
    { kind: "reply", text: random.pick(REPLIES), acts: [] },
  ];
}

function spokenTool({ name }: ToolView, random: Random): string {
  return random.chance(0.6) ? spokenName(name) : name;
}

function sayValue(parameter: ParameterView, value: string, random: Random): string {
  const slot = random.chance(0.8) ? spokenName(parameter.name) : parameter.name;
  return random
    .pick(SAYINGS)
    .replace("{slot}", slot)
    .replace("{value}", random.chance(0.2) ? spokenValue(value, random) : value);
}
