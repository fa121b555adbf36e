/** Who did what with keys and whole agents, newest first. */
import { API } from "../../shared/api-routes.ts";
import type { DeploymentMove, ListedKey } from "../../shared/api.ts";
import { time } from "../format.ts";
import { type Paging, usePages } from "../pages.ts";
import { Actor } from "./actor.tsx";
import { Loaded } from "./shown.tsx";
import { More, Table } from "./table.tsx";

const PAGING: Paging<{ audit: DeploymentMove[] }, DeploymentMove> = {
  itemsOf: ({ audit }) => audit,
  idOf: ({ id }) => id,
  after: ({ id }) => ({ before: id }),
  size: 50,
};

const WORDS: Readonly<Record<DeploymentMove["move"], string>> = {
  makeKey: "made a key",
  rotateKey: "gave a key another secret",
  revokeKey: "revoked a key",
  deleteAgent: "deleted an agent",
};

export function DeploymentMoves({ keys }: { keys: readonly ListedKey[] }) {
  // Whatever is done here shows in the list of keys, which is then another.
  const done = keys.map(({ id, rotatedAt, revokedAt }) => `${id} ${rotatedAt} ${revokedAt}`).join();
  const moves = usePages(API.deploymentAudit.at({}, { limit: 50 }), PAGING, done);
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return (
    <Loaded from={moves}>
      {() =>
        moves.items.length > 0 && (
          <>
            <h2>What was done</h2>
            <Table label="What was done with keys, newest first" columns={["when", "what", "by", "which"]}>
              {moves.items.map(({ id, move, actor, subject, detail, createdAt }) => (
                <tr key={id}>
                  <td>
                    <time dateTime={createdAt}>{time(createdAt)}</time>
                  </td>
                  <td>{WORDS[move]}</td>
                  <td>
                    <Actor actor={actor} names={names} />
                  </td>
                  <td>
                    {detail} <small class="block">{subject}</small>
                  </td>
                </tr>
              ))}
            </Table>
            <More what="moves" pages={moves} />
          </>
        )
      }
    </Loaded>
  );
}
