/** Fields of a form over an agent's settings: each says what the edge would not have of it, by the path that the edge names. */
import { createContext, type ComponentChildren } from "preact";
import { useContext, useId } from "preact/hooks";

/** What the edge refused, such as `learning.judge.url`. */
export type RefusedSetting = { readonly path: string; readonly message: string };
export const Refused = createContext<RefusedSetting | undefined>(undefined);

type Named = { label: string; /** Of the setting, as the edge names it. */ path: string };

function useProblem(path: string): string | undefined {
  const refused = useContext(Refused);
  return refused?.path === path ? refused.message : undefined;
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
  onInput: (value: string) => void;
};

export function TextField({ label, path, value, pattern, type = "text", onInput, ...given }: TextField) {
  const told = useId();
  const misshapen = pattern !== undefined && value !== "" && !pattern[0].test(value);
  const kind = type === "number" ? ({ type } as const) : ({ type: "text" } as const);
  const problem = useProblem(path) ?? (misshapen ? pattern[1] : undefined);
  return (
    <div>
      <label>
        {label}
        <input
          {...given}
          {...kind}
          value={value}
          spellcheck={false}
          {...(pattern === undefined ? {} : { pattern: pattern[0].source, title: pattern[1] })}
          aria-invalid={problem === undefined ? undefined : true}
          aria-describedby={problem === undefined ? undefined : told}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      </label>
      {problem !== undefined && <small id={told}>{problem}</small>}
    </div>
  );
}

type NumberField = Omit<TextField, "value" | "pattern" | "type" | "onInput"> & { value: number; onInput: (value: number) => void };

/** What is no number stays what the browser makes of it, and is not sent: the field is required. */
export function NumberField({ value, onInput, ...given }: NumberField) {
  return (
    <TextField
      {...given}
      type="number"
      required
      value={Number.isNaN(value) ? "" : String(value)}
      onInput={(text) => onInput(Number(text === "" ? NaN : text))}
    />
  );
}

type ChoiceField<Value extends string> = Named & {
  value: Value;
  choices: Readonly<Record<Value, string>>;
  onChange: (value: Value) => void;
};

export function ChoiceField<Value extends string>({ label, path, value, choices, onChange }: ChoiceField<Value>) {
  const told = useId();
  const problem = useProblem(path);
  return (
    <div>
      <label>
        {label}
        <select
          value={value}
          aria-invalid={problem === undefined ? undefined : true}
          aria-describedby={problem === undefined ? undefined : told}
          // The options are the keys.
          onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}
        >
          {Object.entries<string>(choices).map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {problem !== undefined && <small id={told}>{problem}</small>}
    </div>
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
