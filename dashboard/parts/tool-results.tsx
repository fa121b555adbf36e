/** What stands for the tools in the playground: a result that somebody types, or a canned one for each tool. */
import { useState } from "preact/hooks";
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";

export type OpenCall = { readonly id: string; readonly function: { readonly name: string } };

/** By tool. `atOnce`: given without asking. */
export type Canned = { readonly texts: Readonly<Record<string, string>>; readonly atOnce: boolean };
export const NO_RESULTS: Canned = { texts: {}, atOnce: false };

const DONE = '{"status": "ok"}';

/** The results of all calls where they are to be given without asking; undefined where somebody has to. */
export function resultsOf(calls: readonly OpenCall[], { texts, atOnce }: Canned): ChatMessage[] | undefined {
  if (calls.length === 0 || !atOnce) return undefined;
  return calls.map(({ id, function: { name } }) => ({ role: "tool", content: texts[name] ?? DONE, tool_call_id: id }));
}

export function CannedResults({
  tools,
  canned,
  onChange,
}: {
  tools: readonly ToolDefinition[];
  canned: Canned;
  onChange: (canned: Canned) => void;
}) {
  if (tools.length === 0) return null;
  const { texts, atOnce } = canned;
  return (
    <details class="canned">
      <summary>Results of the tools{atOnce ? ", given without asking" : ""}</summary>
      <label class="choice">
        <input
          type="checkbox"
          role="switch"
          checked={atOnce}
          aria-checked={atOnce}
          onChange={({ currentTarget }) => onChange({ ...canned, atOnce: currentTarget.checked })}
        />
        give them without asking
      </label>
      {tools.map(({ function: { name } }) => (
        <label key={name}>
          Canned result of {name}
          <textarea
            class="code"
            rows={2}
            spellcheck={false}
            value={texts[name] ?? DONE}
            aria-invalid={isJson(texts[name] ?? DONE) ? undefined : true}
            onInput={({ currentTarget }) => onChange({ ...canned, texts: { ...texts, [name]: currentTarget.value } })}
          />
          {!isJson(texts[name] ?? DONE) && <small>This is no JSON; it is given as it stands, as text.</small>}
        </label>
      ))}
    </details>
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function Results({
  calls,
  canned,
  onGiven,
}: {
  calls: readonly OpenCall[];
  canned: Canned;
  onGiven: (results: ChatMessage[]) => void;
}) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const textOf = ({ id, function: { name } }: OpenCall): string => texts[id] ?? canned.texts[name] ?? DONE;
  const give = (event: Event): void => {
    event.preventDefault();
    onGiven(calls.map((call) => ({ role: "tool", content: textOf(call), tool_call_id: call.id })));
  };
  return (
    <form onSubmit={give}>
      {calls.map((call) => (
        <label key={call.id}>
          Result of {call.function.name}
          <input
            class="code"
            value={textOf(call)}
            onInput={({ currentTarget }) => setTexts({ ...texts, [call.id]: currentTarget.value })}
          />
        </label>
      ))}
      <button type="submit" class="small">
        Give the result
      </button>
    </form>
  );
}
