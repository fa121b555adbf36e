/** What an agent is: its instructions, its tools as OpenAI writes them, and how it learns and is released. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Agent, AgentSettings } from "../../shared/agent.ts";
import type { AgentView } from "../agent-page.tsx";
import { ApiError, send } from "../api.ts";
import { Loaded, Problem } from "../parts/shown.tsx";
import { type RefusedTool, ToolEditor, type Tools } from "../parts/tool-editor.tsx";
import { useAction, useResource } from "../resource.ts";

export function Settings({ agent, onChanged }: AgentView) {
  const read = useResource<Agent>(`/api/agents/${agent}`);
  const changed = (): void => {
    read.reload();
    onChanged();
  };
  return (
    <section>
      <h1>Settings of {agent}</h1>
      <Loaded from={read}>
        {({ settings }) => <Form key={JSON.stringify(settings)} agent={agent} settings={settings} onSaved={changed} />}
      </Loaded>
    </section>
  );
}

function Form({ agent, settings, onSaved }: { agent: string; settings: AgentSettings; onSaved: () => void }) {
  const [draft, setDraft] = useState(settings);
  const [tools, setTools] = useState<Tools["tools"]>(settings.tools);
  const [refused, setRefused] = useState<RefusedTool>();
  const [servers, setServers] = useState(JSON.stringify(settings.mcpServers, null, 2));
  const { run, busy, error } = useAction();
  const set = (change: Partial<AgentSettings>): void => setDraft({ ...draft, ...change });
  const { learning, release } = draft;
  const save = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      setRefused(undefined);
      try {
        await send("PUT", `/api/agents/${agent}`, { ...draft, tools, mcpServers: JSON.parse(servers) as unknown });
      } catch (thrown) {
        if (!(thrown instanceof ApiError) || thrown.param?.startsWith("tools") !== true) throw thrown;
        return setRefused({ path: thrown.param, message: thrown.message });
      }
      onSaved();
    });
  };
  return (
    <form class="narrow" onSubmit={save}>
      <label>
        Instructions, before the client's own
        <textarea rows={4} value={draft.instructions} onInput={({ currentTarget }) => set({ instructions: currentTarget.value })} />
      </label>
      <ToolEditor tools={settings.tools} refused={refused} onChange={({ tools: changed }) => setTools(changed)} />
      <JsonList name="servers" label="MCP servers, whose tools the edge runs" rows={4} value={servers} onChange={setServers}>
        {'[{"label": "…", "url": "https://…"}]'}; a secret is named, never written here.
      </JsonList>
      <fieldset>
        <legend>Learning</legend>
        <label>
          <input
            type="checkbox"
            role="switch"
            checked={learning.enabled}
            aria-checked={learning.enabled}
            onChange={({ currentTarget }) => set({ learning: { ...learning, enabled: currentTarget.checked } })}
          />
          learn from corrections
        </label>
        <label>
          <input
            type="checkbox"
            role="switch"
            checked={draft.store}
            aria-checked={draft.store}
            onChange={({ currentTarget }) => set({ store: currentTarget.checked })}
          />
          keep turns where a request does not say
        </label>
        <div class="grid">
          <label>
            Corrected turns before an update
            <input
              type="number"
              min={1}
              value={learning.minSignals}
              onInput={({ currentTarget }) => set({ learning: { ...learning, minSignals: currentTarget.valueAsNumber } })}
            />
          </label>
          <label>
            Whose notes
            <select
              value={learning.notes}
              onChange={({ currentTarget }) => set({ learning: { ...learning, notes: currentTarget.value as typeof learning.notes } })}
            >
              <option value="user">the same user's</option>
              <option value="agent">everybody's</option>
              <option value="off">nobody's</option>
            </select>
          </label>
          <label>
            Votes of the judge
            <input
              type="number"
              min={1}
              max={9}
              step={2}
              value={learning.votes}
              onInput={({ currentTarget }) => set({ learning: { ...learning, votes: currentTarget.valueAsNumber } })}
            />
          </label>
        </div>
      </fieldset>
      <fieldset>
        <legend>Release</legend>
        <label>
          <input
            type="checkbox"
            role="switch"
            checked={release.gate.enabled}
            aria-checked={release.gate.enabled}
            onChange={({ currentTarget }) => set({ release: { ...release, gate: { ...release.gate, enabled: currentTarget.checked } } })}
          />
          versions pass a gate
        </label>
        <div class="grid">
          <label>
            Trial before everybody
            <select
              value={release.canary.mode}
              onChange={({ currentTarget }) =>
                set({ release: { ...release, canary: { ...release.canary, mode: currentTarget.value as typeof release.canary.mode } } })
              }
            >
              <option value="auto">from the fourth user on</option>
              <option value="on">always</option>
              <option value="off">never</option>
            </select>
          </label>
          <label>
            Share of new conversations on trial
            <input
              type="number"
              min={0.01}
              max={0.5}
              step={0.01}
              value={release.canary.share}
              onInput={({ currentTarget }) =>
                set({ release: { ...release, canary: { ...release.canary, share: currentTarget.valueAsNumber } } })
              }
            />
          </label>
        </div>
      </fieldset>
      <Problem error={error} />
      <button type="submit" disabled={busy || tools === undefined || problemOf(servers) !== undefined} aria-busy={busy}>
        Save
      </button>
    </form>
  );
}

type ListProps = {
  name: string;
  label: string;
  rows: number;
  value: string;
  onChange: (text: string) => void;
  children: ComponentChildren;
};

/** A list as JSON; what is wrong with it takes the place of what is said of it. */
function JsonList({ name, label, rows, value, onChange, children }: ListProps) {
  const problem = problemOf(value);
  return (
    <>
      <label>
        {label}
        <textarea
          class="code"
          rows={rows}
          spellcheck={false}
          value={value}
          aria-invalid={problem === undefined ? undefined : true}
          aria-describedby={`${name}-problem`}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      </label>
      <small id={`${name}-problem`}>{problem ?? children}</small>
    </>
  );
}

function problemOf(list: string): string | undefined {
  try {
    return Array.isArray(JSON.parse(list)) ? undefined : "a list expected: […]";
  } catch (error) {
    return `JSON expected: ${error instanceof Error ? error.message : String(error)}`;
  }
}
