/** Keys that have a limit are held to it, on every route. A limiter that cannot be reached costs the limit, not the answer. */
import { AppError } from "../../shared/errors.ts";
import type { Middleware } from "../env.ts";
import { limiterOf } from "../limiter/limiter.ts";
import { logError } from "../log.ts";

/** Stands behind the check of the key. @throws {auth/limited} with the seconds to wait */
export function rateLimit(): Middleware {
  return async function rateLimit(context, next) {
    const { id, requestsPerMinute } = context.var.key;
    if (requestsPerMinute !== null) {
      const taken = await limiterOf(context.env, id)
        .take(requestsPerMinute)
        .catch((thrown: unknown) => logError("limiter:unreachable", thrown, { keyId: id }));
      if (taken?.status === "limited") {
        const seconds = Math.ceil(taken.retryAfterMs / 1_000);
        throw new AppError(
          "auth/limited",
          `at most ${requestsPerMinute} requests a minute expected of this key; try again in ${seconds} s`,
          {
            details: { code: "rate_limit_exceeded", retryAfterSeconds: seconds },
          },
        );
      }
    }
    await next();
  };
}
