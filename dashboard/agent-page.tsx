/** One agent: its sections, and what all of them know of what is happening now. */
import { AGENT_NAME } from "../shared/agent-name.ts";
import type { Login } from "../shared/api.ts";
import type { LineHead } from "../shared/policy.ts";
import { SHARED_LINE } from "../shared/shared-line.ts";
import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import { addressOf, type Line } from "./address.ts";
import { useLive, type Live } from "./live.ts";
import { LineChooser } from "./parts/line-chooser.tsx";
import { Audit } from "./views/audit.tsx";
import { Conversation } from "./views/conversation.tsx";
import { Conversations } from "./views/conversations.tsx";
import { Notes } from "./views/notes.tsx";
import { Overview } from "./views/overview.tsx";
import { Playground } from "./views/playground.tsx";
import { Settings } from "./views/settings.tsx";
import { Suite } from "./views/suite.tsx";
import { Version } from "./views/version.tsx";
import { Versions } from "./views/versions.tsx";
import { Problem } from "./parts/shown.tsx";

/** What every view of an agent is given. */
export type AgentView = Line & {
  readonly live: Live;
  /** Whether its users have lines of their own. */
  readonly personal: boolean;
  /** Who talks in the playground. */
  readonly user: string;
  readonly item?: string | undefined;
  /** Has what everybody sees of agents read again; `said` tells people what was done. */
  readonly onChanged: (said?: string) => void;
};

const SECTIONS = {
  overview: { title: "Overview", view: Overview },
  versions: { title: "Versions", view: Versions },
  conversations: { title: "Conversations", view: Conversations },
  playground: { title: "Playground", view: Playground },
  notes: { title: "Notes", view: Notes },
  suite: { title: "Suite", view: Suite },
  audit: { title: "Audit", view: Audit },
  settings: { title: "Settings", view: Settings },
} as const;

/** Of which one each has a view of its own. */
const ITEMS = { versions: Version, conversations: Conversation } as const;

type Section = keyof typeof SECTIONS;
const isSection = (name: string): name is Section => Object.hasOwn(SECTIONS, name);
const isItemized = (name: string): name is keyof typeof ITEMS => Object.hasOwn(ITEMS, name);
// What a link names goes into addresses that change something, where a \ would be another path.
const ITEM = /^[A-Za-z0-9_]+$/;

type Params = { readonly agent: string; readonly section?: string; readonly item?: string };

type Page = { params: Params; agents: readonly LineHead[]; login: Login; onChanged: () => void };

export function AgentPage({ params, agents, login, onChanged }: Page) {
  const { agent, item = "0" } = params;
  const { line = SHARED_LINE } = useLocation().query;
  if (![item, line].every((name) => ITEM.test(name)) || !AGENT_NAME.test(agent))
    return <Problem error="There is no such page; choose an agent above." />;
  const known = agents.find((each) => each.agent === agent);
  if (known === undefined)
    return (
      <p class="problem" role="alert">
        There is no agent {agent}, or your key does not reach it. <a href="/">All agents</a>
      </p>
    );
  const personal = known.settings.learning.scope === "personal";
  return <Sections {...params} line={line} personal={personal} user={login.user} onChanged={onChanged} />;
}

type Shown = Params & Omit<AgentView, "live" | "item" | "onChanged"> & { onChanged: () => void };

function Sections({ agent, line, section = "overview", item, onChanged, ...known }: Shown) {
  const live = useLive({ agent, line });
  const place = `${agent}/${line}/${section}/${item ?? ""}`;
  const [done, setDone] = useState<{ place: string; said: string }>();
  const changed = (said?: string): void => {
    if (said !== undefined) setDone({ place, said });
    onChanged();
  };
  if (!isSection(section))
    return (
      <p class="problem" role="alert">
        There is no {section} of an agent. <a href={addressOf({ agent, line })}>Overview of {agent}</a>
      </p>
    );
  const View = (item !== undefined && isItemized(section) ? ITEMS[section] : undefined) ?? SECTIONS[section].view;
  return (
    <>
      <nav class="sections" aria-label={`Views of ${agent}`}>
        {(Object.keys(SECTIONS) as Section[]).map((name) => (
          <a
            key={name}
            href={addressOf({ agent, line }, name === "overview" ? "" : name)}
            aria-current={name === section ? "page" : undefined}
          >
            {SECTIONS[name].title}
          </a>
        ))}
        <LineChooser agent={agent} line={line} live={live} section={section === "overview" ? "" : section} user={known.user} />
        <span class={live.connected ? "live on" : "live"}>{live.connected ? "live" : "connecting"}</span>
      </nav>
      <p role="status">{done?.place === place && done.said}</p>
      <View key={`${agent}/${line}/${item ?? ""}`} agent={agent} line={line} live={live} item={item} onChanged={changed} {...known} />
    </>
  );
}
