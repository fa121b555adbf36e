/** Who may ask: keys are made, rotated and revoked here, and shown once. */
import { useState } from "preact/hooks";
import { API } from "../../shared/api-routes.ts";
import type { ListedKey, Login, MadeKey } from "../../shared/api.ts";
import { send } from "../api.ts";
import { time } from "../format.ts";
import { DeploymentMoves } from "../parts/deployment-moves.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Loaded } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { useResource } from "../resource.ts";

type Asked = { move: "rotate" | "revoke"; key: ListedKey };

export function Keys({ login }: { login: Login }) {
  const keys = useResource(API.keys.at({}));
  const [making, setMaking] = useState(false);
  const [shown, setShown] = useState<MadeKey>();
  const [asked, setAsked] = useState<Asked>();
  const show = (made: MadeKey): void => {
    setShown(made);
    keys.reload();
  };
  return (
    <section>
      <header class="row">
        <h1>Keys</h1>
        <button type="button" onClick={() => setMaking(true)}>
          New key
        </button>
      </header>
      {shown !== undefined && (
        <output class="secret block">
          {shown.name}, shown this once: <code>{shown.key}</code>
        </output>
      )}
      <Loaded from={keys}>
        {({ keys: listed }) => (
          <Table label="Keys, newest first" columns={["name", "kind", "agents", "a minute", "made", "by", "ends", "moves"]}>
            {listed.map((key) => (
              <tr key={key.id}>
                <th scope="row">
                  {key.name} <small class="block">{key.id}</small>
                </th>
                <td>{key.kind}</td>
                <td>{key.agents?.join(", ") ?? "all"}</td>
                <td>{key.requestsPerMinute ?? "any"}</td>
                <td>{key.createdAt === null ? "–" : time(key.createdAt)}</td>
                <td>
                  {key.createdBy === null ? "–" : (listed.find(({ id }) => id === key.createdBy)?.name ?? <code>{key.createdBy}</code>)}
                </td>
                <td>{key.revokedAt !== null ? `revoked ${time(key.revokedAt)}` : key.expiresAt === null ? "–" : time(key.expiresAt)}</td>
                <td class="moves">
                  {key.revokedAt === null && (
                    <>
                      <button type="button" class="small secondary" onClick={() => setAsked({ move: "rotate", key })}>
                        Rotate
                      </button>
                      {key.id !== login.key.id && (
                        <button type="button" class="small danger" onClick={() => setAsked({ move: "revoke", key })}>
                          Revoke
                        </button>
                      )}
                    </>
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Loaded>
      {asked?.move === "rotate" && (
        <Dialog
          title={`Rotate ${asked.key.name}`}
          verb="Rotate"
          onConfirm={async () => show(await send(API.rotateKey.at({ key: asked.key.id })))}
          onClose={() => setAsked(undefined)}
        >
          <p>It gets another secret, and stays who it is. Whatever uses the old one is refused at once.</p>
          <TrainerStops of={asked.key} />
        </Dialog>
      )}
      {asked?.move === "revoke" && (
        <Revoke of={asked.key} keys={keys.data?.keys ?? []} onRevoked={keys.reload} onClose={() => setAsked(undefined)} />
      )}
      {making && <NewKey onMade={show} onClose={() => setMaking(false)} />}
      <DeploymentMoves keys={keys.data?.keys ?? []} />
    </section>
  );
}

type Revoking = { of: ListedKey; keys: readonly ListedKey[]; onRevoked: () => void; onClose: () => void };

function Revoke({ of, keys, onRevoked, onClose }: Revoking) {
  const made = madeBy(of.id, keys).filter(({ revokedAt }) => revokedAt === null);
  const [also, setAlso] = useState(false);
  return (
    <Dialog
      title={`Revoke ${of.name}`}
      verb="Revoke"
      danger
      onConfirm={() => send(API.revokeKey.at({ key: of.id }, also ? { made: "true" } : {})).then(onRevoked)}
      onClose={onClose}
    >
      <p>Whatever uses it is refused at once, and for good.</p>
      {made.length > 0 && (
        <label>
          <input type="checkbox" checked={also} onChange={({ currentTarget }) => setAlso(currentTarget.checked)} />
          Revoke what it has made, too: {made.map(({ name }) => name).join(", ")}
        </label>
      )}
      {[of, ...(also ? made : [])].map((key) => (
        <TrainerStops key={key.id} of={key} />
      ))}
    </Dialog>
  );
}

/** What a key has made, and what those have made. */
function madeBy(id: string, keys: readonly ListedKey[]): ListedKey[] {
  return keys.filter(({ createdBy }) => createdBy === id).flatMap((key) => [key, ...madeBy(key.id, keys)]);
}

function TrainerStops({ of: { kind } }: { of: ListedKey }) {
  if (kind !== "trainer") return null;
  return (
    <p class="problem">
      A trainer that uses it stops: nothing is judged and nothing is learned until it is started with a key that is valid.
    </p>
  );
}

function NewKey({ onMade, onClose }: { onMade: (made: MadeKey) => void; onClose: () => void }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<ListedKey["kind"]>("client");
  const [agents, setAgents] = useState("");
  const [limit, setLimit] = useState("");
  const [ends, setEnds] = useState("");
  const make = async (): Promise<void> => {
    const named = agents.split(/[\s,]+/).filter(Boolean);
    onMade(
      await send(API.makeKey.at({}), {
        kind,
        name,
        ...(named.length === 0 ? {} : { agents: named }),
        // Of the day that is named all of it counts, by the clock of whoever looks.
        ...(ends === "" ? {} : { expiresAt: new Date(`${ends}T23:59:59`).toISOString() }),
        ...(limit === "" ? {} : { requestsPerMinute: Number(limit) }),
      }),
    );
  };
  return (
    <Dialog title="New key" verb="Make it" disabled={name === ""} onConfirm={make} onClose={onClose}>
      <label>
        Name
        <input required value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
      </label>
      <label>
        Kind
        <select value={kind} onChange={({ currentTarget }) => setKind(currentTarget.value as ListedKey["kind"])}>
          <option value="client">client: asks agents</option>
          <option value="admin">admin: this dashboard and its API</option>
          <option value="trainer">trainer: reads the log and publishes</option>
        </select>
      </label>
      <label>
        Agents, by name or by beginning as in acme-*; empty for all
        <input value={agents} onInput={({ currentTarget }) => setAgents(currentTarget.value)} />
      </label>
      <label>
        Requests a minute; empty for any number
        <input type="number" min={1} value={limit} onInput={({ currentTarget }) => setLimit(currentTarget.value)} />
      </label>
      <label>
        Last day on which it is good; empty for no end
        <input type="date" value={ends} onInput={({ currentTarget }) => setEnds(currentTarget.value)} />
      </label>
    </Dialog>
  );
}
