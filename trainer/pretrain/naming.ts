/**
 * Under which names a service is shown. Six fixed sets of names are soon known by heart, and a name that is remembered
 * is not read; so slots also take their names from different paraphrases, or made-up ones that only the description explains.
 */
import type { Random } from "../random.ts";
import { type Schemas, type Service, type Slot, VARIANTS } from "./sgd.ts";
import { madeUpWord } from "./values.ts";

export type Naming = "original" | "paraphrased" | "mixed" | "madeUp";

// Shares of training dialogues; the rest keep the original names.
const PARAPHRASED_SHARE = 0.28;
const MIXED_SHARE = 0.25;
const MADE_UP_SHARE = 0.25;
// Of the names in a service of made-up ones.
const RENAMED_SHARE = 0.8;
const MAX_REDRAWS = 20;

export function drawNaming(random: Random): Naming {
  const draw = random.next();
  if (draw < PARAPHRASED_SHARE) return "paraphrased";
  if (draw < PARAPHRASED_SHARE + MIXED_SHARE) return "mixed";
  return draw < PARAPHRASED_SHARE + MIXED_SHARE + MADE_UP_SHARE ? "madeUp" : "original";
}

/** The service with the names and descriptions that this conversation shows; slots and intents keep their order. */
export function drawShown(service: Service, schemas: Schemas, naming: Naming, random: Random): Service {
  const readings = VARIANTS.map((variant) => schemas[variant].get(service.service_name) ?? service);
  if (naming === "original") return service;
  if (naming === "paraphrased") return random.pick(readings.slice(1));
  const slotNames = new Set<string>();
  const toolNames = new Set<string>();
  const slots = service.slots.map((slot, index): Slot => {
    const draw = (): string =>
      naming === "madeUp" && random.chance(RENAMED_SHARE)
        ? madeUpParameter(schemas, random)
        : slotOf(random.pick(readings), index, slot).name;
    const { description } = slotOf(random.pick(readings), index, slot);
    return { ...slot, name: distinct(draw, slotNames, slot.name), description };
  });
  const intents = service.intents.map((intent, index) => {
    const draw = (): string =>
      naming === "madeUp" && random.chance(RENAMED_SHARE) ? madeUpTool(random) : (random.pick(readings).intents[index] ?? intent).name;
    const { description } = random.pick(readings).intents[index] ?? intent;
    return { ...intent, name: distinct(draw, toolNames, intent.name), description };
  });
  return { ...service, slots, intents };
}

/** A parameter's name out of made-up words, or of words that name other things elsewhere. */
function madeUpParameter(schemas: Schemas, random: Random): string {
  const words = random.chance(0.5) ? 2 : 1;
  const borrowed = random.chance(0.5);
  return Array.from({ length: words }, () => (borrowed ? borrowedWord(schemas, random) : madeUpWord(random))).join("_");
}

function madeUpTool(random: Random): string {
  const [first, second] = [madeUpWord(random), madeUpWord(random)];
  const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);
  return random.pick([`${capital(first)}${capital(second)}`, `${first}_${second}`, capital(first)]);
}

function borrowedWord(schemas: Schemas, random: Random): string {
  const { slots } = random.pick([...schemas[random.pick(VARIANTS)].values()]);
  return random.pick(
    random
      .pick(slots)
      .name.toLowerCase()
      .split(/[_\W]+/)
      .filter((word) => word !== ""),
  );
}

/** Two parameters, or tools, of one name could not be told apart. */
function distinct(draw: () => string, taken: Set<string>, last: string): string {
  let name = draw();
  for (let redraws = 0; taken.has(name) && redraws < MAX_REDRAWS; redraws++) name = draw();
  if (taken.has(name)) name = last;
  taken.add(name);
  return name;
}

function slotOf({ slots }: Service, index: number, slot: Slot): Slot {
  return slots[index] ?? slot;
}
