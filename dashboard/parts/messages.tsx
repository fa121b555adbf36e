/** Messages as people read them: words, calls with their arguments, results of tools. Text stays text, whatever it holds. */
import type { ChatMessage } from "../../shared/chat.ts";
import type { ExecutedTool } from "../../shared/executed-tool.ts";
import type { Said } from "../chat.ts";
import { pretty } from "../format.ts";

const WHO: Readonly<Record<ChatMessage["role"], string>> = { system: "instructions", user: "user", assistant: "agent", tool: "tool" };

/** @param props.busy more of it is on its way */
export function Message({ message, busy = false }: { message: Said; busy?: boolean }) {
  const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
  const executed = message.role === "assistant" ? (message.executed_tools ?? []) : [];
  return (
    <div class={`message ${message.role}`}>
      <span class="who">{WHO[message.role]}</span>
      {executed.map((tool) => (
        <Executed key={tool.id} tool={tool} />
      ))}
      {message.content !== null && message.content !== "" && <Words message={message} />}
      {calls.map((call) => (
        <div class="call" key={call.id}>
          <strong>{call.function.name === "" ? "a call that cannot be read" : call.function.name}</strong>
          <pre>{pretty(call.function.arguments)}</pre>
        </div>
      ))}
      {(message.content === null || message.content === "") && calls.length + executed.length === 0 && (
        <p class="empty" aria-busy={busy}>
          {busy ? "writing" : "nothing"}
        </p>
      )}
    </div>
  );
}

/** What the edge ran by itself before the agent spoke. */
function Executed({ tool: { name, server_label: label, status, arguments: given, output } }: { tool: ExecutedTool }) {
  return (
    <div class="executed" aria-busy={status === "in_progress"}>
      <strong>{name}</strong>{" "}
      <span class="note">
        {status === "in_progress" ? "is being run" : status === "failed" ? "failed" : "was run"} on this side, by {label}
      </span>
      {given !== undefined && <pre>{pretty(given)}</pre>}
      {output !== undefined && <pre>{pretty(output)}</pre>}
    </div>
  );
}

function Words({ message }: { message: ChatMessage }) {
  return message.role === "tool" ? <pre>{pretty(message.content)}</pre> : <p class="words">{message.content}</p>;
}
