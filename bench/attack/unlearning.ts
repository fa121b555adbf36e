/**
 * A rollback that un-learns: with quarantine what the versions taken back had learned stays away through further updates;
 * without, it is learned again at once.
 */
import { atLeast, atMost, say } from "../bench.ts";
import { rise, sayTogether, usedUnasked, type Outcome, type Stage } from "./scenario.ts";

export async function unlearning(stage: Stage): Promise<Outcome> {
  const { town, wishes, sizes } = stage;
  const [, wish, ...others] = wishes;
  if (wish === undefined) throw new Error("a second wish expected");
  await town.admin("POST", `/api/agents/${town.agent}/rollback`, { to: 0, quarantine: false, reason: "bench" });
  const gone = await usedUnasked(stage, wish);
  await town.learn();
  const again = await usedUnasked(stage, wish);
  say(`  without quarantine: used unasked ${gone.share} after the rollback, ${again.share} after the next update`);
  await town.admin("POST", `/api/agents/${town.agent}/rollback`, { to: 0, quarantine: true, reason: "bench" });
  let versions = 0;
  for (let update = 0; update < sizes.updates; update += 1) {
    const other = others[update % others.length];
    if (other === undefined) break;
    const value = update < others.length ? other.value : (otherValue(other) ?? other.value);
    await sayTogether(stage, { ...other, value }, 10);
    versions += (await town.learn()).filter((result) => result === "published").length;
    say(`  update ${update + 1} of ${sizes.updates}: ${other.parameter} = ${value}, ${versions} versions`);
  }
  const after = await usedUnasked(stage, wish);
  say(`  with quarantine: used unasked ${after.share} after ${versions} versions`);
  return {
    figures: { rolledBack: gone, withoutQuarantine: again, withQuarantine: after, updatesAsked: sizes.updates, versions },
    bars: [
      atLeast("without quarantine: the behaviour returns", again.share, 0.5, "share"),
      atMost("with quarantine: the behaviour, more than before it was learned", rise(gone, after), 0, "share"),
      atLeast("with quarantine: versions made meanwhile", versions, Math.min(sizes.updates, 3), "versions"),
    ],
  };
}

/** Another value that people state for the same argument. */
function otherValue({ stated, parameter, value }: Stage["wishes"][number]): string | undefined {
  return stated.map(({ call }) => String(call.arguments[parameter])).find((each) => each !== value);
}
