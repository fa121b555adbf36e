/** All agents that the key reaches, and how one is made. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { API } from "../../shared/api-routes.ts";
import { AGENT_NAME } from "../../shared/agent-name.ts";
import { send } from "../api.ts";
import type { Listed } from "../dashboard.tsx";
import { count } from "../../shared/count.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { Empty } from "../parts/shown.tsx";
import type { Resource } from "../resource.ts";

export function Agents({ listed }: { listed: Resource<Listed> }) {
  const [making, setMaking] = useState(false);
  const agents = listed.data?.agents ?? [];
  return (
    <section>
      <header class="row">
        <h1>Agents</h1>
        <button type="button" onClick={() => setMaking(true)}>
          New agent
        </button>
      </header>
      {agents.length === 0 && <Empty>No agent yet. A new one serves as soon as it has a name.</Empty>}
      <div class="tiles">
        {agents.map(({ agent, stable, latest, canary, settings }) => (
          <article key={agent} class="tile">
            <h2>
              <a href={`/agents/${agent}`}>{agent}</a>
            </h2>
            <p>
              version {stable} answers{canary === null ? "" : `, version ${canary.version} is on trial`}
            </p>
            <p class="note">
              {count(latest, "version")} made, {count(settings.tools.length, "tool")}
              {settings.learning.enabled ? "" : ", learning is paused"}
            </p>
          </article>
        ))}
      </div>
      {making && <NewAgent taken={agents.map(({ agent }) => agent)} onMade={listed.reload} onClose={() => setMaking(false)} />}
    </section>
  );
}

function NewAgent({ taken, onMade, onClose }: { taken: readonly string[]; onMade: () => void; onClose: () => void }) {
  const [name, setName] = useState("");
  // To the edge it would be a change of the agent that there is, and put all its settings back.
  const isTaken = taken.includes(name);
  const isMisshapen = name !== "" && !AGENT_NAME.test(name);
  const { route } = useLocation();
  const make = async (): Promise<void> => {
    await send(API.putAgent.at({ agent: name }), {});
    onMade();
    route(`/agents/${name}/settings`);
  };
  return (
    <Dialog title="New agent" verb="Make it" disabled={name === "" || isTaken || isMisshapen} onConfirm={make} onClose={onClose}>
      <Field
        label="Name"
        problem={
          isTaken
            ? `There is an agent ${name} already; choose another name.`
            : isMisshapen
              ? "At most 63 lower-case letters, digits and hyphens expected, no hyphen first."
              : undefined
        }
        note="Lower-case letters, digits and hyphens. Clients name it as their model."
      >
        {(told) => <input {...told} name="name" required value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />}
      </Field>
    </Dialog>
  );
}
