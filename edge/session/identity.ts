/** Ids of sessions, turns and their answers. An answer's id leads to its session without a look-up. */
import { at } from "../../shared/assert.ts";
import { canonicalJson, sha256 } from "../../shared/digest.ts";
import type { SessionIdentity } from "./port.ts";
import type { Scope } from "./transcript.ts";

const SESSION_DIGITS = 32; // 128 bits of the digest
const TURN_DIGITS = 16;
const ANSWER_ID = /^(?:chatcmpl-|resp_)([0-9a-f]{32})([0-9a-f]{16})$/;

/** The same name under another key, agent or user is another session. */
export async function identifySession(scope: Scope, { name, line }: { name: string; line: string }): Promise<SessionIdentity> {
  const digest = await sha256(canonicalJson(["session", scope.agent, scope.keyId, scope.user, name]));
  return { ...scope, line, name, sessionId: `s_${digest.slice(0, SESSION_DIGITS)}` };
}

/** Whether a name that a client gave may be the id of a session, as `x-session-id` of our answers states it. */
export function isSessionId(name: string): boolean {
  return /^s_[0-9a-f]{32}$/.test(name);
}

/** The user of a request, scoped to its API key: the same name under two keys is two people. */
export async function scopedUser(keyId: string, user: string | undefined): Promise<string> {
  const digest = await sha256(canonicalJson(["user", keyId, user ?? null]));
  return `u_${digest.slice(0, 16)}`;
}

/** A name for a session that the client has not named. */
export function newSessionName(): string {
  return `n_${randomHex(SESSION_DIGITS)}`;
}

export function newTurnId(sessionId: string): string {
  return `${sessionId}/${randomHex(TURN_DIGITS)}`;
}

export function completionIdOf(turnId: string): string {
  return `chatcmpl-${turnId.replace(/^s_/, "").replace("/", "")}`;
}

/** The same answer's id in the Responses API. */
export function responseIdOf(completionId: string): string {
  return completionId.replace(/^chatcmpl-/, "resp_");
}

/** The session and turn of a completion or response, undefined for an id that is not ours. */
export function parseAnswerId(answerId: string): { sessionId: string; turnId: string } | undefined {
  const [, session, turn] = ANSWER_ID.exec(answerId) ?? [];
  if (session === undefined || turn === undefined) return undefined;
  return { sessionId: `s_${session}`, turnId: `s_${session}/${turn}` };
}

export function newCallId(): string {
  return `call_${randomHex(24)}`;
}

/** A seed for a turn whose request names none: 31 bits, so that it is an integer everywhere, and not 0, which Workers AI refuses. */
export function newSeed(): number {
  return at(crypto.getRandomValues(new Uint32Array(1)), 0) >>> 1 || 1;
}

export function randomHex(digits: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(digits / 2)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
