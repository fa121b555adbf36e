/** The bars of `bench:align`. One is judged only where every unit that it asks for has been measured; else it is unmeasured, whatever there is. Pure. */
import { atLeast, atMost, type Bar } from "../bench.ts";
import { armOf, type ArmName } from "./arms.ts";
import type { UnitResult } from "./records.ts";
import { armFigures, type ArmFigures } from "./statistics.ts";

const LEAST_USERS = 20;
const LEAST_SEEDS = 3;
const SHARING = 3;
const ALONE = ["hybrid", "distillation"] as const;
const REMEMBERED = ["memory", "default"] as const;
const ARMS: readonly ArmName[] = [...ALONE, ...REMEMBERED];

export function bars(units: readonly UnitResult[], { users, seeds, cap }: { users: number; seeds: number; cap: number }): Bar[] {
  const enough = users >= LEAST_USERS && seeds >= LEAST_SEEDS;
  const whole = (arm: ArmName, sharing: number): ArmFigures | null => {
    const own = units.filter((unit) => unit.arm === arm && unit.sharing === sharing && unit.seed < seeds);
    return enough && own.length >= Math.floor(users / sharing) * seeds ? armFigures(own, cap) : null;
  };
  return [
    ...ALONE.flatMap((arm) => [
      atMost(`sessions, ${arm} alone, one user`, whole(arm, 1)?.sessions.mean ?? null, 4, "sessions"),
      atMost(`sessions, ${arm} alone, three users on a policy`, whole(arm, SHARING)?.sessions.mean ?? null, 5, "sessions"),
    ]),
    ...REMEMBERED.map((arm) =>
      atLeast(`${armOf(arm).says}: next session after an objection honours it`, shareOf(whole(arm, 1)?.honouredNext), 0.9, "share"),
    ),
    ...ARMS.flatMap((arm) =>
      [1, SHARING].flatMap((sharing) => kept(whole(arm, sharing), `${arm}, ${sharing === 1 ? "one user" : "three users"}`)),
    ),
  ];
}

function kept(figures: ArmFigures | null, of: string): Bar[] {
  const before = shareOf(figures?.exactBefore);
  const after = shareOf(figures?.exactAfter);
  const drop = before === null || after === null ? null : Math.round((before - after) * 1e6) / 1e4;
  const { lengthBefore, lengthAfter, invalidAfter } = figures ?? { lengthBefore: null, lengthAfter: null, invalidAfter: null };
  const change = lengthBefore === null || lengthAfter === null || lengthBefore === 0 ? null : Math.abs(lengthAfter / lengthBefore - 1);
  return [
    atLeast(`stated value kept: ${of}`, shareOf(figures?.statedKept), 0.97, "share"),
    atMost(`exact-call drop elsewhere: ${of}`, drop, 1, "points"),
    atMost(`change of answer length: ${of}`, change, 0.15, "share"),
    atMost(`invalid calls: ${of}`, invalidAfter, 0, "share"),
  ];
}

/** What was measured of nothing is null. */
function shareOf(figure: { share: number; count: number } | undefined): number | null {
  return figure === undefined || figure.count === 0 ? null : figure.share;
}
