/**
 * What users said to answers, and what the judge heard: a correction that it took for none is seen here, beside where it can be given by
 * hand.
 */
import { API } from "../../shared/api-routes.ts";
import type { ListedTurn } from "../../shared/api.ts";
import { conversationOf } from "../address.ts";
import { useResource } from "../resource.ts";
import { Hints } from "./hints.tsx";
import { Review } from "./review.tsx";
import { Empty, Loaded, RewardBadge } from "./shown.tsx";

type Judgement = ListedTurn["judgements"][number];
type Reaction = { readonly eventId: string; readonly words: string; readonly judged: Judgement | undefined; readonly turn: ListedTurn };

const LOOKED_THROUGH = 12; // turns: calls are followed by results, of which nobody says anything
const SHOWN = 5;

type Of = {
  agent: string;
  /** Of one conversation, or of one user, alone. */
  only: { session?: string; user?: string };
  /** Another one loads again. */
  version: number;
};

export function Heard({ agent, only, version }: Of) {
  const turns = useResource(API.turns.at({ agent }, { limit: LOOKED_THROUGH, ...only }), version);
  return (
    <section class="heard" aria-label="What was heard">
      <h2>What was heard</h2>
      <Loaded from={turns}>
        {({ turns: found }) => {
          const reactions = found.flatMap(reactionsTo).slice(0, SHOWN);
          if (reactions.length === 0)
            return (
              <Empty>Nobody has said anything to an answer yet. Agree, or say what should have been different, and it stands here.</Empty>
            );
          return (
            <ol aria-live="polite">
              {reactions.map((each) => (
                <Said key={each.eventId} agent={agent} reaction={each} />
              ))}
            </ol>
          );
        }}
      </Loaded>
    </section>
  );
}

function Said({ agent, reaction: { words, judged, turn } }: { agent: string; reaction: Reaction }) {
  return (
    <li>
      <a class="words" href={conversationOf(agent, turn.turnId)}>
        {words}
      </a>
      <p class="note">
        <HeardAs judged={judged} />{" "}
        {judged !== undefined && judged.hint === undefined && judged.teaches !== "answer" && (
          <Review agent={agent} turn={turn} label="correct it by hand" look="link" />
        )}
      </p>
    </li>
  );
}

function HeardAs({ judged }: { judged: Judgement | undefined }) {
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
        <>a complaint. No note: {whyNoHint(judged)}.</>
      ) : (
        "no correction."
      )}
    </>
  );
}

/** Why nothing was heard that a note could say. */
export function whyNoHint({ refused }: Pick<Judgement, "refused">): string {
  // Its detail is the judge's own answers.
  if (refused === undefined || refused.code === "hint/none") return "the words name no argument and no value of a call";
  return refused.detail;
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
