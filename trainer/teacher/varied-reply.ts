/** Conversations that differ from one that ended in a tool's result by what was found: some of it, in another order, and as many as it says. */
import { spacedJson } from "../../shared/spaced-json.ts";
import { readResult } from "../../shared/wording.ts";
import type { Random } from "../random.ts";
import type { Context } from "./contexts.ts";

const MOST_FOUND = 20;

/** Undefined where no result comes last, or it holds nothing of which there could be less. */
export function variedReply(context: Context, random: Random): Context | undefined {
  const last = context.messages.at(-1);
  if (last?.role !== "tool") return undefined;
  const content = varied(last.content, random);
  return content === undefined ? undefined : { ...context, messages: [...context.messages.slice(0, -1), { ...last, content }] };
}

function varied(result: string, random: Random): string | undefined {
  const read = readResult(result);
  if (Array.isArray(read)) return read.length < 2 ? undefined : spacedJson(some(read, random));
  if (typeof read !== "object" || read === null) return undefined;
  let found: number | undefined;
  const changed = Object.entries(read).map(([key, value]): [string, unknown] => {
    if (!Array.isArray(value) || value.length === 0) return [key, value];
    const kept = some(value, random);
    found = kept.length;
    return [key, kept];
  });
  if (found === undefined) return undefined;
  const least = found;
  const counted = changed.map(([key, value]): [string, unknown] => [
    key,
    typeof value === "number" && Number.isInteger(value) && value >= least ? least + random.below(MOST_FOUND) : value,
  ]);
  return spacedJson(Object.fromEntries(counted));
}

function some(values: readonly unknown[], random: Random): unknown[] {
  return random.shuffled(values).slice(0, 1 + random.below(values.length));
}
