/**
 * What a user says to an answer: something of the preference where it is violated, in one of four manners, in words that training
 * never shows, where the data has a fitting correction in the data's own; content where it is honoured; nothing where neither is the case.
 */
import { assertNever } from "../../shared/assert.ts";
import type { Sgd } from "../../trainer/pretrain/sgd.ts";
import { spokenName, spokenValue } from "../../trainer/pretrain/values.ts";
import type { Random } from "../../trainer/random.ts";
import type { Preference } from "./preference.ts";
import type { Scene } from "./scenes.ts";
import {
  AGAIN_OPENERS,
  CONFIRM_WORDS,
  CONTENT,
  DEFAULT_WORDS,
  type Manner,
  NEVER_WORDS,
  type Telling,
  TOOL_WORDS,
  WORDING_WORDS,
} from "./words.ts";

/** Sentences with `{value}`, by service and slot. */
export type OwnCorrections = ReadonlyMap<string, readonly string[]>;
export type Said = { readonly manner: Manner; readonly text: string };

const PLAIN_SHARE = 0.5;
const POLITE_SHARE = 0.2;
const INDIRECT_SHARE = 0.2; // and the rest asks again
const OWN_SHARE = 0.5; // of plain ones, where the data has any

/** Sentences in which users of the data took a value back by naming another one and nothing else. */
export function ownCorrections({ dialogues }: Pick<Sgd, "dialogues">): OwnCorrections {
  const found = new Map<string, string[]>();
  for (const { services, turns } of dialogues)
    for (const { role, text, acts } of turns) {
      const [told, ...more] = acts.filter(([act]) => act === "INFORM");
      const denied = acts.some(([act]) => act === "NEGATE") && acts.every(([act]) => act === "NEGATE" || act === "INFORM");
      const [, slot, [value, ...others]] = told ?? ["", "", []];
      if (role !== "user" || !denied || more.length + others.length > 0 || value === undefined) continue;
      if (services.length !== 1 || text.split(value).length !== 2) continue;
      const key = keyOf(services[0] ?? "", slot);
      found.set(key, [...(found.get(key) ?? []), text.replace(value, "{value}")]);
    }
  return found;
}

function keyOf(service: string, slot: string): string {
  return `${service}.${slot}`;
}

export function drawManner(random: Random): Manner {
  const draw = random.next();
  if (draw < PLAIN_SHARE) return "plain";
  if (draw < PLAIN_SHARE + POLITE_SHARE) return "polite";
  return draw < PLAIN_SHARE + POLITE_SHARE + INDIRECT_SHARE ? "indirect" : "again";
}

/** To an answer that violates the preference. */
export function objection(
  preference: Preference,
  { scene, own, random }: { scene: Pick<Scene, "messages">; own: OwnCorrections; random: Random },
): Said {
  const manner = drawManner(random);
  if (manner === "again") return { manner, text: repeated(scene, random) };
  return { manner, text: told(preference, { manner, own, random }) };
}

/** To an answer that honours it; half of all people say nothing. */
export function contentment(random: Random): string | undefined {
  return random.chance(0.5) ? random.pick(CONTENT) : undefined;
}

function repeated({ messages }: Pick<Scene, "messages">, random: Random): string {
  const last = messages.findLast(({ role }) => role === "user");
  return `${random.pick(AGAIN_OPENERS)}${last?.content ?? ""}`;
}

function told(preference: Preference, { manner, own, random }: { manner: Telling; own: OwnCorrections; random: Random }): string {
  const filled = (words: readonly string[], values: Readonly<Record<string, string>>): string =>
    Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, value), random.pick(words));
  switch (preference.kind) {
    case "default":
    case "never": {
      const { service, parameter } = preference;
      const sentences = preference.kind === "default" && manner === "plain" ? (own.get(keyOf(service, parameter)) ?? []) : [];
      const kindWords = (preference.kind === "default" ? DEFAULT_WORDS : NEVER_WORDS)[manner];
      const words = sentences.length > 0 && random.chance(OWN_SHARE) ? sentences : kindWords;
      return filled(words, { slot: spokenName(parameter), value: valueSaid(preference, manner, random) });
    }
    case "confirm":
      return filled(CONFIRM_WORDS[preference.wish][manner], {});
    case "wording": {
      const { rule } = preference;
      const values: Record<string, string> =
        rule.name === "addressed" ? { as: rule.as } : rule.name === "brief" ? { words: String(rule.words) } : {};
      return filled(WORDING_WORDS[rule.name][manner], values);
    }
    case "tool":
      return filled(TOOL_WORDS[manner], { tool: spokenName(preference.tool), instead: spokenName(preference.instead) });
    default:
      return assertNever(preference);
  }
}

/** A truth value alone says nothing of what is true: who speaks around the parameter names it. */
function valueSaid({ parameter, value }: { parameter: string; value: string }, manner: Telling, random: Random): string {
  if (!/^(true|false)$/i.test(value)) return random.chance(0.5) ? spokenValue(value, random) : value;
  const said = spokenValue(value, random);
  return manner === "indirect" ? `${said} for ${spokenName(parameter)}` : said;
}
