import { cors } from "hono/cors";
import type { Middleware } from "../env.ts";

/** Lets browsers call the client routes from any page: keys travel in a header, never in a cookie. */
export function clientCors(): Middleware {
  return cors({
    origin: "*",
    allowMethods: ["GET", "POST", "DELETE"],
    exposeHeaders: ["x-policy-line", "x-policy-version", "x-policy-digest", "x-session-id", "x-request-id", "retry-after"],
    maxAge: 86_400,
  });
}
