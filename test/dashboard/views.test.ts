/** Every view of the dashboard in a browser, over an edge with conversations, versions, notes and a suite. */
import AxeBuilder from "@axe-core/playwright";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { CHROMIUM, launch } from "../../bench/browser.ts";
import { putAdapter } from "../helpers/adapters.ts";
import { call, lineage, manifestOf, putAgent } from "../helpers/call.ts";
import { bearer, withEdge } from "../helpers/edge.ts";
import { SEARCH } from "../trainer/hotel.ts";
import { logIn, openPage } from "./browser.ts";

const AGENT = "desk";
const SCRIPT = "<script>document.title = 'taken over'</script><img src=x onerror=\"document.title='taken over'\">";

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
    type Logged = { payload: { kind: string }; turnId: string };
    const logged = async (): Promise<Logged[]> => (await call(edge, "admin", `GET /api/agents/${AGENT}/events`)).body.events;
    const isThere = async (): Promise<void> =>
      expect((await logged()).filter(({ payload }) => payload.kind === "turn:finished")).toHaveLength(2);
    await vi.waitFor(isThere, { timeout: 20_000 });
    const turnId = (await logged()).find(({ payload }) => payload.kind === "turn:finished")?.turnId;
    const credits = [
      {
        eventId: "e1",
        turnId,
        pieces: [
          ["rooms: ", 0],
          ["1", -0.5],
          ["}", 0.125],
        ],
      },
    ];
    const published = await call(edge, "trainer", `POST ${line}/versions`, { parent: head.parent, manifest, credits });
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
      await expect.poll(() => page.locator("[aria-busy=true]").count(), SLOWLY).toBe(0);
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
    await told.getByText("Advantage per token").click();
    await told.getByRole("cell", { name: "-0.5" }).waitFor();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
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

  it("makes an agent and its tools, and refuses what is no tool with the edge's words", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.getByRole("button", { name: "New agent" }).click();
    await page.getByLabel("Name").fill("front-desk");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByRole("heading", { name: "Settings of front-desk" }).waitFor();
    const tools = async (): Promise<unknown> => (await call(edge, "admin", "GET /api/agents/front-desk")).body.settings.tools;
    const save = page.getByRole("button", { name: "Save" });
    await page.getByLabel("as OpenAI's JSON").check();
    const json = page.getByLabel("Tools, as in");
    await json.fill('[\n  {"type": "function", "function": {"name": "no spaces"}}\n]');
    expect(await page.getByRole("alert").textContent()).toContain("line 2, column 45: name");
    expect(await save.isDisabled()).toBe(true);
    // What only the edge knows is told where it stands, too.
    await json.fill(JSON.stringify([{ type: "function", function: { name: "Find", parameters: { type: "array" } } }], null, 2));
    await save.click();
    await page.getByRole("alert").getByText("line 6, column").waitFor();
    await json.fill(JSON.stringify({ model: "gpt", tools: [SEARCH] }));
    await save.click();
    await expect.poll(tools, SLOWLY).toEqual([SEARCH]);
    await expect
      .poll(() => page.getByLabel("Name", { exact: true }).count(), SLOWLY)
      .toBe(Object.keys(SEARCH.function.parameters?.["properties"] ?? {}).length);
    await page.getByRole("button", { name: "Add a tool" }).click();
    expect(await save.isDisabled()).toBe(true);
    const made = page.locator("article.tool").last();
    await made.getByLabel("Tool", { exact: true }).fill("Cancel");
    await made.getByRole("button", { name: "Add a parameter" }).click();
    await made.getByLabel("Name", { exact: true }).fill("code");
    await made.getByLabel("Type").selectOption("integer");
    await made.getByLabel("Default").fill("x");
    await made.getByText('"x" is no integer').waitFor();
    await made.getByLabel("Default").fill("7");
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
    await save.click();
    const parameters = { type: "object", properties: { code: { type: "integer", default: 7 } } };
    await expect.poll(tools, SLOWLY).toEqual([SEARCH, { type: "function", function: { name: "Cancel", parameters } }]);
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
