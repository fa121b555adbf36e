/** Who moved what and why, and what was looked at and not learned from. */
import { useState } from "preact/hooks";
import type { AuditRow } from "../../shared/api.ts";
import type { AgentView } from "../agent-page.tsx";
import { get } from "../api.ts";
import { count, time } from "../format.ts";
import { Loaded, Problem, Scroll } from "../parts/shown.tsx";
import { useAction, useResource } from "../resource.ts";

type Page = { audit: AuditRow[] };
const PAGE = 50;

export function Audit({ agent, live }: AgentView) {
  const path = `/api/agents/${agent}/audit?limit=${PAGE}`;
  const newest = useResource<Page>(path, live.ticks);
  const [older, setOlder] = useState<readonly AuditRow[]>([]);
  const { run, busy, error } = useAction();
  const first = newest.data?.audit ?? [];
  const oldest = first.at(-1)?.id ?? 0;
  const rows = [...first, ...older.filter(({ id }) => id < oldest)];
  const more = (): void =>
    run(async () => {
      const page = await get<Page>(`${path}&before=${rows.at(-1)?.id ?? 0}`);
      setOlder([...older, ...page.audit]);
    });
  return (
    <section>
      <h1>Audit</h1>
      <Loaded from={newest}>
        {() => (
          <>
            <Scroll label="Moves, newest first">
              <table>
                <thead>
                  <tr>
                    <th scope="col">when</th>
                    <th scope="col">move</th>
                    <th scope="col">by</th>
                    <th scope="col">stable version</th>
                    <th scope="col">why</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map(({ id, createdAt, move, actor, from, to, reason, refused }) => (
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
                </tbody>
              </table>
            </Scroll>
            <Problem error={error} />
            {first.length === PAGE && (rows.at(-1)?.id ?? 0) > 1 && (
              <button type="button" class="secondary" disabled={busy} aria-busy={busy} onClick={more}>
                Load older moves
              </button>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}
