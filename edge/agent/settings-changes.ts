/**
 * What a change of an agent's settings changed, for the audit trail: each setting by its path, with an excerpt of what it was and of what it is.
 * Pure. Secrets are no settings: those name where one is. What may hold one, the credentials and the query of an address, is left out.
 */
import type { SettingChange } from "../../shared/api.ts";
import { canonicalJson } from "../../shared/digest.ts";
import { isRecord } from "../../shared/grammar/schema-parts.ts";

/** Settings that one move tells of; of more only how many there are. */
const MOST_CHANGES = 20;
/** Of a value, in UTF-16 units; of a longer one from shortly before the place where it differs. */
const MOST_CHARS = 200;
const LEAD_CHARS = 40;
/** Deeper than any setting of ours; below it there are schemas of tools. */
const MOST_DEPTH = 5;
const ADDRESS = /^[a-z]+:\/\/\S+$/i;

export function settingsChanges(before: object, after: object): SettingChange[] {
  const changes = [...changesIn("", before, after)];
  if (changes.length <= MOST_CHANGES) return changes;
  const shown = changes.slice(0, MOST_CHANGES - 1);
  return [...shown, { setting: `${changes.length - shown.length} further settings`, before: null, after: null }];
}

/** Depth first, in the order of the settings; of lists an item is followed by its name, where it has one. */
function* changesIn(setting: string, before: unknown, after: unknown): Generator<SettingChange, void, void> {
  if (canonicalJson(before) === canonicalJson(after)) return;
  const [old, now] = [membersOf(before), membersOf(after)];
  if (old === undefined || now === undefined || setting.split(".").length > MOST_DEPTH) return yield excerpt(setting, before, after);
  for (const name of new Set([...old.keys(), ...now.keys()]))
    yield* changesIn(setting === "" ? name : `${setting}.${name}`, old.get(name), now.get(name));
}

function membersOf(value: unknown): Map<string, unknown> | undefined {
  if (isRecord(value)) return new Map(Object.entries(value));
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const names = value.map(nameOf);
  if (names.includes(undefined) || new Set(names).size < names.length) return undefined;
  return new Map(value.map((each, index) => [names[index] ?? "", each]));
}

/** Of a tool or a server. */
function nameOf(item: unknown): string | undefined {
  if (!isRecord(item)) return undefined;
  const named = isRecord(item["function"]) ? item["function"]["name"] : (item["name"] ?? item["url"]);
  return typeof named === "string" ? withoutCredentials(named) : undefined;
}

function excerpt(setting: string, before: unknown, after: unknown): SettingChange {
  const [old, now] = [textOf(before), textOf(after)];
  const from = placeOf(old ?? "", now ?? "");
  return { setting: setting.slice(0, MOST_CHARS), before: cut(old, from), after: cut(now, from) };
}

/** Null where there is no such setting. */
function textOf(value: unknown): string | null {
  if (value === undefined) return null;
  return JSON.stringify(value, (_, each: unknown) => (typeof each === "string" ? withoutCredentials(each) : each)) ?? null;
}

function withoutCredentials(text: string): string {
  if (!ADDRESS.test(text) || !URL.canParse(text)) return text;
  const { protocol, host, pathname, search } = new URL(text);
  return `${protocol}//${host}${pathname}${search === "" ? "" : "?…"}`;
}

/** Where two texts begin to differ. */
function placeOf(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

function cut(text: string | null, at: number): string | null {
  if (text === null || text.length <= MOST_CHARS) return text;
  const from = Math.max(0, Math.min(at - LEAD_CHARS, text.length - MOST_CHARS));
  const end = from + MOST_CHARS;
  // Half a character is none.
  return `${from > 0 ? "…" : ""}${text.slice(from, end).toWellFormed()}${end < text.length ? "…" : ""}`;
}
