/** What wrangler.toml binds, and the types every route and middleware shares. */
import type { Hono, MiddlewareHandler } from "hono";
import type { AgentObject } from "./agent/agent.ts";
import type { KeyKind } from "./db/schema.ts";
import type { AiBinding } from "./engine/workers-ai-engine.ts";
import type { DirectoryObject } from "./directory/directory.ts";
import type { LimiterObject } from "./limiter/limiter.ts";
import type { Scope } from "./scope.ts";
import type { SessionObject } from "./session/session.ts";

export type Env = {
  SESSIONS: DurableObjectNamespace<SessionObject>;
  AGENTS: DurableObjectNamespace<AgentObject>;
  DIRECTORY: DurableObjectNamespace<DirectoryObject>;
  LIMITERS: DurableObjectNamespace<LimiterObject>;
  DB: D1Database;
  ARTIFACTS: R2Bucket;
  /** The dashboard's files. */
  ASSETS: { fetch(request: Request): Promise<Response> };
  /** SHA-256 of the base manifest, under which `ARTIFACTS` holds it; version 0 of a new agent is this base. */
  BASE_DIGEST: string;
  /** After how many milliseconds without a turn a session closes; half an hour where it is not set. */
  SESSION_IDLE_MS?: string;
  /** `1` lets tools be on this machine, http included; empty everywhere else than in tests and beside a self-hosted edge. */
  TOOLS_ON_LOOPBACK?: string;
  /** Where there is one, the way out for tools: a network that reaches public addresses only. Beside it, `TOOL_SECRET_…` hold secrets of tools. */
  PUBLIC_NETWORK?: { fetch(request: Request): Promise<Response> };
  /** After how many milliseconds an adapter that nobody needs leaves its engine; a quarter of an hour where it is not set. */
  ENGINE_IDLE_MS?: string;
  /** Workers AI, where wrangler.toml binds it. */
  AI?: AiBinding;
  /** Names a hand-over point at which the Worker stalls. Set by tests only. */
  FAULT?: string;
};

/** The key a request came with; `id` is public, the key itself is never kept. */
export type ApiKey = {
  readonly id: string;
  readonly kind: KeyKind;
  readonly name: string;
  /** Which agents it reaches. */
  readonly agents: Scope;
  /** The limits that it is held to: its own, and those of the keys that it comes from. */
  readonly limits: readonly KeyLimit[];
};

/** How often a key, and all that it has made, may ask together. */
export type KeyLimit = { readonly keyId: string; readonly requestsPerMinute: number };

export type Variables = { requestId: string; key: ApiKey };
export type AppEnv = { Bindings: Env; Variables: Variables };
export type App = Hono<AppEnv>;
export type Middleware = MiddlewareHandler<AppEnv>;
