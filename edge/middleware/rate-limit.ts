/** Keys that have a limit are held to it, on every route. A limiter that cannot be reached costs the limit, not the answer. */
import { AppError } from "../../shared/errors.ts";
import type { ApiKey, Env, Middleware } from "../env.ts";
import { limiterOf } from "../limiter/limiter.ts";
import { logError } from "../log.ts";

/** Stands behind the check of the key. @throws {auth/limited} with the seconds to wait */
export function rateLimit(): Middleware {
  return async function rateLimit(context, next) {
    await takeRequest(context.env, context.var.key);
    await next();
  };
}

/** Of each limit that the key is held to. @throws {auth/limited} with the seconds to wait */
export async function takeRequest(env: Env, { id, limits }: Pick<ApiKey, "id" | "limits">): Promise<void> {
  for (const { keyId, requestsPerMinute } of limits) {
    const taken = await limiterOf(env, keyId)
      .take(requestsPerMinute)
      .catch((thrown: unknown) => logError("limiter:unreachable", thrown, { keyId }));
    if (taken?.status !== "limited") continue;
    const seconds = Math.ceil(taken.retryAfterMs / 1_000);
    const whose = keyId === id ? "this key" : `key ${keyId} and all that it has made`;
    throw new AppError("auth/limited", `at most ${requestsPerMinute} requests a minute expected of ${whose}; try again in ${seconds} s`, {
      details: { code: "rate_limit_exceeded", retryAfterSeconds: seconds },
    });
  }
}
