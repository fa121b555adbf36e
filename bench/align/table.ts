/** The figures of a run as a page's tables, between two marks of that page. Pure. */
import { marksOf } from "../marked-text.ts";
import { armOf, type ArmName } from "./arms.ts";
import { KINDS } from "./preference.ts";
import type { Records, UnitResult } from "./records.ts";
import { armFigures, type ArmFigures, COMPARED, difference, measuredArms } from "./statistics.ts";

export const MARKS = marksOf("bench:align");

export const SHARINGS = [1, 3] as const;
const ALIGNED_BY: Readonly<Record<number, string>> = { 1: "one user on a policy", 3: "three users on one" };

type Written = { /** The whole that is asked for. */ readonly asked: string; readonly picture: string; readonly command: string };

/** The main tables and the curves: what stands in the README. */
export function headlineText({ header, units }: Records, { asked, picture, command }: Written): string {
  const { cap, split } = header.conditions;
  return [
    `\`${command}\` wrote this, of ${units.length} units on SGD ${split} (asked for: ${asked}). A unit is one agent under one arm, for one user or for three who`,
    `share it, on one seed; sessions are counted until three first answers in a row satisfy the preference, those three included, ${cap} at most.`,
    "",
    ...SHARINGS.flatMap((sharing) => mainTable(units, { sharing, cap })),
    `![Share of preferences met, by session](${picture})`,
  ].join("\n");
}

/** What stands behind the headline: by kind of preference, which differences are more than chance, and what it took. */
export function detailText({ header, units }: Records): string {
  const { cap } = header.conditions;
  return [...kindTable(units, cap), ...differenceTable(units, cap), ...updateTable(units, cap)].join("\n").trimEnd();
}

type Scope = { readonly sharing: number; readonly cap: number };

function mainTable(units: readonly UnitResult[], { sharing, cap }: Scope): string[] {
  const own = units.filter((unit) => unit.sharing === sharing);
  if (own.length === 0) return [];
  const rows = measuredArms(own).map((arm) => {
    const figures = armFigures(
      own.filter((unit) => unit.arm === arm),
      cap,
    );
    return row([armOf(arm).says, ...mainCells(figures)]);
  });
  return [
    row([
      ALIGNED_BY[sharing] ?? `${sharing} users on a policy`,
      "sessions ± sd (95 %)",
      "aligned",
      "objections",
      "next session after one",
      "still so at the end",
      "stated kept",
      "exact calls elsewhere",
      "characters of a reply",
      "invalid calls",
      "units",
    ]),
    row(Array.from({ length: 11 }, () => "---")),
    ...rows,
    "",
  ];
}

function mainCells(figures: ArmFigures): string[] {
  const { sessions, aligned, honouredNext, lasting, statedKept, exactBefore, exactAfter } = figures;
  const within = interval(sessions, 1);
  return [
    `${sessions.mean.toFixed(1)} ± ${sessions.deviation.toFixed(1)}${within === "–" ? "" : ` (${within})`}`,
    counted(aligned),
    figures.objections === null ? "–" : figures.objections.toFixed(1),
    counted(honouredNext),
    counted(lasting),
    counted(statedKept),
    `${counted(exactBefore)} → ${counted(exactAfter)}`,
    `${whole(figures.lengthBefore)} → ${whole(figures.lengthAfter)}`,
    `${percent(figures.invalidBefore)} → ${percent(figures.invalidAfter)}`,
    String(figures.units),
  ];
}

/** What it took: the updates of those that learn. */
function updateTable(units: readonly UnitResult[], cap: number): string[] {
  const rows = measured(units).map(({ arm, sharing, own }) => {
    const { updates } = armFigures(own, cap);
    const seconds = updates.learned === 0 ? "–" : String(Math.round(updates.seconds / updates.learned));
    const counts = updates.learned + updates.refused === 0 ? ["–", "–", "–"] : [updates.learned, updates.refused, updates.held].map(String);
    return row([armOf(arm).says, String(sharing), ...counts, seconds]);
  });
  const heads = ["updates", "users", "learned", "refused by themselves", "held back by the gate", "seconds each"];
  return [row(heads), row(heads.map(() => "---")), ...rows, ""];
}

/** Each arm that was measured, for one user and for three. */
function measured(units: readonly UnitResult[]): { arm: ArmName; sharing: number; own: UnitResult[] }[] {
  return SHARINGS.flatMap((sharing) => {
    const shared = units.filter((unit) => unit.sharing === sharing);
    return measuredArms(shared).map((arm) => ({ arm, sharing, own: shared.filter((unit) => unit.arm === arm) }));
  });
}

function kindTable(units: readonly UnitResult[], cap: number): string[] {
  const rows = measured(units).map(({ arm, sharing, own }) => {
    const { byKind } = armFigures(own, cap);
    return row([
      armOf(arm).says,
      String(sharing),
      ...KINDS.map((kind) => {
        const figure = byKind[kind];
        return figure === undefined || figure.sessions === null
          ? "–"
          : `${figure.sessions.toFixed(1)} (${figure.aligned} of ${figure.preferences})`;
      }),
    ]);
  });
  return [row(["sessions, and how many aligned, by kind", "users", ...KINDS]), row(["---", "---", ...KINDS.map(() => "---")]), ...rows, ""];
}

function differenceTable(units: readonly UnitResult[], cap: number): string[] {
  const rows = SHARINGS.flatMap((sharing) =>
    COMPARED.flatMap(({ arm, than }) => {
      const gain = difference(units, { arm, than, sharing, cap });
      return gain.count === 0
        ? []
        : [
            row([
              `${armOf(arm).says} than ${armOf(than).says}`,
              String(sharing),
              gain.mean.toFixed(1).replace("-0.0", "0.0"),
              interval(gain, 1),
              String(gain.count),
            ]),
          ];
    }),
  );
  return rows.length === 0
    ? []
    : [row(["fewer sessions by", "users", "mean", "95 %", "pairs"]), row(["---", "---", "---", "---", "---"]), ...rows, ""];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function counted({ share, count }: { share: number; count: number }): string {
  return count === 0 ? "–" : `${Math.round(share * count)} of ${count}`;
}

/** Drawn from so few, an interval would be the range of what was seen. */
const LEAST_DRAWN = 5;

function interval({ interval: [low, high], count }: { interval: readonly [number, number]; count: number }, digits: number): string {
  return count < LEAST_DRAWN ? "–" : `${low.toFixed(digits)} to ${high.toFixed(digits)}`;
}

function percent(value: number | null): string {
  return value === null ? "–" : `${(100 * value).toFixed(1)} %`;
}

function whole(value: number | null): string {
  return value === null ? "–" : value.toFixed(0);
}
