/** All turns of the agent, searched and narrowed down by the edge, page by page. */
import { useEffect, useState } from "preact/hooks";
import { API } from "../../shared/api-routes.ts";
import type { ListedTurn } from "../../shared/api.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { addressOf, type Line } from "../address.ts";
import type { AgentView } from "../agent-page.tsx";
import { hasCalled } from "../parts/heard.tsx";
import { Empty, Loaded } from "../parts/shown.tsx";
import { More } from "../parts/table.tsx";
import { Turn } from "../parts/turn.tsx";
import { BARRED_PAGING, type Paging, readAll, usePages } from "../pages.ts";

type Filter = { words: string; reward: "any" | "1" | "0" | "-1" | "none"; version: string; user: string };

const PAGE = 20;
const PAGING: Paging<{ turns: ListedTurn[] }, ListedTurn> = {
  itemsOf: ({ turns }) => turns,
  idOf: ({ turnId }) => turnId,
  after: ({ seq }) => ({ before: seq }),
  size: null, // fewer come where they are large
};
const TYPED_MS = 300; // what is being typed is not asked for letter by letter
const EVERYTHING: Filter = { words: "", reward: "any", version: "", user: "" };

/** @param item a session's id: that conversation alone */
export function Conversations({ agent, line, live, item }: AgentView) {
  // A line is named by its user.
  const [filter, setFilter] = useState({ ...EVERYTHING, user: line === SHARED_LINE ? "" : line });
  const asked = useSettled(filter);
  const barred = useBarred({ agent, line });
  const turns = usePages(API.turns.at({ agent }, queryOf(asked, item)), PAGING, live.ticks);
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
            {turns.items.length === 0 && (
              <Empty>
                {isEverything(asked) ? (
                  <>
                    No turn yet. Talk to the agent in the <a href={addressOf({ agent, line }, "playground")}>playground</a>, or with any
                    OpenAI client.
                  </>
                ) : (
                  "No turn of this agent has all of that. Ask for less."
                )}
              </Empty>
            )}
            {turns.items.map((turn) => (
              <Turn
                key={turn.turnId}
                agent={agent}
                turn={turn}
                called={hasCalled(turn, turns.items)}
                barred={barred}
                onFilter={(user) => setFilter({ ...filter, user })}
              />
            ))}
            <More what="turns" pages={turns} />
          </>
        )}
      </Loaded>
    </section>
  );
}

/** Ids of the line's events that were not to be learned from when the page was opened. */
function useBarred({ agent, line }: Line): ReadonlySet<string> {
  const [barred, setBarred] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    readAll(API.quarantined.at({ agent }, { line }), BARRED_PAGING).then(
      (events) => setBarred(new Set(events.map(({ eventId }) => eventId))),
      () => {}, // then each stands as if it were learned from, and can be barred
    );
  }, [agent, line]);
  return barred;
}

/** The filter once nobody has changed it for a moment. */
function useSettled(filter: Filter): Filter {
  const [settled, setSettled] = useState(filter);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(filter), TYPED_MS);
    return () => clearTimeout(timer);
  }, [filter]);
  return settled;
}

function queryOf({ words, reward, version, user }: Filter, session: string | undefined): Record<string, string | number> {
  const asked = {
    words: words.trim(),
    reward: reward === "any" ? "" : reward,
    version: version.trim(),
    user: user.trim(),
    session: session ?? "",
  };
  return { limit: PAGE, ...Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== "")) };
}

function isEverything({ words, reward, version, user }: Filter): boolean {
  return words.trim() === "" && reward === "any" && version.trim() === "" && user.trim() === "";
}

function Filters({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const set = <Name extends keyof Filter>(name: Name, value: Filter[Name]): void => onChange({ ...filter, [name]: value });
  return (
    <search>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Words
          <input type="search" maxLength={200} value={filter.words} onInput={({ currentTarget }) => set("words", currentTarget.value)} />
        </label>
        <label>
          Judged
          <select value={filter.reward} onChange={({ currentTarget }) => set("reward", currentTarget.value as Filter["reward"])}>
            <option value="any">any</option>
            <option value="1">answer right</option>
            <option value="0">no verdict</option>
            <option value="-1">answer wrong</option>
            <option value="none">not yet</option>
          </select>
        </label>
        <label>
          Version
          <input
            inputMode="numeric"
            pattern="[0-9]*"
            value={filter.version}
            onInput={({ currentTarget }) => set("version", currentTarget.value)}
          />
        </label>
        <label>
          User
          <input value={filter.user} onInput={({ currentTarget }) => set("user", currentTarget.value)} />
        </label>
      </form>
    </search>
  );
}
