/** The line's versions: as a graph, and one by one with what each learned and what became of it. */
import { API } from "../../shared/api-routes.ts";
import type { ListedVersion } from "../../shared/api.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { addressOf, type Line } from "../address.ts";
import type { AgentView } from "../agent-page.tsx";
import { count } from "../../shared/count.ts";
import { number, seconds, time } from "../format.ts";
import { Lineage } from "../parts/lineage.tsx";
import { VersionMoves } from "../parts/moves.tsx";
import { Empty, Loaded, StatusBadge } from "../parts/shown.tsx";
import { More, Table } from "../parts/table.tsx";
import { usePages, VERSION_PAGING } from "../pages.ts";

export function Versions({ agent, line, live, onChanged }: AgentView) {
  const page = usePages(API.versions.at({ agent }, { line }), VERSION_PAGING, live.ticks);
  const moved = (said: string): void => {
    page.reload();
    onChanged(said);
  };
  return (
    <section>
      <h1>Versions of {agent}</h1>
      <Loaded from={page}>
        {() => (
          <>
            <Lineage agent={agent} line={line} versions={page.items} />
            <Table label="Versions, newest first" columns={["version", "status", "what it learned", "how", "made", "moves"]}>
              {page.items.map((version) => (
                <Row key={version.version} agent={agent} line={line} version={version} stable={page.data?.stable ?? 0} onMoved={moved} />
              ))}
            </Table>
            <More what="versions" pages={page} />
            {page.data?.latest === 0 && (
              <Empty>
                Nothing is learned yet. Correct an answer in the <a href={addressOf({ agent, line }, "playground")}>playground</a>: a
                version comes of it in minutes, and can be rolled back here.
              </Empty>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

type Listed = Line & { version: ListedVersion; stable: number; onMoved: (said: string) => void };

function Row({ agent, line, version: each, stable, onMoved }: Listed) {
  const { version, status, hints, events, metrics, createdAt, parent, over } = each;
  const users = new Set(events.map(({ user }) => user)).size;
  return (
    <tr>
      <th scope="row">
        <a href={addressOf({ agent, line }, `versions/${version}`)}>{version}</a>
        {parent !== version && <small> from {parent}</small>}
        {over !== null && (
          <small class="block">
            over <a href={addressOf({ agent, line: SHARED_LINE }, `versions/${over}`)}>everybody&#39;s {over}</a>
          </small>
        )}
      </th>
      <td>
        <StatusBadge status={status} />
      </td>
      <td>
        {parent === version ? baseOf(line) : hints.length > 0 ? hints.join(" ") : events.length > 0 ? "supplied answers, or rewards" : "–"}
        {events.length > 0 && (
          <small class="block">
            {count(events.length, "event")} of {count(users, "user")}
          </small>
        )}
      </td>
      <td>
        {metrics === null ? (
          "–"
        ) : (
          <small>
            {metrics.steps} steps in {seconds(metrics.seconds)}, loss {number(metrics.lossBefore)} → {number(metrics.loss)}, KL to base{" "}
            {number(metrics.klToBaseNats)} nats
          </small>
        )}
      </td>
      <td>
        <time dateTime={createdAt}>{time(createdAt)}</time>
      </td>
      <td class="moves">
        <VersionMoves agent={agent} line={line} version={each} stable={stable} onMoved={onMoved} />
      </td>
    </tr>
  );
}

function baseOf(line: string): string {
  return line === SHARED_LINE ? "the bare base" : "nothing yet: everybody's version answers";
}
