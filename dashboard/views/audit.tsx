/** Who moved what and why, what was looked at and not learned from, and what is kept from being learned. */
import { useState } from "preact/hooks";
import { API } from "../../shared/api-routes.ts";
import type { AuditRow } from "../../shared/api.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { addressOf, conversationOf } from "../address.ts";
import type { AgentView } from "../agent-page.tsx";
import { moveText, refusedText } from "../audit-words.ts";
import { count } from "../../shared/count.ts";
import { time } from "../format.ts";
import { Actor, type KeyNames, useKeyNames } from "../parts/actor.tsx";
import { Quarantine } from "../parts/quarantine.tsx";
import { Empty, Loaded } from "../parts/shown.tsx";
import { More, Table } from "../parts/table.tsx";
import { VersionLinks } from "../parts/version-links.tsx";
import { type Paging, usePages } from "../pages.ts";

const PAGING: Paging<{ audit: AuditRow[] }, AuditRow> = {
  itemsOf: ({ audit }) => audit,
  idOf: ({ id }) => id,
  after: ({ id }) => ({ before: id }),
  size: null, // fewer come where they are large
  isEnd: ({ id }) => id === 1,
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
              <Table label="Moves, newest first" columns={["when", "what", "by", "stable version", "why"]}>
                {rows.items.map((row) => (
                  <Move key={row.id} agent={agent} row={row} names={names} />
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

function Move({ agent, row, names }: { agent: string; row: AuditRow; names: KeyNames }) {
  const { line: of, createdAt, move, actor, from, to, versions, reason, refused, changes } = row;
  return (
    <tr>
      <td>
        <time dateTime={createdAt}>{time(createdAt)}</time>
      </td>
      <td>
        {moveText(move)}
        {from === to && versions.length > 0 && (
          <small class="block">
            <VersionLinks agent={agent} line={of} versions={versions} />
          </small>
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
      <td>
        {from !== to && from !== null && (
          <>
            <VersionLinks agent={agent} line={of} versions={[from]} /> →{" "}
          </>
        )}
        {to === null ? "–" : <VersionLinks agent={agent} line={of} versions={[to]} />}
      </td>
      <td>
        {reason}
        <Changes changes={changes} />
        {refused.length > 0 && (
          <details>
            <summary>{count(refused.length, "event")} not learned from</summary>
            <ul>
              {refused.map((each) => (
                <li key={each.eventId}>
                  <a href={conversationOf(agent, each.eventId)}>{refusedText(each)}</a>{" "}
                  <small>
                    {refusedText(each) !== each.detail && `${each.detail} `}
                    <code>{each.code}</code>
                  </small>
                </li>
              ))}
            </ul>
          </details>
        )}
      </td>
    </tr>
  );
}

/** What was set, from what to what. */
function Changes({ changes }: Pick<AuditRow, "changes">) {
  if (changes.length === 0) return null;
  return (
    <ul>
      {changes.map(({ setting, before, after }) => (
        <li key={setting}>
          {setting}
          {(before !== null || after !== null) && (
            <>
              : <code>{before ?? "nothing"}</code> → <code>{after ?? "nothing"}</code>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
