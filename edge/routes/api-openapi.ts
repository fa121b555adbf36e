import type { App } from "../env.ts";
import { openApiDocument } from "../openapi/document.ts";

/** GET /api/openapi.json: no key is asked for what is no secret. Mounted before the keys are. */
export function mountOpenApi(app: App): void {
  let document: object | undefined;
  app.get("/api/openapi.json", (context) => context.json((document ??= openApiDocument())));
}
