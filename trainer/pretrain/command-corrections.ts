/**
 * How somebody corrects one argument of a call of their own service: in the service's words, or in ones that name no argument ("Outside, obviously."), now and then beside
 * something that tells nothing of it ("My uncle swears by them."). Words beside a value are what a small policy takes for values.
 */
import type { Random } from "../random.ts";
import { type CommandService, placesIn } from "./command-services.ts";
import { withAside } from "./remark-words.ts";
import { drawUnnamed } from "./unnamed.ts";
import { spokenName } from "./values.ts";

const UNNAMED_SHARE = 0.5; // of corrections of what is no list and no truth: in words that name no argument
const ASIDE_SHARE = 0.25; // of corrections: something else is said before or behind

/** With `{slot}` where the value goes. Undefined where nobody would correct that. @param old what the call had */
export function drawCorrection(service: CommandService, slot: string, old: string | undefined, random: Random): string | undefined {
  if ((service.values[slot]?.length ?? 0) === 0) return undefined;
  const own = (service.corrections[slot] ?? []).filter((text) => placesIn(text).length > 0);
  const about = kindOf(service, slot, random);
  const isUnnamed = about !== undefined && random.chance(UNNAMED_SHARE);
  const place = { value: `{${slot}}`, old: isClock(service, slot) ? undefined : old, unit: spokenName(slot) };
  const said = (isUnnamed ? drawUnnamed(about, place, random) : undefined) ?? (own.length === 0 ? undefined : random.pick(own));
  return said !== undefined && random.chance(ASIDE_SHARE) ? withAside(said, random) : said;
}

/** What the value is, for a wording that names no argument; undefined of lists and truths, which such words do not say. */
function kindOf(service: CommandService, slot: string, random: Random): "choice" | "count" | "name" | "time" | undefined {
  const parameter = service.tools.map(({ parameters }) => parameters[slot]).find((each) => each !== undefined);
  if (parameter === undefined || parameter.type === "array" || parameter.type === "boolean") return undefined;
  if (isClock(service, slot)) return "time";
  if (parameter.enum !== undefined) return "choice";
  if (parameter.type !== "string") return "count";
  return random.chance(0.5) ? "choice" : "name";
}

/** Whether the values are days or times, which nobody says as they are passed. */
function isClock({ values }: CommandService, slot: string): boolean {
  return (values[slot] ?? []).some((value) => value === "@date" || value === "@time");
}
