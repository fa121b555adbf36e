/** /api as the commands ask it, with what each route answers. */
import { z } from "zod";
import type { Agent } from "../../shared/agent.ts";
import type {
  ListedKey,
  ListedLine,
  ListedTurn,
  MadeKey,
  Promoted,
  RolledBack,
  ShownVersion,
  Unchanged,
  VersionPage,
} from "../../shared/api.ts";
import { AppError, codeOfStatus } from "../../shared/errors.ts";
import type { FeedPage } from "../../shared/events.ts";
import type { Note } from "../../shared/note.ts";
import type { LineHead } from "../../shared/policy.ts";
import type { SuiteCase } from "../../shared/suite.ts";

/** Which of an agent's lines is meant; the shared one where left out. */
export type OfLine = { line?: string };
type Method = "GET" | "POST" | "PUT" | "DELETE";
type Query = Readonly<Record<string, string | number | undefined>>;
type KeySource = () => Promise<string>;

export type KeyWish = { kind: string; name: string; agents?: string[]; expiresAt?: string; requestsPerMinute?: number };

const Refusal = z.object({ error: z.object({ message: z.string() }) });

export class EdgeClient {
  readonly url: string;
  readonly clientKey: KeySource;
  readonly #adminKey: KeySource;

  constructor(url: string, keys: { admin: KeySource; client: KeySource }) {
    this.url = url;
    this.clientKey = keys.client;
    this.#adminKey = keys.admin;
  }

  agents(): Promise<{ agents: LineHead[] }> {
    return this.#send("GET", "/api/agents");
  }

  agent(name: string): Promise<Agent> {
    return this.#send("GET", agentPath(name));
  }

  putAgent(name: string, settings: unknown): Promise<Agent> {
    return this.#send("PUT", agentPath(name), settings);
  }

  setLearning(name: string, enabled: boolean): Promise<{ learning: boolean }> {
    return this.#send("POST", `${agentPath(name)}/${enabled ? "resume" : "pause"}`);
  }

  turns(name: string, query: { before?: number; limit: number; user?: string; session?: string }): Promise<{ turns: ListedTurn[] }> {
    return this.#send("GET", `${agentPath(name)}/turns${queryText(query)}`);
  }

  lines(name: string, query: { after?: string; limit: number }): Promise<{ lines: ListedLine[] }> {
    return this.#send("GET", `${agentPath(name)}/lines${queryText(query)}`);
  }

  versions(name: string, query: OfLine & { before?: number; limit: number }): Promise<VersionPage> {
    return this.#send("GET", `${agentPath(name)}/versions${queryText(query)}`);
  }

  version(name: string, version: number, line: OfLine = {}): Promise<ShownVersion> {
    return this.#send("GET", `${agentPath(name)}/versions/${version}${queryText(line)}`);
  }

  rollback(
    name: string,
    request: { to: number; quarantine: boolean; reason?: string },
    line: OfLine = {},
  ): Promise<RolledBack | Unchanged> {
    return this.#send("POST", `${agentPath(name)}/rollback${queryText(line)}`, request);
  }

  promote(name: string, request: { version: number; reason?: string }): Promise<Promoted | Unchanged> {
    return this.#send("POST", `${agentPath(name)}/promote`, request);
  }

  events(name: string, query: { cursor: number; limit: number }): Promise<FeedPage> {
    return this.#send("GET", `${agentPath(name)}/events${queryText(query)}`);
  }

  cases(name: string, query: { after?: string; limit: number }): Promise<{ cases: SuiteCase[] }> {
    return this.#send("GET", `${agentPath(name)}/suite${queryText(query)}`);
  }

  addCase(name: string, suiteCase: unknown): Promise<SuiteCase> {
    return this.#send("POST", `${agentPath(name)}/suite`, suiteCase);
  }

  deleteCase(name: string, caseId: string): Promise<{ status: "deleted"; caseId: string }> {
    return this.#send("DELETE", `${agentPath(name)}/suite/${encodeURIComponent(caseId)}`);
  }

  notes(name: string, query: { user?: string; before?: string; limit: number }): Promise<{ notes: Note[] }> {
    return this.#send("GET", `${agentPath(name)}/notes${queryText(query)}`);
  }

  dropNote(name: string, noteId: string): Promise<Note> {
    return this.#send("DELETE", `${agentPath(name)}/notes/${encodeURIComponent(noteId)}`);
  }

  keys(): Promise<{ keys: ListedKey[] }> {
    return this.#send("GET", "/api/keys");
  }

  makeKey(wish: KeyWish): Promise<MadeKey> {
    return this.#send("POST", "/api/keys", wish);
  }

  rotateKey(id: string): Promise<MadeKey> {
    return this.#send("POST", `/api/keys/${encodeURIComponent(id)}/rotate`);
  }

  revokeKey(id: string): Promise<ListedKey> {
    return this.#send("DELETE", `/api/keys/${encodeURIComponent(id)}`);
  }

  /** @throws {AppError} with what the edge says is wrong, or that nothing answers */
  async #send<Answer>(method: Method, path: string, body?: unknown): Promise<Answer> {
    const headers = { authorization: `Bearer ${await this.#adminKey()}`, "content-type": "application/json" };
    const response = await fetch(this.url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }).catch(
      (cause: unknown) => {
        throw unreachable(this.url, cause);
      },
    );
    const text = await response.text();
    const answer = parse(text);
    if (answer === undefined) {
      const type = response.headers.get("content-type") ?? "nothing";
      throw new AppError(
        "upstream/invalid",
        `${this.url} answers, but not as Nextstate does: JSON expected, got ${response.status} ${type}`,
      );
    }
    if (!response.ok) throw refusal(response.status, answer);
    return answer as Answer;
  }
}

/** What to say where no system answers. */
export function unreachable(url: string, cause: unknown): AppError {
  return new AppError("upstream/unreachable", `nothing answers at ${url}; is \`npm start\` running? --url says where`, { cause });
}

export function refused(status: number, message: string): AppError {
  const advice = status === 401 ? "; is the key of this system (--state)?" : "";
  return new AppError(codeOfStatus(status), `${message}${advice}`);
}

function refusal(status: number, answer: unknown): AppError {
  const parsed = Refusal.safeParse(answer);
  return refused(status, parsed.success ? parsed.data.error.message : `the edge answers ${status} without a reason`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function agentPath(name: string): string {
  return `/api/agents/${encodeURIComponent(name)}`;
}

function queryText(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? "" : `?${new URLSearchParams(Object.fromEntries(given)).toString()}`;
}
