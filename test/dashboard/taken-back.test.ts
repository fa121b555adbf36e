/** What is taken back from the pages where it is seen, in a browser: a trial, a note, a case, each after it was said what will come of it; and the audit of that. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, launch } from "../../bench/browser.ts";
import type { ListedKey } from "../../shared/api.ts";
import { putAdapter } from "../helpers/adapters.ts";
import { call, judgement, putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";
import { publishOn } from "../helpers/publish-on.ts";
import { SEARCH } from "../trainer/hotel.ts";
import { logIn, openPage, violationsIn } from "./browser.ts";

const AGENT = "trials";
const NOTE = "number_of_rooms should be 2.";
const SLOWLY = { timeout: 20_000 };

describe.skipIf(CHROMIUM === undefined)("what is taken back in the dashboard", () => {
  const edge = withEdge();
  let browser: Browser;
  let page: Page;
  let published = 0;

  beforeAll(async () => {
    browser = await launch();
    await putAgent(edge, AGENT, { tools: [SEARCH], release: { canary: { mode: "on" } } });
    const opened = await openPage(browser, { url: edge.url });
    page = opened.page;
    await logIn(page, edge.keys.admin);
  });
  afterAll(() => browser.close());

  const api = async (path: string) => (await call(edge, "admin", `GET /api/agents/${AGENT}${path}`)).body;
  const note = async () => (await api("/notes")).notes[0];

  /** A correction that is in force as a note, and the version on trial that has learned it. */
  async function beginTrial(said: string): Promise<void> {
    const made = judgement(AGENT, said);
    const judged = { ...made, payload: { ...made.payload, hint: NOTE, tool: "SearchHotel", held: "1" } };
    expect((await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [judged] })).status).toBe(200);
    published += 1;
    const answer = await publishOn(edge, AGENT, await putAdapter(edge, `learned ${published}`), { learned: `${said}/next` });
    expect(answer.body).toMatchObject({ version: published, release: "canary" });
  }

  it.each([
    ["the overview", ""],
    ["the versions", "/versions"],
    ["the version itself", "/versions/{version}"],
  ])("a trial is ended from %s, with the notes that go named", async (_, path) => {
    await beginTrial(`said before ${published + 1}`);
    await page.goto(`/agents/${AGENT}${path.replace("{version}", String(published))}`);
    await page.getByRole("button", { name: "End the trial" }).click();
    const dialog = page.getByRole("dialog", { name: `End the trial of version ${published}?` });
    await dialog
      .getByText(
        `Version 0 will go on answering. Taken back will be version ${published}, with 1 event that nothing else has learned from.`,
      )
      .waitFor(SLOWLY);
    await dialog.getByText("1 note will go out of force, too, for whoever gave it:").waitFor();
    await dialog.getByText(`${NOTE} in calls of SearchHotel of u1`).waitFor();
    await dialog.getByLabel("Do not learn it again").uncheck();
    await dialog.getByText("1 note will be in force until it is learned again:").waitFor();
    await dialog.getByLabel("Do not learn it again").check();
    expect(await violationsIn(page, "dialog")).toEqual([]);
    await dialog.getByRole("button", { name: "End the trial" }).click();
    await page
      .getByRole("status")
      .getByText(`Version 0 goes on answering. Left: version ${published}. 1 event quarantined, 0 to be learned from again.`)
      .waitFor(SLOWLY);
    expect((await api("/release")).canary).toBe(null);
    await expect.poll(() => page.getByRole("button", { name: "End the trial" }).count(), SLOWLY).toBe(0);
    expect((await note()).status).toBe("rolledBack");
  });

  it("a note is, once it was confirmed", async () => {
    await beginTrial("said last");
    await page.goto(`/agents/${AGENT}/notes`);
    await page
      .getByRole("row")
      .getByRole("link", { name: `version ${published}`, exact: true })
      .waitFor();
    await page.getByRole("button", { name: "Take out" }).click();
    const dialog = page.getByRole("dialog", { name: "Take this note out?" });
    await dialog.getByText(`${NOTE} From the next turn on no answer to u1 heeds it`).waitFor();
    await dialog.getByText(`Version ${published} has learned it already and goes on doing it; a rollback takes that back.`).waitFor();
    expect(await violationsIn(page, "dialog")).toEqual([]);
    await dialog.getByRole("button", { name: "Change nothing" }).click();
    expect((await note()).status).toBe("inForce");
    await page.getByRole("button", { name: "Take out" }).click();
    await dialog.getByRole("button", { name: "Take it out" }).click();
    await page.getByText("dropped", { exact: true }).first().waitFor(SLOWLY);
    expect((await note()).status).toBe("dropped");
  });

  it("stands in the audit, without what trainer and edge note down until that is asked for", async () => {
    const refused = [{ eventId: "thanks/next", code: "judge/notNegative", detail: "reward 1: by votes" }];
    const line = `/trainer/v1/agents/${AGENT}/lines/shared`;
    const { cursor } = (await call(edge, "trainer", `GET ${line}/head`)).body;
    const moved = await call(edge, "trainer", `POST ${line}/cursor`, { from: cursor, to: cursor, refused });
    expect(moved.body.status).toBe("advanced");
    await page.goto(`/agents/${AGENT}/audit`);
    const moves = page.getByLabel("Moves, newest first").locator("tbody tr td:nth-child(2)");
    const tried = [3, 2, 1].flatMap((version) => [`rolled backversion ${version}`, `version madeversion ${version}`]);
    const told = ["a note came, went or was learned", "version madeversion 4", ...tried, "begun"];
    await expect.poll(() => moves.allTextContents(), SLOWLY).toEqual(told);
    const { keys } = (await call(edge, "admin", "GET /api/keys")).body as { keys: ListedKey[] };
    const admin = `${keys.find(({ kind }) => kind === "admin")?.name} (admin)`;
    const rolledBack = page.getByLabel("Moves, newest first").locator("tbody tr", { hasText: "rolled back" });
    await expect.poll(() => rolledBack.locator("td:nth-child(3)").allTextContents(), SLOWLY).toEqual([admin, admin, admin]);
    const show = page.getByLabel("Show");
    await show.selectOption("what was not learned from, and why");
    await expect.poll(() => moves.allTextContents(), SLOWLY).toEqual(["looked through what was said"]);
    await page.getByText("1 event not learned from").click();
    await page.getByText("reward 1: by votes").waitFor();
    const why = page.getByRole("link", { name: "nothing was wrong with the answer" });
    expect(await why.getAttribute("href")).toBe(`/agents/${AGENT}/conversations/thanks#next`);
    expect(await violationsIn(page)).toEqual([]);
    await show.selectOption("everything, with what trainer and edge note down");
    await expect.poll(() => moves.count(), SLOWLY).toBe(told.length + 1 + published);
  });

  it("stands in quarantine by what it said, and who barred it and let it back in is told apart", async () => {
    await page.goto(`/agents/${AGENT}/audit`);
    const barred = page.getByLabel("Events that no version learns from").locator("tbody tr");
    await expect.poll(() => barred.getByRole("link", { name: NOTE }).count(), SLOWLY).toBe(3);
    await barred.first().getByRole("button", { name: "Let back in" }).click();
    await expect.poll(() => barred.count(), SLOWLY).toBe(2);
    await page.getByRole("status").getByText(`Let back in: ${NOTE}`).waitFor();
    const newest = page.getByLabel("Moves, newest first").locator("tbody tr").first();
    await newest.getByText("let back in: versions may learn from it").waitFor(SLOWLY);
    await newest.getByText("1 event let back in").waitFor();
    await page.getByLabel("Moves, newest first").getByRole("link", { name: "version 3", exact: true }).first().click();
    await page.getByRole("heading", { name: "Version 3", level: 1 }).waitFor(SLOWLY);
  });

  it("a case of the suite is, once it was confirmed", async () => {
    const messages = [
      { role: "user", content: "A hotel in Porto." },
      { role: "assistant", content: "For one night?" },
      { role: "user", content: "Yes." },
    ];
    const written = { name: "always two rooms", messages, expect: { tool: "SearchHotel", arguments: { number_of_rooms: "2" } } };
    expect((await call(edge, "admin", `POST /api/agents/${AGENT}/suite`, written)).status).toBe(201);
    await page.goto(`/agents/${AGENT}/suite`);
    await page.getByText("A hotel in Porto.").waitFor();
    await page.getByText('expects a call of SearchHotel with number_of_rooms = "2"').waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete this case?" });
    await dialog.getByText("Versions to come are no longer asked it").waitFor();
    expect((await api("/suite")).cases).toHaveLength(1);
    await dialog.getByRole("button", { name: "Delete it" }).click();
    await page.getByText("No case yet.").waitFor(SLOWLY);
    expect((await api("/suite")).cases).toEqual([]);
  });
});
