import type { Middleware } from "../env.ts";

/** Gives every request an id, in `x-request-id` of the answer and in the log. */
export function requestId(): Middleware {
  return async function requestId(context, next) {
    const id = `req_${crypto.randomUUID().replaceAll("-", "")}`;
    context.set("requestId", id);
    await next();
    context.header("x-request-id", id);
  };
}
