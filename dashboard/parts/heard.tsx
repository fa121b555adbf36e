/**
 * What users said to answers, and what the judge heard: a correction that it took for none is seen here, beside where it can be given by
 * hand.
 */
import { Fragment } from "preact";
import { API } from "../../shared/api-routes.ts";
import type { ListedTurn } from "../../shared/api.ts";
import { hintsOf } from "../../shared/events.ts";
import type { Note } from "../../shared/note.ts";
import { addressOf, conversationOf, type Line } from "../address.ts";
import { useResource } from "../resource.ts";
import { Hints } from "./hints.tsx";
import { Review } from "./review.tsx";
import { Empty, Loaded, RewardBadge } from "./shown.tsx";

type Judgement = ListedTurn["judgements"][number];
type Reaction = { readonly eventId: string; readonly words: string; readonly judged: Judgement | undefined; readonly turn: ListedTurn };

const LOOKED_THROUGH = { conversation: 12, agent: 30 }; // turns: calls are followed by results, of which nobody says anything
const SHOWN = 5;

/** `line`: that corrections teach. */
type Of = Line & {
  /** Of one conversation, or of one user, alone. */
  only: { session?: string; user?: string };
  /** Another one loads again. */
  version: number;
};

export function Heard({ agent, line, only, version }: Of) {
  const turns = useResource(
    API.turns.at({ agent }, { limit: only.session === undefined ? LOOKED_THROUGH.agent : LOOKED_THROUGH.conversation, ...only }),
    version,
  );
  // Before it was corrected a user's own line may not be there.
  const isCorrected =
    turns.data?.turns.some((turn) => turn.line === line && turn.judgements.some(({ hint }) => hint !== undefined)) ?? false;
  const notes = useResource(isCorrected ? API.notes.at({ agent }, { line }) : null, version);
  return (
    <section class="heard" aria-label="What was heard">
      <h2>What was heard</h2>
      <Loaded from={turns}>
        {({ turns: found }) => {
          const reactions = found.flatMap(reactionsTo);
          if (reactions.length === 0)
            return (
              <Empty>Nobody has said anything to an answer yet. Agree, or say what should have been different, and it stands here.</Empty>
            );
          // In a conversation one looks for what was said last; of a whole agent agreement would drown what was put right.
          const telling = only.session === undefined ? reactions.filter(isTelling) : reactions;
          const others = reactions.filter((each) => !telling.includes(each)).slice(0, SHOWN);
          const list = (shown: readonly Reaction[]) =>
            shown.map((each) => (
              <Said key={each.eventId} agent={agent} reaction={each} notes={notes.data?.notes ?? []} called={hasCalled(each.turn, found)} />
            ));
          return (
            <>
              <ol aria-live="polite">{list(telling.slice(0, SHOWN))}</ol>
              {others.length > 0 && (
                <details>
                  <summary>Said last, and heard as no correction</summary>
                  <ol>{list(others)}</ol>
                </details>
              )}
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

/** Whether it put something right, found fault, or was not judged yet. */
function isTelling({ judged }: Reaction): boolean {
  return judged === undefined || judged.reward < 0 || judged.hint !== undefined || judged.teaches === "answer";
}

type Shown = { agent: string; reaction: Reaction; notes: readonly Note[]; /** Before it was said. */ called: boolean };

function Said({ agent, reaction: { words, judged, turn }, notes, called }: Shown) {
  const became = judged === undefined ? [] : becameOf({ judged, turn }, notes);
  return (
    <li>
      <a class="words" href={conversationOf(agent, turn.turnId)}>
        {words}
      </a>
      <p class="note">
        <HeardAs judged={judged} called={called} />{" "}
        {judged !== undefined && judged.hint === undefined && judged.teaches !== "answer" && (
          <Review agent={agent} turn={turn} label="correct it by hand" look="link" />
        )}
      </p>
      {became.length > 0 && (
        <p class="note">
          {became.map(({ words, section }, at) => (
            <Fragment key={words}>
              {at > 0 && " → "}
              {section === undefined ? words : <a href={addressOf({ agent, line: turn.line }, section)}>{words}</a>}
            </Fragment>
          ))}
        </p>
      )}
    </li>
  );
}

function HeardAs({ judged, called }: { judged: Judgement | undefined; called: boolean }) {
  if (judged === undefined) return <>not judged yet</>;
  const { hint, reward, votes, teaches } = judged;
  return (
    <>
      <RewardBadge reward={reward} votes={votes} /> heard as:{" "}
      {hint !== undefined ? (
        <Hints judged={judged} />
      ) : teaches === "answer" ? (
        "the answer to give from now on"
      ) : reward < 0 ? (
        <>a complaint. No note: {whyNoHint(judged, called)}.</>
      ) : (
        "no correction."
      )}
    </>
  );
}

/** Why nothing was heard that a note could say. @param called whether anything was, before it was said */
export function whyNoHint({ refused }: Pick<Judgement, "refused">, called: boolean): string {
  if (refused !== undefined && refused.code !== "hint/none") return refused.detail;
  // Its detail is the judge's own answers.
  if (!called) return "nothing has been called yet that this could correct; say it again after the call";
  return "no argument of the call was found that these words put right";
}

/** Whether anything was called in the conversation up to this turn, as far as its turns are among these. */
export function hasCalled({ sessionId, seq }: ListedTurn, among: readonly ListedTurn[]): boolean {
  return among.some(
    ({ prompt, answer, ...each }) =>
      each.sessionId === sessionId &&
      each.seq <= seq &&
      (prompt?.role === "tool" || (answer?.role === "assistant" && (answer.tool_calls ?? []).length > 0)),
  );
}

/** A step of what became of a correction, and the section of the line that shows it. */
type Became = { readonly words: string; readonly section?: string };

/** What became of a correction, step by step: as a note, and in the weights. */
function becameOf({ judged, turn }: { judged: Judgement; turn: ListedTurn }, notes: readonly Note[]): Became[] {
  const given = hintsOf(judged).map(({ hintId }) => hintId);
  const note = notes.find(({ eventId }) => given.includes(eventId));
  const learnedBy = note?.learnedBy ?? turn.trained.find(({ eventId }) => given.includes(eventId))?.version;
  const learned = learnedBy === undefined ? [] : [{ words: `learned by version ${learnedBy}`, section: `versions/${learnedBy}` }];
  if (note === undefined) return learned;
  return [{ words: note.status === "inForce" ? "note in force" : "noted", section: "notes" }, ...learned, ...endOf(note)];
}

function endOf({ status, absorbedBy }: Note): Became[] {
  switch (status) {
    case "inForce":
      return [];
    case "absorbed":
      return [{ words: `version ${absorbedBy} does so without the note`, section: `versions/${absorbedBy}` }];
    case "superseded":
      return [{ words: "another correction took its place" }];
    case "rolledBack":
      return [{ words: "rolled back", section: "audit" }];
    case "dropped":
      return [{ words: "taken out" }];
  }
}

/** What was said to an answer, in the conversation or as feedback. */
function reactionsTo(turn: ListedTurn): Reaction[] {
  const said = [
    ...turn.feedback.map(({ eventId, correction, answer }) => ({
      eventId,
      words: correction ?? (answer === undefined ? "" : "the answer as it should have been"),
    })),
    ...turn.next.map(({ eventId, messages }) => ({
      eventId,
      words: messages.flatMap((message) => (message.role === "user" ? [message.content] : [])).join(" "),
    })),
  ];
  return said
    .filter(({ words }) => words !== "")
    .map((each) => ({ ...each, turn, judged: turn.judgements.find(({ subject }) => subject === each.eventId) }));
}
