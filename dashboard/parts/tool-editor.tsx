/** The tools of an agent: as a form, or as the JSON that OpenAI takes, with the place of what is wrong in it. */
import { useId, useRef, useState } from "preact/hooks";
import type { AgentTool } from "../../shared/agent-tools.ts";
import { lineOf, locate, placeOf } from "../json-place.ts";
import { formOf, problemsOf, readTools, toolOf, type ToolForm } from "../tool-forms.ts";
import { ToolFields } from "./tool-fields.tsx";

/** Undefined tools: what is written down is none yet. */
export type Tools = { readonly tools: readonly AgentTool[] | undefined };
/** What the edge would not have, with the path that it names, such as `tools.0.function.name`. */
export type RefusedTool = { readonly path: string; readonly message: string };

type Editor = { tools: readonly AgentTool[]; refused: RefusedTool | undefined; onChange: (tools: Tools) => void };
type Item = { readonly key: number; readonly form: ToolForm } | { readonly key: number; readonly raw: AgentTool };

export function ToolEditor({ tools, refused, onChange }: Editor) {
  const [mode, setMode] = useState<"form" | "json">("form");
  const [current, setCurrent] = useState(tools);
  const change = (changed: Tools): void => {
    if (changed.tools !== undefined) setCurrent(changed.tools);
    onChange(changed);
  };
  const group = useId();
  return (
    <fieldset class="tools">
      <legend>Tools</legend>
      <p class="note">Used where a request names none. One with an endpoint is run by the edge, whatever a request names.</p>
      {(["form", "json"] as const).map((each) => (
        <label key={each} class="choice">
          <input
            type="radio"
            name={group}
            checked={mode === each}
            onChange={() => {
              // What was half written in the other way is let go.
              change({ tools: current });
              setMode(each);
            }}
          />
          {each === "form" ? "as a form" : "as OpenAI's JSON"}
        </label>
      ))}
      {mode === "form" ? <Forms tools={current} onChange={change} /> : <Json tools={current} refused={refused} onChange={change} />}
      {mode === "form" && refused !== undefined && (
        <p class="problem" role="alert">
          {refused.message}
        </p>
      )}
    </fieldset>
  );
}

function Forms({ tools, onChange }: Pick<Editor, "tools" | "onChange">) {
  const next = useRef(tools.length);
  const [items, setItems] = useState<readonly Item[]>(() => tools.map((tool, key) => itemOf(tool, key)));
  const put = (changed: readonly Item[]): void => {
    setItems(changed);
    const names = changed.map((item) => ("form" in item ? item.form.name : item.raw.function.name));
    const whole = new Set(names).size === names.length && changed.every((item) => !("form" in item) || problemsOf(item.form).size === 0);
    onChange({ tools: whole ? changed.map((item) => ("form" in item ? toolOf(item.form) : item.raw)) : undefined });
  };
  const add = (): void => put([...items, { key: (next.current += 1), form: { name: "", description: "", parameters: [] } }]);
  return (
    <>
      {items.map((item, index) => (
        <article key={item.key} class="tool">
          {"form" in item ? (
            <ToolFields
              form={item.form}
              taken={items.some((other, at) => at !== index && "form" in other && other.form.name === item.form.name)}
              onChange={(form) => put(items.map((other) => (other === item ? { key: item.key, form } : other)))}
            />
          ) : (
            <>
              <h3>{item.raw.function.name}</h3>
              <p class="note">It has more to it than the form shows: change it as JSON.</p>
            </>
          )}
          <button type="button" class="small secondary" onClick={() => put(items.filter((other) => other !== item))}>
            Remove {("form" in item ? item.form.name : item.raw.function.name) || "this tool"}
          </button>
        </article>
      ))}
      <button type="button" class="small" onClick={add}>
        Add a tool
      </button>
    </>
  );
}

function itemOf(tool: AgentTool, key: number): Item {
  const form = formOf(tool);
  return form === undefined ? { key, raw: tool } : { key, form };
}

type Fault = { readonly at: number; readonly message: string };

function Json({ tools, refused, onChange }: Editor) {
  const area = useRef<HTMLTextAreaElement>(null);
  const problem = useId();
  const [text, setText] = useState(() => JSON.stringify(tools, null, 2));
  const fault = faultOf(text) ?? (refused === undefined ? undefined : refusedAt(text, refused));
  const show = ({ at }: Fault): void => {
    area.current?.focus();
    area.current?.setSelectionRange(at, text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at));
  };
  const type = (typed: string): void => {
    setText(typed);
    const located = locate(typed);
    const read = "value" in located ? readTools(located) : undefined;
    onChange({ tools: read !== undefined && "tools" in read ? read.tools : undefined });
  };
  return (
    <>
      <label>
        Tools, as in a request to OpenAI
        <textarea
          ref={area}
          class="code"
          rows={16}
          spellcheck={false}
          value={text}
          aria-invalid={fault === undefined ? undefined : true}
          aria-describedby={problem}
          onInput={({ currentTarget }) => type(currentTarget.value)}
        />
      </label>
      <p id={problem} class={fault === undefined ? "note" : "problem"} role={fault === undefined ? undefined : "alert"}>
        {fault === undefined ? (
          "A list, one tool, or a whole request may be pasted."
        ) : (
          <>
            {whereOf(text, fault)}: {fault.message}{" "}
            <button type="button" class="link" onClick={() => show(fault)}>
              show it
            </button>
          </>
        )}
      </p>
    </>
  );
}

function faultOf(text: string): Fault | undefined {
  const located = locate(text);
  if (!("value" in located)) return located;
  const read = readTools(located);
  return "tools" in read ? undefined : read;
}

/** The edge names a path in a list of tools, whatever was pasted. */
function refusedAt(text: string, { path, message }: RefusedTool): Fault {
  const located = locate(text);
  const inside = path.replace(/^tools\.?/, "");
  if (!("value" in located)) return { at: 0, message };
  const place = Array.isArray(located.value)
    ? placeOf(located, inside)
    : placeOf(located, path) || placeOf(located, inside.replace(/^\d+\.?/, ""));
  return { at: place, message };
}

function whereOf(text: string, { at }: Fault): string {
  const { line, column } = lineOf(text, at);
  return `line ${line}, column ${column}`;
}
