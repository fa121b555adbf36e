/**
 * POST /api/agents/:agent/playground: an answer for a person at the dashboard. Without a version it is a turn like any user's, kept
 * and learned from, of a user whose key is the admin's. With one, that version answers beside everything: nothing is kept.
 */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { type LineHead, SHARED_LINE } from "../../shared/policy.ts";
import type { VersionStatus } from "../../shared/release.ts";
import { agentOf } from "../agent/port.ts";
import type { App, Env } from "../env.ts";
import { parseWith, readJson } from "../http-errors.ts";
import { parseTurnHeaders } from "../openai/headers.ts";
import { invalid } from "../openai/refuse.ts";
import { parseChatRequest } from "../openai/request.ts";
import { answerTurn, offerOf, requireHead, scopeOf, sessionNameOf } from "./answering.ts";
import { respond } from "./completions.ts";
import { agentParam, found, LineQuery, titleOf } from "./params.ts";

/** Beside `version`, what POST /v1/chat/completions takes, but for `model`. */
export const PlaygroundRequest = z.looseObject({
  version: z.number().int().min(0).nullable().default(null),
  /** Whose version: `shared`, or the id of a user who has a line. */
  line: LineQuery.shape.line,
});

const ANSWERS: ReadonlySet<VersionStatus> = new Set(["stable", "canary", "candidate", "superseded", "rolledBack"]);

export function mountPlayground(app: App): void {
  app.post("/api/agents/:agent/playground", async (context) => {
    const agent = agentParam(context);
    const { version, line, ...rest } = parseWith(PlaygroundRequest, await readJson(context.req.raw));
    if (version === null && line !== SHARED_LINE) throw invalid("line", `a version of ${line} expected beside it, got none`);
    const body = { ...rest, model: agent, ...(version === null ? {} : { store: false }) };
    const request = parseChatRequest(body);
    const head = await requireHead(context, agent);
    const sent = parseTurnHeaders(context.req.raw.headers);
    const sessionName = await sessionNameOf(sent, request);
    // A version on trial here talks to somebody else, so that none of its conversations is one that is kept.
    const scope = await scopeOf(
      context,
      version === null ? request : { ...request, user: `playground/${line}/v${version}/${request.user ?? ""}` },
    );
    const asked =
      version === null
        ? { headers: sent, head }
        : { headers: { ...sent, turnKind: "side" as const }, head: await headOf(context.env, head, { line, version }) };
    const offer = await offerOf(context, request, head);
    const answering = await answerTurn(context, { request, scope, sessionName, body: [version, body], offer, asked: null, ...asked });
    return respond(context, request, answering);
  });
}

/** The line as if the version were its stable one. @throws {input/notFound} {policy/refused} */
async function headOf(env: Env, head: LineHead, { line, version }: { line: string; version: number }): Promise<LineHead> {
  const { agent } = head;
  const listed = found(await agentOf(env, agent).version(line, version), `version ${version} of ${titleOf(agent, line)}`);
  const { policyDigest: stablePolicyDigest, baseDigest, adapter, status } = listed;
  const onEngine = baseDigest === head.engineBase;
  if (!ANSWERS.has(status))
    throw new AppError("policy/refused", `version: one that may answer expected, got ${version}, which is ${status}`, {
      details: { param: "version" },
    });
  const kept = await agentOf(env, agent).kept(line, version);
  return { ...head, line, stable: version, stablePolicyDigest, baseDigest, adapter, onEngine, ...kept, canary: null, rolledBack: [] };
}
