/** One agent: its sections, and what all of them know of what is happening now. */
import { AGENT_NAME } from "../shared/agent-name.ts";
import { useLive, type Live } from "./live.ts";
import { Audit } from "./views/audit.tsx";
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
export type AgentView = { readonly agent: string; readonly live: Live; readonly item?: string | undefined; readonly onChanged: () => void };

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

type Section = keyof typeof SECTIONS;
const isSection = (name: string): name is Section => Object.hasOwn(SECTIONS, name);
// What a link names goes into addresses that change something, where a \ would be another path.
const ITEM = /^[A-Za-z0-9_]+$/;

type Params = { readonly agent: string; readonly section?: string; readonly item?: string };

export function AgentPage({ params, onChanged }: { params: Params; onChanged: () => void }) {
  const { agent, item = "0" } = params;
  if (!AGENT_NAME.test(agent) || !ITEM.test(item)) return <Problem error="There is no such page; choose an agent above." />;
  return <Sections {...params} onChanged={onChanged} />;
}

function Sections({ agent, section = "overview", item, onChanged }: Params & { onChanged: () => void }) {
  const live = useLive(agent);
  if (!isSection(section))
    return <Problem error={`There is no ${section} of an agent; choose one of ${Object.keys(SECTIONS).join(", ")}.`} />;
  const View = section === "versions" && item !== undefined ? Version : SECTIONS[section].view;
  return (
    <>
      <nav class="sections" aria-label={`Views of ${agent}`}>
        {(Object.keys(SECTIONS) as Section[]).map((name) => (
          <a
            key={name}
            href={name === "overview" ? `/agents/${agent}` : `/agents/${agent}/${name}`}
            aria-current={name === section ? "page" : undefined}
          >
            {SECTIONS[name].title}
          </a>
        ))}
        <span class={live.connected ? "live on" : "live"}>{live.connected ? "live" : "connecting"}</span>
      </nav>
      <View key={agent} agent={agent} live={live} item={item} onChanged={onChanged} />
    </>
  );
}
