/**
 * The tests run in Node and look into the edge's files, so they need the few names of workerd that those use. All of
 * `@cloudflare/workers-types` beside Node's types would give every URL and TextEncoder two meanings; see tsconfig.json.
 */
declare module "cloudflare:workers" {
  import type { DurableObjectState, Rpc } from "@cloudflare/workers-types";

  export function waitUntil(promise: Promise<unknown>): void;

  export abstract class DurableObject<Env = unknown> implements Rpc.DurableObjectBranded {
    [Rpc.__DURABLE_OBJECT_BRAND]: never;
    protected ctx: DurableObjectState;
    protected env: Env;
    constructor(ctx: DurableObjectState, env: Env);
    alarm?(): void | Promise<void>;
  }
}

type D1Database = import("@cloudflare/workers-types").D1Database;
type R2Bucket = import("@cloudflare/workers-types").R2Bucket;
type DurableObjectState = import("@cloudflare/workers-types").DurableObjectState;
type DurableObjectStorage = import("@cloudflare/workers-types").DurableObjectStorage;
type SqlStorage = import("@cloudflare/workers-types").SqlStorage;
type SqlStorageValue = import("@cloudflare/workers-types").SqlStorageValue;
type ExecutionContext = import("@cloudflare/workers-types").ExecutionContext;
type DurableObjectNamespace<T extends import("@cloudflare/workers-types").Rpc.DurableObjectBranded | undefined = undefined> =
  import("@cloudflare/workers-types").DurableObjectNamespace<T>;

declare const FixedLengthStream: new (bytes: number) => TransformStream<Uint8Array, Uint8Array>;

interface Scheduler {
  wait(ms: number): Promise<void>;
}
