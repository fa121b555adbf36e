/**
 * What a run has measured, one unit a line: an arm, the users that share a policy, a seed. A file begins with the conditions and the
 * users, and can be gone on with under the same conditions only.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { canonicalJson } from "../../shared/digest.ts";
import { ARM_NAMES } from "./arms.ts";
import { KINDS, Preference, type PreferenceKind } from "./preference.ts";
import { MANNERS } from "./words.ts";

const Reaction = z.enum(["honoured", "violated", "elsewhere"]);
const Kind = z.enum(KINDS as [PreferenceKind, ...PreferenceKind[]]);

/** One preference of one user. */
export const Track = z.object({
  user: z.string(),
  preference: z.string(),
  kind: Kind,
  /** The first answer of each session, in order; ends with three honoured ones or at the cap. */
  sessions: z.array(Reaction).min(1),
  /** How the user objected, objection by objection. */
  manners: z.array(z.enum(MANNERS)),
  /** The first answer of the session after the first objection that told or showed what was wanted; null where there was none. */
  next: Reaction.nullable(),
  /** Asked again when all of the unit's sessions were over. */
  lasting: z.array(Reaction),
  /** Requests that state another value for the argument and had it before: whether they have it after. */
  statedKept: z.array(z.boolean()),
});
export type Track = z.infer<typeof Track>;

/** Requests that no preference is about. */
const Side = z.object({
  /** Whether the call was exactly the data's. */
  exact: z.array(z.boolean()),
  /** Characters of each reply in words. */
  lengths: z.array(z.number().int().min(0)),
  /** Of the answers with a call, or one begun. */
  calls: z.number().int().min(0),
  invalid: z.number().int().min(0),
});
export type Side = z.infer<typeof Side>;

export const UnitResult = z.object({
  arm: z.enum(ARM_NAMES),
  /** Users on one policy. */
  sharing: z.number().int().min(1),
  /** Which of the users, in groups of `sharing`, from 0. */
  group: z.number().int().min(0),
  seed: z.number().int(),
  tracks: z.array(Track).min(1),
  before: Side,
  after: Side,
  updates: z.object({
    learned: z.number().int().min(0),
    refused: z.number().int().min(0),
    /** Of the learned ones, those that the gate or the edge kept back. */
    held: z.number().int().min(0),
    /** Why, in the trainer's words; of what was refused and of what was kept back. */
    reasons: z.array(z.string()).default([]),
    steps: z.number().int().min(0),
    seconds: z.number().min(0),
  }),
  seconds: z.number().min(0),
});
export type UnitResult = z.infer<typeof UnitResult>;
export type UnitName = Pick<UnitResult, "arm" | "sharing" | "group" | "seed">;

const User = z.object({ name: z.string(), preferences: z.array(Preference).min(1).max(3) });
export const Header = z.object({
  align: z.literal(1),
  conditions: z.object({
    split: z.string(),
    base: z.string(),
    cap: z.number().int(),
    draw: z.number().int(),
    users: z.number().int(),
    kinds: z.array(Kind).min(1),
  }),
  users: z.array(User).min(1),
});
export type Header = z.infer<typeof Header>;

export type Records = { readonly header: Header; readonly units: readonly UnitResult[] };

export function unitKey({ arm, sharing, group, seed }: UnitName): string {
  return [arm, sharing, group, seed].join("/");
}

/** Undefined where there is no such file. @throws where it was begun under other conditions, or holds a unit twice */
export function readRecords(path: string, conditions: Header["conditions"]): Records | undefined {
  if (!existsSync(path)) return undefined;
  const [first = "", ...lines] = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  const header = Header.parse(JSON.parse(first));
  if (canonicalJson(header.conditions) !== canonicalJson(conditions))
    throw new Error(`${path}: ${canonicalJson(conditions)} expected, got ${canonicalJson(header.conditions)}; begin another file`);
  const units = lines.map((line) => UnitResult.parse(JSON.parse(line)));
  const keys = units.map(unitKey);
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice !== undefined) throw new Error(`${path}: each unit once expected, got ${twice} twice`);
  return { header, units };
}

/** A file of its own, in a folder that is made where there is none. @throws where the file is there already */
export function beginRecords(path: string, header: Header): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(header)}\n`, { flag: "wx" });
}

export function addUnit(path: string, unit: UnitResult): void {
  appendFileSync(path, `${JSON.stringify(UnitResult.parse(unit))}\n`);
}
