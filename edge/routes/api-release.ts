/** /api/agents/:agent/release and its moves: what answers, what is on trial, and how people promote and take back. */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { forgetLineHead } from "../agent/head.ts";
import { agentOf, type Unstored } from "../agent/port.ts";
import type { App } from "../env.ts";
import { parseJson } from "../http-errors.ts";
import { actorOf, agentParam, found, lineQuery, titleOf } from "./params.ts";

/** In its own words, since a rollback and a promotion name the version differently. */
const versionNumber = (member: string) => {
  const wanted = `the number of a version expected, as in {"${member}": 0}`;
  return z.number(wanted).int(wanted).min(0, wanted);
};
const Reason = z.string().max(1_000).optional();
export const RollbackRequest = z.strictObject({
  to: versionNumber("to"),
  quarantine: z.boolean().default(true),
  reason: Reason,
  /** Which version answered and which was the last when the request was thought over: where another is by now, nothing is changed. */
  seen: z.strictObject({ stable: z.number().int().min(0), latest: z.number().int().min(0) }).optional(),
});
export const PromoteRequest = z.strictObject({ version: versionNumber("version"), reason: Reason });

export function mountRelease(app: App): void {
  app.get("/api/agents/:agent/release", async (context) => {
    const [name, line] = [agentParam(context), lineQuery(context)];
    return context.json(found(await agentOf(context.env, name).release(line), titleOf(name, line)));
  });

  app.post("/api/agents/:agent/promote", async (context) => {
    const [name, line] = [agentParam(context), lineQuery(context)];
    const request = await parseJson(context.req.raw, PromoteRequest);
    const result = found(await agentOf(context.env, name).promote(line, request, actorOf(context)), titleOf(name, line));
    if (result.status === "unknown")
      throw new AppError("policy/unknown", `version: ${whatIsInFlight(result.inFlight)} expected, got ${request.version}`, {
        details: { param: "version" },
      });
    if (result.status === "unstored") throw unstored(result, "version");
    forgetLineHead(name, line);
    return context.json(result);
  });

  app.post("/api/agents/:agent/rollback", async (context) => {
    const [name, line] = [agentParam(context), lineQuery(context)];
    const request = await parseJson(context.req.raw, RollbackRequest);
    const result = found(await agentOf(context.env, name).rollback(line, request, actorOf(context)), titleOf(name, line));
    if (result.status === "unknown")
      throw new AppError("policy/unknown", `to: a version from 0 to ${result.latest} expected, got ${request.to}`, {
        details: { param: "to" },
      });
    if (result.status === "refused") throw new AppError("policy/refused", result.reason, { details: { param: "to" } });
    if (result.status === "unstored") throw unstored(result, "to");
    if (result.status === "stale")
      throw new AppError(
        "policy/stale",
        `seen: stable ${result.stable} and latest ${result.latest} expected, which came meanwhile, got ${request.seen?.stable} and ${request.seen?.latest}; nothing was changed`,
        { details: { param: "seen" } },
      );
    forgetLineHead(name, line);
    return context.json(result);
  });
}

/** A version that could answer nobody is given no traffic. */
function unstored({ reason }: Unstored, param: string): AppError {
  return new AppError("policy/missing", `${param}: a version whose files are stored expected; ${reason}; nothing was changed`, {
    details: { param },
  });
}

function whatIsInFlight(versions: readonly number[]): string {
  return versions.length === 0 ? "a version in flight, of which there is none now," : `one of ${versions.join(", ")}, which are in flight,`;
}
