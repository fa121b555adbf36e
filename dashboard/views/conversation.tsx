/** One conversation from its first turn to its last, or as much of its end as was loaded. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { API } from "../../shared/api-routes.ts";
import { addressOf } from "../address.ts";
import type { AgentView } from "../agent-page.tsx";
import { useBarred } from "../barred.ts";
import { conversationsOf } from "../conversation.ts";
import { TURN_PAGING, usePages } from "../pages.ts";
import { HeldTurns } from "../parts/held-conversation.tsx";
import { Empty, Loaded } from "../parts/shown.tsx";
import { More } from "../parts/table.tsx";
import { User } from "../parts/user.tsx";

const PAGE = 50;

export function Conversation({ agent, line, live, item: session }: AgentView) {
  const turns = usePages(API.turns.at({ agent }, { limit: PAGE, session }), TURN_PAGING, live.ticks);
  const barred = useBarred(
    agent,
    turns.items.map((turn) => turn.line),
  );
  const [conversation] = conversationsOf(turns.items);
  const wanted = location.hash.slice(1);
  const isThere = useArrival(wanted, turns.items.length);
  useEffect(() => {
    // A turn that somebody came for may stand further back.
    if (wanted !== "" && !isThere() && !turns.busy) turns.more?.();
  }, [wanted, turns.items.length]);
  useKeptPlace(conversation?.turns[0]?.turnId);
  return (
    <section>
      <header class="row">
        <h1>One conversation</h1>
        <span>
          {conversation !== undefined && (
            <>
              of <User agent={agent} line={line} user={conversation.user} /> ·{" "}
            </>
          )}
          <a href={addressOf({ agent, line }, "conversations")}>All conversations</a>
        </span>
      </header>
      <Loaded from={turns}>
        {() => (
          <>
            <More what="turns before these" pages={turns} />
            {conversation === undefined ? (
              <Empty>This agent has no such conversation: it was not kept, or its user was deleted.</Empty>
            ) : (
              <HeldTurns agent={agent} conversation={conversation} barred={barred} wanted={wanted} />
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

/** Brings the turn into view that somebody came for, once, with the focus. @returns whether it is there */
function useArrival(wanted: string, shown: number): () => boolean {
  const arrived = useRef("");
  const isThere = (): boolean => wanted !== "" && document.getElementById(wanted) !== null;
  useEffect(() => {
    if (!isThere() || arrived.current === wanted) return;
    arrived.current = wanted;
    document.getElementById(wanted)?.focus();
  }, [wanted, shown]);
  return isThere;
}

/** What is read stays where it is when turns come in above it. */
function useKeptPlace(first: string | undefined): void {
  const before = useRef<{ first: string | undefined; height: number }>({ first: undefined, height: 0 });
  useLayoutEffect(() => {
    const { scrollHeight: height, scrollTop } = document.documentElement;
    const { first: known, height: was } = before.current;
    // From the very top the browser goes by itself to what has come; further down it keeps the place.
    if (known !== undefined && first !== known && scrollTop === 0) window.scrollBy({ top: height - was, behavior: "instant" });
    before.current = { first, height };
  });
}
