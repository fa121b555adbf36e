/** Every view of the dashboard in a browser, over an edge with conversations, versions, notes and a suite. */
import AxeBuilder from "@axe-core/playwright";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, launch } from "../../bench/browser.ts";
import { putAdapter } from "../helpers/adapters.ts";
import { call, lineage, manifestOf, putAgent } from "../helpers/call.ts";
import { bearer, withEdge } from "../helpers/edge.ts";
import { SEARCH } from "../trainer/hotel.ts";
import { logIn, openPage } from "./browser.ts";

const AGENT = "desk";
const SCRIPT = "<script>document.title = 'taken over'</script><img src=x onerror=\"document.title='taken over'\">";

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

describe.skipIf(CHROMIUM === undefined)("the dashboard", () => {
  const edge = withEdge();
  let browser: Browser;

  beforeAll(async () => {
    browser = await launch();
    await putAgent(edge, AGENT, { tools: [SEARCH] });
    const ask = (messages: unknown[]): Promise<Response> =>
      fetch(`${edge.url}/v1/chat/completions`, {
        method: "POST",
        headers: bearer(edge.keys.client),
        body: JSON.stringify({ model: AGENT, messages, max_tokens: 2, temperature: 0 }),
      });
    const first = (await (await ask([{ role: "user", content: SCRIPT }])).json()) as { choices: { message: object }[] };
    const said = [{ role: "user", content: SCRIPT }, { ...first.choices[0]?.message }, { role: "user", content: "Two rooms, please." }];
    await ask(said);
    const line = `/trainer/v1/agents/${AGENT}/lines/shared`;
    const { body: head } = await call(edge, "trainer", `GET ${line}/head`);
    const manifest = {
      ...manifestOf({ agent: AGENT, baseDigest: edge.baseDigest, adapter: await putAdapter(edge, "one"), fromSeq: 0, toSeq: 1 }),
      events: [lineage("e1", 1)],
      hints: ["number_of_rooms should be 2."],
      changes: [{ prompt: SCRIPT, before: "one room", after: "two rooms" }],
    };
    const published = await call(edge, "trainer", `POST ${line}/versions`, { parent: head.parent, manifest });
    expect(published.status).toBe(200);
    const expectation = { name: SCRIPT, messages: [{ role: "user", content: "Two rooms." }], expect: { reply: { contains: ["two"] } } };
    expect((await call(edge, "admin", `POST /api/agents/${AGENT}/suite`, expectation)).status).toBe(201);
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
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("a known one");
    expect(await context.cookies()).toEqual([]);
    await context.close();
  });

  it.each([false, true])("shows every view without a complaint, to everybody (dark: %s)", async (dark) => {
    const { page, context, problems } = await openPage(browser, { url: edge.url, dark });
    await logIn(page, edge.keys.admin);
    for (const [path, heading] of VIEWS) {
      await page.goto(path);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => [path, id, nodes[0]?.html])).toEqual([]);
    }
    expect(problems).toEqual([]);
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
    for (const view of ["conversations", "versions/1", "suite"]) {
      await page.goto(`/agents/${AGENT}/${view}`);
      await page.getByText(SCRIPT).first().waitFor();
      expect(await page.title()).toBe("Nextstate");
    }
    expect(problems).toEqual([]);
    await context.close();
  });

  it("loads further pages, and loses none of what was loaded when something new comes in", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    for (let move = 0; move < 60; move += 1) await putAgent(edge, "moved", { instructions: `version ${move}` });
    await logIn(page, edge.keys.admin);
    await page.goto("/agents/moved/audit");
    const rows = page.locator("tbody tr");
    await expect.poll(() => rows.count()).toBe(50);
    await page.getByRole("button", { name: "Load more moves" }).click();
    await expect.poll(() => rows.count()).toBe(60);
    expect(await page.getByRole("button", { name: "Load more moves" }).count()).toBe(0);
    await putAgent(edge, "moved", { instructions: "one more" });
    await expect.poll(() => rows.count(), { timeout: 10_000 }).toBe(61);
    await context.close();
  });

  it("makes an agent and its tools, and refuses what is no tool with the edge's words", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.getByRole("button", { name: "New agent" }).click();
    await page.getByLabel("Name").fill("front-desk");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByRole("heading", { name: "Settings of front-desk" }).waitFor();
    await page.getByLabel("Tools, as in").fill(JSON.stringify([{ type: "function", function: { name: "no spaces" } }]));
    await page.getByRole("button", { name: "Save" }).click();
    expect(await page.getByRole("alert").textContent()).toContain("tools");
    await page.getByLabel("Tools, as in").fill(JSON.stringify([SEARCH]));
    await page.getByRole("button", { name: "Save" }).click();
    const tools = async (): Promise<unknown> => (await call(edge, "admin", "GET /api/agents/front-desk")).body.settings.tools;
    await expect.poll(tools).toEqual([SEARCH]);
    await context.close();
  });

  it("says what a rollback leaves before it rolls back", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}/versions`);
    await page.getByRole("button", { name: "Roll back to 0" }).click();
    const dialog = page.getByRole("dialog", { name: "Roll back to version 0" });
    await dialog.getByText("Left: version 1, with 1 event that nothing else has learned from.").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect((await call(edge, "admin", `GET /api/agents/${AGENT}/release`)).body.stable).toBe(1);
    await page.getByRole("button", { name: "Roll back to 0" }).click();
    await dialog.getByLabel("Reason").fill("a try");
    await dialog.getByRole("button", { name: "Roll back" }).click();
    await page
      .getByRole("row", { name: /^1 from 0/ })
      .getByText("rolled back", { exact: true })
      .waitFor();
    const { audit } = (await call(edge, "admin", `GET /api/agents/${AGENT}/audit`)).body;
    expect(audit[0]).toMatchObject({ move: "rollback", reason: "a try" });
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
