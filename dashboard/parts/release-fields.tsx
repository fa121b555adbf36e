/** How a version comes to answer, in fields. */
import type { ReleaseSettings } from "../../shared/release.ts";
import { ChoiceField, NumberField, Switch } from "./fields.tsx";

const MODES = { auto: "from the fourth user on", on: "always", off: "never" } as const;

export function ReleaseFields({ settings, onChange }: { settings: ReleaseSettings; onChange: (settings: ReleaseSettings) => void }) {
  const { gate, canary } = settings;
  const setCanary = (change: Partial<typeof canary>): void => onChange({ ...settings, canary: { ...canary, ...change } });
  return (
    <fieldset>
      <legend>Release</legend>
      <Switch checked={gate.enabled} onChange={(enabled) => onChange({ ...settings, gate: { ...gate, enabled } })}>
        versions pass a gate
      </Switch>
      <div class="grid">
        <ChoiceField
          label="Trial before everybody"
          path="release.canary.mode"
          value={canary.mode}
          choices={MODES}
          onChange={(mode) => setCanary({ mode })}
        />
        <NumberField
          label="Share of new conversations on trial"
          path="release.canary.share"
          min={0.01}
          max={0.5}
          step="any"
          value={canary.share}
          onInput={(share) => setCanary({ share })}
        />
      </div>
    </fieldset>
  );
}
