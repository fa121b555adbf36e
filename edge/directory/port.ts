/** What a directory shard is asked over RPC. A digest lives on one shard; sessions are named within the digest's scope. */

/** How long the directory leads to a session. */
export const KEEP_MS = 7 * 24 * 3_600_000;

/** A session that holds the transcript with some digest. */
export type KnownSession = { readonly name: string; readonly open: boolean };

/** Which session answers a request, and the digest of that request's body. */
export type Claim = { readonly name: string; readonly requestDigest: string };

export interface DirectoryPort {
  /** Sessions that hold the transcript. */
  lookup(digest: string): Promise<KnownSession[]>;
  /** Says that a session holds the transcript. */
  register(digest: string, session: KnownSession): Promise<void>;
  /** A session that is gone holds no transcript. */
  forget(digest: string, name: string): Promise<void>;
  /** The claim in force: the first one made, `claim` itself where there was none. */
  claim(digest: string, claim: Claim): Promise<Claim>;
  /** Puts `claim` in place of the session `expected`; returns the claim in force, which another caller may have put there. */
  replace(digest: string, expected: string, claim: Claim): Promise<Claim>;
  /** Takes the claim back, where it is this one that is in force. */
  withdraw(digest: string, claim: Claim): Promise<void>;
}
