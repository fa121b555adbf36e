/**
 * A session of Tinker's service, heard of every ten seconds until it ends: the service ends those that it has not heard of for long
 * (src/tinker/lib/internal_client_holder.py and src/tinker/types/session_heartbeat_request.py of the SDK, 0.22 to 0.25 alike).
 */
import { z } from "zod";
import type { TinkerClient } from "./client.ts";

/** The version of the SDK whose shapes are spoken. */
const SDK_VERSION = "0.22.3";
const HEARTBEAT_MS = 10_000;

export class TinkerSession {
  readonly id: string;
  /** Models that were made in it: the service keeps their order. */
  made = 0;
  readonly #heart: NodeJS.Timeout;

  private constructor(client: TinkerClient, id: string) {
    this.id = id;
    // A beat that fails is left alone: a session that is over fails the request that needs it, which says why.
    const beat = () => void client.send("/api/v1/session_heartbeat", { session_id: id, type: "session_heartbeat" }).catch(() => {});
    this.#heart = setInterval(beat, HEARTBEAT_MS).unref();
  }

  static async open(client: TinkerClient): Promise<TinkerSession> {
    const asked = { type: "create_session", tags: ["nextstate"], user_metadata: null, sdk_version: SDK_VERSION };
    const { session_id } = await client.post(z.object({ session_id: z.string() }), "/api/v1/create_session", asked);
    return new TinkerSession(client, session_id);
  }

  end(): void {
    clearInterval(this.#heart);
  }
}
