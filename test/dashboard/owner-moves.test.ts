/** What an owner does in a browser and cannot take back: an agent is deleted by its name, a key is revoked with what it has made, and both are told. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, launch } from "../../bench/browser.ts";
import { call, putAgent } from "../helpers/call.ts";
import { bearer, withEdge } from "../helpers/edge.ts";
import { logIn, openPage, violationsIn } from "./browser.ts";

describe.skipIf(CHROMIUM === undefined)("an owner at the dashboard", () => {
  const edge = withEdge();
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
    await putAgent(edge, "stays", { instructions: "Be brief." });
    await putAgent(edge, "goes");
  });
  afterAll(() => browser.close());

  it("deletes an agent once its name was typed", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto("/agents/goes/settings");
    await page.getByRole("button", { name: "Delete goes" }).click();
    const dialog = page.getByRole("dialog");
    const confirm = dialog.getByRole("button", { name: "Delete goes" });
    expect(await confirm.isDisabled()).toBe(true);
    expect(await violationsIn(page, "dialog")).toEqual([]);
    await dialog.getByLabel("Its name").fill("stays");
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByLabel("Its name").fill("goes");
    await confirm.click();
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    await page.getByRole("link", { name: "stays" }).waitFor();
    await expect.poll(() => page.getByRole("link", { name: "goes" }).count()).toBe(0);
    expect((await call(edge, "admin", "GET /api/agents/goes")).status).toBe(404);
    await context.close();
  });

  it("revokes with a key what it has made, and reads who did what", async () => {
    const { body: maker } = await call(edge, "admin", "POST /api/keys", { kind: "admin", name: "maker" });
    const body = JSON.stringify({ kind: "client", name: "made by it" });
    await fetch(`${edge.url}/api/keys`, { method: "POST", headers: bearer(maker.key), body });
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto("/keys");
    const row = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "maker" }) });
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByLabel("Revoke what it has made, too: made by it").check();
    expect(await violationsIn(page, "dialog")).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await expect.poll(() => page.getByRole("cell", { name: "revoked a key" }).count(), { timeout: 20_000 }).toBe(2);
    await page.getByRole("cell", { name: "deleted an agent" }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  it("reads in an agent's audit what a change of settings changed", async () => {
    await call(edge, "admin", "PATCH /api/agents/stays", { instructions: "Be kind." });
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto("/agents/stays/audit");
    await page.getByRole("listitem").filter({ hasText: 'instructions: "Be brief." → "Be kind."' }).waitFor();
    await context.close();
  });
});
