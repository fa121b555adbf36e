/** How a version did beside the stable one: while it is on trial, both arms; afterwards what was decided, and why. */
import { API } from "../../shared/api-routes.ts";
import type { Arm, Release, Sample } from "../../shared/api.ts";
import type { VersionStatus } from "../../shared/release.ts";
import type { Line } from "../address.ts";
import { moveText } from "../audit-words.ts";
import { number, percent, time } from "../format.ts";
import type { Live } from "../live.ts";
import { useResource } from "../resource.ts";
import { Actor, useKeyNames } from "./actor.tsx";
import { Table } from "./table.tsx";

const MEASURES: readonly (readonly [keyof Arm, string, (mean: number) => string])[] = [
  ["score", "reward of a conversation, 0 to 100", (mean) => number(100 * mean)],
  ["failed", "turns that failed", percent],
  ["invalid", "calls that break their schema", percent],
  ["tokens", "tokens of an answer", number],
];

/** Moves that a trial ends or begins by. */
const MOVES: ReadonlySet<string> = new Set(["promote", "rollback", "ask"]);

type Tried = Line & { version: number; status: VersionStatus; live: Live };

export function Trial({ agent, line, version, status, live }: Tried) {
  const release = useResource(status === "canary" ? API.release.at({ agent }, { line }) : null, live.ticks);
  const audit = useResource(version === 0 ? null : API.audit.at({ agent }, { only: "people", line, version }), live.moves);
  const names = useKeyNames();
  const canary = release.data?.canary;
  const moves = (audit.data?.audit ?? []).filter(({ move }) => MOVES.has(move));
  if (canary?.version !== version && moves.length === 0) return null;
  return (
    <>
      <h2>Trial and verdicts</h2>
      {canary?.version === version && (
        <>
          <p>
            Since {time(canary.since)}: <TrialNow canary={canary} />
          </p>
          <Table label="Trial" columns={["measured over conversations", `version ${version}`, "stable version"]}>
            {MEASURES.map(([name, words, shown]) => (
              <tr key={name}>
                <th scope="row">{words}</th>
                <td>{armOf(canary.arms.canary[name], shown)}</td>
                <td>{armOf(canary.arms.stable[name], shown)}</td>
              </tr>
            ))}
          </Table>
        </>
      )}
      <ul>
        {moves.map(({ id, move, from, to, reason, actor, createdAt }) => (
          <li key={id}>
            {time(createdAt)}: {moveText(move)}, {from === to ? `version ${to} goes on answering` : `from version ${from} to ${to}`}, by{" "}
            <Actor actor={actor} names={names} />
            {reason === null ? "" : `: ${reason}`}
          </li>
        ))}
      </ul>
    </>
  );
}

/** How a trial stands, and that it waits for a person where it does. */
export function TrialNow({ canary: { share, askedAt, verdict } }: { canary: NonNullable<Release["canary"]> }) {
  return (
    <>
      {percent(share)} of new conversations; {verdict.reason}
      {askedAt !== null && (
        <strong class="block">It has gone on for long, and waits for you since {time(askedAt)}: promote it, or end the trial.</strong>
      )}
    </>
  );
}

function armOf({ count, mean }: Sample, shown: (mean: number) => string): string {
  return count === 0 ? "none yet" : `${shown(mean)} over ${count}`;
}
