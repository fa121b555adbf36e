/** Calls to an edge as one of the three kinds of key holder, and small things to send. */
import { sha256 } from "../../shared/digest.ts";
import { type EventPayload, judgementIdOf } from "../../shared/events.ts";
import { type AdapterFiles, type EventLineage, type PolicyManifest, UNTRAINED } from "../../shared/policy.ts";
import { GATE_CHECKS, type GateReport } from "../../shared/release.ts";
import { bearer } from "./edge.ts";

export type KeyHolder = "client" | "admin" | "trainer";
type Edge = { url: string; keys: Record<KeyHolder, string> };
// Tests read answers of many shapes; each assertion is the check of its own.
// oxlint-disable-next-line no-explicit-any -- see above
export type Answer = { status: number; body: any; headers: Headers };

export async function call(
  edge: Edge,
  holder: KeyHolder,
  route: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const [method, path] = route.split(" ");
  const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
  const response = await fetch(`${edge.url}${path}`, { method: method ?? "GET", headers: bearer(edge.keys[holder], headers), ...sent });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

export async function putAgent(edge: Edge, name: string, settings: unknown = {}): Promise<void> {
  const { status, body } = await call(edge, "admin", `PUT /api/agents/${name}`, settings);
  if (status !== 200) throw new Error(`agent ${name}: 200 expected, got ${status} ${JSON.stringify(body)}`);
}

export async function putFile(edge: Edge, bytes: Uint8Array<ArrayBuffer>, digest?: string): Promise<Answer & { digest: string }> {
  const name = digest ?? (await sha256(bytes));
  const headers = { authorization: `Bearer ${edge.keys.trainer}` };
  const response = await fetch(`${edge.url}/trainer/v1/files/${name}`, { method: "PUT", headers, body: bytes });
  return { status: response.status, body: await response.json(), headers: response.headers, digest: name };
}

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}

/** A gate report as of a candidate that lost nothing. */
export const PASSING: GateReport = { checks: GATE_CHECKS.map((name) => ({ name, value: 0, asked: 0, cases: [] })) };

export type ManifestOptions = {
  agent: string;
  baseDigest: string;
  parent?: number;
  adapter?: AdapterFiles | null;
  fromSeq?: number;
  toSeq?: number;
  events?: EventLineage[];
};

export function manifestOf({
  agent,
  baseDigest,
  parent = 0,
  adapter = null,
  fromSeq = 0,
  toSeq = fromSeq,
  events = [],
}: ManifestOptions): PolicyManifest {
  const rest = { ...UNTRAINED, events, gate: PASSING, seed: 7, runtime: { node: "test" } };
  return { agent, line: "shared", parent, baseDigest, adapter, fromSeq, toSeq, ...rest };
}

export function lineage(eventId: string, seq: number): EventLineage {
  const hint = "number_of_rooms should be 2.";
  return { eventId, seq, turnId: `turn-${seq}`, user: "u1", reward: -1, votes: [-1, -1, 0], judge: "embedded", hint, liftNats: 6.5 };
}

/** A judgement as a trainer posts it: the one event that tests can append over HTTP. */
export function judgement(agent: string, id: string) {
  const payload: Extract<EventPayload, { kind: "judgement:made" }> = {
    kind: "judgement:made",
    subject: `${id}/next`,
    reward: -1,
    votes: [-1, -1, 0],
    judge: "embedded",
  };
  const header = { eventId: judgementIdOf(`${id}/next`), agent, line: "shared", sessionId: "s1", turnId: id, user: "u1" };
  return { ...header, createdAt: "2026-01-02T03:04:05.678Z", payload };
}

/** Events of an agent that no test is about, so that the log reaches the places that made-up versions speak of. */
export async function fillLog(edge: Edge, count = 40): Promise<void> {
  await putAgent(edge, "filler");
  const judgements = Array.from({ length: count }, (_, index) => judgement("filler", `filler-${index}`));
  await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements });
}
