/**
 * A conversation with the agent as its users have it, from which it learns, and beside it what any other version says to the
 * same words. A result that is typed in stands for the tool.
 */
import { useRef, useState } from "preact/hooks";
import type { ListedVersion } from "../../shared/api.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import type { AgentView } from "../agent-page.tsx";
import { chat, type Answering } from "../chat.ts";
import { Message } from "../parts/messages.tsx";
import { Problem } from "../parts/shown.tsx";
import { useAction, useResource } from "../resource.ts";

/** `now`: whatever answers users, kept and learned from. A number: that version, on trial here alone, and nothing is kept. */
type Side = { readonly who: "now" | number; readonly messages: readonly ChatMessage[]; readonly answered: number | undefined };

const SIDES: readonly Side[] = [{ who: "now", messages: [], answered: undefined }];

export function Playground({ agent, live }: AgentView) {
  const listed = useResource<{ versions: ListedVersion[] }>(`/api/agents/${agent}/versions`, live.head?.latest ?? 0);
  const [sides, setSides] = useState(SIDES);
  const [said, setSaid] = useState("");
  const session = useRef(crypto.randomUUID());
  const { run, busy, error } = useAction();
  const versions = (listed.data?.versions ?? []).filter(({ status }) => status !== "deleted" && status !== "refused");
  const begin = (next: readonly Side[]): void => {
    session.current = crypto.randomUUID();
    setSides(next.map(({ who }) => ({ who, messages: [], answered: undefined })));
  };
  const put = (index: number, change: Partial<Side>): void =>
    setSides((before) => before.map((side, at) => (at === index ? { ...side, ...change } : side)));
  const answer = async (side: Side, index: number, added: readonly ChatMessage[]): Promise<void> => {
    const messages = [...side.messages, ...added];
    const asked: Answering = { agent, messages, version: side.who === "now" ? null : side.who, session: session.current };
    put(index, { messages });
    const { message, version } = await chat(asked, (partial) => put(index, { messages: [...messages, partial] }));
    put(index, { messages: [...messages, message], answered: version });
  };
  const say = (event: Event): void => {
    event.preventDefault();
    const content = said;
    setSaid("");
    run(() => Promise.all(sides.map((side, index) => answer(side, index, [{ role: "user", content }]))));
  };
  const waiting = sides.some(({ messages }) => openCalls(messages).length > 0);
  return (
    <section>
      <header class="row">
        <h1>Playground</h1>
        <button type="button" class="secondary" onClick={() => begin(sides)}>
          New conversation
        </button>
      </header>
      <p>
        What answers users now is kept and learned from: correct it, and watch a note and then a version come of it. Beside it, another
        version answers the same words, and nothing of that is kept.
      </p>
      <label class="compare">
        Beside it
        <select
          value={typeof sides[1]?.who === "number" ? String(sides[1].who) : ""}
          onChange={({ currentTarget: { value } }) =>
            begin(value === "" ? SIDES : [...SIDES, { who: Number(value), messages: [], answered: undefined }])
          }
        >
          <option value="">nothing</option>
          {versions.map(({ version, status }) => (
            <option key={version} value={version}>
              version {version}, {status}
            </option>
          ))}
        </select>
      </label>
      <div class="sides">
        {sides.map((side, index) => (
          <div key={side.who} class="talk" role="log" aria-label={side.who === "now" ? "what answers users" : `version ${side.who}`}>
            <h2>
              {side.who === "now"
                ? `What answers users${side.answered === undefined ? "" : `: version ${side.answered}`}`
                : `Version ${side.who}`}
            </h2>
            {side.messages.map((message, at) => (
              <Message key={at} message={message} />
            ))}
            {openCalls(side.messages).length > 0 && !busy && (
              <Results calls={openCalls(side.messages)} onGiven={(results) => run(() => answer(side, index, results))} />
            )}
          </div>
        ))}
      </div>
      <Problem error={error} />
      <form class="say" onSubmit={say}>
        <label>
          <span class="visually-hidden">Say</span>
          <input
            value={said}
            placeholder={waiting ? "Give the tools' results first" : "Ask, or say what should have been different"}
            disabled={waiting}
            onInput={({ currentTarget }) => setSaid(currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={busy || waiting || said.trim() === ""} aria-busy={busy}>
          Send
        </button>
      </form>
    </section>
  );
}

type Call = { readonly id: string; readonly function: { readonly name: string } };

/** Calls of the last answer that have no result yet. */
function openCalls(messages: readonly ChatMessage[]): readonly Call[] {
  const last = messages.at(-1);
  return last?.role === "assistant" ? (last.tool_calls ?? []) : [];
}

function Results({ calls, onGiven }: { calls: readonly Call[]; onGiven: (results: ChatMessage[]) => void }) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const textOf = (id: string): string => texts[id] ?? '{"status": "ok"}';
  const give = (event: Event): void => {
    event.preventDefault();
    onGiven(calls.map(({ id }) => ({ role: "tool", content: textOf(id), tool_call_id: id })));
  };
  return (
    <form onSubmit={give}>
      {calls.map(({ id, function: { name } }) => (
        <label key={id}>
          Result of {name}
          <input class="code" value={textOf(id)} onInput={({ currentTarget }) => setTexts({ ...texts, [id]: currentTarget.value })} />
        </label>
      ))}
      <button type="submit" class="small">
        Give the result
      </button>
    </form>
  );
}
