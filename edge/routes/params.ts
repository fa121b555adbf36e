/** What several routes read from paths and queries. */
import type { Actor } from "../../shared/api.ts";
import type { Context } from "hono";
import { z, type ZodType } from "zod";
import { AgentName } from "../../shared/agent.ts";
import { AppError } from "../../shared/errors.ts";
import { SHARED_LINE } from "../../shared/policy.ts";
import { agentOf, type AgentPort } from "../agent/port.ts";
import type { AppEnv } from "../env.ts";
import { parseWith } from "../http-errors.ts";
import { invalid } from "../openai/refuse.ts";
import { reaches } from "../scope.ts";
import { wholeNumber } from "../whole-number.ts";

export const Cursor = wholeNumber().default(0);
export const PageLimit = wholeNumber({ least: 1, most: 100 }).default(100);
const VersionParam = z.object({ version: wholeNumber() });
/** By name or id, behind the one that the page before ended with. */
export const ForwardPage = z.strictObject({ after: z.string().max(200).optional(), limit: PageLimit });
export const BackwardPage = z.strictObject({ before: wholeNumber().optional(), limit: PageLimit });

/** Which line is meant (what is misspelt would be everybody's): `shared`, or the id of a user who has one. */
export const LineQuery = z.strictObject({ line: z.string().min(1).max(200).default(SHARED_LINE) });

/** A line that does not exist is found out by asking the agent. */
export function lineQuery(context: Context<AppEnv>): string {
  return queryOf(context, LineQuery).line;
}

/** How a line is spoken of where it is not found. */
export function titleOf(agent: string, line: string): string {
  return line === SHARED_LINE ? `agent ${agent}` : `line ${line} of agent ${agent}`;
}

/** @param lists members that may stand in the query several times, and are lists even where they stand once */
export function queryOf<Value>(
  { req }: Context<AppEnv>,
  schema: ZodType<Value>,
  { lists = [] }: { lists?: readonly string[] } = {},
): Value {
  const listed = lists.flatMap((name) => {
    const values = req.queries(name);
    return values === undefined ? [] : [[name, values]];
  });
  return parseWith(schema, { ...req.query(), ...Object.fromEntries(listed) });
}

type PageOf<Item> = {
  readonly idOf: (item: Item) => string;
  readonly param: string;
  readonly from: string | undefined;
  readonly limit: number;
};

/**
 * The items after the one that the last page ended with. @throws {input/invalid} where that is gone: nobody knows any more how far its reader
 * had come, and who got the first page again would read for ever
 */
export function pageAfterItem<Item>(items: readonly Item[], { idOf, param, from, limit }: PageOf<Item>): Item[] {
  const start = from === undefined ? 0 : items.findIndex((item) => idOf(item) === from) + 1;
  if (from !== undefined && start === 0)
    throw invalid(param, `the id of one that is listed expected, got ${from}; begin with the first page again`);
  return items.slice(start, start + limit);
}

/** The agent named in the path. @throws {input/invalid} {input/notFound} where it is out of the key's scope */
export function agentParam(context: Context<AppEnv>): string {
  return scoped(context, parseWith(z.object({ agent: AgentName }), context.req.param()).agent);
}

/** The name of an agent that the key reaches. @throws {input/notFound} */
export function scoped(context: Context<AppEnv>, agent: string): string {
  return found(reaches(context.var.key.agents, agent) ? agent : undefined, `agent ${agent}`);
}

/** The line named in the path. A line that does not exist is found out by asking the agent. */
export function lineParam(context: Context<AppEnv>): string {
  return parseWith(z.object({ line: z.string().min(1).max(200) }), context.req.param()).line;
}

/** The line named in the path, and what its agent answers about it. */
export function lineIn(context: Context<AppEnv>): AskedLine {
  const [agent, line] = [agentParam(context), lineParam(context)];
  const ask: AskedLine["ask"] = async (question, about = "") => {
    const answer = await question(agentOf(context.env, agent), line);
    return found(answer, `${about}line ${line} of agent ${agent}`);
  };
  return { agent, line, ask };
}

export type AskedLine = {
  readonly agent: string;
  readonly line: string;
  /** @param about what of the line is asked for, "note n1 of ". @throws {input/notFound} where the answer is undefined */
  readonly ask: <Value>(question: (agent: AgentPort, line: string) => Promise<Value | undefined>, about?: string) => Promise<Value>;
};

export function versionParam(context: Context<AppEnv>): number {
  return parseWith(VersionParam, context.req.param()).version;
}

export function noteParam(context: Context<AppEnv>): string {
  return parseWith(z.object({ note: z.string().min(1).max(100) }), context.req.param()).note;
}

/** Who asks, for the audit trail. */
export function actorOf(context: Context<AppEnv>): Actor {
  const { kind, id } = context.var.key;
  return `${kind}:${id}`;
}

/** @throws {input/notFound} where the value does not exist. */
export function found<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new AppError("input/notFound", `${what}: not found`);
  return value;
}
