/** A turn as it was: what was asked and answered, what came next, how it was judged, and what was made of it. */
import { useState } from "preact/hooks";
import { aspectText, isAspect } from "../../shared/aspects.ts";
import { API } from "../../shared/api-routes.ts";
import type { ListedTurn } from "../../shared/api.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { addressOf, conversationOf, placeOf } from "../address.ts";
import { send } from "../api.ts";
import { time } from "../format.ts";
import { useAction } from "../resource.ts";
import { whyNoHint } from "./heard.tsx";
import { HeatMaps } from "./heat-map.tsx";
import { Hints } from "./hints.tsx";
import { Message } from "./messages.tsx";
import { Review } from "./review.tsx";
import { Problem, RewardBadge } from "./shown.tsx";

type Shown = {
  agent: string;
  turn: ListedTurn;
  /** Whether what it answers stands with the turn before. */ isTold: boolean;
  /** Whether anything was called in the conversation until then. */ called: boolean;
  /** Ids of events that were not to be learned from when the page was opened. */ barred: ReadonlySet<string>;
  /** Whether somebody came for it. */ wanted: boolean;
};

export function Turn({ agent, turn, isTold, called, barred, wanted }: Shown) {
  const {
    prompt,
    answer,
    next,
    feedback,
    judgements,
    more,
    trained,
    createdAt,
    policyLine,
    policyVersion,
    yieldedTo,
    heldTo,
    agreedTo,
    finishReason,
  } = turn;
  return (
    <article class={wanted ? "turn wanted" : "turn"} id={placeOf(turn.turnId)} tabIndex={-1}>
      <header class="row">
        <a href={conversationOf(agent, turn.turnId)}>
          <time dateTime={createdAt}>{time(createdAt)}</time>
        </a>
        <span>
          <a href={addressOf({ agent, line: policyLine }, `versions/${policyVersion}`)}>version {policyVersion}</a>
          {policyLine !== SHARED_LINE && " of their own"}
        </span>
      </header>
      {prompt !== null && !isTold && <Message message={prompt} />}
      {answer === null ? <p class="problem">{finishReason}</p> : <Message message={answer} />}
      {yieldedTo !== null && (
        <p class="note">
          What version {policyVersion} has learned is about other tools or arguments, or yielded to what the user had said:{" "}
          <a href={addressOf({ agent, line: yieldedTo.line }, `versions/${yieldedTo.version}`)}>version {yieldedTo.version}</a>
          {yieldedTo.line !== SHARED_LINE && " of their own"} gave this answer.
        </p>
      )}
      {heldTo.length > 0 && (
        <p class="note">
          The answer was held to what version {policyVersion} has learned, or to what the user had said:{" "}
          {heldTo.map((each) => (isAspect(each.parameter) ? aspectText(each) : `${each.parameter} should be ${each.value}.`)).join(" ")}
        </p>
      )}
      {agreedTo !== null && <p class="note">Nobody was to be asked: {agreedTo} It went on as if they had said yes.</p>}
      <StandingNotes agent={agent} turn={turn} />
      {next.flatMap(({ messages, eventId }) => messages.map((message, index) => <Message key={`${eventId}/${index}`} message={message} />))}
      {more && <p class="note">Older feedback is not shown.</p>}
      {feedback.map(({ eventId, score, correction, comment, answer: supplied }) => (
        <div key={eventId} class="words">
          feedback: {[score === undefined ? [] : `score ${score}`, correction ?? [], comment ?? []].flat().join(" · ")}
          {supplied !== undefined && (
            <figure class="supplied">
              <figcaption>as it should have been:</figcaption>
              <Message message={supplied} />
            </figure>
          )}
        </div>
      ))}
      {answer !== null && <Review agent={agent} turn={turn} />}
      <Judgements agent={agent} turn={turn} called={called} barred={barred} />
      <HeatMaps agent={agent} trained={trained} />
      {judgements.length === 0 && next.length + feedback.length > 0 && <p class="note">not judged yet</p>}
    </article>
  );
}

function StandingNotes({ agent, turn: { line, notes } }: { agent: string; turn: ListedTurn }) {
  if (notes.length === 0) return null;
  return (
    <p class="note">
      <a href={addressOf({ agent, line }, "notes")}>{notes.length === 1 ? "A note" : `${notes.length} notes`}</a> stood:{" "}
      {notes.map(({ noteId, text, held }) => (
        <span key={noteId}>
          {text}
          {held === true && " The policy passed it over, and was held to it."}{" "}
        </span>
      ))}
    </p>
  );
}

function Judgements({ agent, turn: { judgements }, called, barred }: Pick<Shown, "agent" | "turn" | "called" | "barred">) {
  const { run, busy, error } = useAction();
  const [turned, setTurned] = useState<Readonly<Record<string, boolean>>>({});
  const isBarred = (subject: string): boolean => turned[subject] ?? barred.has(subject);
  const turnOver = (subject: string): void =>
    run(async () => {
      const asked = { events: [subject] };
      await (isBarred(subject) ? send(API.letIn.at({ agent }), asked) : send(API.quarantine.at({ agent }), asked));
      setTurned({ ...turned, [subject]: !isBarred(subject) });
    });
  if (judgements.length === 0) return null;
  return (
    <footer>
      {judgements.map((judged) => {
        const { subject, reward, votes, judge, hint, refused } = judged;
        return (
          <p key={subject} class="judged">
            <RewardBadge reward={reward} votes={votes} /> by the {judge} judge
            {hint !== undefined && (
              <>
                : <Hints judged={judged} />
              </>
            )}
            {refused !== undefined && <small> no hint: {whyNoHint(judged, called)}</small>}{" "}
            {isBarred(subject) && "In quarantine: nothing is learned from it. "}
            <button type="button" class="link" disabled={busy} onClick={() => turnOver(subject)}>
              {isBarred(subject) ? "let back in" : "keep from being learned"}
            </button>
          </p>
        );
      })}
      <Problem error={error} />
    </footer>
  );
}
