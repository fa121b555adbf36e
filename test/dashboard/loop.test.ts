/**
 * What people hire the system for, seen in a browser: a correction in plain words becomes a note, then a version, live; the answer
 * changes, and a rollback brings the old one back. The shipped base, the real trainer, the real edge.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSystem, type System } from "../../cli/system.ts";
import { SCENES, SYSTEM } from "../../cli/demo-scenes.ts";
import { bearer } from "../helpers/edge.ts";
import { CHROMIUM, launch, logIn, openPage } from "./browser.ts";

const LEARNED_MS = 8 * 60_000;
const AGENT = "assistant";

describe.skipIf(CHROMIUM === undefined)("a correction, from the playground to a version and back", () => {
  let system: System;
  let folder: string;
  let browser: Browser;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nextstate-loop-"));
    system = await startSystem({ stateFolder: folder, baseFolder: "base", host: "127.0.0.1", port: 0, say() {}, onHopeless() {} });
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    await system.close();
    await rm(folder, { recursive: true, force: true });
  });

  const put = async (settings: object): Promise<void> => {
    const { url, keys } = system.edge;
    const response = await fetch(`${url}/api/agents/${AGENT}`, {
      method: "PUT",
      headers: bearer(keys.admin),
      body: JSON.stringify(settings),
    });
    expect(response.status).toBe(200);
  };

  /** Says something in a new conversation, gives the tool its result, and returns the last call's arguments. */
  async function ask(page: Page, said: string): Promise<Record<string, unknown>> {
    await page.getByRole("button", { name: "New conversation" }).click();
    await say(page, said);
    const call = page.locator(".call pre").last();
    await call.waitFor();
    return JSON.parse((await call.textContent()) ?? "") as Record<string, unknown>;
  }

  async function say(page: Page, words: string): Promise<void> {
    await page.getByLabel("Say").fill(words);
    await page.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => page.locator("form.say button[aria-busy=true]").count(), { timeout: 60_000 }).toBe(0);
  }

  it("is seen to learn, and is taken back", { timeout: LEARNED_MS + 120_000 }, async () => {
    const scene = SCENES[0];
    if (scene === undefined) throw new Error("a scene expected");
    await put({ instructions: SYSTEM, tools: scene.tools, learning: { notes: "off", maxWaitMs: 1_000 } });
    const { page, problems } = await openPage(browser, { url: system.edge.url });
    await logIn(page, system.edge.keys.admin);
    await page.goto(`/agents/${AGENT}/playground`);
    const before = await ask(page, scene.fresh);
    const wish = scene.wishes.find(({ value }) => value !== before[scene.parameter]);
    if (wish === undefined) throw new Error("a wish that the policy does not fulfil by itself expected");
    await ask(page, scene.first);
    await page.getByRole("button", { name: "Give the result" }).click();
    await page.getByLabel("Say").and(page.locator(":enabled")).waitFor();
    await say(page, wish.correction);

    await page.goto(`/agents/${AGENT}`);
    await page.locator(".tile", { hasText: "Answers" }).getByText("version 1").waitFor({ timeout: LEARNED_MS });
    await page.goto(`/agents/${AGENT}/versions/1`);
    await page.getByRole("heading", { name: "What it answers now" }).waitFor();
    await page.goto(`/agents/${AGENT}/playground`);
    expect((await ask(page, scene.fresh))[scene.parameter]).toBe(wish.value);

    await page.getByLabel("Beside it").selectOption("0");
    await say(page, scene.fresh);
    await expect.poll(() => page.locator(".talk .call pre").count()).toBe(2);
    const both = (await page.locator(".talk .call pre").allTextContents()).map((text) => JSON.parse(text) as Record<string, unknown>);
    expect(both.map((args) => args[scene.parameter])).toEqual([wish.value, before[scene.parameter]]);

    await page.goto(`/agents/${AGENT}/versions`);
    await page.getByRole("button", { name: "Roll back to 0" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
    await page
      .getByRole("row", { name: /^1 from 0/ })
      .getByText("rolled back", { exact: true })
      .waitFor();
    await page.goto(`/agents/${AGENT}/playground`);
    expect(await ask(page, scene.fresh)).toEqual(before);
    expect(problems).toEqual([]);
  });
});
