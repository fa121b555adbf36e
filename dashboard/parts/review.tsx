/** What a person says of an answer: in words, as the answer that it should have been, or as a score. */
import { useState } from "preact/hooks";
import { API } from "../../shared/api-routes.ts";
import type { ListedTurn } from "../../shared/api.ts";
import { send } from "../api.ts";
import { type AnswerForm, answerFormOf, argumentsProblem, suppliedAnswer } from "../supplied-answer.ts";
import { Dialog } from "./dialog.tsx";
import { Field } from "./field.tsx";

type Reviewed = { agent: string; turn: ListedTurn };
type Offered = Reviewed & { label?: string; /** The class of its button. */ look?: string };

export function Review({ label = "Correct or score", look = "small secondary", ...reviewed }: Offered) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <button type="button" class={look} onClick={() => setAsking(true)}>
        {label}
      </button>
      {asking && <ReviewDialog {...reviewed} onClose={() => setAsking(false)} />}
    </>
  );
}

function ReviewDialog({ agent, turn: { completionId, answer }, onClose }: Reviewed & { onClose: () => void }) {
  const [form, setForm] = useState<AnswerForm>();
  const [correction, setCorrection] = useState("");
  const [score, setScore] = useState("");
  const supplied = form === undefined ? undefined : suppliedAnswer(form);
  const give = (): Promise<unknown> =>
    send(API.feedback.at({ agent }), {
      completion_id: completionId,
      ...(form === undefined ? (correction === "" ? {} : { correction }) : { answer: supplied }),
      ...(score === "" ? {} : { score: Number(score) }),
    });
  const missing = form === undefined ? correction === "" && score === "" : supplied === undefined;
  return (
    <Dialog title="Correct or score this answer" verb="Give it" disabled={missing} onConfirm={give} onClose={onClose}>
      {answer?.role === "assistant" && (
        <label>
          How
          <select
            value={form === undefined ? "words" : "answer"}
            onChange={({ currentTarget }) => setForm(currentTarget.value === "words" ? undefined : answerFormOf(answer))}
          >
            <option value="words">say what should have been different</option>
            <option value="answer">write the answer as it should have been</option>
          </select>
        </label>
      )}
      {form === undefined ? (
        <label>
          What should have been different
          <textarea
            value={correction}
            placeholder="The number of rooms should be 2."
            onInput={({ currentTarget }) => setCorrection(currentTarget.value)}
          />
          <small>
            Heard most surely is a sentence that names the argument and its value. The answer, written as it should have been, always is.
          </small>
        </label>
      ) : (
        <AnswerFields form={form} onChange={setForm} />
      )}
      <label>
        Score
        <select value={score} onChange={({ currentTarget }) => setScore(currentTarget.value)}>
          <option value="">none</option>
          <option value="1">right</option>
          <option value="0">neither</option>
          <option value="-1">wrong</option>
        </select>
      </label>
      <small>It counts as said by the user of the turn, and the log has your key's name beside it.</small>
    </Dialog>
  );
}

function AnswerFields({ form, onChange }: { form: AnswerForm; onChange: (form: AnswerForm) => void }) {
  const { reply, calls } = form;
  const setCall = (index: number, change: Partial<AnswerForm["calls"][number]>): void =>
    onChange({ ...form, calls: calls.map((call, at) => (at === index ? { ...call, ...change } : call)) });
  return (
    <>
      <label>
        The reply; empty where there are only calls
        <textarea value={reply} onInput={({ currentTarget }) => onChange({ ...form, reply: currentTarget.value })} />
      </label>
      {calls.map((call, index) => {
        return (
          <fieldset key={index}>
            <legend>{call.name === "" ? "a call" : call.name}</legend>
            <label>
              Tool
              <input required value={call.name} onInput={({ currentTarget }) => setCall(index, { name: currentTarget.value })} />
            </label>
            <Field label="Arguments, as JSON" problem={argumentsProblem(call.args)}>
              {(told) => (
                <textarea
                  {...told}
                  class="code"
                  rows={4}
                  spellcheck={false}
                  value={call.args}
                  onInput={({ currentTarget }) => setCall(index, { args: currentTarget.value })}
                />
              )}
            </Field>
            <button type="button" class="link" onClick={() => onChange({ ...form, calls: calls.filter((_, at) => at !== index) })}>
              remove<span class="visually-hidden"> the call of {call.name}</span>
            </button>
          </fieldset>
        );
      })}
      <button type="button" class="small secondary" onClick={() => onChange({ ...form, calls: [...calls, { name: "", args: "{}" }] })}>
        Add a call
      </button>
    </>
  );
}
