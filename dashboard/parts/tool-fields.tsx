/** One tool in fields, each with what is wrong in it beside it. */
import { type ParameterForm, problemsOf, type ToolForm, TYPES } from "../tool-forms.ts";
import { TextField } from "./fields.tsx";

type Fields = { form: ToolForm; taken: boolean; onChange: (form: ToolForm) => void };

const NEW: ParameterForm = { name: "", type: "string", description: "", required: false, choices: "", fallback: "" };

export function ToolFields({ form, taken, onChange }: Fields) {
  const problems = problemsOf(form);
  const setParameter = (index: number, change: Partial<ParameterForm>): void =>
    onChange({ ...form, parameters: form.parameters.map((each, at) => (at === index ? { ...each, ...change } : each)) });
  return (
    <>
      <div class="grid">
        <TextField
          label="Tool"
          value={form.name}
          problem={taken ? "another tool has this name" : problems.get("name")}
          onInput={(name) => onChange({ ...form, name })}
        />
        <TextField label="What it does" value={form.description} onInput={(description) => onChange({ ...form, description })} />
      </div>
      {form.parameters.map((each, index) => {
        const problemOf = (field: string): string | undefined => problems.get(`parameters.${index}.${field}`);
        const set = (change: Partial<ParameterForm>): void => setParameter(index, change);
        return (
          <fieldset key={index} class="parameter">
            <legend>{each.name === "" ? "new parameter" : each.name}</legend>
            <TextField label="Name" value={each.name} problem={problemOf("name")} onInput={(name) => set({ name })} />
            <label>
              Type
              <select value={each.type} onChange={({ currentTarget }) => set({ type: typeOf(currentTarget.value) })}>
                {TYPES.map((type) => (
                  <option key={type} value={type}>
                    {type}
                  </option>
                ))}
              </select>
            </label>
            <TextField label="Description" value={each.description} onInput={(description) => set({ description })} />
            <TextField
              label="Choices, by commas"
              value={each.choices}
              problem={problemOf("type")}
              onInput={(choices) => set({ choices })}
            />
            <TextField label="Default" value={each.fallback} problem={problemOf("fallback")} onInput={(fallback) => set({ fallback })} />
            <label class="choice">
              <input type="checkbox" checked={each.required} onChange={({ currentTarget }) => set({ required: currentTarget.checked })} />
              required
            </label>
            <button
              type="button"
              class="link"
              onClick={() => onChange({ ...form, parameters: form.parameters.filter((other) => other !== each) })}
            >
              remove<span class="visually-hidden"> parameter {each.name}</span>
            </button>
          </fieldset>
        );
      })}
      <button type="button" class="small secondary" onClick={() => onChange({ ...form, parameters: [...form.parameters, NEW] })}>
        Add a parameter
      </button>
    </>
  );
}

function typeOf(value: string): ParameterForm["type"] {
  return TYPES.find((type) => type === value) ?? "string";
}
