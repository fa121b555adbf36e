/** More agents, versions and lines than a page of the API holds, in a browser: what is further back can be chosen, too. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { CHROMIUM, launch } from "../../bench/browser.ts";
import { createEdgeClient } from "../../trainer/feed/client.ts";
import { putAdapter } from "../helpers/adapters.ts";
import { call, lineage, manifestOf, putAgent } from "../helpers/call.ts";
import { bearer, withEdge } from "../helpers/edge.ts";
import { logIn, openPage } from "./browser.ts";

const OLD = "old-desk";
const CROWDED = "crowded-desk";
const MORE = 103; // than the hundred of a page
const SLOWLY = { timeout: 30_000 };

describe.skipIf(CHROMIUM === undefined)("the dashboard, of many agents, some with many versions and many lines", () => {
  const edge = withEdge();
  let browser: Browser;

  beforeAll(async () => {
    browser = await launch();
    await putAgent(edge, OLD);
    await putAgent(edge, CROWDED, { learning: { scope: "personal" } });
    const speak = async (user: string): Promise<void> => {
      const asked = { model: CROWDED, user, messages: [{ role: "user", content: "Hello" }], max_tokens: 1 };
      const headers = bearer(edge.keys.client);
      const sent = await fetch(`${edge.url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(asked) });
      expect([sent.status, await sent.text()]).toEqual([200, expect.any(String)]);
    };
    for (let user = 0; user < MORE; user += 10)
      await Promise.all(Array.from({ length: Math.min(10, MORE - user) }, (_, index) => speak(`user ${user + index}`)));
    const trainer = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const due = new Set<string>();
    let cursor = 0;
    await vi.waitFor(async () => {
      const found = await trainer.dueLines({ agent: CROWDED, cursor, waitMs: 0 });
      cursor = found.cursor;
      for (const line of found.lines) due.add(line);
      expect(due.size).toBe(MORE);
    }, SLOWLY);
    const adapter = await putAdapter(edge, "learned");
    const publish = async (agent: string, line: string, parent: number): Promise<void> => {
      const shared = line === "shared";
      const events = [{ ...lineage(`${line}/${parent}`, parent + 1), user: shared ? "u1" : line }];
      const from = { agent, baseDigest: edge.baseDigest, adapter, parent, fromSeq: parent, toSeq: parent + 1 };
      const manifest = { ...manifestOf({ ...from, events }), line, over: shared ? null : 0 };
      const published = await call(edge, "trainer", `POST /trainer/v1/agents/${agent}/lines/${line}/versions`, { parent, manifest });
      expect([published.status, published.body]).toMatchObject([200, { status: "published", version: parent + 1 }]);
    };
    for (let parent = 0; parent < MORE; parent += 1) await publish(OLD, "shared", parent);
    for (const line of due) await publish(CROWDED, line, 0);
  });
  afterAll(() => browser.close());

  it("lists every agent, and shows one that is a page further", async () => {
    const names = Array.from({ length: MORE }, (_, index) => `shop-${String(index).padStart(3, "0")}`);
    for (const name of names) await putAgent(edge, name);
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    const agents = page.getByRole("navigation", { name: "Agents" }).locator("select");
    await expect.poll(() => agents.locator("option", { hasText: /^shop-/ }).count(), SLOWLY).toBe(MORE);
    await agents.selectOption(names.at(-1) ?? "");
    await expect.poll(() => page.title(), SLOWLY).toBe(`Overview · ${names.at(-1)} · Nextstate`);
    expect(await agents.inputValue()).toBe(names.at(-1));
    expect(problems).toEqual([]);
    await context.close();
  });

  it("asks a version that is a page back, in the playground", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${OLD}/playground?version=1`);
    const answers = page.locator("label", { hasText: /^Answers/ }).locator("select");
    // Version 1 came with the address; of the rest there are a hundred.
    await expect.poll(() => answers.locator("option[value='4']").count(), SLOWLY).toBe(1);
    expect(await answers.inputValue()).toBe("1");
    expect(await answers.locator("option[value='2']").count()).toBe(0);
    await answers.selectOption("older");
    await expect.poll(() => answers.locator("option[value='2']").count(), SLOWLY).toBe(1);
    expect([await answers.inputValue(), await answers.locator("option[value='older']").count()]).toEqual(["1", 0]);
    await answers.selectOption("2");
    await page.getByRole("heading", { name: "Version 2", exact: true }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  it("shows a line that is a page further", async () => {
    const { page, context, problems } = await openPage(browser, { url: edge.url });
    await logIn(page, edge.keys.admin);
    await page.goto(`/agents/${CROWDED}`);
    const lines = page.locator("nav.sections").getByLabel("Line");
    const further = lines.locator("option", { hasText: "further lines" });
    await expect.poll(() => further.count(), SLOWLY).toBe(1);
    const before = await lines.locator("option").count();
    await lines.selectOption({ label: "further lines …" });
    await expect.poll(() => lines.locator("option").count(), SLOWLY).toBeGreaterThan(before);
    expect([await lines.inputValue(), await further.count()]).toEqual(["shared", 0]);
    const last = (await lines.locator("option").last().getAttribute("value")) ?? "";
    await lines.selectOption(last);
    await expect.poll(() => page.url()).toContain(`line=${last}`);
    expect(await lines.inputValue()).toBe(last);
    expect(problems).toEqual([]);
    await context.close();
  });
});
