/** What an agent is: its instructions, its tools as OpenAI writes them, where it answers, and how it learns and is released. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { API } from "../../shared/api-routes.ts";
import type { AgentSettings } from "../../shared/agent.ts";
import { mergePatchOf } from "../../shared/merge-patch.ts";
import type { AgentView } from "../agent-page.tsx";
import { ApiError, send } from "../api.ts";
import { engineFormOf, engineOf } from "../engine-form.ts";
import { DeleteAgent } from "../parts/delete-agent.tsx";
import { EngineFields, EngineNow } from "../parts/engine-fields.tsx";
import { Field } from "../parts/field.tsx";
import { NumberField, Refused, type RefusedSetting, Switch } from "../parts/fields.tsx";
import { LearningFields } from "../parts/learning-fields.tsx";
import { ReleaseFields } from "../parts/release-fields.tsx";
import { SamplingFields } from "../parts/sampling-fields.tsx";
import { Loaded, Problem } from "../parts/shown.tsx";
import { ToolEditor, type Tools } from "../parts/tool-editor.tsx";
import { useAction, useResource } from "../resource.ts";
import { useUnsaved } from "../unsaved.ts";

export function Settings({ agent, onChanged }: AgentView) {
  const read = useResource(API.agent.at({ agent }));
  const [saved, setSaved] = useState(false);
  const changed = (): void => {
    setSaved(true);
    read.reload();
    onChanged();
  };
  return (
    <section>
      <h1>Settings of {agent}</h1>
      <Loaded from={read}>
        {({ settings }) => (
          <>
            <Form key={JSON.stringify(settings)} agent={agent} settings={settings} saved={saved} onSaved={changed} />
            {settings.engine.kind !== "embedded" && <EngineNow key={JSON.stringify(settings.engine)} agent={agent} />}
            <DeleteAgent agent={agent} onDeleted={onChanged} />
          </>
        )}
      </Loaded>
    </section>
  );
}

type FormProps = { agent: string; settings: AgentSettings; /** Since the page was opened. */ saved: boolean; onSaved: () => void };

function Form({ agent, settings, saved, onSaved }: FormProps) {
  const [draft, setDraft] = useState(settings);
  const [engine, setEngine] = useState(() => engineFormOf(settings.engine));
  const [tools, setTools] = useState<Tools["tools"]>(settings.tools);
  const [refused, setRefused] = useState<RefusedSetting>();
  const [servers, setServers] = useState(JSON.stringify(settings.mcpServers, null, 2));
  const { run, busy, error } = useAction();
  const ofEngine = JSON.stringify(engine) === JSON.stringify(engineFormOf(settings.engine)) ? settings.engine : engineOf(engine);
  /** Undefined while something is half written. */
  const patch =
    tools === undefined || problemOf(servers) !== undefined
      ? undefined
      : mergePatchOf(settings, { ...draft, tools, mcpServers: JSON.parse(servers) as unknown, engine: ofEngine });
  const unfinished = [tools === undefined ? "Tools" : [], problemOf(servers) === undefined ? [] : "MCP servers"].flat();
  const isUnchanged = patch !== undefined && Object.keys(patch).length === 0;
  useUnsaved(!isUnchanged && !busy);
  const set = (change: Partial<AgentSettings>): void => setDraft({ ...draft, ...change });
  const save = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      setRefused(undefined);
      try {
        // What others changed meanwhile stays: only what was changed here is sent.
        await send(API.patchAgent.at({ agent }), patch ?? {});
      } catch (thrown) {
        if (!(thrown instanceof ApiError) || thrown.param === null) throw thrown;
        setRefused({ path: thrown.param, message: thrown.message });
        // A tool that is refused is told where it stands; of everything else the field may be out of sight.
        if (!thrown.param.startsWith("tools")) throw thrown;
        return;
      }
      onSaved();
    });
  };
  return (
    <Refused.Provider value={refused}>
      <form class="narrow" onSubmit={save}>
        <label>
          Instructions, before the client's own
          <textarea rows={4} value={draft.instructions} onInput={({ currentTarget }) => set({ instructions: currentTarget.value })} />
        </label>
        <ToolEditor
          tools={settings.tools}
          refused={refused?.path.startsWith("tools") === true ? refused : undefined}
          onChange={({ tools: changed }) => setTools(changed)}
        />
        <JsonList label="MCP servers, whose tools the edge runs" rows={4} value={servers} onChange={setServers}>
          {'[{"label": "…", "url": "https://…"}]'}; a secret is named, never written here.
        </JsonList>
        <NumberField
          label="Calls in one answer that the edge may run"
          path="maxToolSteps"
          min={1}
          max={16}
          value={draft.maxToolSteps}
          onInput={(maxToolSteps) => set({ maxToolSteps })}
        />
        <EngineFields form={engine} onChange={setEngine} />
        <SamplingFields settings={draft.sampling} onChange={(sampling) => set({ sampling })} />
        <LearningFields settings={draft.learning} onChange={(learning) => set({ learning })}>
          <Switch checked={draft.store} onChange={(store) => set({ store })}>
            keep turns where a request does not say
          </Switch>
        </LearningFields>
        <ReleaseFields settings={draft.release} onChange={(release) => set({ release })} />
        <Problem error={error} />
        {unfinished.length > 0 && <p class="wrong">It can be saved once this is right above: {unfinished.join(", ")}.</p>}
        <div class={isUnchanged ? "save" : "save unsaved"}>
          <button type="submit" disabled={busy || patch === undefined} aria-busy={busy}>
            Save
          </button>
          <p role="status">
            {saved &&
              isUnchanged &&
              !busy &&
              error === undefined &&
              refused === undefined &&
              "Saved. Conversations that begin now have it."}
            {!isUnchanged && !busy && "There are changes that are not saved."}
          </p>
        </div>
      </form>
    </Refused.Provider>
  );
}

type ListProps = {
  label: string;
  rows: number;
  value: string;
  onChange: (text: string) => void;
  children: ComponentChildren;
};

/** A list as JSON; what is wrong with it takes the place of what is said of it. */
function JsonList({ label, rows, value, onChange, children }: ListProps) {
  return (
    <Field label={label} problem={problemOf(value)} note={children}>
      {(told) => (
        <textarea
          {...told}
          class="code"
          rows={rows}
          spellcheck={false}
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  );
}

function problemOf(list: string): string | undefined {
  try {
    return Array.isArray(JSON.parse(list)) ? undefined : "a list expected: […]";
  } catch (error) {
    return `JSON expected: ${error instanceof Error ? error.message : String(error)}`;
  }
}
