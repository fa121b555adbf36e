import type { App } from "../env.ts";

/** GET /healthz: the Worker answers. Needs no key and touches no storage. */
export function mountHealth(app: App): void {
  app.get("/healthz", (context) => context.json({ status: "ok" }));
}
