/** GET /api/agents/:agent/stream: what happens to an agent, as it happens (server-sent events, WHATWG HTML §9.2). */
import { agentOf } from "../agent/port.ts";
import { lastSeq, pageAfter } from "../db/events.ts";
import type { App, Env } from "../env.ts";
import { agentParam, found, LineQuery, queryOf } from "./params.ts";
import { wholeNumber } from "../whole-number.ts";

/** A move of the line is told of after this at most; so is an event whose notice was lost. */
const LOOK_MS = 1_000;
const PING_MS = 15_000;
/** A stream ends after this, and its listener comes back with its key, which may have been revoked. */
const LONGEST_MS = 60_000;
const PAGE = 50;
/** Where to go on from: a browser sends it as `Last-Event-ID` when it comes back. */
export const StreamQuery = LineQuery.extend({ cursor: wholeNumber().optional() });

export function mountStream(app: App): void {
  app.get("/api/agents/:agent/stream", async (context) => {
    const agent = agentParam(context);
    const { cursor, line } = queryOf(context, StreamQuery);
    found(await agentOf(context.env, agent).read(), `agent ${agent}`);
    const last = Number.parseInt(context.req.header("last-event-id") ?? "", 10);
    const from = Number.isInteger(last) ? last : (cursor ?? (await lastSeq(context.env)));
    context.header("content-type", "text/event-stream; charset=utf-8");
    context.header("cache-control", "no-cache");
    return context.body(streamOf(context.env, { agent, line, from, signal: context.req.raw.signal }));
  });
}

type Told = { readonly agent: string; readonly line: string; readonly from: number; readonly signal: AbortSignal };

function streamOf(env: Env, told: Told): ReadableStream<Uint8Array> {
  const steps = tell(env, told);
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await steps.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: async () => void (await steps.return()),
  });
}

/** `event` for every entry of the agent's log, without its payload; `release` for every move of the line; `trainer` for what its trainer says. */
async function* tell(env: Env, { agent, line, from, signal }: Told): AsyncGenerator<string, void> {
  let cursor = from;
  let revision = -1;
  let seenAt = "";
  let toldAt = Date.now();
  let waitedFor = from;
  const endsAt = Date.now() + LONGEST_MS;
  yield "retry: 1000\n\n";
  while (!signal.aborted && Date.now() < endsAt) {
    const head = await agentOf(env, agent).head(line);
    // A user's line begins with what a trainer hears of them.
    if (head !== undefined && head.revision !== revision) {
      const { stable, latest, canary, parent } = head;
      revision = head.revision;
      toldAt = Date.now();
      const shown = canary === null ? null : { version: canary.version, share: canary.share };
      yield message("release", { revision, stable, canary: shown, parent, latest, cursor: head.cursor });
    }
    const trainer = await agentOf(env, agent).trainer(line);
    if (trainer !== null && trainer.seenAt !== seenAt) {
      seenAt = trainer.seenAt;
      toldAt = Date.now();
      yield message("trainer", trainer);
    }
    const page = await pageAfter(env, { agent, cursor, limit: PAGE });
    for (const { payload, ...header } of page.events) {
      toldAt = Date.now();
      yield message("event", { ...header, kind: payload.kind }, header.seq);
    }
    cursor = page.cursor;
    if (page.events.length > 0) continue;
    if (Date.now() - toldAt >= PING_MS) {
      toldAt = Date.now();
      yield ": still here\n\n";
    }
    // What others' events have moved on is not waited for again.
    waitedFor = Math.max(waitedFor, cursor, await agentOf(env, agent).waitForEvents(Math.max(waitedFor, cursor), LOOK_MS));
  }
}

function message(name: string, data: object, id?: number): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
