/** Agents on a real edge that have something to be learned from, and the loop over them. */
import { beforeAll, expect } from "vitest";
import { z } from "zod";
import type { LoggedEvent } from "../../../shared/events.ts";
import { parseModelConfig, type ModelConfig } from "../../../shared/model-config.ts";
import { Note } from "../../../shared/note.ts";
import { BaseManifest, LineHead, PolicyVersion } from "../../../shared/policy.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import type { EdgePort } from "../../../trainer/feed/edge-port.ts";
import { readStored } from "../../helpers/adapters.ts";
import { call as callEdge } from "../../helpers/call.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";
import { call, nextState, SEARCH, turn, user } from "../hotel.ts";
import { type LoopParts, loopOf as standInLoop } from "./stand-ins.ts";

/** Of the test file that imports this: vitest gives each its own. */
export const edge = withEdge();
export let shape: ModelConfig;
let agents = 0;

beforeAll(async () => {
  const manifest = BaseManifest.parse(JSON.parse(new TextDecoder().decode(await readStored(edge, edge.baseDigest))));
  shape = parseModelConfig(JSON.parse(new TextDecoder().decode(await readStored(edge, manifest.files["config.json"] ?? ""))));
});

export async function newAgent(): Promise<string> {
  agents += 1;
  const agent = `loop-${agents}`;
  await put(`/api/agents/${agent}`, {});
  return agent;
}

/** An agent of its own, and a conversation in which a user objects once. */
export async function correctedAgent(): Promise<string> {
  const agent = await newAgent();
  const ask = { role: "user", content: "A hotel in Porto" };
  const first = await complete(agent, [ask]);
  await complete(agent, [ask, first, { role: "user", content: "No, two rooms" }]);
  // The log is filled a moment after the answer; one step sees what is there.
  const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
  const logged = async (): Promise<string[]> =>
    (await client.pull({ agent, line: "shared", cursor: 0, limit: 100, waitMs: 0 })).events.map(({ payload }) => payload.kind);
  await expect.poll(logged, { timeout: 10_000 }).toContain("nextState:arrived");
  await expect.poll(async () => (await logged()).filter((kind) => kind === "turn:finished").length, { timeout: 10_000 }).toBe(2);
  return agent;
}

/** An agent of its own whose log holds a corrected call, as no random base makes one. */
export async function calledAgent(): Promise<string> {
  const agent = await newAgent();
  await correctCall(agent, "u1");
  return agent;
}

/** A call that a user has corrected, to two rooms; returns the correction's event. */
export async function correctCall(agent: string, userId: string, said = "No, two rooms"): Promise<string> {
  const called = turn([user("A hotel in Porto")], call("SearchHotel", { city: "Porto", number_of_rooms: "1" }));
  const next = nextState(called, [user(said)]);
  const about = { agent, user: userId, sessionId: `${agent}-${userId}` };
  for (const event of [called, next])
    await insertEvent({ ...event, ...about, eventId: `${agent}/${event.eventId}` }, JSON.stringify(event.payload));
  return `${agent}/${next.eventId}`;
}

/** Writes past the edge, as only a test may. */
export async function insertEvent(header: Omit<LoggedEvent, "payload" | "seq">, payload: string): Promise<void> {
  const { kind } = z.object({ kind: z.string() }).parse(JSON.parse(payload));
  const { eventId, agent, line, sessionId, turnId, user: who } = header;
  await (
    await edge.getD1()
  )
    .prepare("INSERT INTO events (event_id, agent, line, session_id, turn_id, user, kind, payload, created_at) VALUES (?,?,?,?,?,?,?,?,?)")
    .bind(...[eventId, agent, line, sessionId, turnId, who, kind, payload], Date.now())
    .run();
}

export async function complete(agent: string, messages: readonly unknown[], session = agent, who?: string): Promise<unknown> {
  // Without a call: what is echoed below is text.
  const body = JSON.stringify({ model: agent, messages, max_tokens: 4, tools: [SEARCH], tool_choice: "none", user: who });
  const response = await fetch(`${edge.url}/v1/chat/completions`, {
    method: "POST",
    headers: bearer(edge.keys.client, { "x-session-id": session }),
    body,
  });
  expect(response.status).toBe(200);
  const { choices } = z
    .object({ choices: z.array(z.object({ message: z.looseObject({ content: z.string().nullable() }) })) })
    .parse(await response.json());
  return { role: "assistant", content: choices[0]?.message.content ?? "" };
}

export async function put(path: string, body: unknown): Promise<void> {
  expect((await fetch(`${edge.url}${path}`, { method: "PUT", headers: bearer(edge.keys.admin), body: JSON.stringify(body) })).status).toBe(
    200,
  );
}

export async function post(path: string, body: unknown): Promise<void> {
  const response = await fetch(`${edge.url}${path}`, { method: "POST", headers: bearer(edge.keys.admin), body: JSON.stringify(body) });
  expect(response.status).toBe(200);
}

export async function remove(path: string): Promise<void> {
  expect([200, 202]).toContain((await callEdge(edge, "admin", `DELETE ${path}`)).status);
}

export async function headOf(agent: string): Promise<z.infer<typeof LineHead>> {
  return LineHead.parse(
    await (await fetch(`${edge.url}/trainer/v1/agents/${agent}/lines/shared/head`, { headers: bearer(edge.keys.trainer) })).json(),
  );
}

export async function versionsOf(agent: string): Promise<z.infer<typeof PolicyVersion>[]> {
  const body: unknown = await (await fetch(`${edge.url}/api/agents/${agent}/versions`, { headers: bearer(edge.keys.admin) })).json();
  return z.object({ versions: z.array(PolicyVersion) }).parse(body).versions;
}

/** What the audit says was refused, newest first. */
export async function refusedOf(agent: string): Promise<{ eventId: string; code: string; detail: string }[]> {
  const { body } = await callEdge(edge, "admin", `GET /api/agents/${agent}/audit`);
  const refused = z.array(z.object({ eventId: z.string(), code: z.string(), detail: z.string() }));
  return z
    .object({ audit: z.array(z.object({ refused })) })
    .parse(body)
    .audit.flatMap((row) => row.refused);
}

export const refusedCodes = async (agent: string): Promise<string[]> => (await refusedOf(agent)).map(({ code }) => code);

/** Events of the newest version, with their hints. */
export const learnedOf = async (agent: string): Promise<(string | undefined)[][]> =>
  ((await versionsOf(agent))[0]?.events ?? []).map(({ eventId, hint }) => [eventId, hint]);

export function loopOf(
  agent: string,
  {
    changed = {},
    ...parts
  }: Pick<LoopParts, "judge" | "learner" | "queued" | "config" | "line" | "reviewNotes" | "gate" | "metrics" | "signal"> & {
    changed?: Partial<EdgePort>;
  },
): ReturnType<typeof standInLoop> {
  return standInLoop(agent, { edge: { url: edge.url, key: edge.keys.trainer }, shape, ...parts, changed: () => changed });
}

export async function notesOf(agent: string): Promise<Note[]> {
  const body: unknown = await (await fetch(`${edge.url}/api/agents/${agent}/notes`, { headers: bearer(edge.keys.admin) })).json();
  return z.object({ notes: z.array(Note) }).parse(body).notes;
}
