/** Where an agent's answers are made, in fields, and how the engine that it has now is doing. */
import { API } from "../../shared/api-routes.ts";
import { count } from "../../shared/count.ts";
import { time } from "../format.ts";
import type { EngineForm } from "../engine-form.ts";
import { useResource } from "../resource.ts";
import { ChoiceField, TextField } from "./fields.tsx";
import { Loaded } from "./shown.tsx";
import { Table } from "./table.tsx";

const KINDS = {
  embedded: "the policy in the Worker",
  openai: "a server that speaks OpenAI's chat completions",
  "workers-ai": "Workers AI",
} as const;
const FLAVOURS = { vllm: "vLLM", sglang: "SGLang", llamacpp: "llama.cpp", generic: "another: no adapters" } as const;
const MODEL_TYPES = { llama: "llama", mistral: "mistral", gemma: "gemma" } as const;

const SECRET = [/^ENGINE_KEY_[A-Z0-9_]{1,50}$/, "the name of a Worker secret, ENGINE_KEY_…, not the key itself"] as const;
const DIGEST = [/^[0-9a-f]{64}$/, "64 hex digits"] as const;
const ACCOUNT = [/^[0-9a-f]{32}$/, "32 hex digits"] as const;
const ADDRESS = [/^https?:\/\/[^?#@]+$/, "http:// or https://, without user, query and fragment"] as const;
const CATALOGUE = [/^@(?:\w|\.|\/|-){1,150}$/, "a model of the catalogue, as @cf/meta/llama-3.2-11b-vision-instruct"] as const;

type Fields = { form: EngineForm; onChange: (form: EngineForm) => void };

export function EngineFields({ form, onChange }: Fields) {
  const set = (change: Partial<EngineForm>): void => onChange({ ...form, ...change });
  return (
    <fieldset>
      <legend>Engine</legend>
      <ChoiceField label="Answers are made by" path="engine.kind" value={form.kind} choices={KINDS} onChange={(kind) => set({ kind })} />
      {form.kind === "openai" && <Server form={form} set={set} />}
      {form.kind === "workers-ai" && <WorkersAi form={form} set={set} />}
      {form.kind !== "embedded" && (
        <>
          <div class="grid">
            <TextField
              label="Most tokens of an answer; empty: 1024"
              path="engine.answerTokens"
              type="number"
              min={1}
              value={form.answerTokens}
              onInput={(answerTokens) => set({ answerTokens })}
            />
            <TextField
              label="Silence allowed, ms; empty: 60000"
              path="engine.timeoutMs"
              type="number"
              min={100}
              value={form.timeoutMs}
              onInput={(timeoutMs) => set({ timeoutMs })}
            />
          </div>
          <TextField
            label="Digest of the base that trainers have; empty: nobody trains it"
            path="engine.base"
            pattern={DIGEST}
            value={form.base}
            onInput={(base) => set({ base })}
          />
          <p class="note">Another model begins another lineage. Conversations that are open go on with the version that began them.</p>
        </>
      )}
    </fieldset>
  );
}

type Part = { form: EngineForm; set: (change: Partial<EngineForm>) => void };

function Server({ form, set }: Part) {
  return (
    <>
      <div class="grid">
        <ChoiceField
          label="Kind of server"
          path="engine.flavour"
          value={form.flavour}
          choices={FLAVOURS}
          onChange={(flavour) => set({ flavour })}
        />
        <TextField
          label="Address, without /v1"
          path="engine.url"
          required
          pattern={ADDRESS}
          placeholder="http://127.0.0.1:8000"
          value={form.url}
          onInput={(url) => set({ url })}
        />
      </div>
      <div class="grid">
        <TextField
          label="Base model, as the server names it"
          path="engine.model"
          required
          placeholder="Qwen/Qwen3-4B"
          value={form.model}
          onInput={(model) => set({ model })}
        />
        <TextField
          label="Secret that holds its key; empty: none"
          path="engine.keySecret"
          pattern={SECRET}
          value={form.keySecret}
          onInput={(keySecret) => set({ keySecret })}
        />
      </div>
      <div class="grid">
        <TextField
          label="Adapter host beside it; empty: none"
          path="engine.adapterHost.url"
          pattern={ADDRESS}
          value={form.hostUrl}
          onInput={(hostUrl) => set({ hostUrl })}
        />
        <TextField
          label="Secret that holds the adapter host's key"
          path="engine.adapterHost.keySecret"
          pattern={SECRET}
          required={form.hostUrl !== ""}
          value={form.hostKeySecret}
          onInput={(hostKeySecret) => set({ hostKeySecret })}
        />
      </div>
      {form.flavour !== "generic" && (
        <TextField
          label="What the chat template is given, as JSON; empty: it is not to think"
          path="engine.templateArguments"
          placeholder='{"enable_thinking": false}'
          value={form.templateArguments}
          onInput={(templateArguments) => set({ templateArguments })}
        />
      )}
    </>
  );
}

function WorkersAi({ form, set }: Part) {
  const uploads = form.accountId !== "" || form.accountKeySecret !== "";
  return (
    <>
      <TextField
        label="Model of the catalogue"
        path="engine.model"
        required
        pattern={CATALOGUE}
        value={form.model}
        onInput={(model) => set({ model })}
      />
      <div class="grid">
        <TextField
          label="Account that adapters are uploaded to; empty: the bare model"
          path="engine.adapters.accountId"
          pattern={ACCOUNT}
          required={uploads}
          value={form.accountId}
          onInput={(accountId) => set({ accountId })}
        />
        <TextField
          label="Secret that holds its token"
          path="engine.adapters.keySecret"
          pattern={SECRET}
          required={uploads}
          value={form.accountKeySecret}
          onInput={(accountKeySecret) => set({ accountKeySecret })}
        />
      </div>
      {uploads && (
        <div class="grid">
          <ChoiceField
            label="Family of the model"
            path="engine.adapters.modelType"
            value={form.modelType}
            choices={MODEL_TYPES}
            onChange={(modelType) => set({ modelType })}
          />
          <TextField
            label="Adapters that the account may ever hold; empty: 30"
            path="engine.adapters.slots"
            type="number"
            min={1}
            value={form.slots}
            onInput={(slots) => set({ slots })}
          />
        </div>
      )}
    </>
  );
}

/** What the engine holds now; the embedded policy holds what it needs by itself. */
export function EngineNow({ agent }: { agent: string }) {
  const state = useResource(API.engine.at({ agent }));
  return (
    <section aria-label="Engine now">
      <h2>The engine now</h2>
      <Loaded from={state}>
        {({ error, adapters, listed, slotsLeft, capabilities }) => (
          <>
            {error !== null && <p class="problem">{error}</p>}
            {error === null && capabilities.loadAtRuntime && <p>It answers, and lists {count(listed.length, "adapter")} of ours.</p>}
            <p class="note">
              Adapters {capabilities.loadAtRuntime ? "come" : "do not come"} and {capabilities.unload ? "go" : "do not go"} while it runs.
              {slotsLeft === null ? "" : ` ${count(slotsLeft, "slot")} left.`}
            </p>
            {adapters.length > 0 && (
              <Table label="Adapters that it was given" columns={["adapter", "version", "needed", "loaded", "failed to unload"]}>
                {adapters.map(({ name, line, version, needed, loadedAt, failure }) => (
                  <tr key={name}>
                    <td>
                      <code>{name}</code>
                    </td>
                    <td>
                      {version} of {line}
                    </td>
                    <td>{needed ? "yes" : "no"}</td>
                    <td>{time(loadedAt)}</td>
                    <td>{failure ?? "–"}</td>
                  </tr>
                ))}
              </Table>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}
