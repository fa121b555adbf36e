/**
 * What zod refuses, in the words of every other refusal: what was expected, then what came (pure). A schema's own words come before these; patterns, and unions
 * without a discriminator, which have none to offer, keep the library's.
 */
import type { core } from "zod";
import { count } from "../shared/count.ts";

const SHOWN = 60; // characters of a text that was sent, at most
const NAMED = 5; // members that are not known, at most

/** An error map of zod. @returns undefined for what is left to the library's own words */
export function issueWords(issue: core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      if (issue.expected === "int" && typeof issue.input === "number") return `a whole number expected, got ${issue.input}`;
      return `${issue.expected === "nonoptional" ? "something" : issue.expected} expected, got ${kindOf(issue.input)}`;
    case "invalid_value":
      return oneOf(issue.values, issue.input);
    case "too_small":
      return bounded(sideOf(issue, { loose: "at least", strict: "more than" }), Number(issue.minimum), issue.input);
    case "too_big":
      return bounded(sideOf(issue, { loose: "at most", strict: "less than" }), Number(issue.maximum), issue.input);
    case "unrecognized_keys":
      return unknownMembers(issue.keys);
    case "invalid_union":
      return issue.discriminator === undefined || issue.inclusive === false
        ? undefined
        : oneOf(issue.options ?? [], Object(issue.input)[issue.discriminator]);
    case "invalid_format":
      return issue.format === "regex" ? undefined : `${issue.format} expected, got ${shown(issue.input)}`;
    case "invalid_key":
      return keyWords(issue.issues);
    case "not_multiple_of":
    case "invalid_element":
    case "custom":
      return undefined;
  }
}

function oneOf(values: readonly unknown[], got: unknown): string {
  return `${values.map(shown).join(" or ")} expected, got ${shown(got)}`;
}

function sideOf(
  { exact, inclusive }: { exact?: boolean; inclusive?: boolean },
  { loose, strict }: { loose: string; strict: string },
): string {
  if (exact === true) return "exactly";
  return inclusive === false ? strict : loose;
}

function bounded(side: string, limit: number, got: unknown): string {
  if (typeof got === "string") return `${side} ${count(limit, "character")} expected, got ${Array.from(got).length}`;
  if (Array.isArray(got)) return `${side} ${count(limit, "item")} expected, got ${got.length}`;
  return `${side} ${limit} expected, got ${shown(got)}`;
}

/** What is wrong with the name of a member, which stands before it. */
function keyWords(issues: unknown): string | undefined {
  const [first]: unknown[] = Array.isArray(issues) ? issues : [];
  return typeof first === "object" && first !== null && "message" in first ? `its name: ${String(first.message)}` : undefined;
}

function unknownMembers(names: readonly string[]): string {
  const rest = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return `unknown ${names.length === 1 ? "member" : "members"} ${names.slice(0, NAMED).join(", ")}${rest}: remove ${names.length === 1 ? "it" : "them"}`;
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : kindOf(value);
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : typeof value;
}
