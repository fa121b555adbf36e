/** What was talked about: all turns of the agent, searched and narrowed down by the edge, page by page, each in its conversation. */
import { useLocation } from "preact-iso";
import { API } from "../../shared/api-routes.ts";
import { addressOf } from "../address.ts";
import type { AgentView } from "../agent-page.tsx";
import { useBarred } from "../barred.ts";
import { conversationsOf } from "../conversation.ts";
import { TURN_PAGING, usePages } from "../pages.ts";
import { HeldConversation } from "../parts/held-conversation.tsx";
import { Empty, Loaded } from "../parts/shown.tsx";
import { More } from "../parts/table.tsx";
import { TurnFilters } from "../parts/turn-filters.tsx";
import { filterOf, queryOf } from "../turn-filter.ts";

const PAGE = 20;

export function Conversations({ agent, line, live }: AgentView) {
  const { query } = useLocation();
  const asked = queryOf(filterOf(query, line));
  const turns = usePages(API.turns.at({ agent }, { limit: PAGE, ...asked }), TURN_PAGING, live.ticks);
  const barred = useBarred(
    agent,
    turns.items.map((turn) => turn.line),
  );
  return (
    <section>
      <h1>Conversations</h1>
      <TurnFilters agent={agent} line={line} />
      <Loaded from={turns}>
        {() => (
          <>
            {turns.items.length === 0 && (
              <Empty>
                {Object.keys(asked).length === 0 ? (
                  <>
                    No turn yet. Talk to the agent in the <a href={addressOf({ agent, line }, "playground")}>playground</a>, or with any
                    OpenAI client.
                  </>
                ) : (
                  <>
                    No turn of this agent has all of that. Ask for less, or look at{" "}
                    <a href={addressOf({ agent, line }, "conversations")}>all conversations</a>.
                  </>
                )}
              </Empty>
            )}
            {conversationsOf(turns.items).map((conversation) => (
              <HeldConversation key={conversation.sessionId} agent={agent} line={line} conversation={conversation} barred={barred} />
            ))}
            <More what="turns" pages={turns} />
          </>
        )}
      </Loaded>
    </section>
  );
}
