/**
 * A conversation with the agent as its users have it, from which it learns, or with any version, and beside it what another one
 * says to the same words. A result that is typed in, or a canned one, stands for the tool.
 */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { API } from "../../shared/api-routes.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import type { Line } from "../address.ts";
import type { AgentView } from "../agent-page.tsx";
import { type Live, useLive } from "../live.ts";
import { Begin, isExample, NextStep } from "../parts/example-steps.tsx";
import { Heard } from "../parts/heard.tsx";
import { Problem } from "../parts/shown.tsx";
import { SideChooser, TalkSide } from "../parts/talk-side.tsx";
import { CannedResults, NO_RESULTS } from "../parts/tool-results.tsx";
import { TrainerNow } from "../parts/trainer-now.tsx";
import { usePages, VERSION_PAGING } from "../pages.ts";
import { useResource } from "../resource.ts";
import { isOwed, openCalls, type Talk, useTalk, type Who, whoOf } from "../talk.ts";

export function Playground({ agent, line, personal, user, live }: AgentView) {
  const { query } = useLocation();
  const listed = usePages(API.versions.at({ agent }, { line }), VERSION_PAGING, live.head?.latest ?? 0);
  const settings = useResource(API.agent.at({ agent }));
  const tools = settings.data?.settings.tools ?? [];
  const [said, setSaid] = useState("");
  const [canned, setCanned] = useState(NO_RESULTS);
  const talk = useTalk({ agent, line }, () => whosOf(query), canned);
  const { sides, busy } = talk;
  const beginAnew = (): void => talk.begin(sides.map(({ who }) => who));
  const versions = listed.items.filter(({ status }) => status !== "deleted" && status !== "refused");
  const kept = sides.find(({ who }) => who === "now")?.answered?.session;
  const own = personal ? user : SHARED_LINE;
  return (
    <section>
      <header class="row">
        <h1>Playground</h1>
        <button type="button" class="secondary" onClick={beginAnew}>
          New conversation
        </button>
      </header>
      <p>
        Talk to the agent as its users do. Where an answer is wrong, say what should have been different: a note comes of it in seconds, a
        version in minutes. Of a version that you choose by its number nothing is kept, and nothing is learned.
        {personal && ` Here you are a user of your own, ${user}: what you teach answers you, and nobody else.`}
      </p>
      <SideChooser sides={sides} versions={versions} onMore={listed.more} onChoose={talk.begin} />
      <CannedResults tools={tools} canned={canned} onChange={setCanned} />
      <div class="sides">
        {sides.map((side, index) => (
          <TalkSide key={side.who} side={side} busy={busy} canned={canned} onGiven={(results) => talk.give(index, results)}>
            {settings.data !== undefined && <Begin agent={agent} settings={settings.data.settings} onGiven={settings.reload} />}
          </TalkSide>
        ))}
      </div>
      <Broken talk={talk} />
      {kept !== undefined && <Heard agent={agent} line={own} only={{ session: kept }} version={live.ticks} />}
      {sides.some(({ who, messages }) => who === "now" && messages.length > 0) && (
        <TeacherNow agent={agent} line={line} own={own} live={live} />
      )}
      {isExample(tools) && !busy && (
        <NextStep
          messages={sides[0]?.messages ?? []}
          said={said}
          onSay={setSaid}
          onAnew={(words) => {
            beginAnew();
            setSaid(words);
          }}
        />
      )}
      <Say talk={talk} said={said} onSaid={setSaid} />
    </section>
  );
}

/** What an address asks for: `?version=2&beside=now`. */
function whosOf(query: Readonly<Record<string, string>>): Who[] {
  return [whoOf(query["version"]) ?? "now", whoOf(query["beside"]) ?? []].flat();
}

/** What went wrong, and how it is asked for again. */
function Broken({ talk: { error, busy, sides, askAgain } }: { talk: Talk }) {
  return (
    <>
      <Problem error={error} />
      {error !== undefined && !busy && sides.some(({ messages }) => isOwed(messages)) && (
        <button type="button" class="small" onClick={askAgain}>
          Ask again
        </button>
      )}
    </>
  );
}

function Say({ talk: { sides, busy, say }, said, onSaid }: { talk: Talk; said: string; onSaid: (words: string) => void }) {
  const waiting = sides.every(({ messages }) => openCalls(messages).length > 0);
  const submit = (event: Event): void => {
    event.preventDefault();
    onSaid("");
    say(said);
  };
  return (
    <form class="say" onSubmit={submit}>
      <label>
        <span class="visually-hidden">Say</span>
        <input
          value={said}
          placeholder={waiting ? "Give the tools' results first" : "Ask, or say what should have been different"}
          disabled={waiting}
          onInput={({ currentTarget }) => onSaid(currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={busy || waiting || said.trim() === ""} aria-busy={busy}>
        Send
      </button>
    </form>
  );
}

/** What the trainer makes of what is said here, on the line that it teaches. */
function TeacherNow({ agent, line, own, live }: Line & { own: string; live: Live }) {
  return own === line ? <TrainerNow agent={agent} line={line} live={live} /> : <ElsewhereNow agent={agent} line={own} />;
}

function ElsewhereNow({ agent, line }: Line) {
  return <TrainerNow agent={agent} line={line} live={useLive({ agent, line })} />;
}
