/**
 * The dashboard's addresses: each is the same page, which reads the address itself. What is no address of it, and a file that
 * is not there, stays a 404 of ours: the files' own would be kept by browsers for as long as the files are.
 */
import type { App } from "./env.ts";

const PAGES = ["/agents", "/agents/*", "/keys"];

export function mountPages(app: App): void {
  for (const path of PAGES) app.get(path, ({ env, req }) => env.ASSETS.fetch(new Request(new URL("/", req.url), req.raw)));
  app.get("/assets/*", async (context) => {
    const response = await context.env.ASSETS.fetch(context.req.raw);
    return response.status === 404 ? context.notFound() : response;
  });
}
