/** How answers are drawn where a request does not say, in fields. */
import type { SamplingSettings } from "../../shared/sampling.ts";
import { NumberField } from "./fields.tsx";

type Fields = { settings: SamplingSettings; onChange: (settings: SamplingSettings) => void };

export function SamplingFields({ settings, onChange }: Fields) {
  const { temperature, topP } = settings;
  return (
    <div class="grid">
      <NumberField
        label="Temperature where a request does not say"
        placeholder="0 for the policy in the Worker, else 1"
        path="sampling.temperature"
        required={false}
        min={0}
        max={2}
        step="any"
        value={temperature ?? NaN}
        onInput={(value) => onChange({ ...settings, temperature: Number.isNaN(value) ? null : value })}
      />
      <NumberField
        label="Top p where a request does not say"
        path="sampling.topP"
        min={0}
        max={1}
        step="any"
        value={topP}
        onInput={(share) => onChange({ ...settings, topP: share })}
      />
    </div>
  );
}
