/** /api as the commands ask it, by the table of routes that the dashboard asks it by. */
import { z } from "zod";
import type { Agent } from "../../shared/agent.ts";
import { API, type Asked, type KeyWish } from "../../shared/api-routes.ts";
import type {
  ListedKey,
  ListedLine,
  ListedTurn,
  MadeKey,
  Promoted,
  QuarantinedEvent,
  RolledBack,
  Seen,
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
type Query = Readonly<Record<string, string | number | undefined>>;
type KeySource = () => Promise<string>;

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

  agents(query: { after?: string; limit: number }): Promise<{ agents: LineHead[] }> {
    return this.#send(API.agents.at({}, query));
  }

  agent(agent: string): Promise<Agent> {
    return this.#send(API.agent.at({ agent }));
  }

  putAgent(agent: string, settings: unknown): Promise<Agent> {
    return this.#send(API.putAgent.at({ agent }), settings);
  }

  setLearning(agent: string, enabled: boolean): Promise<{ learning: boolean }> {
    return this.#send((enabled ? API.resume : API.pause).at({ agent }));
  }

  turns(agent: string, query: Query): Promise<{ turns: ListedTurn[] }> {
    return this.#send(API.turns.at({ agent }, query));
  }

  lines(agent: string, query: { after?: string; limit: number }): Promise<{ lines: ListedLine[] }> {
    return this.#send(API.lines.at({ agent }, query));
  }

  versions(agent: string, query: OfLine & { before?: number; limit: number }): Promise<VersionPage> {
    return this.#send(API.versions.at({ agent }, query));
  }

  version(agent: string, version: number, line: OfLine = {}): Promise<ShownVersion> {
    return this.#send(API.version.at({ agent, version }, line));
  }

  rollback(
    agent: string,
    request: { to: number; quarantine: boolean; reason?: string; seen?: Seen },
    line: OfLine = {},
  ): Promise<RolledBack | Unchanged> {
    return this.#send(API.rollback.at({ agent }, line), request);
  }

  promote(agent: string, request: { version: number; reason?: string }): Promise<Promoted | Unchanged> {
    return this.#send(API.promote.at({ agent }), request);
  }

  quarantined(agent: string, query: OfLine & { after?: string; limit: number }): Promise<{ events: QuarantinedEvent[] }> {
    return this.#send(API.quarantined.at({ agent }, query));
  }

  events(agent: string, query: { cursor: number; limit: number }): Promise<FeedPage> {
    return this.#send(API.events.at({ agent }, query));
  }

  cases(agent: string, query: { after?: string; limit: number }): Promise<{ cases: SuiteCase[] }> {
    return this.#send(API.cases.at({ agent }, query));
  }

  addCase(agent: string, suiteCase: unknown): Promise<SuiteCase> {
    return this.#send(API.addCase.at({ agent }), suiteCase);
  }

  deleteCase(agent: string, caseId: string): Promise<{ status: "deleted"; caseId: string }> {
    return this.#send(API.deleteCase.at({ agent, case: caseId }));
  }

  notes(agent: string, query: OfLine & { user?: string; before?: string; limit: number }): Promise<{ notes: Note[] }> {
    return this.#send(API.notes.at({ agent }, query));
  }

  dropNote(agent: string, note: string, line: OfLine = {}): Promise<Note> {
    return this.#send(API.dropNote.at({ agent, note }, line));
  }

  keys(): Promise<{ keys: ListedKey[] }> {
    return this.#send(API.keys.at({}));
  }

  makeKey(wish: KeyWish): Promise<MadeKey> {
    return this.#send(API.makeKey.at({}), wish);
  }

  rotateKey(key: string): Promise<MadeKey> {
    return this.#send(API.rotateKey.at({ key }));
  }

  revokeKey(key: string): Promise<ListedKey> {
    return this.#send(API.revokeKey.at({ key }));
  }

  /** @throws {AppError} with what the edge says is wrong, or that nothing answers */
  async #send<Answer, Body>({ method, path }: Asked<Answer, Body>, body?: Body): Promise<Answer> {
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
  return new AppError(
    "upstream/unreachable",
    `nothing answers at ${url}; is \`npm start\` running? --state names its folder, or --url its address`,
    { cause },
  );
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
