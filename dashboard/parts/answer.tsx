/** An answer of a version beside another one's: words as words, calls by tool and arguments, and a mark on what differs. */
import { type AnswerCall, answerParts, differingFrom } from "../../shared/answer-text.ts";

export function Answer({ text, beside, changed = false }: { text: string; beside: string; changed?: boolean }) {
  const parts = answerParts(text);
  const others = answerParts(beside);
  return (
    <div class={changed && text !== beside ? "answer changed" : "answer"}>
      {parts.length === 0 && <p class="empty">nothing</p>}
      {parts.map((part, index) =>
        part.kind === "call" ? (
          <Call key={index} call={part} differing={differingFrom(part, others)} />
        ) : (
          <p key={index} class="words">
            {part.text}
          </p>
        ),
      )}
    </div>
  );
}

function Call({ call, differing }: { call: AnswerCall; differing: ReadonlySet<string> }) {
  return (
    <div class="call">
      <strong>{call.name}</strong>
      <dl>
        {[...call.arguments].map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{differing.has(name) ? <mark>{value}</mark> : value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
