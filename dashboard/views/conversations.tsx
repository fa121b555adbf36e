/** Turns as they were: what was asked and answered, what came next, how it was judged, and what was made of it. */
import { useState } from "preact/hooks";
import type { ListedTurn } from "../../shared/api.ts";
import type { AgentView } from "../agent-page.tsx";
import { send } from "../api.ts";
import { time } from "../format.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Message } from "../parts/messages.tsx";
import { Empty, Loaded, Problem, RewardBadge } from "../parts/shown.tsx";
import { More } from "../parts/table.tsx";
import { type Paging, usePages } from "../pages.ts";
import { useAction } from "../resource.ts";

type Filter = { words: string; reward: "any" | "1" | "0" | "-1" | "none"; version: string; user: string };

const PAGE = 20;
const PAGING: Paging<{ turns: ListedTurn[] }, ListedTurn> = {
  itemsOf: ({ turns }) => turns,
  idOf: ({ turnId }) => turnId,
  after: ({ seq }) => `before=${seq}`,
  size: null, // fewer come where they are large
};
const EVERYTHING: Filter = { words: "", reward: "any", version: "", user: "" };

/** @param item a session's id: that conversation alone */
export function Conversations({ agent, live, item }: AgentView) {
  const [filter, setFilter] = useState(EVERYTHING);
  const query = new URLSearchParams({ limit: String(PAGE) });
  if (item !== undefined) query.set("session", item);
  if (filter.user !== "") query.set("user", filter.user);
  const turns = usePages(`/api/agents/${agent}/turns?${query.toString()}`, PAGING, live.ticks);
  const shown = turns.items.filter((turn) => matches(turn, filter));
  return (
    <section>
      <header class="row">
        <h1>{item === undefined ? "Conversations" : "One conversation"}</h1>
        {item !== undefined && <a href={`/agents/${agent}/conversations`}>All conversations</a>}
      </header>
      <Filters filter={filter} onChange={setFilter} />
      <Loaded from={turns}>
        {() => (
          <>
            {shown.length === 0 && (
              <Empty>{turns.items.length === 0 ? "No turn yet." : "None of the turns loaded so far; load more, or ask for less."}</Empty>
            )}
            {shown.map((turn) => (
              <Turn key={turn.turnId} agent={agent} turn={turn} onFilter={(user) => setFilter({ ...filter, user })} />
            ))}
            <More what="turns" pages={turns} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function matches(turn: ListedTurn, { words, reward, version }: Filter): boolean {
  if (version !== "" && String(turn.policyVersion) !== version) return false;
  const rewards = turn.judgements.map((each) => String(each.reward));
  if (reward === "none" ? rewards.length > 0 : reward !== "any" && !rewards.includes(reward)) return false;
  return (
    words === "" ||
    JSON.stringify([turn.prompt, turn.answer, turn.next, turn.feedback, turn.judgements]).toLowerCase().includes(words.toLowerCase())
  );
}

function Filters({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const set = <Name extends keyof Filter>(name: Name, value: Filter[Name]): void => onChange({ ...filter, [name]: value });
  return (
    <search>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Words
          <input type="search" value={filter.words} onInput={({ currentTarget }) => set("words", currentTarget.value)} />
        </label>
        <label>
          Judged
          <select value={filter.reward} onChange={({ currentTarget }) => set("reward", currentTarget.value as Filter["reward"])}>
            <option value="any">any</option>
            <option value="1">approved</option>
            <option value="0">neutral</option>
            <option value="-1">rejected</option>
            <option value="none">not yet</option>
          </select>
        </label>
        <label>
          Version
          <input inputMode="numeric" value={filter.version} onInput={({ currentTarget }) => set("version", currentTarget.value)} />
        </label>
        <label>
          User
          <input value={filter.user} onChange={({ currentTarget }) => set("user", currentTarget.value.trim())} />
        </label>
      </form>
    </search>
  );
}

function Turn({ agent, turn, onFilter }: { agent: string; turn: ListedTurn; onFilter: (user: string) => void }) {
  const { prompt, answer, next, feedback, judgements, createdAt, user, policyVersion, sessionId, finishReason } = turn;
  return (
    <article class="turn">
      <header class="row">
        <a href={`/agents/${agent}/conversations/${sessionId}`}>
          <time dateTime={createdAt}>{time(createdAt)}</time>
        </a>
        <span>
          <a href={`/agents/${agent}/versions/${policyVersion}`}>version {policyVersion}</a> ·{" "}
          <button type="button" class="link" onClick={() => onFilter(user)}>
            {user}
          </button>
        </span>
      </header>
      {prompt !== null && <Message message={prompt} />}
      {answer === null ? <p class="problem">{finishReason}</p> : <Message message={answer} />}
      {next.flatMap(({ messages, eventId }) => messages.map((message, index) => <Message key={`${eventId}/${index}`} message={message} />))}
      {feedback.map(({ eventId, score, correction, comment, answer: supplied }) => (
        <div key={eventId} class="words">
          feedback: {[score === undefined ? [] : `score ${score}`, correction ?? [], comment ?? []].flat().join(" · ")}
          {supplied !== undefined && <Message message={supplied} />}
        </div>
      ))}
      {answer !== null && <Review agent={agent} turn={turn} />}
      <Judgements agent={agent} turn={turn} />
      {judgements.length === 0 && next.length + feedback.length > 0 && <p class="note">not judged yet</p>}
    </article>
  );
}

function Review({ agent, turn: { completionId } }: { agent: string; turn: ListedTurn }) {
  const [asking, setAsking] = useState(false);
  const [correction, setCorrection] = useState("");
  const [score, setScore] = useState("");
  const give = (): Promise<unknown> =>
    send("POST", `/api/agents/${agent}/feedback`, {
      completion_id: completionId,
      ...(correction === "" ? {} : { correction }),
      ...(score === "" ? {} : { score: Number(score) }),
    });
  return (
    <>
      <button type="button" class="small secondary" onClick={() => setAsking(true)}>
        Correct or score
      </button>
      {asking && (
        <Dialog
          title="Correct or score this answer"
          verb="Give it"
          disabled={correction === "" && score === ""}
          onConfirm={give}
          onClose={() => setAsking(false)}
        >
          <label>
            What should have been different
            <textarea
              value={correction}
              placeholder="The number of rooms should be 2."
              onInput={({ currentTarget }) => setCorrection(currentTarget.value)}
            />
          </label>
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
      )}
    </>
  );
}

function Judgements({ agent, turn: { judgements } }: { agent: string; turn: ListedTurn }) {
  const { run, busy, error } = useAction();
  const [barred, setBarred] = useState<readonly string[]>([]);
  const bar = (subject: string): void =>
    run(async () => {
      await send("POST", `/api/agents/${agent}/quarantine`, { events: [subject], reason: "from the dashboard" });
      setBarred([...barred, subject]);
    });
  if (judgements.length === 0) return null;
  return (
    <footer>
      {judgements.map(({ subject, reward, votes, judge, hint, refused }) => (
        <p key={subject} class="judged">
          <RewardBadge reward={reward} votes={votes} /> by the {judge} judge
          {hint !== undefined && (
            <>
              : <strong>{hint}</strong>
            </>
          )}
          {refused !== undefined && <small> not learned from: {refused.detail}</small>}{" "}
          <button type="button" class="link" disabled={busy || barred.includes(subject)} onClick={() => bar(subject)}>
            {barred.includes(subject) ? "quarantined" : "quarantine"}
          </button>
        </p>
      ))}
      <Problem error={error} />
    </footer>
  );
}
