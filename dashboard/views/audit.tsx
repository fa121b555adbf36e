/** Who moved what and why, what was looked at and not learned from, and what is kept from being learned. */
import { useState } from "preact/hooks";
import { API } from "../../shared/api-routes.ts";
import type { AuditRow } from "../../shared/api.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { addressOf, conversationOf, type Line } from "../address.ts";
import type { AgentView } from "../agent-page.tsx";
import { send } from "../api.ts";
import { count } from "../../shared/count.ts";
import { time } from "../format.ts";
import { Actor, type KeyNames, useKeyNames } from "../parts/actor.tsx";
import { Empty, Loaded, Problem } from "../parts/shown.tsx";
import { More, Table } from "../parts/table.tsx";
import { BARRED_PAGING, type Paging, usePages } from "../pages.ts";
import { useAction } from "../resource.ts";

const PAGING: Paging<{ audit: AuditRow[] }, AuditRow> = {
  itemsOf: ({ audit }) => audit,
  idOf: ({ id }) => id,
  after: ({ id }) => ({ before: id }),
  size: 50,
};

const SHOWN = {
  people: "what people did, and what became of versions",
  refused: "what was not learned from, and why",
  all: "everything, with what trainer and edge note down",
} as const;
type Shown = keyof typeof SHOWN;
const isShown = (name: string): name is Shown => Object.hasOwn(SHOWN, name);

export function Audit({ agent, line, live }: AgentView) {
  const [shown, setShown] = useState<Shown>("people");
  const only = shown === "all" ? undefined : shown;
  const names = useKeyNames();
  const rows = usePages(API.audit.at({ agent }, { limit: 50, only }), PAGING, live.ticks);
  return (
    <section>
      <header class="row">
        <h1>Audit</h1>
        <label>
          <span class="visually-hidden">Show</span>
          <select value={shown} onChange={({ currentTarget: { value } }) => isShown(value) && setShown(value)}>
            {Object.entries(SHOWN).map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </header>
      <Loaded from={rows}>
        {() => (
          <>
            {rows.items.length === 0 ? (
              <Empty>Nothing yet: whatever was said so far was learned from, or has not been looked at.</Empty>
            ) : (
              <Table label="Moves, newest first" columns={["when", "move", "by", "stable version", "why"]}>
                {rows.items.map(({ id, line: of, createdAt, move, actor, from, to, versions, reason, refused }) => (
                  <tr key={id}>
                    <td>
                      <time dateTime={createdAt}>{time(createdAt)}</time>
                    </td>
                    <td>
                      {move}
                      {from === to && versions.length > 0 && (
                        <small class="block">of {versions.map((version) => `version ${version}`).join(", ")}</small>
                      )}
                      {of !== SHARED_LINE && (
                        <small class="block">
                          of <a href={addressOf({ agent, line: of }, "versions")}>{of}</a>
                        </small>
                      )}
                    </td>
                    <td>
                      <Actor actor={actor} names={names} />
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
                                {detail}{" "}
                                <small>
                                  <code>{code}</code>
                                </small>
                              </li>
                            ))}
                          </ul>
                        </details>
                      )}
                    </td>
                  </tr>
                ))}
              </Table>
            )}
            <More what="moves" pages={rows} />
            <Quarantine agent={agent} line={line} version={live.ticks} names={names} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function Quarantine({ agent, line, version, names }: Line & { version: number; names: KeyNames }) {
  const barred = usePages(API.quarantined.at({ agent }, { line }), BARRED_PAGING, version);
  const { run, busy, error } = useAction();
  const free = (eventId: string): void =>
    run(async () => {
      await send(API.letBackIn.at({ agent }), { events: [eventId], reason: "from the dashboard" });
      barred.reload();
    });
  return (
    <>
      <h2>Quarantine</h2>
      <Problem error={error} />
      <Loaded from={barred}>
        {() =>
          barred.items.length === 0 ? (
            <Empty>Nothing is kept from being learned. A rollback, or the button beside a judgement, puts it here.</Empty>
          ) : (
            <Table label="Events that no version learns from" columns={["since", "said in", "by", "why", "moves"]}>
              {barred.items.map(({ eventId, turnId, createdAt, actor, reason, forGood }) => (
                <tr key={eventId}>
                  <td>
                    <time dateTime={createdAt}>{time(createdAt)}</time>
                  </td>
                  <td>
                    <a href={conversationOf(agent, turnId)}>its conversation</a>
                  </td>
                  <td>
                    <Actor actor={actor} names={names} />
                  </td>
                  <td>{reason}</td>
                  <td>
                    {forGood ? (
                      "for good"
                    ) : (
                      <button type="button" class="link" disabled={busy} onClick={() => free(eventId)}>
                        let back in
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
      <More what="events" pages={barred} />
    </>
  );
}
