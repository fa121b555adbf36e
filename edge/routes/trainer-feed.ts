/** The trainer's feed: a long poll over the event log, and the turns of one session again. */
import type { Context } from "hono";
import { z } from "zod";
import type { Actor } from "../../shared/api.ts";
import { AgentName } from "../../shared/agent.ts";
import type { FeedPage } from "../../shared/events.ts";
import { agentOf } from "../agent/port.ts";
import { linesAfter, pageAfter, turnsOfSession } from "../db/events.ts";
import type { App, AppEnv, Env } from "../env.ts";
import { actorOf, agentParam, Cursor, found, PageLimit, queryOf, scoped } from "./params.ts";
import { wholeNumber } from "../whole-number.ts";

/**
 * Without a notice the log is looked at again after this long, then after twice as long: an agent that nobody talks to costs little. A notice that was
 * lost (its object was restarted) delays an event by this much and what was waited before.
 */
const FIRST_SLEEP_MS = 2_000;
const FeedQuery = z.object({
  agent: AgentName,
  /** Left out: of every line. */
  line: z.string().min(1).max(200).optional(),
  cursor: Cursor,
  limit: PageLimit,
  waitMs: wholeNumber({ most: 25_000 }).default(0),
});
const TurnsQuery = z.object({
  agent: AgentName,
  session: z.string().min(1).max(256),
  /** The turn that they lead to, and the last of them; left out: the session's last one. */
  upTo: z.string().min(1).max(300).optional(),
});
/** The turns of an exchange are among the last ones up to its own. */
const MOST_TURNS = 50;
const LinesQuery = FeedQuery.pick({ cursor: true, limit: true, waitMs: true });
type LinesQuery = z.infer<typeof LinesQuery>;
type FeedQuery = z.infer<typeof FeedQuery>;

export function mountTrainerFeed(app: App): void {
  app.get("/trainer/v1/feed", async (context) => {
    const query = queryOf(context, FeedQuery);
    found(await agentOf(context.env, scoped(context, query.agent)).read(), `agent ${query.agent}`);
    return context.json(await waitForPage(context.env, query, context.req.raw.signal));
  });

  app.get("/trainer/v1/agents/:agent/lines", async (context) => {
    const agent = agentParam(context);
    const query = queryOf(context, LinesQuery);
    return context.json(await waitForLines(context, { agent, actor: actorOf(context), ...query }));
  });

  app.get("/trainer/v1/turns", async (context) => {
    const query = queryOf(context, TurnsQuery);
    found(await agentOf(context.env, scoped(context, query.agent)).read(), `agent ${query.agent}`);
    return context.json({ events: await turnsOfSession(context.env, { ...query, limit: MOST_TURNS }) });
  });
}

/** Which personal lines are to be worked for, and how far the log was looked through for them; waits for one up to `waitMs`. */
async function waitForLines(
  { env, req }: Context<AppEnv>,
  { agent, cursor, waitMs, limit, actor }: LinesQuery & { agent: string; actor: Actor },
): Promise<{ lines: string[]; cursor: number }> {
  const deadline = Date.now() + waitMs;
  let [told, looked] = [cursor, cursor];
  for (let sleepMs = FIRST_SLEEP_MS; ; sleepMs *= 2) {
    const news = await linesAfter(env, { agent, cursor: looked, limit });
    looked = news.at(-1)?.seq ?? looked;
    const lines = found(await agentOf(env, agent).dueLines(news, limit, actor), `agent ${agent}`);
    const leftMs = deadline - Date.now();
    if (lines.length > 0 || leftMs <= 0 || req.raw.signal.aborted) return { lines, cursor: looked };
    told = Math.max(told, await agentOf(env, agent).waitForEvents(told, Math.min(leftMs, sleepMs)));
  }
}

/** The first page that is not empty, or an empty one after `waitMs`. */
async function waitForPage(env: Env, { waitMs, ...query }: FeedQuery, signal: AbortSignal): Promise<FeedPage> {
  const deadline = Date.now() + waitMs;
  let told = query.cursor;
  for (let sleepMs = FIRST_SLEEP_MS; ; sleepMs *= 2) {
    const page = await pageAfter(env, query);
    const leftMs = deadline - Date.now();
    if (page.events.length > 0 || leftMs <= 0 || signal.aborted) return page;
    told = Math.max(told, await agentOf(env, query.agent).waitForEvents(told, Math.min(leftMs, sleepMs)));
  }
}
