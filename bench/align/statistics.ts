/** From what a run has measured to its figures: sessions until aligned, by arm and by kind, differences, and what it cost elsewhere. Pure. */
import { Random } from "../../trainer/random.ts";
import { shareFigure } from "../bench.ts";
import { bootstrap, meanOf } from "../interval.ts";
import { ARM_NAMES, type ArmName, MAIN_ARMS } from "./arms.ts";
import { KINDS, type PreferenceKind } from "./preference.ts";
import type { Side, Track, UnitResult } from "./records.ts";

export const STREAK = 3;
const BOOTSTRAP_SEED = 1;

/** Sessions until `STREAK` first answers in a row were honoured, those included; undefined where that never came. */
export function inARow(sessions: readonly Track["sessions"][number][]): number | undefined {
  let streak = 0;
  for (const [index, reaction] of sessions.entries()) {
    streak = reaction === "honoured" ? streak + 1 : 0;
    if (streak === STREAK) return index + 1;
  }
  return undefined;
}

/** A preference that was never met counts as the cap. */
export function sessionsOf({ sessions }: Pick<Track, "sessions">, cap: number): number {
  return inARow(sessions) ?? cap;
}

/** By user, the mean over the user's preferences. */
export function perUser({ tracks }: Pick<UnitResult, "tracks">, cap: number): number[] {
  const users = [...new Set(tracks.map(({ user }) => user))];
  return users.map((user) => meanOf(tracks.filter((track) => track.user === user).map((track) => sessionsOf(track, cap))));
}

export function deviation(values: readonly number[]): number {
  const mean = meanOf(values);
  return values.length < 2 ? 0 : Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}

export type ArmFigures = ReturnType<typeof armFigures>;

/** Of one arm, `units` of one way of sharing. */
export function armFigures(units: readonly UnitResult[], cap: number) {
  const tracks = units.flatMap((unit) => unit.tracks);
  const users = units.flatMap((unit) => perUser(unit, cap));
  const byUnit = units.map((unit) => meanOf(perUser(unit, cap)));
  const of = (kind: PreferenceKind): Track[] => tracks.filter((track) => track.kind === kind);
  const [before, after] = [sum(units.map((unit) => unit.before)), sum(units.map((unit) => unit.after))];
  return {
    units: units.length,
    users: users.length,
    preferences: tracks.length,
    // Users who share a policy are not independent of each other, so units are drawn.
    sessions: { ...bootstrap(byUnit, new Random(BOOTSTRAP_SEED)), mean: meanOf(users), deviation: deviation(users) },
    aligned: shareFigure(tracks.map(({ sessions }) => inARow(sessions) !== undefined)),
    /** That a user had to make for a preference, repeated requests among them; null where nobody listens. */
    objections: tracks.every(({ manners }) => manners.length === 0) ? null : meanOf(tracks.map(({ manners }) => manners.length)),
    byKind: Object.fromEntries(
      KINDS.map((kind) => [
        kind,
        {
          preferences: of(kind).length,
          sessions: of(kind).length === 0 ? null : meanOf(of(kind).map((track) => sessionsOf(track, cap))),
          aligned: of(kind).filter(({ sessions }) => inARow(sessions) !== undefined).length,
        },
      ]),
    ),
    honouredNext: shareFigure(tracks.flatMap(({ next }) => (next === null ? [] : [next === "honoured"]))),
    lasting: shareFigure(
      tracks.flatMap(({ sessions, lasting }) => (inARow(sessions) === undefined ? [] : lasting.map((each) => each === "honoured"))),
    ),
    statedKept: shareFigure(tracks.flatMap(({ statedKept }) => statedKept)),
    exactBefore: shareFigure(before.exact),
    exactAfter: shareFigure(after.exact),
    lengthBefore: before.lengths.length === 0 ? null : meanOf(before.lengths),
    lengthAfter: after.lengths.length === 0 ? null : meanOf(after.lengths),
    invalidBefore: share(before.invalid, before.calls),
    invalidAfter: share(after.invalid, after.calls),
    updates: {
      learned: total(units.map(({ updates }) => updates.learned)),
      refused: total(units.map(({ updates }) => updates.refused)),
      held: total(units.map(({ updates }) => updates.held)),
      steps: total(units.map(({ updates }) => updates.steps)),
      seconds: Math.round(total(units.map(({ updates }) => updates.seconds))),
    },
  };
}

function sum(sides: readonly Side[]): Side {
  return {
    exact: sides.flatMap(({ exact }) => exact),
    lengths: sides.flatMap(({ lengths }) => lengths),
    calls: total(sides.map(({ calls }) => calls)),
    invalid: total(sides.map(({ invalid }) => invalid)),
  };
}

function total(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

/** Mean sessions of `than` less those of `arm`, over the units that both have measured: above 0, `arm` is faster. */
export function difference(
  units: readonly UnitResult[],
  { arm, than, sharing, cap }: { arm: ArmName; than: ArmName; sharing: number; cap: number },
): ReturnType<typeof bootstrap> {
  const measured = (name: ArmName): UnitResult[] => units.filter((unit) => unit.arm === name && unit.sharing === sharing);
  const gains = measured(arm).flatMap((unit) => {
    const other = measured(than).find(({ group, seed }) => group === unit.group && seed === unit.seed);
    return other === undefined ? [] : [meanOf(perUser(other, cap)) - meanOf(perUser(unit, cap))];
  });
  return bootstrap(gains, new Random(BOOTSTRAP_SEED));
}

/** Share of the preferences that were aligned by each session, from the first to the cap. */
export function curve(tracks: readonly Track[], cap: number): number[] {
  const ends = tracks.map(({ sessions }) => inARow(sessions) ?? Number.POSITIVE_INFINITY);
  return Array.from({ length: cap }, (_, index) => ends.filter((end) => end <= index + 1).length / Math.max(1, ends.length));
}

/** Arms that have been measured, in the order of the list. */
export function measuredArms(units: readonly UnitResult[]): ArmName[] {
  return ARM_NAMES.filter((name) => units.some(({ arm }) => arm === name));
}

/** What arms are compared with: both that learn without notes with those that learn less or nothing, and those with notes with them; every term with what it is a term beside. */
export const COMPARED: readonly { readonly arm: ArmName; readonly than: ArmName }[] = [
  ...compared("distillation", ["none", "hints", "binary"]),
  ...compared("hybrid", ["none", "hints", "binary", "distillation"]),
  ...compared("memory", ["hybrid", "hints"]),
  ...compared("default", ["distillation", "hints", "memory"]),
  ...ARM_NAMES.filter((name) => !MAIN_ARMS.includes(name)).flatMap((arm) => compared(arm, ["distillation"])),
];

function compared(arm: ArmName, others: readonly ArmName[]): { readonly arm: ArmName; readonly than: ArmName }[] {
  return others.map((than) => ({ arm, than }));
}
