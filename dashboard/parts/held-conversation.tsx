/** A conversation as it was held, oldest turn first; each thing that was said stands once. */
import { conversationOf, type Line, placeOf } from "../address.ts";
import { type Conversation, isTold } from "../conversation.ts";
import { Turn } from "./turn.tsx";
import { hasCalled } from "./heard.tsx";
import { User } from "./user.tsx";

type Turns = {
  agent: string;
  conversation: Conversation;
  /** Ids of events that were not to be learned from when the page was opened. */ barred: ReadonlySet<string>;
  /** Where the turn stands that somebody came for. */ wanted?: string | undefined;
};

export function HeldTurns({ agent, conversation: { turns }, barred, wanted }: Turns) {
  return (
    <>
      {turns.map((turn, at) => (
        <Turn
          key={turn.turnId}
          agent={agent}
          turn={turn}
          isTold={isTold(turns[at - 1], turn)}
          called={hasCalled(turn, turns)}
          barred={barred}
          wanted={placeOf(turn.turnId) === wanted}
        />
      ))}
    </>
  );
}

/** One among others, of which only some turns may be listed. */
export function HeldConversation({ agent, line, conversation, barred }: Line & Turns) {
  const { sessionId, user } = conversation;
  return (
    <div class="conversation">
      <header class="row">
        <h2>
          Of <User agent={agent} line={line} user={user} />
        </h2>
        <a href={conversationOf(agent, sessionId)}>
          Whole conversation<span class="visually-hidden"> of {user}</span>
        </a>
      </header>
      <HeldTurns agent={agent} conversation={conversation} barred={barred} />
    </div>
  );
}
