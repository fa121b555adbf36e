/** All agents that the key reaches, and how one is made. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { AGENT_NAME } from "../../shared/agent-name.ts";
import { send } from "../api.ts";
import type { Listed } from "../dashboard.tsx";
import { count } from "../../shared/count.ts";
import { Dialog } from "../parts/dialog.tsx";
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
      {making && <NewAgent onMade={listed.reload} onClose={() => setMaking(false)} />}
    </section>
  );
}

function NewAgent({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const [name, setName] = useState("");
  const { route } = useLocation();
  const make = async (): Promise<void> => {
    await send("PUT", `/api/agents/${encodeURIComponent(name)}`, {});
    onMade();
    route(`/agents/${name}/settings`);
  };
  return (
    <Dialog title="New agent" verb="Make it" disabled={name === ""} onConfirm={make} onClose={onClose}>
      <label>
        Name
        <input
          name="name"
          required
          pattern={AGENT_NAME.source}
          value={name}
          aria-describedby="name-rule"
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <small id="name-rule">Lower-case letters, digits and hyphens. Clients name it as their model.</small>
    </Dialog>
  );
}
