/**
 * A rollback that un-learns: with quarantine what the versions taken back had learned stays away through further updates;
 * without, it is learned again at once.
 */
import { z } from "zod";
import { atLeast, atMost, say, type Bar } from "../bench.ts";
import type { Preference } from "../sim/preferences.ts";
import { KNOWN, NOISE, rise, sayTogether, unmet, usedUnasked, type Outcome, type Stage } from "./scenario.ts";
import type { Town } from "./town.ts";

const Barred = z.object({ events: z.array(z.object({ eventId: z.string() })) });

const EACH = 2; // times that a wish is voiced before another one is tried

export async function unlearning(stage: Stage): Promise<Outcome> {
  const { town, wishes, sizes } = stage;
  const learned = await teach(stage);
  if (learned === undefined) {
    // Without something that was learned there is nothing to take back, so nothing is shown.
    return { figures: { tried: wishes.length - 1 }, bars: [atLeast("unlearning: wishes that were learned to begin with", 0, 1, "wishes")] };
  }
  const { wish, to, used } = learned;
  const rollback = (quarantine: boolean): Promise<unknown> =>
    town.admin("POST", `/api/agents/${town.agent}/rollback`, { to, quarantine, reason: "bench" });
  await rollback(false);
  const gone = await usedUnasked(stage, wish);
  await town.learn();
  const again = await usedUnasked(stage, wish);
  say(`  without quarantine: used unasked ${gone.share} after the rollback, ${again.share} after the next update`);
  await rollback(true);
  const before = new Set((await town.versions()).map(({ version }) => version));
  const barred = await barredEvents(town);
  const { versions, asked } = await goOn(
    stage,
    wishes.filter(({ parameter }) => parameter !== wish.parameter),
  );
  const after = await usedUnasked(stage, wish);
  say(`  with quarantine: used unasked ${after.share} after ${versions} versions`);
  const since = (await town.versions()).filter(({ version }) => !before.has(version));
  const relearned = since.filter(({ events }) => events.some(({ eventId }) => barred.has(eventId)));
  const bars: Bar[] = [
    atMost("rolled back: the behaviour", gone.share, KNOWN, "share"),
    atLeast("without quarantine: the behaviour returns", again.share, KNOWN, "share"),
    atMost("with quarantine: the behaviour, more than before it was learned", rise(gone, after), NOISE, "share"),
    atLeast("with quarantine: events that are barred", barred.size, 1, "events"),
    atMost("with quarantine: versions made from events that are in quarantine", relearned.length, 0, "versions"),
    atLeast("with quarantine: versions made meanwhile", versions, Math.ceil(sizes.updates / 2), "versions"),
  ];
  const figures = { wish: `${wish.parameter} = ${wish.value}`, to, learned: used, rolledBack: gone, withoutQuarantine: again };
  return { figures: { ...figures, inQuarantine: barred.size, withQuarantine: after, updatesAsked: asked, versions }, bars };
}

async function barredEvents(town: Town): Promise<Set<string>> {
  const barred = new Set<string>();
  for (let after: string | undefined; ;) {
    const query = new URLSearchParams({ limit: "100", ...(after !== undefined && { after }) });
    const { events } = Barred.parse(await town.admin("GET", `/api/agents/${town.agent}/quarantine?${query.toString()}`));
    for (const { eventId } of events) barred.add(eventId);
    after = events.at(-1)?.eventId;
    if (after === undefined) return barred;
  }
}

/** Voices one wish after another until the policy has taken one up; `to` is the version before it did. */
async function teach(stage: Stage): Promise<{ wish: Preference; to: number; used: { share: number | null } } | undefined> {
  const { town, wishes } = stage;
  for await (const wish of unmet(stage, wishes.slice(1).toReversed())) {
    for (let time = 0; time < EACH; time += 1) {
      const { stable } = await town.head();
      await sayTogether(stage, wish, 1 + time);
      await town.learn();
      const used = await usedUnasked(stage, wish);
      say(`  taught ${wish.parameter} = ${wish.value}: version ${stable} → ${(await town.head()).stable}, used unasked ${used.share}`);
      if ((used.share ?? 0) >= KNOWN) return { wish, to: stable, used };
    }
  }
  return undefined;
}

/** Other wishes, until as many updates have been made as were asked for or half as many again were tried. */
async function goOn(stage: Stage, others: readonly Preference[]): Promise<{ versions: number; asked: number }> {
  const { town, sizes } = stage;
  let [versions, asked] = [0, 0];
  while (versions < sizes.updates && asked < 1.5 * sizes.updates) {
    const other = others[asked % others.length];
    if (other === undefined) break;
    asked += 1;
    for await (const wish of unmet(stage, [other])) {
      await sayTogether(stage, wish, 10);
      versions += (await town.learn()).filter((result) => result === "published").length;
      say(`  update ${asked}: ${wish.parameter} = ${wish.value}, ${versions} of ${sizes.updates} versions`);
    }
  }
  return { versions, asked };
}
