/** The page: who is logged in, which agent it is about, and the view that the address names. */
import { useEffect, useState } from "preact/hooks";
import { LocationProvider, Route, Router, useLocation } from "preact-iso";
import { API, type Asked } from "../shared/api-routes.ts";
import type { Login } from "../shared/api.ts";
import type { LineHead } from "../shared/policy.ts";
import { logOut, readLogin, whenLoginEnds, whenReached } from "./api.ts";
import { AGENT_PAGING, forgetPages, readAll } from "./pages.ts";
import { useAction, useResource } from "./resource.ts";
import { useScrollPlaces } from "./scroll-place.ts";
import { Loaded, Problem } from "./parts/shown.tsx";
import { AgentPage } from "./agent-page.tsx";
import { Agents } from "./views/agents.tsx";
import { Keys } from "./views/keys.tsx";
import { LoginForm } from "./views/login.tsx";

export function Dashboard() {
  const [login, setLogin] = useState<Login | null>();
  const [error, setError] = useState<string>();
  const [ended, setEnded] = useState(false);
  const leave = (): void => {
    // Whoever comes next may not be meant to see what the other saw.
    forgetPages();
    setLogin(null);
  };
  useEffect(() => {
    whenLoginEnds(() => {
      leave();
      setEnded(true);
    });
    readLogin().then(setLogin, (thrown: unknown) => setError(String(thrown)));
  }, []);
  if (error !== undefined)
    return (
      <main class="container">
        <Problem error={error} />
      </main>
    );
  if (login === undefined) return <main class="container" aria-busy="true" />;
  if (login === null) return <LoginForm ended={ended} onLogin={setLogin} />;
  return (
    <LocationProvider>
      <Shell login={login} onLogout={leave} />
    </LocationProvider>
  );
}

/** All of them, since any may be chosen above. */
async function readAgents(asked: Asked<{ agents: LineHead[] }>): Promise<{ agents: LineHead[] }> {
  return { agents: await readAll(asked, AGENT_PAGING) };
}

export type Listed = { readonly agents: readonly LineHead[] };

function Shell({ login, onLogout }: { login: Login; onLogout: () => void }) {
  const { path, route } = useLocation();
  // Whatever was done elsewhere meanwhile is seen on the next page.
  const listed = useResource(API.agents.at({}), path, readAgents);
  const { run, error } = useAction();
  useScrollPlaces();
  const [, section, agent] = path.split("/");
  const [reached, setReached] = useState(true);
  useEffect(() => whenReached(setReached), []);
  useEffect(() => {
    document.title = titleOf(path);
  }, [path]);
  return (
    <>
      <a class="skip" href="#view">
        To the content
      </a>
      <header class="container-fluid top">
        <a href="/" class="brand">
          Nextstate
        </a>
        <nav aria-label="Agents">
          <label>
            <span class="visually-hidden">Agent</span>
            <select
              value={section === "agents" ? (agent ?? "") : ""}
              onChange={({ currentTarget }) => route(currentTarget.value === "" ? "/" : `/agents/${currentTarget.value}`)}
            >
              <option value="">all agents</option>
              {listed.data?.agents.map(({ agent: name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <a href="/keys" aria-current={section === "keys" ? "page" : undefined}>
            Keys
          </a>
        </nav>
        <p class="who">
          {login.key.name}{" "}
          <button
            type="button"
            class="link"
            onClick={() =>
              run(async () => {
                await logOut();
                onLogout();
              })
            }
          >
            Log out
          </button>
        </p>
      </header>
      <main class="container-fluid" id="view">
        <Problem error={error} />
        {!reached && <Problem error="Nextstate cannot be reached; trying again." />}
        <Loaded from={listed}>
          {({ agents }) => (
            <Router>
              <Route path="/" component={Agents} listed={listed} />
              <Route path="/keys" component={Keys} login={login} />
              <Route path="/agents/:agent/:section?/:item?" component={AgentPage} agents={agents} login={login} onChanged={listed.reload} />
              <Route default component={NotFound} />
            </Router>
          )}
        </Loaded>
      </main>
    </>
  );
}

/** What a tab or a bookmark is told apart by. */
function titleOf(path: string): string {
  const [first, agent, section = "overview", item] = path.split("/").filter(Boolean);
  if (first === "keys") return "Keys · Nextstate";
  if (first !== "agents" || agent === undefined) return "Nextstate";
  const view = `${section.charAt(0).toUpperCase()}${section.slice(1)}`;
  return `${section === "versions" && item !== undefined ? `Version ${item}` : view} · ${agent} · Nextstate`;
}

function NotFound() {
  return <Problem error="There is no such page; choose an agent above." />;
}
