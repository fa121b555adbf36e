/**
 * Draws the hint or the notes under which a call is made, and the arguments that are right under them.
 * A hint is obeyed. A note is a default: used where the user was silent, dropped where the user spoke, and without
 * effect on tools it is not about. Silent and stated cases are drawn about equally often (four stated to one silent
 * teach a small model to ignore notes).
 */
import { spokenSlots } from "./acts.ts";
import type { Conversation, ParameterView, Step } from "./conversation.ts";
import { fill, HINTS, loosely, NOTES } from "./phrases.ts";
import type { Random } from "../random.ts";
import type { Lexicon } from "./lexicon.ts";
import { madeUpName, spokenName } from "./values.ts";

export type CallStep = Extract<Step, { kind: "call" }>;
/** Parameters of a call that nobody has spoken of, and those whose value somebody stated. */
type Speech = { readonly silent: readonly ParameterView[]; readonly stated: readonly ParameterView[] };
export type GuidedCall = {
  hint?: string;
  notes?: string[];
  values: Readonly<Record<string, string>>;
  /**
   * Slots that the guidance names and the called tool has, obeyed or not. They stand first in the call: there only the
   * value is left to decide, the guidance's or the user's own.
   */
  named: string[];
};

const SILENT_SHARE = 0.46;
const STATED_SHARE = 0.46;
// Of silent cases: conversations are full of other numbers, and one of them is easily taken for what the note names.
const COUNTED_SHARE = 0.4;
const LOOSE_SHARE = 0.5;

/** Whether guidance can stand directly before the step: a call with something to say about it, that answers a user message. */
export function isGuidable(steps: readonly Step[], at: number): boolean {
  const step = steps[at];
  return step?.kind === "call" && step.tool.parameters.length > 0 && steps[at - 1]?.kind === "user";
}

/** A hint, or notes. Few calls leave a parameter unspoken; those that do carry notes more often. */
export function drawGuidance(
  conversation: Conversation,
  at: number,
  call: CallStep,
  lexicon: Lexicon,
  random: Random,
): GuidedCall | undefined {
  const speech = bySpeech(conversation.steps, at, call);
  const notes = random.chance(speech.silent.length > 0 ? 0.8 : 0.6) ? drawNotes(conversation, call, speech, lexicon, random) : undefined;
  return notes ?? drawHint(conversation, call, lexicon, random);
}

/** A hint that changes one argument; now and then one about a tool that is not called, which changes nothing. */
function drawHint(conversation: Conversation, call: CallStep, lexicon: Lexicon, random: Random): GuidedCall | undefined {
  if (random.chance(0.06)) {
    const hint = foreignText(HINTS, conversation, call, lexicon, random);
    return hint === undefined ? undefined : { hint, values: call.values, named: [] };
  }
  const parameter = random.pick(call.tool.parameters);
  const value = otherValue(parameter, call.values[parameter.slot], lexicon, random);
  if (value === undefined) return undefined;
  const values = { ...call.values, [parameter.slot]: value };
  return { hint: worded(HINTS, parameter, value, lexicon, random), values, named: [parameter.slot] };
}

function drawNotes(
  conversation: Conversation,
  call: CallStep,
  { silent, stated }: Speech,
  lexicon: Lexicon,
  random: Random,
): GuidedCall | undefined {
  const draw = random.next();
  const candidates = draw < SILENT_SHARE ? silent : draw < SILENT_SHARE + STATED_SHARE ? stated : [];
  if (candidates.length === 0 && draw < SILENT_SHARE + STATED_SHARE) return undefined;
  const counted =
    candidates === silent ? silent.filter(({ options }) => options.length > 0 && options.every((each) => /^\d+$/.test(each))) : [];
  const pool = counted.length > 0 && random.chance(COUNTED_SHARE) ? counted : candidates;
  const chosen = new Set(pool.length > 0 ? [random.pick(pool)] : []);
  if (silent.length > 0 && random.chance(0.2)) chosen.add(random.pick(silent));
  const values: Record<string, string> = { ...call.values };
  const notes: string[] = [];
  for (const parameter of chosen) {
    const value = otherValue(parameter, call.values[parameter.slot], lexicon, random);
    if (value === undefined) return undefined;
    if (silent.includes(parameter)) values[parameter.slot] = value;
    notes.push(worded(NOTES, parameter, value, lexicon, random));
  }
  const foreign = notes.length === 0 || random.chance(0.15) ? foreignText(NOTES, conversation, call, lexicon, random) : undefined;
  if (foreign !== undefined) notes.push(foreign);
  if (notes.length === 0) return undefined;
  return { notes: random.shuffled(notes), values, named: [...chosen].map(({ slot }) => slot) };
}

/** What was spoken of before step `at`. */
export function bySpeech(steps: readonly Step[], at: number, call: CallStep): Speech {
  const spoken = spokenSlots(steps.slice(0, at).flatMap((step) => ("acts" in step ? [step.acts] : [])));
  return {
    silent: call.tool.parameters.filter(
      ({ slot, required, fallback }) =>
        !required && !spoken.has(slot) && (call.values[slot] === undefined || call.values[slot] === fallback),
    ),
    stated: call.tool.parameters.filter(({ slot }) => spoken.has(slot) && call.values[slot] !== undefined),
  };
}

/** Another value for the parameter than `current`: an option, or one the data knows for the slot, or a made-up name. */
export function otherValue(parameter: ParameterView, current: string | undefined, lexicon: Lexicon, random: Random): string | undefined {
  const known = parameter.options.length > 0 ? parameter.options : (lexicon.values.get(parameter.slot) ?? []);
  const others = known.filter((value) => value !== current && value !== parameter.fallback && value !== "dontcare");
  if (others.length === 0) return undefined;
  const value = random.pick(others);
  return parameter.options.length === 0 && /^\p{Lu}\p{L}/u.test(value) && random.chance(0.4) ? madeUpName(random) : value;
}

function worded(templates: readonly string[], parameter: ParameterView, value: string, { asides }: Lexicon, random: Random): string {
  const slot = random.chance(0.6) ? parameter.name : spokenName(parameter.name);
  const shown = parameter.type === "boolean" ? value.toLowerCase() : value;
  if (random.chance(LOOSE_SHARE)) return loosely(slot, shown, asides, random);
  // The first wording is the one that the hint job writes, so it is what the trainer will see most.
  return fill(random.chance(0.3) ? (templates[0] ?? "") : random.pick(templates), slot, shown);
}

/** Words about a parameter that the called tool does not have. */
function foreignText(
  templates: readonly string[],
  { views }: Conversation,
  call: CallStep,
  lexicon: Lexicon,
  random: Random,
): string | undefined {
  const own = new Set(call.tool.parameters.map(({ name }) => name));
  const tools = [...views.values()].flatMap((view) => [...view.tools.values()]);
  const foreign = tools.flatMap(({ parameters }) => parameters).filter(({ name }) => !own.has(name));
  if (foreign.length === 0) return undefined;
  const parameter = random.pick(foreign);
  const value = otherValue(parameter, undefined, lexicon, random);
  return value === undefined ? undefined : worded(templates, parameter, value, lexicon, random);
}
