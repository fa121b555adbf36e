/** Fields of a form over an agent's settings: each says what the edge would not have of it, by the path that the edge names. */
import { createContext, type ComponentChildren } from "preact";
import { useContext, useState } from "preact/hooks";
import { Field } from "./field.tsx";

/** What the edge refused, such as `learning.judge.url`. */
export type RefusedSetting = { readonly path: string; readonly message: string };
export const Refused = createContext<RefusedSetting | undefined>(undefined);

type Named = { label: string; /** Of the setting, as the edge names it; a field without one is told by whoever made it. */ path?: string };

function useProblem(path: string | undefined): string | undefined {
  const refused = useContext(Refused);
  return path !== undefined && refused?.path === path ? refused.message : undefined;
}

type TextField = Named & {
  value: string;
  required?: boolean;
  /** What the value has to look like, and how that is said. */
  pattern?: readonly [RegExp, string];
  type?: "text" | "number";
  min?: number;
  max?: number;
  step?: number | "any";
  placeholder?: string;
  problem?: string | undefined;
  onInput: (value: string) => void;
};

export function TextField({ label, path, value, pattern, type = "text", problem, onInput, ...given }: TextField) {
  const misshapen = pattern !== undefined && value !== "" && !pattern[0].test(value);
  const kind = type === "number" ? ({ type } as const) : ({ type: "text" } as const);
  const refused = useProblem(path);
  return (
    <Field label={label} problem={refused ?? problem ?? (misshapen ? pattern[1] : undefined)}>
      {(told) => (
        <input
          {...given}
          {...kind}
          {...told}
          value={value}
          spellcheck={false}
          {...(pattern === undefined ? {} : { pattern: pattern[0].source, title: pattern[1] })}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** NaN: nothing, or what is no number. */
type NumberField = Omit<TextField, "value" | "pattern" | "type" | "onInput"> & { value: number; onInput: (value: number) => void };

/** What is no number stays what the browser makes of it, and is not sent where the field is required, as it is unless told otherwise. */
export function NumberField({ value, onInput, required = true, ...given }: NumberField) {
  const [typed, setTyped] = useState(textOf(value));
  return (
    <TextField
      {...given}
      type="number"
      required={required}
      // What is on the way to another number, as "0.0" is to "0.05", stays as it is written.
      value={Object.is(numberOf(typed), value) ? typed : textOf(value)}
      onInput={(text) => {
        setTyped(text);
        onInput(numberOf(text));
      }}
    />
  );
}

function numberOf(text: string): number {
  return text === "" ? NaN : Number(text);
}

function textOf(value: number): string {
  return Number.isNaN(value) ? "" : String(value);
}

type ChoiceField<Value extends string> = Named & {
  value: Value;
  choices: Readonly<Record<Value, string>>;
  onChange: (value: Value) => void;
};

export function ChoiceField<Value extends string>({ label, path, value, choices, onChange }: ChoiceField<Value>) {
  return (
    <Field label={label} problem={useProblem(path)}>
      {(told) => (
        <select
          {...told}
          value={value}
          // The options are the keys.
          onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}
        >
          {Object.entries<string>(choices).map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Switch({
  checked,
  onChange,
  children,
}: {
  checked: boolean;
  onChange: (on: boolean) => void;
  children: ComponentChildren;
}) {
  return (
    <label>
      <input
        type="checkbox"
        role="switch"
        checked={checked}
        aria-checked={checked}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      {children}
    </label>
  );
}
