/** /trainer/v1/agents/:agent/lines/:line: how a trainer moves a line, and says what it is doing, under its lease. Outcomes that it must expect answer 200 with a `status`. */
import type { Context } from "hono";
import { z } from "zod";
import { AppError, fromErrorRecord } from "../../shared/errors.ts";
import { CursorAdvance } from "../../shared/events.ts";
import { LEASE_HEADER } from "../../shared/lease.ts";
import { NoteAbsorbed } from "../../shared/note.ts";
import { PublishRequest } from "../../shared/policy.ts";
import { TrainerStatus } from "../../shared/trainer-status.ts";
import { forgetLineHead } from "../agent/head.ts";
import type { Lost, Trainer } from "../agent/port.ts";
import { type EventLog, lastSeq } from "../db/events.ts";
import type { App, AppEnv } from "../env.ts";
import { parseJson, parseWith } from "../http-errors.ts";
import { wholeNumber } from "../whole-number.ts";
import { actorOf, lineIn, noteParam } from "./params.ts";
import { LINE } from "./trainer-lines.ts";

const FinishRequest = z.object({ from: z.number().int().min(0), refused: CursorAdvance.shape.refused.default([]) });
const LeaseToken = z.object({ [LEASE_HEADER]: wholeNumber().default(0) });

export function mountTrainerMoves(app: App): void {
  app.post(`${LINE}/versions`, async (context) => {
    const { agent, line, ask } = lineIn(context);
    const request = await parseJson(context.req.raw, PublishRequest);
    await checkLogged(context.env, "manifest.toSeq", request.manifest.toSeq);
    const result = await ask((object) => object.publish(line, request, trainerOf(context)));
    throwLost(result);
    if (result.status === "refused") throw new AppError("policy/refused", result.reason);
    if (result.status === "unready") throw fromErrorRecord(result.error);
    forgetLineHead(agent, line);
    return context.json(result);
  });

  app.post(`${LINE}/cursor`, async (context) => {
    const { ask } = lineIn(context);
    const request = await parseJson(context.req.raw, CursorAdvance);
    await checkLogged(context.env, "to", request.to);
    const result = await ask((agent, line) => agent.advance(line, request, trainerOf(context)));
    throwLost(result);
    if (result.status === "refused") throw new AppError("input/invalid", result.reason, { details: { param: "to" } });
    return context.json(result);
  });

  app.post(`${LINE}/rebuild/finish`, async (context) => {
    const { agent, line, ask } = lineIn(context);
    const request = await parseJson(context.req.raw, FinishRequest);
    const finished = await ask((object) => object.finishRebuild(line, request, trainerOf(context)));
    if (typeof finished !== "boolean") throwLost(finished);
    forgetLineHead(agent, line);
    return context.json({ status: finished ? "finished" : "stale" });
  });

  app.post(`${LINE}/notes/:note/absorbed`, async (context) => {
    const { agent, line, ask } = lineIn(context);
    const noteId = noteParam(context);
    const { version } = await parseJson(context.req.raw, NoteAbsorbed);
    const result = await ask((object) => object.absorbNote(line, noteId, version, trainerOf(context)), `note ${noteId} of `);
    throwLost(result);
    forgetLineHead(agent, line);
    return context.json(result);
  });

  app.put(`${LINE}/status`, async (context) => {
    const { ask } = lineIn(context);
    const status = await parseJson(context.req.raw, TrainerStatus);
    const result = await ask((agent, line) => agent.reportTrainer(line, status, trainerOf(context)));
    throwLost(result);
    return context.json(result);
  });
}

/** Who moves a line, under which lease. @throws {input/invalid} */
function trainerOf(context: Context<AppEnv>): Trainer {
  return { actor: actorOf(context), lease: parseWith(LeaseToken, { [LEASE_HEADER]: context.req.header(LEASE_HEADER) })[LEASE_HEADER] };
}

/** @throws {lease/lost} where the lease is another trainer's by now */
function throwLost<Result extends { status: string }>(result: Result | Lost): asserts result is Exclude<Result, Lost> {
  if (isLost(result)) throw new AppError("lease/lost", result.reason);
}

function isLost(result: { status: string }): result is Lost {
  return result.status === "lost";
}

/** A cursor beyond the log would pass over what is yet to come, and a cursor never goes back. @throws {input/invalid} */
async function checkLogged(log: EventLog, param: string, seq: number): Promise<void> {
  const last = await lastSeq(log);
  if (seq > last)
    throw new AppError("input/invalid", `${param}: at most ${last}, the last event of the log, expected, got ${seq}`, {
      details: { param },
    });
}
