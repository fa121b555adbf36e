/** What a trainer asks of the edge, call by call (`/trainer/v1`). */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { FeedPage, LoggedEvent } from "../../shared/events.ts";
import { Audience, Evidence, Withdrawn } from "../../shared/influence.ts";
import { LeaseAnswer } from "../../shared/lease.ts";
import { Note } from "../../shared/note.ts";
import { LineHead, PolicyVersion } from "../../shared/policy.ts";
import { VERSION_STATUSES } from "../../shared/release.ts";
import { SuiteCase } from "../../shared/suite.ts";
import { cutTo, MOST_DETAIL_CHARS } from "../../shared/wire-limits.ts";
import type { BarredEvent, EdgePort, LineName } from "./edge-port.ts";
import { fileCalls } from "./files.ts";
import { CALL_TIMEOUT_MS, type ClientOptions, Transport } from "./transport.ts";

const PUBLISH_TIMEOUT_MS = 300_000; // the edge has the engine load the adapter meanwhile
const LEASE_TIMEOUT_MS = 8_000; // a heartbeat that is late is worth less than the next one
const END_TIMEOUT_MS = 3_000; // whoever stops does not wait for long

const AgentList = z.object({ agents: z.array(z.object({ agent: z.string(), line: z.string() })) });
const NoteList = z.object({ notes: z.array(Note) });
const AbsorbAnswer = z.object({ status: z.enum(["absorbed", "stale"]) });
const PublishAnswer = z.discriminatedUnion("status", [
  z.object({ status: z.literal("published"), version: z.number().int(), release: z.enum(VERSION_STATUSES) }),
  z.object({ status: z.literal("stale"), latest: z.number().int(), cursor: z.number().int() }),
  z.object({ status: z.literal("missing"), digests: z.array(z.string()) }),
]);

const InfluenceAnswer = z.object({ audience: Audience, evidence: z.array(Evidence) });
const WithdrawnList = z.object({ withdrawn: z.array(Withdrawn) });
const RebuildAnswer = z.object({ rebuild: z.object({ from: z.number().int(), events: z.array(z.string()) }).nullable() });
const LearnedAnswer = z.object({ events: z.array(z.string()) });
const DueAnswer = z.object({ lines: z.array(z.string()), cursor: z.number().int() });
const FinishAnswer = z.object({ status: z.enum(["finished", "stale"]) });
const SuiteList = z.object({ cases: z.array(SuiteCase) });
const VersionAnswer = PolicyVersion.extend({ status: z.enum(VERSION_STATUSES) });
const BarredList = z.object({ events: z.array(z.object({ eventId: z.string(), turnId: z.string() })) });
const EventList = z.object({ events: z.array(LoggedEvent) });
const ReopenedList = EventList.extend({ ids: z.array(z.string()) });
const AdvanceAnswer = z.object({ status: z.enum(["advanced", "stale"]), cursor: z.number().int() });

export function createEdgeClient(options: ClientOptions): EdgePort {
  const transport = new Transport(options);
  return {
    listAgents: async () => (await transport.callJson(AgentList, "/agents")).agents.map(({ agent, line }) => ({ agent, line })),
    takeLease: (agent, request) =>
      transport.callJson(LeaseAnswer, `${agentPath(agent)}/lease`, {
        method: "POST",
        body: JSON.stringify(request),
        timeoutMs: LEASE_TIMEOUT_MS,
      }),
    async endLease(agent, token) {
      await transport.call(`${agentPath(agent)}/lease/end`, { method: "POST", body: JSON.stringify({ token }), timeoutMs: END_TIMEOUT_MS });
    },
    readHead: (line) => transport.callJson(LineHead, `${linePath(line)}/head`),
    readVersion: (line, version) => transport.callJson(VersionAnswer, `${linePath(line)}/versions/${version}`),
    dueLines: ({ agent, cursor, waitMs }) =>
      transport.callJson(DueAnswer, `${agentPath(agent)}/lines?${queryOf({ cursor, waitMs })}`, { timeoutMs: waitMs + CALL_TIMEOUT_MS }),
    pull: ({ waitMs, ...asked }) =>
      transport.callJson(FeedPage, `/feed?${queryOf({ ...asked, waitMs })}`, { timeoutMs: waitMs + CALL_TIMEOUT_MS }),
    readTurns: async (asked) => (await transport.callJson(EventList, `/turns?${new URLSearchParams(asked)}`)).events,
    ...fileCalls(transport),
    async readQuarantine(line) {
      const barred: BarredEvent[] = [];
      for (;;) {
        const after = barred.at(-1)?.eventId;
        const query = after === undefined ? "" : `?${new URLSearchParams({ after })}`;
        const { events } = await transport.callJson(BarredList, `${linePath(line)}/quarantine${query}`);
        if (events.length === 0) return barred;
        if (events.at(-1)?.eventId === after)
          throw new AppError(
            "upstream/invalid",
            `quarantine of line ${line.line}: events after ${after} expected, got that one last again`,
          );
        barred.push(...events);
      }
    },
    readReopened: (line) => transport.callJson(ReopenedList, `${linePath(line)}/reopened`),
    readInfluence: (line) => transport.callJson(InfluenceAnswer, `${linePath(line)}/influence`),
    readWithdrawn: async (line, ids) =>
      (await transport.callJson(WithdrawnList, `${linePath(line)}/withdrawn`, { method: "POST", body: JSON.stringify({ ids }) })).withdrawn,
    async readEvents(line, ids) {
      if (ids.length === 0) return [];
      return (await transport.callJson(EventList, `${linePath(line)}/events`, { method: "POST", body: JSON.stringify({ ids }) })).events;
    },
    readLearned: async (line) => (await transport.callJson(LearnedAnswer, `${linePath(line)}/learned`)).events,
    readRebuild: async (line) => (await transport.callJson(RebuildAnswer, `${linePath(line)}/rebuild`)).rebuild,
    finishRebuild: (line, request) =>
      transport.callJson(FinishAnswer, `${linePath(line)}/rebuild/finish`, { method: "POST", body: JSON.stringify(withReasons(request)) }),
    readSuite: async (line) => (await transport.callJson(SuiteList, `${linePath(line)}/suite`)).cases,
    publish: (line, request) =>
      transport.callJson(PublishAnswer, `${linePath(line)}/versions`, {
        method: "POST",
        body: JSON.stringify(withReasons(request)),
        timeoutMs: PUBLISH_TIMEOUT_MS,
      }),
    advanceCursor: (line, advance) =>
      transport.callJson(AdvanceAnswer, `${linePath(line)}/cursor`, { method: "POST", body: JSON.stringify(withReasons(advance)) }),
    readNotes: async (line) => (await transport.callJson(NoteList, `${linePath(line)}/notes`)).notes,
    absorbNote: (line, noteId, absorbed) =>
      transport.callJson(AbsorbAnswer, `${linePath(line)}/notes/${encodeURIComponent(noteId)}/absorbed`, {
        method: "POST",
        body: JSON.stringify(absorbed),
      }),
    async reportStatus(line, status) {
      await transport.call(`${linePath(line)}/status`, { method: "PUT", body: JSON.stringify(status) });
    },
    async postJudgements(batch) {
      await transport.call("/judgements", { method: "POST", body: JSON.stringify(batch) });
    },
  };
}

/** Reasons as long as the edge takes them: they may quote a server, or what was said. */
function withReasons<Move extends { readonly refused: readonly { readonly detail: string }[] }>(move: Move): Move {
  return { ...move, refused: move.refused.map((each) => ({ ...each, detail: cutTo(MOST_DETAIL_CHARS, each.detail) })) };
}

function queryOf(fields: Readonly<Record<string, string | number>>): URLSearchParams {
  return new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]));
}

function agentPath(agent: string): string {
  return `/agents/${encodeURIComponent(agent)}`;
}

function linePath({ agent, line }: LineName): string {
  return `${agentPath(agent)}/lines/${encodeURIComponent(line)}`;
}
