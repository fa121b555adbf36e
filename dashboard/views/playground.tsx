/**
 * A conversation with the agent as its users have it, from which it learns, or with any version, and beside it what another one
 * says to the same words. A result that is typed in, or a canned one, stands for the tool.
 */
import { useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { AgentSettings } from "../../shared/agent.ts";
import { API } from "../../shared/api-routes.ts";
import { EXAMPLE_INSTRUCTIONS, EXAMPLE_WORDS, GET_WEATHER, RESERVE_TABLE } from "../../shared/example.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import type { ListedVersion } from "../../shared/api.ts";
import type { Line } from "../address.ts";
import type { AgentView } from "../agent-page.tsx";
import { send } from "../api.ts";
import { chat, type Answering, type Said } from "../chat.ts";
import { type Live, useLive } from "../live.ts";
import { Heard } from "../parts/heard.tsx";
import { Message } from "../parts/messages.tsx";
import { Empty, Problem, STATUS_WORDS } from "../parts/shown.tsx";
import { CannedResults, NO_RESULTS, type OpenCall, Results, resultsOf } from "../parts/tool-results.tsx";
import { TrainerNow } from "../parts/trainer-now.tsx";
import { usePages, VERSION_PAGING } from "../pages.ts";
import { useAction, useResource } from "../resource.ts";

/** `now`: whatever answers users, kept and learned from. A number: that version, on trial here alone, and nothing is kept. */
type Who = "now" | number;
type Side = {
  readonly who: Who;
  readonly messages: readonly Said[];
  /** Which version did, and the session in which the edge keeps it. */ readonly answered: { version: number; session: string } | undefined;
};

const EXAMPLE_TOOLS = [RESERVE_TABLE, GET_WEATHER];
const MOST_CALLS = 8; // in a row, answered by canned results before somebody is asked
const OLDER = "older";
const NOTHING_YET: Said = { role: "assistant", content: null };
const SIDE_NAMES = ["Answers", "Beside it"] as const;

/** A conversation's name, and how it is broken off. */
const newTalk = () => ({ session: crypto.randomUUID(), end: new AbortController() });
const sidesOf = (whos: readonly Who[]): Side[] => whos.map((who) => ({ who, messages: [], answered: undefined }));

export function Playground({ agent, line, personal, user, live }: AgentView) {
  const { query } = useLocation();
  const listed = usePages(API.versions.at({ agent }, { line }), VERSION_PAGING, live.head?.latest ?? 0);
  const settings = useResource(API.agent.at({ agent }));
  const [sides, setSides] = useState<readonly Side[]>(() =>
    sidesOf([whoOf(query["version"]) ?? "now", whoOf(query["beside"]) ?? []].flat()),
  );
  const [said, setSaid] = useState("");
  const [canned, setCanned] = useState(NO_RESULTS);
  const talk = useRef(newTalk());
  const { run, busy, error } = useAction();
  const versions = listed.items.filter(({ status }) => status !== "deleted" && status !== "refused");
  const begin = (whos: readonly Who[]): void => {
    // What is still being answered belongs to the talk before.
    talk.current.end.abort();
    talk.current = newTalk();
    setSides(sidesOf(whos));
  };
  const beginAnew = (words: string): void => {
    begin(sides.map(({ who }) => who));
    setSaid(words);
  };
  const answer = async (side: Side, index: number, added: readonly Said[]): Promise<void> => {
    const { session, end } = talk.current;
    const put = (change: Partial<Side>): void => {
      if (!end.signal.aborted) setSides((before) => before.map((each, at) => (at === index ? { ...each, ...change } : each)));
    };
    let messages = [...side.messages, ...added];
    for (let calls = 0; calls <= MOST_CALLS; calls += 1) {
      const asked: Answering = { agent, line, messages, version: side.who === "now" ? null : side.who, session };
      const before = messages;
      put({ messages });
      const { message, ...answered } = await chat(asked, (partial) => put({ messages: [...before, partial] }), end.signal).catch(
        (thrown) => {
          // Half an answer is none: it is asked for again, or what is said next follows what was said before.
          put({ messages: before });
          throw thrown;
        },
      );
      messages = [...before, message];
      put({ messages, answered });
      const results = resultsOf(openCalls(messages), canned);
      if (results === undefined) return;
      messages = [...messages, ...results];
    }
  };
  /** Of a talk that was ended nothing is told, not even that it broke off. */
  const runTalk = (answers: () => Promise<unknown>): void => {
    const { signal } = talk.current.end;
    run(() =>
      answers().catch((thrown: unknown) => {
        if (!signal.aborted) throw thrown;
      }),
    );
  };
  const say = (event: Event): void => {
    event.preventDefault();
    const content = said;
    setSaid("");
    // Who waits for a result hears nothing else.
    const listening = (side: Side): boolean => openCalls(side.messages).length === 0;
    runTalk(() =>
      Promise.all(sides.map((side, index) => (listening(side) ? answer(side, index, [{ role: "user", content }]) : Promise.resolve()))),
    );
  };
  /** Where an answer did not come: what was said stands already. */
  const askAgain = (): void =>
    runTalk(() => Promise.all(sides.map((side, index) => (isOwed(side.messages) ? answer(side, index, []) : Promise.resolve()))));
  const choose = (place: number, value: string): void => {
    if (value === OLDER) {
      listed.more?.();
      return;
    }
    const others = sides.map(({ who }) => who).filter((_, at) => at !== place);
    const who = whoOf(value);
    begin(place === 0 ? [who ?? "now", ...others] : [...others, ...(who === undefined ? [] : [who])]);
  };
  const kept = sides.find(({ who }) => who === "now")?.answered?.session;
  const waiting = sides.every(({ messages }) => openCalls(messages).length > 0);
  return (
    <section>
      <header class="row">
        <h1>Playground</h1>
        <button type="button" class="secondary" onClick={() => begin(sides.map(({ who }) => who))}>
          New conversation
        </button>
      </header>
      <p>
        Talk to the agent as its users do. Where an answer is wrong, say what should have been different: a note comes of it in seconds, a
        version in minutes. Of a version that you choose by its number nothing is kept, and nothing is learned.
        {personal && ` Here you are a user of your own, ${user}: what you teach answers you, and nobody else.`}
      </p>
      <div class="grid compare">
        {SIDE_NAMES.map((name, place) => (
          <label key={name}>
            {name}
            <select value={String(sides[place]?.who ?? "")} onChange={({ currentTarget }) => choose(place, currentTarget.value)}>
              {place === 1 && <option value="">nothing</option>}
              <option value="now" disabled={sides[1 - place]?.who === "now"}>
                what answers users
              </option>
              {versions.map(({ version, status }) => (
                <option key={version} value={version} disabled={sides[1 - place]?.who === version}>
                  version {version}, {STATUS_WORDS[status]}
                </option>
              ))}
              {unlisted(sides[place]?.who, versions) && <option value={String(sides[place]?.who)}>version {sides[place]?.who}</option>}
              {listed.more && <option value={OLDER}>older versions …</option>}
            </select>
          </label>
        ))}
      </div>
      <CannedResults tools={settings.data?.settings.tools ?? []} canned={canned} onChange={setCanned} />
      <div class="sides">
        {sides.map((side, index) => (
          <div key={side.who} class="talk" role="log" aria-label={side.who === "now" ? "what answers users" : `version ${side.who}`}>
            <h2>
              {side.who === "now"
                ? `What answers users${side.answered === undefined ? "" : `: version ${side.answered.version}`}`
                : `Version ${side.who}`}
            </h2>
            {side.messages.length === 0 && settings.data !== undefined && (
              <Begin agent={agent} settings={settings.data.settings} onGiven={settings.reload} />
            )}
            {side.messages.map((message, at) => (
              <Message key={at} message={message} busy={busy && at === side.messages.length - 1} />
            ))}
            {busy && isOwed(side.messages) && <Message message={NOTHING_YET} busy />}
            {openCalls(side.messages).length > 0 && !busy && (
              <Results
                calls={openCalls(side.messages)}
                canned={canned}
                onGiven={(results) => runTalk(() => answer(side, index, results))}
              />
            )}
          </div>
        ))}
      </div>
      <Problem error={error} />
      {error !== undefined && !busy && sides.some(({ messages }) => isOwed(messages)) && (
        <button type="button" class="small" onClick={askAgain}>
          Ask again
        </button>
      )}
      {kept !== undefined && <Heard agent={agent} line={personal ? user : SHARED_LINE} only={{ session: kept }} version={live.ticks} />}
      {sides.some(({ who, messages }) => who === "now" && messages.length > 0) && (
        <TeacherNow agent={agent} line={line} own={personal ? user : SHARED_LINE} live={live} />
      )}
      {isExample(settings.data?.settings.tools ?? []) && !busy && (
        <NextStep step={nextStep(sides[0]?.messages ?? [], said)} onSay={setSaid} onAnew={beginAnew} />
      )}
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

/** What the trainer makes of what is said here, on the line that it teaches. */
function TeacherNow({ agent, line, own, live }: Line & { own: string; live: Live }) {
  return own === line ? <TrainerNow agent={agent} line={line} live={live} /> : <ElsewhereNow agent={agent} line={own} />;
}

function ElsewhereNow({ agent, line }: Line) {
  return <TrainerNow agent={agent} line={line} live={useLive({ agent, line })} />;
}

/** What there is to ask for, before anything is said. */
function Begin({ agent, settings, onGiven }: { agent: string; settings: AgentSettings; onGiven: () => void }) {
  const { run, busy, error } = useAction();
  const { tools, mcpServers } = settings;
  const give = (): void =>
    run(async () => {
      const instructions = settings.instructions === "" ? EXAMPLE_INSTRUCTIONS : settings.instructions;
      await send(API.patchAgent.at({ agent }), { instructions, tools: EXAMPLE_TOOLS });
      onGiven();
    });
  if (tools.length + mcpServers.length === 0)
    return (
      <>
        <Empty>
          This agent has no tools yet, and what a correction names is an argument of a tool&#39;s call. Give it{" "}
          <a href={`/agents/${agent}/settings`}>tools of your own</a>, or, to see it learn, two that reserve a table and tell the weather.
        </Empty>
        <button type="button" class="small" disabled={busy} aria-busy={busy} onClick={give}>
          Give it the example&#39;s tools
        </button>
        <Problem error={error} />
      </>
    );
  const does = tools.map(({ function: { name, description = name } }) => description);
  return <Empty>Ask for something that its tools do{does.length === 0 ? "" : `: ${does.join("; ")}`}.</Empty>;
}

/** What to do next with the example, so that it learns; the words are put where one writes. */
function NextStep({ step, onSay, onAnew }: { step: Step; onSay: (words: string) => void; onAnew: (words: string) => void }) {
  if (step === undefined) return null;
  return (
    <section class="note try" aria-label="Words to try">
      {step.does === "give" ? (
        <span>
          Next: <strong>Give the result</strong>, with the button above.
        </span>
      ) : (
        <>
          {step.does === "say" ? "Try:" : "See whether it was learned, in a"}{" "}
          <button
            type="button"
            class="small secondary outline"
            onClick={() => (step.does === "say" ? onSay(step.words) : onAnew(step.words))}
          >
            {step.does === "say" ? step.words : `New conversation: ${step.words}`}
          </button>
        </>
      )}
    </section>
  );
}

type Step = { readonly does: "say" | "anew"; readonly words: string } | { readonly does: "give" } | undefined;

// The shipped base asks back once about the first, twice about the other.
const [FIRST, LATER] = [EXAMPLE_WORDS.again, EXAMPLE_WORDS.request];

/** The one step that leads on from here: asked, agreed to, with its result, put right, and asked anew. */
function nextStep(messages: readonly Said[], said: string): Step {
  const last = messages.at(-1);
  if (last === undefined) return { does: "say", words: said === LATER ? LATER : FIRST };
  if (openCalls(messages).length > 0) return { does: "give" };
  if (last.role !== "assistant") return undefined;
  const result = messages.findIndex(({ role }) => role === "tool");
  if (result < 0)
    return [FIRST, LATER].some((words) => words === messages[0]?.content) ? { does: "say", words: EXAMPLE_WORDS.yes } : undefined;
  if (messages[0]?.content === LATER) return undefined;
  const isPutRight = messages.slice(result).some(({ role }) => role === "user");
  return isPutRight ? { does: "anew", words: LATER } : { does: "say", words: EXAMPLE_WORDS.correction };
}

function isExample(tools: AgentSettings["tools"]): boolean {
  return tools.some(({ function: { name } }) => name === RESERVE_TABLE.function.name);
}

/** Somebody came here with the number of a version that is further back. */
function unlisted(who: Who | undefined, listed: readonly ListedVersion[]): boolean {
  return typeof who === "number" && listed.every(({ version }) => version !== who);
}

function whoOf(value: string | undefined): Who | undefined {
  if (value === "now") return value;
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
}

/** Whether an answer is waited for of which nothing is there yet. */
function isOwed(messages: readonly Said[]): boolean {
  return messages.length > 0 && messages.at(-1)?.role !== "assistant";
}

/** Calls of the last answer that have no result yet. */
function openCalls(messages: readonly Said[]): readonly OpenCall[] {
  const last = messages.at(-1);
  return last?.role === "assistant" ? (last.tool_calls ?? []) : [];
}
