/** Messages as people read them: words, calls with their arguments, results of tools. Text stays text, whatever it holds. */
import type { ChatMessage } from "../../shared/chat.ts";
import { pretty } from "../format.ts";

const WHO: Readonly<Record<ChatMessage["role"], string>> = { system: "instructions", user: "user", assistant: "agent", tool: "tool" };

export function Message({ message }: { message: ChatMessage }) {
  const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
  return (
    <div class={`message ${message.role}`}>
      <span class="who">{WHO[message.role]}</span>
      {message.content !== null && message.content !== "" && <Words message={message} />}
      {calls.map((call) => (
        <div class="call" key={call.id}>
          <strong>{call.function.name === "" ? "a call that cannot be read" : call.function.name}</strong>
          <pre>{pretty(call.function.arguments)}</pre>
        </div>
      ))}
      {(message.content === null || message.content === "") && calls.length === 0 && <p class="empty">nothing</p>}
    </div>
  );
}

function Words({ message }: { message: ChatMessage }) {
  return message.role === "tool" ? <pre>{pretty(message.content)}</pre> : <p class="words">{message.content}</p>;
}
