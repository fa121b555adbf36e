/** How a user says that one argument should have been another. */
import { writtenForm } from "../../shared/speech/spoken.ts";
import type { ParameterView } from "./conversation.ts";
import type { CallStep } from "./guidance.ts";
import type { Lexicon } from "./lexicon.ts";
import { BARE_CORRECTIONS, CORRECTION_CLOSERS, CORRECTION_CORES, CORRECTION_OPENERS, fill, loosely, OBJECTIONS } from "./phrases.ts";
import type { Random } from "../random.ts";
import { withAside } from "./remark-words.ts";
import { drawUnnamed } from "./unnamed.ts";
import { spokenName, spokenValue } from "./values.ts";

const BARE_SHARE = 0.3; // where the value tells which argument is meant
const UNNAMED_SHARE = 0.5; // of those: as people put it who name no argument
const ASIDE_SHARE = 0.15; // of all: something else is said before or behind

/** A correction of a call: the argument by its name and the value, or the value alone where it can belong to no other argument. */
export function correction(
  parameter: ParameterView,
  value: string,
  { call, lexicon }: { call: CallStep; lexicon: Lexicon },
  random: Random,
): string {
  const isPlain = belongsTo(parameter, value, call, lexicon) && random.chance(BARE_SHARE);
  const said = isPlain ? bareCorrection(parameter.name, value, random) : namedCorrection(parameter.name, value, lexicon, random);
  return random.chance(ASIDE_SHARE) ? withAside(said, random) : said;
}

function bareCorrection(name: string, value: string, random: Random): string {
  const [unit, spoken] = [spokenName(name), spokenValue(value, random)];
  const about = { number: "count", date: "time", time: "time" } as const;
  const form = writtenForm(value);
  const unnamed = random.chance(UNNAMED_SHARE)
    ? drawUnnamed(form === undefined ? "choice" : about[form], { value: spoken, old: undefined, unit }, random)
    : undefined;
  return unnamed ?? capitalisedOften(fill(random.pick(BARE_CORRECTIONS), unit, spoken), random);
}

/** The same with the argument's name. */
export function namedCorrection(name: string, value: string, { asides }: Lexicon, random: Random): string {
  const slot = random.chance(0.8) ? spokenName(name) : name;
  const spoken = random.chance(0.6) ? spokenValue(value, random) : value;
  const core = random.chance(0.4) ? loosely(slot, spoken, asides, random) : fill(random.pick(CORRECTION_CORES), slot, spoken);
  const opener = random.chance(0.35) ? `${random.pick(OBJECTIONS)} ` : random.pick(CORRECTION_OPENERS);
  return capitalisedOften(`${opener}${core}${random.pick(CORRECTION_CLOSERS)}`, random);
}

function capitalisedOften(text: string, random: Random): string {
  return random.chance(0.7) ? text.slice(0, 1).toUpperCase() + text.slice(1) : text;
}

/** Whether the value can be of no other argument of the call; what is true or false could be of any. */
function belongsTo({ slot }: { slot: string }, value: string, { tool }: CallStep, { values }: Lexicon): boolean {
  if (/^(?:true|false)$/i.test(value)) return false;
  const kindOf = (text: string): string => text.replace(/\d+/g, "9");
  const known = tool.parameters.filter((each) => {
    const pool = each.options.length > 0 ? each.options : (values.get(each.slot) ?? []);
    return each.slot === slot || pool.some((other) => other === value || (/\d/.test(value) && kindOf(other) === kindOf(value)));
  });
  return known.length === 1;
}
