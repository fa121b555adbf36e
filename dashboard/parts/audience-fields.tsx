/** Whom a correction teaches, in fields: everybody's policy or the user's own, and whose word weighs more than others'. */
import { useState } from "preact/hooks";
import type { LearningSettings } from "../../shared/agent.ts";
import { API } from "../../shared/api-routes.ts";
import { SMALL_CIRCLE } from "../../shared/small-circle.ts";
import { useResource } from "../resource.ts";
import { ChoiceField, NumberField, Switch } from "./fields.tsx";

const SCOPES = { shared: "everybody's policy", personal: "the policy of the user who says it" } as const;
const FEWEST_ALIKE = 5; // offered first: one more than make a circle

type Audience = Pick<LearningSettings, "scope" | "sharedFrom" | "trusted">;
type Fields = { settings: Audience; onChange: (change: Partial<Audience>) => void };

export function AudienceFields({ settings, onChange }: Fields) {
  const { scope, sharedFrom } = settings;
  return (
    <>
      <ChoiceField
        label="A correction teaches"
        path="learning.scope"
        value={scope}
        choices={SCOPES}
        onChange={(chosen) => onChange({ scope: chosen })}
      />
      {scope === "personal" && (
        <Switch checked={sharedFrom !== null} onChange={(on) => onChange({ sharedFrom: on ? FEWEST_ALIKE : null })}>
          and everybody&#39;s policy, once enough users have said the same
        </Switch>
      )}
      {scope === "personal" && sharedFrom !== null && (
        <NumberField
          label="Users whose own policies have learned the same"
          path="learning.sharedFrom"
          min={2}
          max={10_000}
          value={sharedFrom}
          onInput={(users) => onChange({ sharedFrom: users })}
        />
      )}
      <TrustedFields settings={settings} onChange={onChange} />
    </>
  );
}

function TrustedFields({ settings: { trusted }, onChange }: Fields) {
  const { keys = [] } = useResource(API.keys.at({})).data ?? {};
  const [chosen, setChosen] = useState("");
  const clients = keys.filter(({ kind, revokedAt }) => kind === "client" && revokedAt === null);
  const open = clients.filter(({ id }) => !Object.hasOwn(trusted, id));
  const nameOf = (id: string): string => clients.find((key) => key.id === id)?.name ?? "a key that is not there any more";
  const set = (id: string, share: number): void => onChange({ trusted: { ...trusted, [id]: share } });
  const drop = (id: string): void => onChange({ trusted: Object.fromEntries(Object.entries(trusted).filter(([each]) => each !== id)) });
  return (
    <fieldset class="parameter trusted">
      <legend>Client keys of people who are trusted</legend>
      <p class="note">
        In a circle of {SMALL_CIRCLE} users and more, what one person says waits until others say the same. Who has a trusted key is heard
        up to this share of what an update teaches; 1 teaches alone.
      </p>
      {Object.entries(trusted).map(([id, share]) => (
        <div key={id} class="row">
          <NumberField
            label={`${nameOf(id)} (${id})`}
            path={`learning.trusted.${id}`}
            min={0}
            max={1}
            step="any"
            value={share}
            onInput={(value) => set(id, value)}
          />
          <button type="button" class="link" onClick={() => drop(id)}>
            remove<span class="visually-hidden"> {nameOf(id)}</span>
          </button>
        </div>
      ))}
      <div class="row">
        <label>
          A key to trust
          <select value={chosen} disabled={open.length === 0} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
            <option value="">{open.length === 0 ? "there is no other client key" : "choose one"}</option>
            {open.map(({ id, name }) => (
              <option key={id} value={id}>
                {name} ({id})
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          class="small secondary"
          disabled={chosen === ""}
          onClick={() => {
            set(chosen, 1);
            setChosen("");
          }}
        >
          Trust it
        </button>
      </div>
    </fieldset>
  );
}
