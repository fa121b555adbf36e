/** Who moved what and why, and what was looked at and not learned from. */
import type { AuditRow } from "../../shared/api.ts";
import type { AgentView } from "../agent-page.tsx";
import { count } from "../../shared/count.ts";
import { time } from "../format.ts";
import { Loaded } from "../parts/shown.tsx";
import { More, Table } from "../parts/table.tsx";
import { type Paging, usePages } from "../pages.ts";

const PAGING: Paging<{ audit: AuditRow[] }, AuditRow> = {
  itemsOf: ({ audit }) => audit,
  idOf: ({ id }) => id,
  after: ({ id }) => `before=${id}`,
  size: 50,
};

export function Audit({ agent, live }: AgentView) {
  const rows = usePages(`/api/agents/${agent}/audit?limit=50`, PAGING, live.ticks);
  return (
    <section>
      <h1>Audit</h1>
      <Loaded from={rows}>
        {() => (
          <>
            <Table label="Moves, newest first" columns={["when", "move", "by", "stable version", "why"]}>
              {rows.items.map(({ id, createdAt, move, actor, from, to, reason, refused }) => (
                <tr key={id}>
                  <td>
                    <time dateTime={createdAt}>{time(createdAt)}</time>
                  </td>
                  <td>{move}</td>
                  <td>
                    <code>{actor}</code>
                  </td>
                  <td>{from === to ? (to ?? "–") : `${from ?? "–"} → ${to ?? "–"}`}</td>
                  <td>
                    {reason}
                    {refused.length > 0 && (
                      <details>
                        <summary>{count(refused.length, "event")} not learned from</summary>
                        <ul>
                          {refused.map(({ eventId, code, detail }) => (
                            <li key={eventId}>
                              <code>{code}</code> {detail}
                            </li>
                          ))}
                        </ul>
                      </details>
                    )}
                  </td>
                </tr>
              ))}
            </Table>
            <More what="moves" pages={rows} />
          </>
        )}
      </Loaded>
    </section>
  );
}
