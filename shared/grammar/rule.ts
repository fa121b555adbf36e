/** What a text may look like: the rules that a JSON schema, or a list of tools, is compiled to. Bytes are UTF-8. */

import type { HeldText } from "./text/held-text.ts";
import { holdsAny, type NumberRange } from "./number-range.ts";

export type Rule =
  /** One of these texts, byte for byte. */
  | { readonly kind: "literals"; readonly texts: readonly Uint8Array[] }
  /** A JSON string; lengths in code points, as JSON schema counts them. */
  | { readonly kind: "string"; readonly minLength: number; readonly maxLength: number }
  /** A JSON string of whose characters patterns say more. */
  | { readonly kind: "text"; readonly text: HeldText }
  | { readonly kind: "number"; readonly integer: boolean; readonly range: NumberRange | undefined }
  | ObjectRule
  | ArrayRule
  | { readonly kind: "either"; readonly rules: readonly Rule[] }
  | { readonly kind: "sequence"; readonly parts: readonly Rule[] }
  /** A rule by name, so that rules can hold themselves. */
  | { readonly kind: "named"; readonly name: string; readonly rule: () => Rule };

/** Members in any order, each at most once; `rest` is what a member under any other name must be, undefined where none may be. */
export type ObjectRule = {
  readonly kind: "object";
  readonly members: ReadonlyMap<string, Rule>;
  readonly required: ReadonlySet<string>;
  readonly rest: Rule | undefined;
};

export type ArrayRule = { readonly kind: "array"; readonly items: Rule; readonly minItems: number; readonly maxItems: number };

/** What nothing fits. */
export const NOTHING: Rule = { kind: "either", rules: [] };

const encoder = new TextEncoder();

export function literals(texts: readonly string[]): Rule {
  return { kind: "literals", texts: texts.map((text) => encoder.encode(text)) };
}

export function either(rules: readonly Rule[]): Rule {
  const texts = rules.flatMap((rule) => (rule.kind === "literals" ? rule.texts : []));
  const others = rules.filter((rule) => rule.kind !== "literals");
  // Texts beside each other are one list of texts: alternatives are followed each for itself, texts all at once.
  const merged: Rule[] = texts.length === 0 ? others : [{ kind: "literals", texts }, ...others];
  const [only] = merged;
  return merged.length === 1 && only !== undefined ? only : { kind: "either", rules: merged };
}

type Beginning = Exclude<Rule, { kind: "either" | "named" }>;

const beginnings = new WeakMap<Rule, readonly Beginning[]>();

/** What a rule may begin with: its alternatives and theirs, each once. A rule that only stands for itself has none. */
export function beginningsOf(rule: Rule): readonly Beginning[] {
  const known = beginnings.get(rule);
  if (known !== undefined) return known;
  const found = new Set<Beginning>();
  const seen = new Set<Rule>();
  const open = [rule];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (seen.has(each)) continue;
    seen.add(each);
    // In their own order, the first on top; one by one, as there may be more than a call takes arguments.
    if (each.kind === "either") for (const alternative of each.rules.toReversed()) open.push(alternative);
    else if (each.kind === "named") open.push(each.rule());
    else if (isPossible(each)) found.add(each);
  }
  const own = [...found];
  beginnings.set(rule, own);
  return own;
}

/** How many alternatives can begin at one place of what a rule lets through, where there are most. Of settled names alone. */
export function mostBeginnings(rule: Rule): number {
  const places = new Set([rule]);
  let most = 0;
  for (const place of places) {
    const begun = beginningsOf(place);
    most = Math.max(most, begun.length);
    for (const each of begun) for (const part of partsOf(each)) places.add(part);
  }
  return most;
}

function partsOf(rule: Beginning): readonly Rule[] {
  switch (rule.kind) {
    case "object":
      return [...rule.members.values(), ...(rule.rest === undefined ? [] : [rule.rest])];
    case "array":
      return [rule.items];
    case "sequence":
      return rule.parts;
    case "literals":
    case "string":
    case "text":
    case "number":
      return [];
  }
}

/** False for what cannot be written at all. Of names those that nothing fits stand for NOTHING (see `settle`). */
export function isPossible(rule: Rule): boolean {
  switch (rule.kind) {
    case "literals":
      return rule.texts.length > 0;
    case "either":
      return rule.rules.some(isPossible);
    case "sequence":
      return rule.parts.every(isPossible);
    case "object":
      // Many names may have one rule: it is asked once, as it may hold as many itself.
      return [...new Set([...rule.required].map((name) => rule.members.get(name) ?? rule.rest ?? NOTHING))].every(isPossible);
    case "array":
      return rule.minItems <= rule.maxItems && (rule.minItems === 0 || isPossible(rule.items));
    case "string":
      return rule.minLength <= rule.maxLength;
    case "text":
      return rule.text.isPossible;
    case "number":
      return rule.range === undefined || holdsAny(rule.range);
    case "named":
      return rule.rule() !== NOTHING;
  }
}

/** A name under way: what it stands for is known once everything is compiled. */
export type NamedRule = Extract<Rule, { kind: "named" }> & { stands: (rule: Rule) => void };

export function named(name: string): NamedRule {
  let own: Rule = NOTHING;
  return { kind: "named", name, rule: () => own, stands: (rule) => (own = rule) };
}

/**
 * Leaves NOTHING to the names that no finite text fits: the least set of possible names is grown from none, since a name that
 * needs itself to be possible is not.
 */
export function settle(names: readonly NamedRule[]): void {
  const meant = names.map((name) => ({ name, rule: name.rule() }));
  for (const { name } of meant) name.stands(NOTHING);
  let open = meant;
  for (let grown = true; grown;) {
    const left = open.filter(({ name, rule }) => {
      if (!isPossible(rule)) return true;
      name.stands(rule);
      return false;
    });
    grown = left.length < open.length;
    open = left;
  }
}
