/** An agent whose users have lines of their own, in a browser: whose versions are looked at, compared and taken back. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { CHROMIUM, launch } from "../../bench/browser.ts";
import { createEdgeClient } from "../../trainer/feed/client.ts";
import { putAdapter } from "../helpers/adapters.ts";
import { call, lineage, manifestOf, putAgent } from "../helpers/call.ts";
import { bearer, withEdge } from "../helpers/edge.ts";
import { SEARCH } from "../trainer/hotel.ts";
import { logIn, openPage, violationsIn } from "./browser.ts";

const AGENT = "own-desk";
const SLOWLY = { timeout: 20_000 };
const NOTES = [
  { noteId: "n1", text: "number_of_rooms should be 2." },
  { noteId: "n2", text: "Reply to SearchHotel in at most 8 words.", held: true },
];

describe.skipIf(CHROMIUM === undefined)("the dashboard, of an agent with personal lines", () => {
  const edge = withEdge();
  let browser: Browser;
  let ann: string;

  beforeAll(async () => {
    browser = await launch();
    await putAgent(edge, AGENT, { tools: [SEARCH], learning: { scope: "personal" } });
    for (const user of ["ann", "bob"]) {
      const asked = { model: AGENT, user, messages: [{ role: "user", content: `I am ${user}.` }], max_tokens: 2 };
      const sent = await fetch(`${edge.url}/v1/chat/completions`, {
        method: "POST",
        headers: bearer(edge.keys.client),
        body: JSON.stringify(asked),
      });
      expect([sent.status, await sent.text()]).toEqual([200, expect.any(String)]);
    }
    const turns = async (): Promise<{ user: string; line: string; prompt: { content: string } }[]> =>
      (await call(edge, "admin", `GET /api/agents/${AGENT}/turns`)).body.turns;
    await vi.waitFor(async () => expect(await turns()).toHaveLength(2), SLOWLY);
    ann = (await turns()).find(({ prompt }) => prompt.content === "I am ann.")?.user ?? "";
    await createEdgeClient({ edge: edge.url, key: edge.keys.trainer }).dueLines({ agent: AGENT, cursor: 0, waitMs: 0 });
    for (const [line, name] of [
      ["shared", "for everybody"],
      [ann, "for ann"],
    ] as const) {
      const shared = line === "shared";
      const made = manifestOf({ agent: AGENT, baseDigest: edge.baseDigest, adapter: await putAdapter(edge, name), toSeq: 1 });
      const learned = { tool: "SearchHotel", parameter: "number_of_rooms", value: shared ? "2" : "3", corrected: "1" };
      const events = [{ ...lineage(`${line}/e`, 1), user: shared ? "u1" : line }];
      const manifest = { ...made, line, over: shared ? null : 1, events, hints: [name], defaults: [learned] };
      const published = await call(edge, "trainer", `POST /trainer/v1/agents/${AGENT}/lines/${line}/versions`, { parent: 0, manifest });
      expect([published.status, published.body]).toMatchObject([200, { status: "published", version: 1 }]);
    }
    // No random base has been taught a default that could yield, or passes over a note.
    await (
      await edge.getD1()
    )
      .prepare(
        "UPDATE events SET payload = json_set(payload, '$.yieldedTo', json(?), '$.notes', json(?)) WHERE agent = ? AND kind = 'turn:finished' AND user = ?",
      )
      .bind(JSON.stringify({ line: "shared", version: 0 }), JSON.stringify(NOTES), AGENT, ann)
      .run();
  });
  afterAll(() => browser.close());

  it("shows the line that is chosen in every view, and what its version learned", { timeout: 120_000 }, async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}`);
    await page.getByText("Its users each teach a line of their own").waitFor();
    const lines = page.locator("nav.sections").getByLabel("Line");
    await expect.poll(() => lines.locator("option").count(), SLOWLY).toBe(2);
    await lines.selectOption(ann);
    await expect.poll(() => page.url()).toContain(`line=${ann}`);
    await page.getByRole("link", { name: "Versions" }).click();
    const row = page.getByRole("row", { name: /^1 from 0/ });
    await row.getByText("for ann").waitFor();
    expect(await page.getByText("for everybody").count()).toBe(0);
    await row.getByRole("link", { name: "everybody's 1" }).waitFor();
    await row.getByRole("link", { name: "1", exact: true }).click();
    await page.getByRole("heading", { name: "Version 1", level: 1 }).waitFor();
    const learned = page.getByLabel("Learned defaults").locator("tbody tr");
    expect(await learned.locator("td").allTextContents()).toEqual(["SearchHotel", "number_of_rooms", "3", "1"]);
    for (const view of ["", "/versions", "/versions/1", "/conversations", "/playground", "/notes", "/suite", "/audit"]) {
      await page.goto(`/agents/${AGENT}${view}?line=${ann}`);
      await page.locator("main h1").waitFor();
      await expect.poll(() => page.locator("[aria-busy=true]").count(), SLOWLY).toBe(0);
      expect(await lines.inputValue()).toBe(ann);
      expect([view, ...(await violationsIn(page))]).toEqual([view]);
    }
    expect(problems).toEqual([]);
    await context.close();
  });

  it("asks the versions of a line, and says whose line the playground teaches", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}/versions/1?line=${ann}`);
    await page.getByRole("link", { name: "Ask version 1 and version 0 the same" }).click();
    await page.getByText("Here you are a user of your own, u_").waitFor();
    const asked: unknown[] = [];
    page.on("request", (request) => request.url().endsWith("/playground") && asked.push(request.postDataJSON()));
    await page.getByLabel("Say").fill("Hello");
    await page.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => page.locator(".talk .message.assistant").count(), { timeout: 30_000 }).toBe(2);
    expect(asked).toMatchObject([
      { version: 1, line: ann },
      { version: 0, line: ann },
    ]);
    const body = { version: 1, line: ann, messages: [{ role: "user", content: "Hello" }], max_tokens: 2 };
    const { status, headers } = await call(edge, "admin", `POST /api/agents/${AGENT}/playground`, body);
    expect([status, headers.get("x-policy-line"), headers.get("x-policy-version")]).toEqual([200, ann, "1"]);
    expect((await call(edge, "admin", `POST /api/agents/${AGENT}/playground`, { ...body, line: "u_0" })).status).toBe(404);
    expect(problems).toEqual([]);
    await context.close();
  });

  it("tells on a turn which version answered where a default yielded, which notes stood, and what it was held to", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}/conversations?line=${ann}`);
    const turns = page.locator("article.turn");
    await turns
      .getByText(
        "What version 0 has learned is about other tools or arguments, or yielded to what the user had said: version 0 gave this answer.",
      )
      .waitFor();
    const [read, held] = NOTES.map(({ text }) => text);
    await turns.getByText(`2 notes stood: ${read} ${held} The policy passed it over, and was held to it.`).waitFor();
    expect(await turns.count()).toBe(1);
    await page.goto(`/agents/${AGENT}/conversations`);
    await expect.poll(() => turns.count(), SLOWLY).toBe(2);
    await context.close();
  });

  it("says of a turn with much feedback that there is older", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    const read = async () => (await call(edge, "admin", `GET /api/agents/${AGENT}/turns`)).body.turns[0];
    const { completionId, sessionId } = await read();
    for (const score of Array.from({ length: 51 }, (_, index) => (index % 2 === 0 ? 1 : 0)))
      await call(edge, "admin", `POST /api/agents/${AGENT}/feedback`, { completion_id: completionId, score });
    await vi.waitFor(async () => expect(await read()).toMatchObject({ more: true }), SLOWLY);
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}/conversations/${sessionId}`);
    await page.getByText("Older feedback is not shown.").waitFor();
    expect(await page.getByText(/^feedback: score/).count()).toBe(50);
    await context.close();
  });

  it("says that versions of users go with the one that they were learned over", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}/versions`);
    await page.getByRole("button", { name: "Roll back to 0" }).click();
    await page.getByRole("dialog").getByText("Users' own versions that were learned over it go in the same step.").waitFor(SLOWLY);
    await context.close();
  });

  it("takes back a user's version, and nobody else's", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}/versions?line=${ann}`);
    await page.getByRole("button", { name: "Roll back to 0" }).click();
    const dialog = page.getByRole("dialog", { name: "Roll back to version 0" });
    await dialog.getByText("nobody else's answers change. Version 0 of it never answers; what everybody gets does.").waitFor();
    await dialog.getByText("Taken back will be version 1, with 1 event that nothing else has learned from.").waitFor();
    expect(await violationsIn(page, "dialog")).toEqual([]);
    await dialog.getByRole("button", { name: "Roll back" }).click();
    await page
      .getByRole("row", { name: /^1 from 0/ })
      .getByText("rolled back", { exact: true })
      .waitFor();
    const stable = async (query: string): Promise<number> =>
      (await call(edge, "admin", `GET /api/agents/${AGENT}/release${query}`)).body.stable;
    expect([await stable(`?line=${ann}`), await stable("")]).toEqual([0, 1]);
    await page.goto(`/agents/${AGENT}/audit`);
    await page
      .getByRole("row", { name: /rolled back/ })
      .getByRole("link", { name: ann })
      .waitFor();
    await context.close();
  });

  it("hears what a trainer says of the line that is looked at", async () => {
    const { page, context } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${AGENT}?line=${ann}`);
    const trainer = page.getByLabel("Trainer", { exact: true });
    await trainer.getByText("none has reported yet").waitFor();
    const report = (line: string, done: number) =>
      call(edge, "trainer", `PUT /trainer/v1/agents/${AGENT}/lines/${line}/status`, {
        ...{ phase: "updating", done, of: 40, corrections: 1, waitingSince: null },
      });
    expect((await report("shared", 3)).status).toBe(200);
    expect((await report(ann, 12)).status).toBe(200);
    await trainer.getByText("step 12 of 40 at most").waitFor();
    await context.close();
  });
});
