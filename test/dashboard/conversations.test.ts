/** Conversations in a browser: turns of one stand together, in the order in which they were held, and who goes back finds the list as it was left. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { CHROMIUM, launch } from "../../bench/browser.ts";
import type { ListedTurn } from "../../shared/api.ts";
import { call, putAgent } from "../helpers/call.ts";
import { bearer, withEdge } from "../helpers/edge.ts";
import { logIn, openPage, violationsIn } from "./browser.ts";

const AGENT = "talker";
const LONG = "long-talker";
const FURTHER = 32; // turns: more than a page of the list
const SLOWLY = { timeout: 20_000 };

describe.skipIf(CHROMIUM === undefined)("conversations in the dashboard", () => {
  const edge = withEdge();
  let browser: Browser;
  let page: Page;
  let problems: string[];

  type Said = { role: string; content: string };

  /** Says something in a user's one conversation, and goes on from there. */
  async function say(agent: string, user: string, messages: readonly Said[]): Promise<Said[]> {
    const asked = { model: agent, user, session_id: user, messages, max_tokens: 2, temperature: 0 };
    const headers = bearer(edge.keys.client);
    const sent = await fetch(`${edge.url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(asked) });
    const { choices } = (await sent.json()) as { choices: { message: Said }[] };
    return [...messages, ...choices.map(({ message }) => message)];
  }

  const turnsOf = async (agent: string): Promise<ListedTurn[]> =>
    (await call(edge, "admin", `GET /api/agents/${agent}/turns?limit=50`)).body.turns;

  beforeAll(async () => {
    browser = await launch();
    await putAgent(edge, AGENT);
    await putAgent(edge, LONG);
    const begun = await say(AGENT, "ann", [{ role: "user", content: "A hotel in Porto." }]);
    await say(AGENT, "ben", [{ role: "user", content: "A hotel in Rome." }]);
    await say(AGENT, "ann", [...begun, { role: "user", content: "Two rooms, please." }]);
    for (let turn = 0; turn < FURTHER; turn += 1) await say(LONG, `user-${turn}`, [{ role: "user", content: `Question ${turn}.` }]);
    await vi.waitFor(async () => expect(await turnsOf(AGENT)).toHaveLength(3), SLOWLY);
    await vi.waitFor(async () => expect(await turnsOf(LONG)).toHaveLength(FURTHER), SLOWLY);
    ({ page, problems } = await openPage(browser, { url: edge.url }));
    await logIn(page, edge.keys.admin);
  });
  afterAll(() => browser.close());

  const talks = () => page.locator(".conversation");
  const userOf = async (words: string): Promise<string> =>
    (await turnsOf(AGENT)).find(({ prompt }) => prompt?.content === words)?.user ?? "nobody";

  it("have their turns together, oldest first, with everything that was said once", async () => {
    await page.goto(`/agents/${AGENT}/conversations`);
    await expect.poll(() => talks().count(), SLOWLY).toBe(2);
    const said = talks().first().locator(".message.user .words");
    // Who talked last stands first.
    expect(await said.allTextContents()).toEqual(["A hotel in Porto.", "Two rooms, please."]);
    expect(await talks().first().locator("article.turn").count()).toBe(2);
    expect(await violationsIn(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("are each opened whole, and one turn of them is what a link leads to", async () => {
    await page.goto(`/agents/${AGENT}/conversations?words=rooms`);
    await expect.poll(() => page.locator("article.turn").count(), SLOWLY).toBe(2);
    await page.getByLabel("Words").fill("porto");
    await expect.poll(() => page.locator("article.turn").count(), SLOWLY).toBe(1);
    await talks().getByRole("link", { name: "Whole conversation" }).click();
    await page.getByRole("heading", { name: "One conversation", level: 1 }).waitFor();
    await expect.poll(() => page.locator("article.turn").count(), SLOWLY).toBe(2);
    // There is nothing to narrow down.
    expect(await page.getByLabel("Words").count()).toBe(0);
    await page.locator("article.turn").last().locator("time").click();
    await expect.poll(() => page.locator("article.turn.wanted:focus .words").last().textContent()).not.toBe(null);
    expect(await page.locator("article.turn.wanted").count()).toBe(1);
    expect(await violationsIn(page)).toEqual([]);
    // What was searched for is in the address.
    await page.goBack();
    await page.goBack();
    await expect.poll(() => page.getByLabel("Words").inputValue(), SLOWLY).toBe("porto");
    await expect.poll(() => page.locator("article.turn").count(), SLOWLY).toBe(1);
    expect(problems).toEqual([]);
  });

  it("of one user are found from each of theirs, by an address that can be sent on", async () => {
    const ann = await userOf("A hotel in Porto.");
    const [turn] = await turnsOf(AGENT);
    await page.goto(`/agents/${AGENT}/conversations/${turn?.sessionId}`);
    await page.getByRole("link", { name: ann }).click();
    await page.getByRole("heading", { name: "Conversations", level: 1 }).waitFor();
    expect(page.url()).toContain(`conversations?user=${ann}`);
    await expect.poll(() => page.getByLabel("User", { exact: true }).inputValue(), SLOWLY).toBe(ann);
    await expect.poll(() => talks().count(), SLOWLY).toBe(1);
    await page.reload();
    await expect.poll(() => page.getByLabel("User", { exact: true }).inputValue(), SLOWLY).toBe(ann);
    // A link while the fields are there changes what is in them.
    await page.getByLabel("Version", { exact: true }).fill("7");
    await page.getByRole("main").getByRole("link", { name: "all conversations" }).click();
    await expect.poll(() => talks().count(), SLOWLY).toBe(2);
    expect(await page.getByLabel("Version", { exact: true }).inputValue()).toBe("");
  });

  it("that there are none of say so, and lead back", async () => {
    await page.goto(`/agents/${AGENT}/conversations/s_${"0".repeat(32)}`);
    await page.getByText("This agent has no such conversation").waitFor(SLOWLY);
    await page.getByRole("link", { name: "All conversations" }).click();
    await expect.poll(() => talks().count(), SLOWLY).toBe(2);
  });

  it("are loaded further with what is shown told and the focus kept, and stand as they were on the way back", async () => {
    await page.goto(`/agents/${LONG}/conversations`);
    await page.getByText("20 are shown.").waitFor(SLOWLY);
    const more = page.getByRole("button", { name: "Load more turns" });
    await more.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => talks().count(), SLOWLY).toBe(FURTHER);
    // Pages may be shorter and yet not the last: what comes after them is asked for, and is nothing.
    expect(await page.evaluate<string>("document.activeElement.tagName")).toBe("BUTTON");
    await page.getByText(`${FURTHER} are shown.`).waitFor();
    await page.keyboard.press("Enter");
    const all = page.getByText(`All ${FURTHER} are shown.`);
    await all.waitFor(SLOWLY);
    await expect.poll(() => all.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    const link = talks().filter({ hasText: "Question 3." }).getByRole("link", { name: "Whole conversation" });
    await link.scrollIntoViewIfNeeded();
    const place = await page.evaluate<number>("window.scrollY");
    expect(place).toBeGreaterThan(500);
    await link.press("Enter");
    await page.getByRole("heading", { name: "One conversation", level: 1 }).waitFor();
    await page.goBack();
    await expect.poll(() => talks().count(), SLOWLY).toBe(FURTHER);
    await expect.poll(() => page.evaluate<number>("window.scrollY"), SLOWLY).toBe(place);
    expect(problems).toEqual([]);
  });
});
