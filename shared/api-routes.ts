/**
 * The routes of `/api` as the dashboard and the command line ask them: one table, from which both have the path of a request, what goes
 * with it and what comes back. A test holds each to the OpenAPI document. Imports no schema: it is in the page's first load.
 */
import type { Agent } from "./agent.ts";
import type {
  AuditRow,
  DeletedAgent,
  DeploymentMove,
  EngineState,
  ListedKey,
  ListedLine,
  ListedTurn,
  Login,
  MadeKey,
  Promoted,
  QuarantinedEvent,
  Release,
  RevokedKey,
  RolledBack,
  Seen,
  SeriesPoint,
  ShownVersion,
  TrainerView,
  Unchanged,
  VersionPage,
} from "./api.ts";
import type { FeedPage } from "./events.ts";
import type { Note } from "./note.ts";
import type { LineHead } from "./policy.ts";
import type { SuiteCase } from "./suite.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A request that can be made, and the types of what goes with it and of what comes back. */
export type Asked<Answer, Body = undefined> = {
  readonly method: Method;
  readonly path: string;
  /** Never there: they carry the types. */
  readonly types?: { readonly answer: Answer; readonly body: Body };
};

type Query = Readonly<Record<string, string | number | null | undefined>>;
type Params<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string | number } & Params<Rest>
  : unknown;

/** A route with its method and path as the OpenAPI document has them. */
export type Route<Path extends string, Answer, Body> = {
  readonly method: Method;
  readonly template: Path;
  at(params: Params<Path>, query?: Query): Asked<Answer, Body>;
};

function route<Answer, Body = undefined>() {
  return <const Path extends string>(method: Method, template: Path): Route<Path, Answer, Body> => ({
    method,
    template,
    at: (params, query) => ({ method, path: fill(template, params as Readonly<Record<string, string | number>>) + queryText(query) }),
  });
}

type Settings = unknown; // as a person wrote them: the edge says what is wrong with them
type Move = { reason?: string };
export type KeyWish = { kind: string; name: string; agents?: readonly string[]; expiresAt?: string; requestsPerMinute?: number };

const AGENT = "/api/agents/{agent}";

export const API = {
  login: route<{ login: Login | null }>()("GET", "/api/login"),
  logIn: route<Login, { key: string }>()("POST", "/api/login"),
  logOut: route<{ status: "ended" }>()("DELETE", "/api/login"),
  agents: route<{ agents: LineHead[] }>()("GET", "/api/agents"),
  agent: route<Agent>()("GET", AGENT),
  putAgent: route<Agent, Settings>()("PUT", AGENT),
  patchAgent: route<Agent, Settings>()("PATCH", AGENT),
  deleteAgent: route<DeletedAgent>()("DELETE", AGENT),
  pause: route<{ learning: boolean }>()("POST", `${AGENT}/pause`),
  resume: route<{ learning: boolean }>()("POST", `${AGENT}/resume`),
  engine: route<EngineState>()("GET", `${AGENT}/engine`),
  lines: route<{ lines: ListedLine[] }>()("GET", `${AGENT}/lines`),
  versions: route<VersionPage>()("GET", `${AGENT}/versions`),
  version: route<ShownVersion>()("GET", `${AGENT}/versions/{version}`),
  versionFile: route<never>()("GET", `${AGENT}/versions/{version}/files/{file}`),
  release: route<Release>()("GET", `${AGENT}/release`),
  promote: route<Promoted | Unchanged, Move & { version: number }>()("POST", `${AGENT}/promote`),
  rollback: route<RolledBack | Unchanged, Move & { to: number; quarantine: boolean; seen?: Seen }>()("POST", `${AGENT}/rollback`),
  audit: route<{ audit: AuditRow[] }>()("GET", `${AGENT}/audit`),
  events: route<FeedPage>()("GET", `${AGENT}/events`),
  turns: route<{ turns: ListedTurn[] }>()("GET", `${AGENT}/turns`),
  feedback: route<{ event_id: string }, object>()("POST", `${AGENT}/feedback`),
  quarantined: route<{ events: QuarantinedEvent[] }>()("GET", `${AGENT}/quarantine`),
  quarantine: route<{ status: "quarantined" }, Move & { events: readonly string[] }>()("POST", `${AGENT}/quarantine`),
  letIn: route<{ status: "released"; events: number }, Move & { events: readonly string[] }>()("POST", `${AGENT}/quarantine/release`),
  trainer: route<TrainerView>()("GET", `${AGENT}/trainer`),
  series: route<{ points: SeriesPoint[] }>()("GET", `${AGENT}/series`),
  stream: route<never>()("GET", `${AGENT}/stream`),
  playground: route<never, object>()("POST", `${AGENT}/playground`),
  cases: route<{ cases: SuiteCase[] }>()("GET", `${AGENT}/suite`),
  addCase: route<SuiteCase, unknown>()("POST", `${AGENT}/suite`),
  deleteCase: route<{ status: "deleted"; caseId: string }>()("DELETE", `${AGENT}/suite/{case}`),
  notes: route<{ notes: Note[] }>()("GET", `${AGENT}/notes`),
  dropNote: route<Note>()("DELETE", `${AGENT}/notes/{note}`),
  keys: route<{ keys: ListedKey[] }>()("GET", "/api/keys"),
  makeKey: route<MadeKey, KeyWish>()("POST", "/api/keys"),
  rotateKey: route<MadeKey>()("POST", "/api/keys/{key}/rotate"),
  revokeKey: route<RevokedKey>()("DELETE", "/api/keys/{key}"),
  deploymentAudit: route<{ audit: DeploymentMove[] }>()("GET", "/api/audit"),
} as const;

/** The same request for the items behind one: `before` or `after` it. */
export function further<Answer, Body>({ path, ...asked }: Asked<Answer, Body>, query: Query): Asked<Answer, Body> {
  return { ...asked, path: path.includes("?") ? `${path}&${queryText(query).slice(1)}` : path + queryText(query) };
}

function fill(template: string, params: Readonly<Record<string, string | number>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
}

function queryText(query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined || value === null ? [] : [[name, String(value)]]));
  return given.length === 0 ? "" : `?${new URLSearchParams(Object.fromEntries(given)).toString()}`;
}
