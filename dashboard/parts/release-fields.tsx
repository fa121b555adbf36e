/** How a version comes to answer, in fields. */
import type { CanarySettings, ReleaseSettings } from "../../shared/release.ts";
import { CHECK_NAMES, CHECKS, isShare } from "../gate-words.ts";
import { ChoiceField, NumberField, Switch } from "./fields.tsx";

const MODES = { auto: "from the fourth user on", on: "always", off: "never" } as const;
const LEAST_NATS = 0.0001; // a budget of none would refuse every version that learned anything

type Fields<Settings> = { settings: Settings; onChange: (settings: Settings) => void };

export function ReleaseFields({ settings, onChange }: Fields<ReleaseSettings>) {
  return (
    <fieldset>
      <legend>Release</legend>
      <GateFields settings={settings.gate} onChange={(gate) => onChange({ ...settings, gate })} />
      <CanaryFields settings={settings.canary} onChange={(canary) => onChange({ ...settings, canary })} />
    </fieldset>
  );
}

function GateFields({ settings, onChange }: Fields<ReleaseSettings["gate"]>) {
  const { enabled, budgets } = settings;
  return (
    <>
      <Switch checked={enabled} onChange={(on) => onChange({ ...settings, enabled: on })}>
        versions pass a gate
      </Switch>
      {/* The browser shows what is wrong in a field that can be seen, and says nothing of others. */}
      <details onInvalidCapture={({ currentTarget }) => (currentTarget.open = true)}>
        <summary>What a version may cost at the gate</summary>
        <div class="fields">
          {CHECK_NAMES.map((name) => (
            <NumberField
              key={name}
              label={isShare(name) ? `${CHECKS[name]}, share of them` : CHECKS[name]}
              path={`release.gate.budgets.${name}`}
              min={isShare(name) ? 0 : LEAST_NATS}
              {...(isShare(name) ? { max: 1 } : {})}
              step="any"
              value={budgets[name]}
              onInput={(budget) => onChange({ ...settings, budgets: { ...budgets, [name]: budget } })}
            />
          ))}
        </div>
      </details>
    </>
  );
}

function CanaryFields({ settings, onChange }: Fields<CanarySettings>) {
  const set = (change: Partial<CanarySettings>): void => onChange({ ...settings, ...change });
  return (
    <>
      <div class="grid">
        <ChoiceField
          label="Trial before everybody"
          path="release.canary.mode"
          value={settings.mode}
          choices={MODES}
          onChange={(mode) => set({ mode })}
        />
        <NumberField
          label="Share of new conversations on trial"
          path="release.canary.share"
          min={0.01}
          max={0.5}
          step="any"
          value={settings.share}
          onInput={(share) => set({ share })}
        />
      </div>
      <details onInvalidCapture={({ currentTarget }) => (currentTarget.open = true)}>
        <summary>When a trial is decided</summary>
        <div class="fields">
          <NumberField
            label="Judged conversations of each version, at least"
            path="release.canary.minSessions"
            min={10}
            value={settings.minSessions}
            onInput={(minSessions) => set({ minSessions })}
          />
          <NumberField
            label="Points of 100 that it may be worse and yet be promoted"
            path="release.canary.marginPoints"
            min={1}
            max={50}
            step="any"
            value={settings.marginPoints}
            onInput={(marginPoints) => set({ marginPoints })}
          />
          <NumberField
            label="Days undecided after which a person is asked"
            path="release.canary.patienceDays"
            min={1}
            value={settings.patienceDays}
            onInput={(patienceDays) => set({ patienceDays })}
          />
        </div>
      </details>
    </>
  );
}
