/** What is told to a key is somebody's own: no cache on the way, and none of the browser, keeps it. */
import type { Middleware } from "../env.ts";

export function noStore(): Middleware {
  return async (context, next) => {
    await next();
    if (!context.res.headers.has("cache-control")) context.header("cache-control", "no-store");
  };
}
