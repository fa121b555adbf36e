/** /api/login: how a person at the dashboard turns an admin key into a cookie, and ends it. */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import type { App } from "../env.ts";
import { parseJson } from "../http-errors.ts";
import { keyOf } from "../middleware/auth.ts";
import { bodyLimit } from "../middleware/limits.ts";
import { takeRequest } from "../middleware/rate-limit.ts";
import { beginLogin, endLogin, loginOf } from "../middleware/login.ts";

export const LoginRequest = z.strictObject({ key: z.string().min(1).max(200) });

/** Stands before the check of keys: whoever logs in has none in the header yet. */
export function mountLogin(app: App): void {
  app.post("/api/login", bodyLimit(), async (context) => {
    const origin = context.req.header("origin");
    if (origin !== undefined && origin !== new URL(context.req.url).origin)
      throw new AppError("auth/forbidden", `origin: ${new URL(context.req.url).origin} expected, got ${origin}`, {
        details: { code: "csrf" },
      });
    const { key } = await parseJson(context.req.raw, LoginRequest);
    const { row, limits } = await keyOf(context.env, key, { kind: "admin", path: context.req.path });
    await takeRequest(context.env, { id: row.id, limits });
    return context.json(await beginLogin(context, row));
  });

  app.get("/api/login", async (context) => context.json({ login: (await loginOf(context))?.login ?? null }));

  app.delete("/api/login", async (context) => {
    // Of one that has ended already, only the cookie is left.
    await loginOf(context).catch((thrown: unknown) => {
      if (!(thrown instanceof AppError) || thrown.code !== "auth/missing") throw thrown;
    });
    await endLogin(context);
    return context.json({ status: "ended" });
  });
}
