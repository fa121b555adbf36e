/** Every view of the dashboard in a browser, over an edge with conversations, versions, notes and a suite. */
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, launch } from "../../bench/browser.ts";
import type { ListedTurn } from "../../shared/api.ts";
import { call, putAgent } from "../helpers/call.ts";
import { type TestEdge, withEdge } from "../helpers/edge.ts";
import { logIn, openPage, violationsIn } from "./browser.ts";
import { AGENT, furnish, SCRIPT } from "./desk.ts";

const FIRST_LOAD_BYTES = 150_000; // gzip; the bar of the dashboard

/** A view may take a while on a machine that does other things. */
const SLOWLY = { timeout: 20_000 };

const VIEWS = [
  ["/", "Agents"],
  ["/keys", "Keys"],
  [`/agents/${AGENT}`, AGENT],
  [`/agents/${AGENT}/versions`, `Versions of ${AGENT}`],
  [`/agents/${AGENT}/versions/1`, "Version 1"],
  [`/agents/${AGENT}/conversations`, "Conversations"],
  [`/agents/${AGENT}/playground`, "Playground"],
  [`/agents/${AGENT}/notes`, "Notes"],
  [`/agents/${AGENT}/suite`, "Suite"],
  [`/agents/${AGENT}/audit`, "Audit"],
  [`/agents/${AGENT}/settings`, `Settings of ${AGENT}`],
] as const;

async function turnsOf(edge: TestEdge): Promise<ListedTurn[]> {
  return (await call(edge, "admin", `GET /api/agents/${AGENT}/turns`)).body.turns;
}

describe.skipIf(CHROMIUM === undefined)("the dashboard", () => {
  const edge = withEdge();
  let browser: Browser;

  beforeAll(async () => {
    browser = await launch();
    await furnish(edge);
  });
  afterAll(() => browser.close());

  it("lets nobody in without an admin key, and says why", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await page.goto(`/agents/${AGENT}`);
    await page.getByLabel("Admin key").fill(edge.keys.client);
    await page.getByRole("button", { name: "Log in" }).click();
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("a key of kind admin expected, got one of kind client");
    await page.getByLabel("Admin key").fill("nsk_admin_guess");
    await page.getByRole("button", { name: "Log in" }).click();
    await expect.poll(() => page.getByRole("alert").textContent()).toBe("This key is not known, or was revoked or has expired.");
    expect(await context.cookies()).toEqual([]);
    expect(await violationsIn(page)).toEqual([]);
    await context.close();
  });

  // A test for each: together they take longer than one test may on a slow machine.
  describe.each([false, true])("shows without a complaint, to everybody (dark: %s)", (dark) => {
    let opened: Awaited<ReturnType<typeof openPage>>;
    beforeAll(async () => {
      opened = await openPage(browser, { url: edge.url, dark });
      await logIn(opened.page, edge.keys.admin);
    });
    afterAll(() => opened.context.close());

    it.each(VIEWS)("%s", async (path, heading) => {
      const { page, problems } = opened;
      await page.goto(path);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await expect.poll(() => page.locator("[aria-busy=true]").count(), SLOWLY).toBe(0);
      expect(await violationsIn(page)).toEqual([]);
      expect(problems).toEqual([]);
    });
  });

  it("fits a phone, with every button in sight and each cell under the name of its column", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await page.setViewportSize({ width: 390, height: 844 });
    await logIn(page, edge.keys.admin);
    for (const [path, heading] of VIEWS) {
      await page.goto(path);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await expect.poll(() => page.locator("[aria-busy=true]").count(), SLOWLY).toBe(0);
      const wider = await page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
      expect([path, wider]).toEqual([path, 0]);
    }
    await page.goto(`/agents/${AGENT}/versions`);
    const button = page.getByRole("button", { name: "Roll back to 0" });
    const { x, width } = (await button.boundingBox()) ?? { x: Infinity, width: 0 };
    expect(x + width).toBeLessThan(390);
    const named = await page
      .getByRole("row", { name: "1 from 0" })
      .locator("td")
      .first()
      .evaluate((cell) => getComputedStyle(cell, "::before").content);
    expect(named).toBe('"status"');
    expect(await violationsIn(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  it("shows what a version answers now as calls, with a mark on the argument that differs", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}/versions/1`);
    const after = page.locator(".compared .answer.changed").first();
    await after.getByText("SearchHotel").waitFor();
    expect(await after.locator("dt").allTextContents()).toEqual(["location", "number_of_rooms"]);
    expect(await after.locator("mark").allTextContents()).toEqual(["2"]);
    expect(await after.locator(".words").allTextContents()).toEqual(["At once."]);
    // No weights are asked what the edge makes of their answer.
    await page.getByText("Weights alone say Paris for location; what goes out is held to Porto unless the user says otherwise.").waitFor();
    await context.close();
  });

  it("leads from a version to what it was made from, to who taught it, and to what it answered", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}/versions/1`);
    await page.getByText("Made from version 0").getByRole("link", { name: "version 0" }).waitFor();
    const taught = page.getByLabel("Events").getByRole("row").nth(1).getByRole("link");
    expect(await taught.nth(1).getAttribute("href")).toMatch(new RegExp(`^/agents/${AGENT}/conversations\\?user=u`));
    await page.getByRole("link", { name: "What it answered" }).click();
    await page.getByRole("heading", { name: "Conversations", level: 1 }).waitFor();
    expect(await page.getByLabel("Version", { exact: true }).inputValue()).toBe("1");
    await context.close();
  });

  it("tells whoever begins where to go on, and whoever has gone astray", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await putAgent(edge, "begun");
    await logIn(page, edge.keys.admin);
    for (const view of ["", "/versions", "/conversations", "/notes"]) {
      await page.goto(`/agents/begun${view}`);
      await page.getByRole("main").locator("section").getByRole("link", { name: "playground" }).click();
      await page.getByRole("heading", { name: "Playground", level: 1 }).waitFor();
    }
    await page.goto("/agents/begun/versions/7");
    await page.getByRole("alert").getByText("version 7 of agent begun: not found").waitFor();
    await page.getByRole("link", { name: "All versions" }).click();
    await page.getByRole("heading", { name: "Versions of begun", level: 1 }).waitFor();
    await page.goto("/agents/begun/nope");
    await page.getByRole("link", { name: "Overview of begun" }).click();
    await page.getByRole("heading", { name: "begun", level: 1 }).waitFor();
    await page.goto("/agents/nope");
    await page.getByRole("alert").getByText("There is no agent nope").waitFor();
    expect(await page.getByRole("alert").count()).toBe(1);
    await page.getByRole("link", { name: "All agents" }).click();
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    await context.close();
  });

  it("asks nothing of addresses that a crafted link would make of an agent's name", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    for (const link of ["..%5Ckeys%5Ckey_1%5Crotate%3F/playground", "desk%5Cpause%3F/playground", "desk/constructor"]) {
      await page.goto(`/agents/${link}`);
      await page.getByRole("alert").getByText("There is no").waitFor();
    }
    expect(
      asked.filter((path) => path.startsWith("/api/")).filter((path) => !/^\/api\/(login|agents|agents\/desk\/stream)$/.test(path)),
    ).toEqual([]);
    await context.close();
  });

  it("shows what a user wrote as text, whatever it is", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    for (const [view, title] of [
      ["conversations", "Conversations"],
      ["versions/1", "Version 1"],
      ["suite", "Suite"],
    ]) {
      await page.goto(`/agents/${AGENT}/${view}`);
      await page.getByText(SCRIPT).first().waitFor();
      expect(await page.title()).toBe(`${title} · ${AGENT} · Nextstate`);
    }
    expect(problems).toEqual([]);
    await context.close();
  });

  it("finds turns among all that there are, and shows what was learned from them token by token", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}/conversations`);
    const turns = page.locator("article.turn");
    await expect.poll(() => turns.count(), SLOWLY).toBe(2);
    await page.getByLabel("Words").fill("taken over");
    await expect.poll(() => turns.count(), SLOWLY).toBe(1);
    const told = turns.first().locator(".heat");
    expect(await told.locator("mark.down4[title]").allTextContents()).toEqual(["1"]);
    // Noise has no colour.
    expect(await told.locator("pre mark").allTextContents()).toEqual(["1", "}"]);
    await told.getByText("Advantage per token").click();
    await told.getByRole("cell", { name: "-0.5" }).waitFor();
    expect(await violationsIn(page)).toEqual([]);
    const user = page.getByLabel("User", { exact: true });
    await user.pressSequentially(" u_nobody ");
    await page.getByText("No turn of this agent has all of that.").waitFor();
    expect(await user.inputValue()).toBe(" u_nobody ");
    await user.fill((await turnsOf(edge))[0]?.user ?? "");
    await expect.poll(() => turns.count(), SLOWLY).toBe(1);
    await page.getByLabel("Version", { exact: true }).fill("7");
    await page.getByText("No turn of this agent has all of that.").waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  it("asks two versions the same, and gives them the tools' results", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}/versions/1`);
    await page.getByRole("link", { name: "Ask version 1 and version 0 the same" }).click();
    await expect
      .poll(() => page.getByRole("log").evaluateAll((logs) => logs.map((each) => each.getAttribute("aria-label"))), SLOWLY)
      .toEqual(["version 1", "version 0"]);
    await page.getByText("Results of the tools").click();
    await page.getByLabel("Canned result of SearchHotel").fill('{"hotels": []}');
    await page.getByLabel("Say").fill("Hello");
    await page.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => page.locator(".talk .message.assistant").count(), { timeout: 30_000 }).toBe(2);
    await page.getByLabel("Beside it").selectOption("now");
    await expect.poll(() => page.getByRole("log").count(), SLOWLY).toBe(2);
    await context.close();
  });

  it("says what the trainer is doing as it says it", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}`);
    const trainer = page.getByLabel("Trainer", { exact: true });
    await trainer.getByText("none has reported yet").waitFor();
    const status = { phase: "updating", done: 12, of: 40, corrections: 1, waitingSince: null };
    expect((await call(edge, "trainer", `PUT /trainer/v1/agents/${AGENT}/lines/shared/status`, status)).status).toBe(200);
    await trainer.getByText("step 12 of 40 at most").waitFor();
    await trainer.getByText("under way").waitFor();
    await context.close();
  });

  it("loads further pages, and loses none of what was loaded when something new comes in", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    for (let move = 0; move < 60; move += 1) await putAgent(edge, "moved", { instructions: `version ${move}` });
    await logIn(page, edge.keys.admin);
    await page.goto("/agents/moved/audit");
    const rows = page.locator("tbody tr");
    await expect.poll(() => rows.count(), SLOWLY).toBe(50);
    await page.getByRole("button", { name: "Load more moves" }).click();
    await expect.poll(() => rows.count(), SLOWLY).toBe(60);
    expect(await page.getByRole("button", { name: "Load more moves" }).count()).toBe(0);
    await putAgent(edge, "moved", { instructions: "one more" });
    await expect.poll(() => rows.count(), { timeout: 10_000 }).toBe(61);
    await context.close();
  });

  it("loads little before it can be used, nothing from elsewhere, and runs no script but its own", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    const loaded: { url: string; bytes: number }[] = [];
    page.on("response", async (response) => void loaded.push({ url: response.url(), bytes: gzipSync(await response.body()).length }));
    const policy = (await page.goto("/"))?.headers()["content-security-policy"] ?? "";
    await page.getByLabel("Admin key").waitFor();
    await page.waitForLoadState("networkidle");
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(new Set(loaded.map(({ url }) => new URL(url).origin))).toEqual(new Set([edge.url]));
    expect(loaded.some(({ url }) => url.endsWith(".js"))).toBe(true);
    expect(loaded.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(FIRST_LOAD_BYTES);
    expect(problems).toEqual([]);
    await context.close();
  });

  it("says what a rollback leaves before it rolls back", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}/versions`);
    await page.getByRole("button", { name: "Roll back to 0" }).click();
    const dialog = page.getByRole("dialog", { name: "Roll back to version 0" });
    await dialog.getByText("Version 0 will answer, and version 1 no longer. Taken back will be version 1, with 1 event").waitFor();
    await dialog.getByRole("button", { name: "Change nothing" }).click();
    expect((await call(edge, "admin", `GET /api/agents/${AGENT}/release`)).body.stable).toBe(1);
    await page.getByRole("button", { name: "Roll back to 0" }).click();
    await dialog.getByLabel("Reason").fill("a try");
    await dialog.getByRole("button", { name: "Roll back to version 0" }).click();
    await page
      .getByRole("row", { name: /^1 from 0/ })
      .getByText("rolled back", { exact: true })
      .waitFor();
    const { audit } = (await call(edge, "admin", `GET /api/agents/${AGENT}/audit`)).body;
    expect(audit[0]).toMatchObject({ move: "rollback", reason: "a try" });
    await context.close();
  });

  it("lets a version answer again that was rolled back, and takes it back from wherever it is seen to answer", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    const stable = async (): Promise<number> => (await call(edge, "admin", `GET /api/agents/${AGENT}/release`)).body.stable;
    for (const view of ["", "/versions", "/versions/1"]) {
      await page.goto(`/agents/${AGENT}/versions/1`);
      await page.getByRole("heading", { name: "What it answered", exact: true }).waitFor();
      await page.getByRole("button", { name: "Let version 1 answer again" }).click();
      const forward = page.getByRole("dialog", { name: "Let version 1 answer again?" });
      await forward.getByText("Version 1 will answer, and version 0 no longer.").waitFor();
      const again = forward.getByRole("button", { name: "Let version 1 answer again" });
      expect(await again.getAttribute("class")).not.toContain("danger");
      expect(await forward.getByRole("checkbox").count()).toBe(0);
      await again.click();
      await page.getByRole("heading", { name: "What it answers now" }).waitFor();
      await page.goto(`/agents/${AGENT}${view}`);
      await page.getByRole("button", { name: "Take version 1 back" }).click();
      const dialog = page.getByRole("dialog", { name: "Take version 1 back?" });
      await dialog.getByText("Version 0 will answer, and version 1 no longer.").waitFor();
      await dialog.getByText("What it had learned will go:").waitFor();
      expect(await violationsIn(page, "dialog")).toEqual([]);
      await dialog.getByRole("button", { name: "Take version 1 back" }).click();
      await page.getByRole("status").getByText("Version 0 answers now, 1 no longer.", { exact: false }).waitFor();
      expect(await stable()).toBe(0);
    }
    await page.goto(`/agents/${AGENT}/versions/1`);
    await page.getByLabel("Events").getByRole("link", { name: "quarantine" }).click();
    await page.getByLabel("Events that no version learns from").getByRole("row").nth(1).waitFor(SLOWLY);
    await page.goto(`/agents/${AGENT}/playground`);
    await expect.poll(() => page.locator("option[value='1']").first().textContent(), SLOWLY).toBe("version 1, rolled back");
    expect(problems).toEqual([]);
    await context.close();
  });

  it("says on the overview what answers, and what it has learned of how many", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await call(edge, "admin", `POST /api/agents/${AGENT}/rollback`, { to: 1 });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}`);
    const answering = page.locator(".tile", { hasText: "Answering now" });
    await answering.getByText("learned “number_of_rooms should be 2.” from 1 user").waitFor();
    await answering.getByRole("link", { name: "version 1" }).click();
    await page.getByRole("heading", { name: "Version 1", level: 1 }).waitFor();
    await context.close();
  });

  it("says on the overview that the last version was refused, and what else a correction waits for", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    const listed = (await call(edge, "admin", `GET /api/agents/${AGENT}/versions`)).body;
    const [newest, ...others] = listed.versions;
    const versions = [{ ...newest, status: "refused" }, ...others];
    await page.route("**/versions?*", (route) => route.fulfill({ json: { ...listed, versions } }));
    const told = (await call(edge, "admin", `GET /api/agents/${AGENT}/trainer`)).body;
    const unheard = [{ tool: "SearchHotel", parameter: "number_of_rooms", value: "2", users: 1, detail: "said by 1 of 4 users" }];
    await page.route("**/trainer?*", (route) => route.fulfill({ json: { ...told, next: { ...told.next, unheard } } }));
    await page.goto(`/agents/${AGENT}`);
    await page.getByText("the gate refused version 1, the last that was made").getByRole("link", { name: "version 1" }).waitFor(SLOWLY);
    await page.locator(".tile", { hasText: "Waiting for others" }).getByRole("link", { name: "Settings" }).click();
    await page.getByRole("heading", { name: `Settings of ${AGENT}` }).waitFor(SLOWLY);
    await context.close();
  });

  it("logs out, and what was open is closed", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByLabel("Admin key").waitFor();
    await page.goto(`/agents/${AGENT}`);
    await page.getByLabel("Admin key").waitFor();
    expect(await context.cookies()).toEqual([]);
    await context.close();
  });
});
