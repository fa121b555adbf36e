/**
 * The lines of single users over the shared one, of agents whose learning scope is `personal`. A line begins bare, and while its
 * stable version is bare the shared line answers its user. A later one was learned over a version of the shared line; it stays as
 * it is while the shared line moves on, and is learned anew with its next update. Where its ground is taken back or deleted, it goes.
 */
import type { Actor, ListedLine } from "../../shared/api.ts";
import { isCorrection, saidKey } from "../../shared/influence.ts";
import { lineOf, SHARED_LINE, type PolicyManifest } from "../../shared/policy.ts";
import type { VersionStatus } from "../../shared/release.ts";
import type { Lineage } from "./lineage.ts";
import { servedPolicy } from "./line-head.ts";
import type { Lines } from "./lines.ts";
import { baseVersion } from "./manifest.ts";
import type { Notebook } from "./notebook.ts";
import { notesFor } from "./notes.ts";
import type { LineNews, LinePage, OwnLine } from "./port.ts";
import type { AgentStore } from "./store.ts";

/** In the audit trail. */
const ACTOR = "edge:lines";
const USER_ID = /^u_[0-9a-f]{16}$/;

type Parts = { readonly store: AgentStore; readonly lines: Lines; readonly lineage: Lineage; readonly notebook: Notebook };

export class PersonalLines {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What a user's own line answers with; undefined where users have none. */
  own(user: string): OwnLine | undefined {
    const { store, lines, notebook } = this.#parts;
    const agent = store.readAgent();
    if (agent === undefined || lineOf(agent.settings.learning, user) === SHARED_LINE) return undefined;
    const state = lines.read(user);
    const served = state === undefined ? undefined : servedPolicy(this.#parts, user, state.stable);
    // What was given while the agent learned for everybody is still the user's.
    const notes = [...(state === undefined ? [] : notebook.read(user, user)), ...notebook.read(SHARED_LINE, user)];
    const newestFirst = notes.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
    return {
      line: user,
      policy: served === undefined || served.adapter === null ? null : served,
      rolledBack: state === undefined ? [] : store.versionsThatAre(user, "rolledBack", "deleted"),
      notes: notesFor(newestFirst, user, agent.settings.learning),
    };
  }

  /** By name. */
  list(page: LinePage): ListedLine[] {
    return this.#parts.store.pageOfLines(page).map(({ line, stable, latest, cursor }) => {
      const over = this.#parts.store.stands.overOf(line, stable) ?? null;
      const { adapter } = servedPolicy(this.#parts, line, stable);
      return { line, stable, latest, cursor, over, answers: line === SHARED_LINE || adapter !== null };
    });
  }

  /** Of lines with events the ones that have not consumed them, and lines that are to learn something again. A line that is new begins. */
  due(news: readonly LineNews[], limit: number, actor: Actor): string[] {
    const { store, lines } = this.#parts;
    if (store.readAgent()?.settings.learning.scope !== "personal") return [];
    const open = news.filter(({ line, seq }) => USER_ID.test(line) && (lines.read(line)?.cursor ?? -1) < seq).map(({ line }) => line);
    for (const line of open) this.begin(line, actor);
    return [...new Set([...open, ...store.quarantine.linesReopened(limit).filter((line) => line !== SHARED_LINE)])];
  }

  /** Takes back what stood over versions of the shared line that are gone. */
  follow(): void {
    const lost = Map.groupBy(this.#parts.store.stands.lost(), ({ line }) => line);
    for (const [line, stands] of lost) {
      const becomes = new Map<number, VersionStatus>(stands.map((each) => [each.version, each.becomes]));
      const grounds = [...new Set(stands.map(({ over }) => over))].join(", ");
      const reason = `learned over version ${grounds} of the shared line, which was taken back`;
      this.#parts.lines.detach(line, becomes, { actor: ACTOR, reason });
    }
  }

  /** Lets the shared line learn what enough users' own lines have by now learned alike, where the agent's settings allow it. */
  offer({ line, events }: PolicyManifest): void {
    const { store, lines, lineage } = this.#parts;
    const atLeast = store.readAgent()?.settings.learning.sharedFrom ?? null;
    if (atLeast === null || line === SHARED_LINE) return;
    const learned = events.flatMap(({ eventId }) => store.evidence.find(line, eventId) ?? []).filter(isCorrection);
    for (const said of learned) store.evidence.add(SHARED_LINE, said, Date.now());
    const { evidence } = lineage.influence(SHARED_LINE);
    for (const [said] of Map.groupBy(learned, saidKey)) {
      const alike = evidence.filter((each) => saidKey(each) === said);
      const users = new Set(alike.map(({ user }) => user)).size;
      if (users < atLeast) continue;
      for (const { eventId } of alike) store.quarantine.reopen(SHARED_LINE, eventId);
      lines.touch(SHARED_LINE, "quarantine", { actor: ACTOR, reason: `${said}: learned alike by the lines of ${users} users` });
    }
  }

  /** Begins a user's line, unless there is one or users have none. */
  begin(line: string, actor: Actor): void {
    const { store, lines } = this.#parts;
    const agent = store.readAgent();
    if (agent?.settings.learning.scope !== "personal" || !USER_ID.test(line) || lines.read(line) !== undefined) return;
    const { baseDigest } = lines.version(SHARED_LINE, lines.state(SHARED_LINE).stable);
    lines.create(line, baseVersion({ agent: agent.name, line, baseDigest, createdAt: new Date().toISOString() }), actor);
  }
}
