/** The edge over HTTP: `/trainer/v1` with a trainer key. Answers are parsed; failures carry what was asked and what came. */
import { z } from "zod";
import { sha256 } from "../../shared/digest.ts";
import { AppError, codeOfStatus } from "../../shared/errors.ts";
import { FeedPage, LoggedEvent } from "../../shared/events.ts";
import { Audience, Evidence, Withdrawn } from "../../shared/influence.ts";
import { LEASE_HEADER, LeaseAnswer } from "../../shared/lease.ts";
import { Note } from "../../shared/note.ts";
import { ADAPTER_PART_BYTES, LineHead, MOST_ADAPTER_BYTES, PolicyVersion } from "../../shared/policy.ts";
import { VERSION_STATUSES } from "../../shared/release.ts";
import { SuiteCase } from "../../shared/suite.ts";
import { parseBody } from "../../shared/speech/calls.ts";
import type { BarredEvent, EdgePort, LineName } from "./edge-port.ts";
import { retryAfterOf } from "./retry.ts";

export type ClientOptions = {
  readonly edge: string;
  readonly key: string;
  readonly signal?: AbortSignal;
  readonly fetch?: typeof fetch;
  /** The token of the lease under which lines are moved. */
  readonly lease?: number;
};

const CALL_TIMEOUT_MS = 30_000;
const FILE_TIMEOUT_MS = 120_000; // a part of a base over a thin line
const JOIN_TIMEOUT_MS = 300_000; // hundreds of megabytes are read and written again
const PUBLISH_TIMEOUT_MS = 300_000; // the edge has the engine load the adapter meanwhile
const TOO_LARGE = 413;
const MOST_ANSWER_BYTES = 268_435_456; // a page of the feed has 100 events of 2 MB at most
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
const MissingList = z.object({ missing: z.array(z.string()) });
const EventList = z.object({ events: z.array(LoggedEvent) });
const ReopenedList = EventList.extend({ ids: z.array(z.string()) });
const AdvanceAnswer = z.object({ status: z.enum(["advanced", "stale"]), cursor: z.number().int() });

export function createEdgeClient({ edge, key, signal, fetch: send = fetch, lease }: ClientOptions): EdgePort {
  const root = `${edge.replace(/\/$/, "")}/trainer/v1`;

  async function call(
    path: string,
    { method = "GET", body, timeoutMs = CALL_TIMEOUT_MS, mostBytes = MOST_ANSWER_BYTES }: CallOptions = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const deadline = AbortSignal.timeout(timeoutMs);
    const what = `${method} ${path}`;
    const headers = {
      authorization: `Bearer ${key}`,
      ...(lease === undefined ? {} : { [LEASE_HEADER]: String(lease) }),
      ...(body === undefined ? {} : { "content-type": typeof body === "string" ? "application/json" : "application/octet-stream" }),
    };
    let status: number;
    let retryAfterMs: number | undefined;
    let bytes: Uint8Array<ArrayBuffer> | undefined;
    try {
      const response = await send(`${root}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
        signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      });
      status = response.status;
      retryAfterMs = retryAfterOf(response.headers.get("retry-after"), Date.now());
      // Here, too, the edge may go away: a body that breaks off is an edge that was not reached.
      bytes = await readBody(response, mostBytes);
    } catch (cause) {
      // Why it was told to stop is what there is to say: a lease that another trainer has now is no stop of this one.
      if (signal?.aborted === true && signal.reason instanceof AppError) throw signal.reason;
      if (signal?.aborted === true) throw new AppError("engine/closed", `${what}: a running trainer expected, got a stop`, { cause });
      throw new AppError(
        "upstream/unreachable",
        `${what}: an answer expected, got ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      );
    }
    if (bytes === undefined) throw new AppError("upstream/invalid", `${what}: an answer of at most ${mostBytes} bytes expected, got more`);
    if (status >= 200 && status < 300) return bytes;
    if (status === 409 && codeOf(bytes) === "lease/lost") throw new AppError("lease/lost", `${what}: ${textOf(bytes).slice(0, 300)}`);
    throw new AppError(codeOfStatus(status), `${what}: 2xx expected, got ${status} ${textOf(bytes).slice(0, 300)}`, {
      details: { status, ...(retryAfterMs !== undefined && { retryAfterMs }) },
    });
  }

  async function callJson<T>(schema: z.ZodType<T>, path: string, options?: CallOptions): Promise<T> {
    const parsed = schema.safeParse(parseBody(textOf(await call(path, options))));
    if (parsed.success) return parsed.data;
    throw new AppError("upstream/invalid", `${path}: the contract's shape expected, got ${z.prettifyError(parsed.error)}`);
  }

  /** Sends what the edge has not, and has it joined: an upload that broke off goes on. @throws {upstream/invalid} where parts do not stay */
  async function putInParts(digest: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const parts = new Map<string, Uint8Array<ArrayBuffer>>();
    const order: string[] = [];
    for (let start = 0; start < bytes.length; start += ADAPTER_PART_BYTES) {
      const part = bytes.subarray(start, start + ADAPTER_PART_BYTES);
      const name = await sha256(part);
      parts.set(name, part);
      order.push(name);
    }
    const join = () =>
      callJson(MissingList, `/files/${digest}/parts`, {
        method: "POST",
        body: JSON.stringify({ parts: order }),
        timeoutMs: JOIN_TIMEOUT_MS,
      });
    for (const name of (await join()).missing) {
      const body = parts.get(name);
      if (body !== undefined) await call(`/files/${digest}/parts/${name}`, { method: "PUT", body, timeoutMs: FILE_TIMEOUT_MS });
    }
    const { missing } = await join();
    if (missing.length > 0)
      throw new AppError("upstream/invalid", `file ${digest}: the parts that were sent expected, got ${missing.join(", ")} missing`);
  }

  async function getInParts(digest: string): Promise<Uint8Array<ArrayBuffer>> {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    for (let start = 0; ; start += ADAPTER_PART_BYTES) {
      // What does not know `start` gives the whole file, or its beginning again and again.
      if (start > MOST_ADAPTER_BYTES)
        throw new AppError("upstream/invalid", `file ${digest}: at most ${MOST_ADAPTER_BYTES} bytes expected, got more`);
      const part = await call(`/files/${digest}?start=${start}`, { timeoutMs: FILE_TIMEOUT_MS, mostBytes: ADAPTER_PART_BYTES });
      parts.push(part);
      if (part.length < ADAPTER_PART_BYTES) break;
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : new Uint8Array(Buffer.concat(parts));
  }

  return {
    listAgents: async () => (await callJson(AgentList, "/agents")).agents.map(({ agent, line }) => ({ agent, line })),
    takeLease: (agent, request) =>
      callJson(LeaseAnswer, `${agentPath(agent)}/lease`, { method: "POST", body: JSON.stringify(request), timeoutMs: LEASE_TIMEOUT_MS }),
    async endLease(agent, token) {
      await call(`${agentPath(agent)}/lease/end`, { method: "POST", body: JSON.stringify({ token }), timeoutMs: END_TIMEOUT_MS });
    },
    readHead: (line) => callJson(LineHead, `${linePath(line)}/head`),
    readVersion: (line, version) => callJson(VersionAnswer, `${linePath(line)}/versions/${version}`),
    dueLines: ({ agent, cursor, waitMs }) =>
      callJson(DueAnswer, `${agentPath(agent)}/lines?${queryOf({ cursor, waitMs })}`, { timeoutMs: waitMs + CALL_TIMEOUT_MS }),
    pull: ({ waitMs, ...asked }) => callJson(FeedPage, `/feed?${queryOf({ ...asked, waitMs })}`, { timeoutMs: waitMs + CALL_TIMEOUT_MS }),
    readTurns: async (asked) => (await callJson(EventList, `/turns?${new URLSearchParams(asked)}`)).events,
    async putFile(bytes) {
      if (bytes.length > MOST_ADAPTER_BYTES)
        throw new AppError("input/tooLarge", `file: at most ${MOST_ADAPTER_BYTES} bytes expected, got ${bytes.length}`, {
          details: { status: TOO_LARGE },
        });
      const digest = await sha256(bytes);
      if (bytes.length > ADAPTER_PART_BYTES) await putInParts(digest, bytes);
      else await call(`/files/${digest}`, { method: "PUT", body: bytes, timeoutMs: FILE_TIMEOUT_MS });
      return digest;
    },
    missingFiles: async (digests) =>
      (await callJson(MissingList, "/files/missing", { method: "POST", body: JSON.stringify({ digests }) })).missing,
    async getFile(digest) {
      const bytes = await getInParts(digest);
      const got = await sha256(bytes);
      if (got !== digest) throw new AppError("policy/digest", `file ${digest} expected, got bytes of ${got}`);
      return bytes;
    },
    async readQuarantine(line) {
      const barred: BarredEvent[] = [];
      for (;;) {
        const after = barred.at(-1)?.eventId;
        const query = after === undefined ? "" : `?${new URLSearchParams({ after })}`;
        const { events } = await callJson(BarredList, `${linePath(line)}/quarantine${query}`);
        if (events.length === 0) return barred;
        if (events.at(-1)?.eventId === after)
          throw new AppError(
            "upstream/invalid",
            `quarantine of line ${line.line}: events after ${after} expected, got that one last again`,
          );
        barred.push(...events);
      }
    },
    readReopened: (line) => callJson(ReopenedList, `${linePath(line)}/reopened`),
    readInfluence: (line) => callJson(InfluenceAnswer, `${linePath(line)}/influence`),
    readWithdrawn: async (line, ids) =>
      (await callJson(WithdrawnList, `${linePath(line)}/withdrawn`, { method: "POST", body: JSON.stringify({ ids }) })).withdrawn,
    async readEvents(line, ids) {
      if (ids.length === 0) return [];
      return (await callJson(EventList, `${linePath(line)}/events`, { method: "POST", body: JSON.stringify({ ids }) })).events;
    },
    readLearned: async (line) => (await callJson(LearnedAnswer, `${linePath(line)}/learned`)).events,
    readRebuild: async (line) => (await callJson(RebuildAnswer, `${linePath(line)}/rebuild`)).rebuild,
    finishRebuild: (line, request) =>
      callJson(FinishAnswer, `${linePath(line)}/rebuild/finish`, { method: "POST", body: JSON.stringify(request) }),
    readSuite: async (line) => (await callJson(SuiteList, `${linePath(line)}/suite`)).cases,
    publish: (line, request) =>
      callJson(PublishAnswer, `${linePath(line)}/versions`, {
        method: "POST",
        body: JSON.stringify(request),
        timeoutMs: PUBLISH_TIMEOUT_MS,
      }),
    advanceCursor: (line, advance) =>
      callJson(AdvanceAnswer, `${linePath(line)}/cursor`, { method: "POST", body: JSON.stringify(advance) }),
    readNotes: async (line) => (await callJson(NoteList, `${linePath(line)}/notes`)).notes,
    absorbNote: (line, noteId, absorbed) =>
      callJson(AbsorbAnswer, `${linePath(line)}/notes/${encodeURIComponent(noteId)}/absorbed`, {
        method: "POST",
        body: JSON.stringify(absorbed),
      }),
    async reportStatus(line, status) {
      await call(`${linePath(line)}/status`, { method: "PUT", body: JSON.stringify(status) });
    },
    async postJudgements(batch) {
      await call("/judgements", { method: "POST", body: JSON.stringify(batch) });
    },
  };
}

type CallOptions = { method?: string; body?: string | Uint8Array<ArrayBuffer>; timeoutMs?: number; mostBytes?: number };

/** Undefined where there is more than is to be held. */
async function readBody({ body }: Response, mostBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    if (length > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
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

const ErrorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

function codeOf(bytes: Uint8Array): string | undefined {
  return ErrorBody.safeParse(parseBody(textOf(bytes))).data?.error.code;
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
