/** The dashboard in a browser while something else happens: numbers half typed, answers under way, other people, a login that ends. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, launch } from "../../bench/browser.ts";
import { putAdapter } from "../helpers/adapters.ts";
import { call, fillLog, putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";
import { publishOn } from "../helpers/publish-on.ts";
import { SEARCH } from "../trainer/hotel.ts";
import { logIn, openPage } from "./browser.ts";

const AGENT = "busy";
const SLOWLY = { timeout: 20_000 };

describe.skipIf(CHROMIUM === undefined)("the dashboard meanwhile", () => {
  const edge = withEdge();
  let browser: Browser;
  let page: Page;
  let published = 0;

  beforeAll(async () => {
    browser = await launch();
    await fillLog(edge);
    await putAgent(edge, AGENT, { tools: [SEARCH], release: { canary: { mode: "on" } } });
    ({ page } = await openPage(browser, { url: edge.url }));
    await logIn(page, edge.keys.admin);
  });
  afterAll(() => browser.close());

  const api = async (route: string, body?: unknown) => {
    const [method, path] = route.split(" ");
    return (await call(edge, "admin", `${method} /api/agents/${AGENT}${path}`, body)).body;
  };
  const publish = async (): Promise<void> => {
    published += 1;
    const { body } = await publishOn(edge, AGENT, await putAdapter(edge, `busy ${published}`), { learned: `busy-${published}` });
    expect(body).toMatchObject({ version: published });
  };

  it("leaves a number as it is typed, and saves that one", async () => {
    await page.goto(`/agents/${AGENT}/settings`);
    const temperature = page.getByLabel("Temperature where a request does not say");
    const topP = page.getByLabel("Top p where a request does not say");
    for (const [field, text] of [
      [temperature, "0.05"],
      [topP, "0.905"],
    ] as const) {
      await field.click();
      await page.keyboard.press("Control+A");
      await page.keyboard.type(text);
      expect(await field.inputValue()).toBe(text);
    }
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. Conversations that begin now have it.").waitFor(SLOWLY);
    expect((await api("GET ")).settings.sampling).toEqual({ temperature: 0.05, topP: 0.905 });
    await temperature.fill("");
    expect(await page.getByText("Saved. Conversations").count()).toBe(0);
    await page.getByRole("button", { name: "Save" }).click();
    await expect.poll(async () => (await api("GET ")).settings.sampling.temperature, SLOWLY).toBe(null);
  });

  it("saves what was changed here, and leaves what somebody else changed since", async () => {
    await page.goto(`/agents/${AGENT}/settings`);
    const instructions = page.getByLabel("Instructions, before the client's own");
    await instructions.fill("Be brief.");
    await api("POST /pause", {});
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. Conversations that begin now have it.").waitFor(SLOWLY);
    expect((await api("GET ")).settings).toMatchObject({ instructions: "Be brief.", learning: { enabled: false } });
    await api("POST /resume", {});
  });

  it("ends an answer with its conversation", async () => {
    await page.goto(`/agents/${AGENT}/playground`);
    let answer = (): void => {};
    const asked = new Promise<void>((arrived) => {
      void page.route(
        "**/playground",
        async (route) => {
          if (route.request().method() !== "POST") return route.continue();
          arrived();
          await new Promise<void>((go) => (answer = go));
          // Nobody waits for it any more.
          await route.continue().catch(() => {});
        },
        { times: 1 },
      );
    });
    await page.getByRole("textbox", { name: "Say" }).fill("A hotel in Porto.");
    await page.getByRole("button", { name: "Send" }).click();
    await asked;
    const log = page.getByRole("log");
    await log.locator("[aria-busy=true]").getByText("writing").waitFor();
    await log.getByText("A hotel in Porto.").waitFor();
    await page.getByRole("button", { name: "New conversation" }).click();
    answer();
    await page.getByRole("textbox", { name: "Say" }).fill("A hotel in Rome.");
    await page.getByRole("button", { name: "Send" }).click();
    await log.getByText("A hotel in Rome.").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Send" }).getAttribute("aria-busy"), SLOWLY).not.toBe("true");
    expect(await log.getByText("A hotel in Porto.").count()).toBe(0);
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it("asks again where an answer did not come, with what was said before", async () => {
    await page.goto(`/agents/${AGENT}/playground`);
    await page.route("**/playground", (route) => (route.request().method() === "POST" ? route.abort() : route.continue()), { times: 1 });
    await page.getByRole("textbox", { name: "Say" }).fill("A hotel in Porto.");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.getByRole("heading", { name: "What answers users: version 0" }).waitFor({ timeout: 60_000 });
    const log = page.getByRole("log");
    expect(await log.locator(".message.user").allTextContents()).toEqual(["userA hotel in Porto."]);
    expect(await page.getByRole("button", { name: "Ask again" }).count()).toBe(0);
  });

  it("asks before it leaves behind what was not saved", async () => {
    await page.goto(`/agents/${AGENT}/settings`);
    const instructions = page.getByLabel("Instructions, before the client's own");
    await instructions.waitFor(SLOWLY);
    const unsaved = page.getByText("There are changes that are not saved.");
    expect(await unsaved.count()).toBe(0);
    await instructions.fill("Be kind.");
    await unsaved.waitFor();
    // Wherever one is on the page.
    expect(await page.getByRole("button", { name: "Save" }).evaluate((button) => button.getBoundingClientRect().bottom)).toBeLessThan(900);
    page.once("dialog", (dialog) => void dialog.dismiss());
    await page.getByRole("link", { name: "Notes" }).click();
    expect(await instructions.inputValue()).toBe("Be kind.");
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("link", { name: "Notes" }).click();
    await page.getByRole("heading", { name: "Notes", level: 1 }).waitFor(SLOWLY);
  });

  it("takes back nothing that came after it was asked about, and says so", async () => {
    await publish();
    await page.goto(`/agents/${AGENT}/versions`);
    await page.getByRole("button", { name: "End the trial" }).click();
    const dialog = page.getByRole("dialog", { name: "End the trial of version 1?" });
    await dialog.getByText("Taken back will be version 1, with 1 event").waitFor(SLOWLY);
    await publish();
    await dialog.getByRole("button", { name: "End the trial" }).click();
    await dialog.getByRole("alert").getByText("another version came meanwhile").waitFor(SLOWLY);
    expect((await api("GET /release")).canary).toMatchObject({ version: 1 });
    await dialog.getByText("Taken back will be version 1, version 2, with 2 events").waitFor(SLOWLY);
    await dialog.getByRole("button", { name: "Change nothing" }).click();
  });

  it("says on the overview that a trial waits for a person, who can promote it there", async () => {
    const release = await api("GET /release");
    const canary = { ...release.canary, askedAt: new Date().toISOString() };
    await page.route("**/release*", (route) => route.fulfill({ json: { ...release, canary } }));
    await page.goto(`/agents/${AGENT}`);
    const tile = page.locator(".tile", { hasText: "On trial" });
    await tile.getByText("waits for you since").waitFor(SLOWLY);
    await tile.getByRole("button", { name: "Promote" }).click();
    const dialog = page.getByRole("dialog", { name: "Promote version 1?" });
    await dialog.getByRole("button", { name: "Change nothing" }).click();
    await page.unroute("**/release*");
  });

  it("shows on a version's page how its trial ended elsewhere, and in the audit which version that was", async () => {
    await page.goto(`/agents/${AGENT}/versions/1`);
    await page.getByRole("heading", { name: "Version 1 on trial" }).waitFor(SLOWLY);
    await api("POST /rollback", { to: 0, reason: "it babbles" });
    await page.getByRole("heading", { name: "Version 1 rolled back" }).waitFor(SLOWLY);
    await page.getByRole("listitem").getByText("rolled back, version 0 goes on answering", { exact: false }).waitFor(SLOWLY);
    await page.goto(`/agents/${AGENT}/audit`);
    await page.getByRole("row").filter({ hasText: "it babbles" }).getByText("version 1, version 2").waitFor(SLOWLY);
  });

  it("listens again after a refusal, and lists agents as they are by now", async () => {
    await page.route("**/stream*", (route) => route.fulfill({ status: 503, body: "{}" }), { times: 1 });
    await page.goto(`/agents/${AGENT}`);
    await page.getByText("live", { exact: true }).waitFor(SLOWLY);
    await publish();
    await page.getByRole("link", { name: `version ${published}` }).waitFor(SLOWLY);
    await page.getByRole("link", { name: "Nextstate" }).click();
    await page.getByText(`version ${published} is on trial`, { exact: false }).waitFor(SLOWLY);
  });

  it("says once that nothing answers, and goes on by itself when something does", async () => {
    await page.goto(`/agents/${AGENT}/versions`);
    await page.getByRole("heading", { name: `Versions of ${AGENT}` }).waitFor();
    await page.route("**/api/**", (route) => route.abort());
    await page.getByRole("link", { name: "Notes" }).click();
    await page.getByRole("alert").getByText("Nextstate cannot be reached; trying again.").waitFor(SLOWLY);
    // What was asked for before may still be answered.
    await expect.poll(() => page.getByRole("alert").count(), SLOWLY).toBe(1);
    await page.unroute("**/api/**");
    await page.evaluate("window.dispatchEvent(new Event('online'))");
    await page.getByText("No note.", { exact: false }).waitFor(SLOWLY);
    await expect.poll(() => page.getByRole("alert").count(), SLOWLY).toBe(0);
  });

  it("asks for the key again once the login has ended", async () => {
    const made = (await call(edge, "admin", "POST /api/keys", { kind: "admin", name: "short" })).body;
    const { page: other, context } = await openPage(browser, { url: edge.url });
    await logIn(other, made.key);
    await call(edge, "admin", `DELETE /api/keys/${made.id}`);
    await other.getByRole("link", { name: AGENT, exact: true }).click();
    await other.getByText("Your login has ended").waitFor(SLOWLY);
    await logIn(other, edge.keys.admin);
    await context.close();
  });
});
