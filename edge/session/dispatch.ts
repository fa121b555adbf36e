/**
 * Hands a request to its session. A request that would open a session, and one with an `Idempotency-Key`, is claimed in
 * the directory first: a retry of it then finds the session that the first attempt went to. A claim of a request that was refused
 * before it was a turn is withdrawn: the key is free for the request as it should have been.
 */
import { canonicalJson, sha256 } from "../../shared/digest.ts";
import { AppError, fromErrorRecord } from "../../shared/errors.ts";
import { directoryOf } from "../directory/client.ts";
import type { Claim } from "../directory/port.ts";
import type { Env } from "../env.ts";
import { identifySession, isSessionId, newSessionName } from "./identity.ts";
import { locateByTranscript, type Location } from "./locate.ts";
import { sessionOf, type AnswerResult, type SessionIdentity, type TurnRequest } from "./port.ts";
import { keyConflict } from "./retry.ts";
import { chainDigests, type Scope } from "./transcript.ts";

/** A turn whose session is still to be found. */
export type UnplacedTurn = Omit<TurnRequest, "session" | "digests" | "ambiguous" | "retryOnly"> & {
  readonly scope: Scope;
  readonly line: string;
  /** The client's own name of the conversation, if it gave one. */
  readonly sessionName: string | undefined;
};

export type Answering = Extract<AnswerResult, { status: "answering" }> & { readonly sessionId: string };

type Place = { readonly name: string; readonly ambiguous: boolean; readonly opens: boolean };
type Attempt = { readonly name: string; readonly retryOnly: boolean };
type Attempted = AnswerResult & { readonly sessionId: string };

/** @throws {session/conflict} for a key used with another body, and whatever the session refuses the turn with */
export async function dispatchTurn(env: Env, turn: UnplacedTurn): Promise<Answering> {
  const digests = await chainDigests(turn.scope, turn.messages);
  const place = await placeTurn(env, turn, digests);
  const attempt = async ({ name, retryOnly }: Attempt): Promise<Attempted> => {
    const session = await identifySession(turn.scope, { name, line: turn.line });
    const request = toRequest(turn, { session, digests, ambiguous: place.ambiguous, retryOnly });
    return { ...(await sessionOf(env, session.sessionId).answer(request)), sessionId: session.sessionId };
  };
  const claimDigest = await claimDigestOf(turn, place);
  if (claimDigest === undefined) return required(answered(await attempt({ name: place.name, retryOnly: false })));
  return answerClaimed(env, { digest: claimDigest, own: { name: place.name, requestDigest: turn.retry.requestDigest }, attempt });
}

async function placeTurn(env: Env, turn: UnplacedTurn, digests: readonly string[]): Promise<Place> {
  if (turn.sessionName !== undefined) return { name: await resolveName(env, turn.scope, turn.sessionName), ambiguous: false, opens: false };
  const location: Location = await locateByTranscript(env, { messages: turn.messages, digests });
  if (location.status === "known") return { name: location.name, ambiguous: false, opens: false };
  return { name: newSessionName(), ambiguous: location.status === "ambiguous", opens: true };
}

/** A client may send back the id that our answer stated; another's id is a name like any other. */
async function resolveName(env: Env, scope: Scope, name: string): Promise<string> {
  return isSessionId(name) ? ((await sessionOf(env, name).nameFor(scope)) ?? name) : name;
}

/** Under which digest the request is claimed; undefined where its session tells retries by itself. */
async function claimDigestOf({ scope, retry }: UnplacedTurn, { opens }: Place): Promise<string | undefined> {
  if (retry.idempotencyKey !== undefined) return sha256(canonicalJson(["idempotency", scope.agent, scope.keyId, retry.idempotencyKey]));
  return opens ? retry.requestDigest : undefined;
}

/** Goes to the session in the claim; where that says the request is no retry, puts its own in place and goes there. */
async function answerClaimed(
  env: Env,
  { digest, own, attempt }: { digest: string; own: Claim; attempt: (attempt: Attempt) => Promise<Attempted> },
): Promise<Answering> {
  const directory = directoryOf(env, digest);
  let held = await directory.claim(digest, own);
  // Every round that ends without an answer has seen another request take the claim.
  for (;;) {
    if (held.requestDigest !== own.requestDigest) throw keyConflict();
    const first = held.name === own.name;
    const attempted = await attempt({ name: held.name, retryOnly: !first });
    // Where requests of one session share the claim, those that are turns hold it.
    if (first && attempted.status === "refused" && !attempted.claimed) await directory.withdraw(digest, own);
    const answering = answered(attempted);
    if (answering !== undefined) return answering;
    held = await directory.replace(digest, held.name, own);
  }
}

function toRequest(
  { scope: _scope, line: _line, sessionName: _sessionName, ...turn }: UnplacedTurn,
  placed: { session: SessionIdentity; digests: readonly string[]; ambiguous: boolean; retryOnly: boolean },
): TurnRequest {
  return { ...turn, ...placed };
}

function answered(result: Attempted): Answering | undefined {
  if (result.status === "refused") throw fromErrorRecord(result.error);
  return result.status === "new" ? undefined : result;
}

function required(answering: Answering | undefined): Answering {
  if (answering === undefined) throw new AppError("internal", "internal: an answer expected, got a session that takes retries only");
  return answering;
}
