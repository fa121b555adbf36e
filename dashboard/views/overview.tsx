/** Whether the agent gets better: reward and corrections over time, with the versions drawn in, what is happening now, and what was heard. */
import { useMemo, useState } from "preact/hooks";
import { API } from "../../shared/api-routes.ts";
import type { ListedVersion, Release, SeriesPoint } from "../../shared/api.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { addressOf, type Line as Of } from "../address.ts";
import type { AgentView } from "../agent-page.tsx";
import { SMALL_CIRCLE } from "../../shared/small-circle.ts";
import { count } from "../../shared/count.ts";
import { number, percent, time } from "../format.ts";
import { Chart, type Line } from "../parts/chart.tsx";
import { Heard } from "../parts/heard.tsx";
import { TakeBack, VersionMoves } from "../parts/moves.tsx";
import { Empty, Loaded, Problem, Tile } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { TrialNow } from "../parts/trial.tsx";
import { VersionLinks } from "../parts/version-links.tsx";
import { TrainerNow } from "../parts/trainer-now.tsx";
import { useResource } from "../resource.ts";

type Step = "hour" | "day";

const FEWEST_POINTS = 3;

export function Overview({ agent, line, personal, live, onChanged }: AgentView) {
  const [step, setStep] = useState<Step>("hour");
  const release = useResource(API.release.at({ agent }, { line }), live.ticks);
  const series = useResource(API.series.at({ agent }, { step }), live.ticks);
  const versions = useResource(API.versions.at({ agent }, { line }), live.moves);
  const moved = (said: string): void => {
    release.reload();
    onChanged(said);
  };
  return (
    <section>
      <h1>{agent}</h1>
      {personal && line === SHARED_LINE && (
        <p>
          Its users each teach a line of their own, over this one, which answers whoever has taught nothing yet. A line is chosen above once
          it has begun.
        </p>
      )}
      {release.data?.faults.map((fault) => (
        <Problem key={fault} error={`${fault}. Whom it would answer gets an error instead, unless its files are still in memory.`} />
      ))}
      <Loaded from={release}>
        {(shown) => <Tiles agent={agent} line={line} release={shown} versions={versions.data?.versions ?? []} onMoved={moved} />}
      </Loaded>
      <TrainerNow agent={agent} line={line} live={live} />
      <Heard agent={agent} line={line} only={line === SHARED_LINE ? {} : { user: line }} version={live.ticks} />
      <header class="row">
        <h2>Over time{line === SHARED_LINE ? "" : ", all users"}</h2>
        <label>
          <span class="visually-hidden">Interval</span>
          <select value={step} onChange={({ currentTarget }) => setStep(currentTarget.value === "day" ? "day" : "hour")}>
            <option value="hour">48 hours</option>
            <option value="day">30 days</option>
          </select>
        </label>
      </header>
      <Loaded from={series}>
        {({ points }) => <Charts of={{ agent, line }} points={points} versions={versions.data?.versions ?? []} />}
      </Loaded>
    </section>
  );
}

type Shown = Of & { release: Release; versions: readonly ListedVersion[]; onMoved: (said: string) => void };

function Tiles({ agent, line, release, versions, onMoved }: Shown) {
  const { stable, canary, audience, turnsPerDay, waiting } = release;
  const made = versions.find(({ version }) => version === stable);
  return (
    <div class="tiles">
      <Tile
        label="Answering now"
        note={stable === 0 ? bareOf(line) : made === undefined ? undefined : learnedText(made)}
        moves={made !== undefined && <TakeBack agent={agent} line={line} version={made} stable={stable} onMoved={onMoved} />}
      >
        <a href={addressOf({ agent, line }, `versions/${stable}`)}>version {stable}</a>
      </Tile>
      {canary === null ? (
        <Tile label="On trial" note={<NothingOnTrial of={{ agent, line }} newest={versions[0]} />}>
          nothing
        </Tile>
      ) : (
        <Tile
          label="On trial"
          note={<TrialNow canary={canary} />}
          moves={
            <VersionMoves
              agent={agent}
              line={line}
              version={{ version: canary.version, parent: stable, status: "canary" }}
              stable={stable}
              onMoved={onMoved}
            />
          }
        >
          <a href={addressOf({ agent, line }, `versions/${canary.version}`)}>version {canary.version}</a>
        </Tile>
      )}
      <Tile label="Turns a day" note={waiting.length === 0 ? undefined : `${count(waiting.length, "version")} waiting for the trial`}>
        {number(turnsPerDay)}
      </Tile>
      <Tile
        label="Users in 30 days"
        note={audience.users < SMALL_CIRCLE ? "so few that what one of them corrects is learned for all" : undefined}
      >
        {audience.users}
      </Tile>
    </div>
  );
}

/** Where a correction came to nothing because its version was refused, that is said where the version is looked for. */
function NothingOnTrial({ of, newest }: { of: Of; newest: ListedVersion | undefined }) {
  if (newest?.status !== "refused") return <>a new version is tried on a share of the users first, where there are enough to compare</>;
  return (
    <>
      the gate refused <VersionLinks agent={of.agent} line={of.line} versions={[newest.version]} />, the last that was made: it would have
      cost more than it may
    </>
  );
}

function bareOf(line: string): string {
  return line === SHARED_LINE ? "the bare base: nothing is learned" : "nothing of its own: everybody's version answers this user";
}

/** What a version has learned, and from how many. */
function learnedText({ hints, events, createdAt }: ListedVersion): string {
  const users = count(new Set(events.map(({ user }) => user)).size, "user");
  const further = hints.length > 1 ? ` and ${hints.length - 1} more` : "";
  const learned = hints.length > 0 ? `“${hints[0]}”${further} from ${users}` : `from answers or scores of ${users}`;
  return `learned ${learned}, ${time(createdAt)}`;
}

/** From a little before anything happened: an agent's first hour is no speck at the end of two empty days. */
function sinceFirst(points: readonly SeriesPoint[]): readonly SeriesPoint[] {
  const first = points.findIndex(({ turns, judged }) => turns + judged > 0);
  return first < 0 ? points : points.slice(Math.max(0, Math.min(first - 1, points.length - FEWEST_POINTS)));
}

function correctionRate({ judged, corrections }: SeriesPoint): number | null {
  return judged === 0 ? null : corrections / judged;
}

type Drawn = { of: Of; points: readonly SeriesPoint[]; versions: readonly ListedVersion[] };

function Charts({ of, points: all, versions }: Drawn) {
  const points = useMemo(() => sinceFirst(all), [all]);
  const times = useMemo(() => points.map(({ at }) => Date.parse(at) / 1_000), [points]);
  const marks = useMemo(
    () =>
      versions.flatMap(({ version, status, createdAt }) =>
        version === 0 || status === "refused" ? [] : [{ at: Date.parse(createdAt) / 1_000, label: `v${version}` }],
      ),
    [versions],
  );
  const reward = useMemo(
    (): Line[] => [
      { label: "mean reward", color: "#1f78d1", values: points.map(({ reward: mean }) => mean) },
      { label: "correction rate", color: "#c4622d", values: points.map(correctionRate) },
    ],
    [points],
  );
  const counts = useMemo(
    (): Line[] => [
      { label: "turns", color: "#7a8694", bars: true, values: points.map(({ turns }) => turns) },
      { label: "corrections", color: "#c4622d", values: points.map(({ corrections }) => corrections) },
    ],
    [points],
  );
  if (points.every(({ turns, judged }) => turns === 0 && judged === 0))
    return (
      <Empty>
        No turn in this time. Talk to the agent in the <a href={addressOf(of, "playground")}>playground</a>, or with any OpenAI client.
      </Empty>
    );
  return (
    <>
      <Chart
        label="Of judged answers: mean reward, −1 to 1, and the share that was corrected"
        times={times}
        lines={reward}
        marks={marks}
        range={[-1.05, 1.05]}
      />
      <Chart label="Turns and corrections" times={times} lines={counts} marks={marks} height={160} />
      <details>
        <summary>As a table</summary>
        <Table label="Figures by interval" columns={["from", "turns", "judged", "mean reward", "corrections", "correction rate"]}>
          {points
            .filter(({ turns, judged }) => turns + judged > 0)
            .map((point) => ({ ...point, rate: correctionRate(point) }))
            .map(({ at, turns, judged, reward: mean, corrections, rate }) => (
              <tr key={at}>
                <td>{time(at)}</td>
                <td>{turns}</td>
                <td>{judged}</td>
                <td>{mean === null ? "–" : number(mean)}</td>
                <td>{corrections}</td>
                <td>{rate === null ? "–" : percent(rate)}</td>
              </tr>
            ))}
        </Table>
      </details>
    </>
  );
}
