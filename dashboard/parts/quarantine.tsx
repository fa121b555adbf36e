/** What is kept from being learned, by what it said where that is known, and how it is let back in. */
import { useState } from "preact/hooks";
import { API } from "../../shared/api-routes.ts";
import { conversationOf, type Line } from "../address.ts";
import { send } from "../api.ts";
import { time } from "../format.ts";
import { BARRED_PAGING, usePages } from "../pages.ts";
import { useAction } from "../resource.ts";
import { useTaught } from "../taught.ts";
import { Actor, type KeyNames } from "./actor.tsx";
import { Empty, Loaded, Problem } from "./shown.tsx";
import { More, Table } from "./table.tsx";

export function Quarantine({ agent, line, version, names }: Line & { version: number; names: KeyNames }) {
  const barred = usePages(API.quarantined.at({ agent }, { line }), BARRED_PAGING, version);
  const taught = useTaught({ agent, line }, version);
  const { run, busy, error } = useAction();
  const [lastLetIn, setLastLetIn] = useState<string>();
  const wordsOf = (eventId: string): string => taught.get(eventId)?.join(" ") ?? "what was said in this conversation";
  const letIn = (eventId: string): void =>
    run(async () => {
      await send(API.letIn.at({ agent }), { events: [eventId] });
      setLastLetIn(wordsOf(eventId));
      barred.reload();
    });
  return (
    <>
      <h2>Quarantine</h2>
      <p>No version learns from what stands here, until somebody lets it back in.</p>
      <p role="status">{lastLetIn !== undefined && `Let back in: ${lastLetIn} The next version may learn from it.`}</p>
      <Problem error={error} />
      <Loaded from={barred}>
        {() =>
          barred.items.length === 0 ? (
            <Empty>
              Nothing is kept from being learned. A rollback puts here what it takes back, and so does the button beside what was heard in a
              conversation.
            </Empty>
          ) : (
            <Table label="Events that no version learns from" columns={["since", "correction", "by", "why", "moves"]}>
              {barred.items.map(({ eventId, turnId, createdAt, actor, reason, forGood }) => (
                <tr key={eventId}>
                  <td>
                    <time dateTime={createdAt}>{time(createdAt)}</time>
                  </td>
                  <td>
                    <a href={conversationOf(agent, turnId)}>{wordsOf(eventId)}</a>
                  </td>
                  <td>
                    <Actor actor={actor} names={names} />
                  </td>
                  <td>{reason}</td>
                  <td>
                    {forGood ? (
                      "for good"
                    ) : (
                      <button type="button" class="small secondary" disabled={busy} onClick={() => letIn(eventId)}>
                        Let back in
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
