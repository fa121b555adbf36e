/** A page of a real browser at a real edge's dashboard, what it complains about, and what axe finds in it. */
import AxeBuilder from "@axe-core/playwright";
import type { Browser, BrowserContext, Page } from "playwright-core";

export type Opened = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page complained about. */ readonly problems: string[];
};

export async function openPage(browser: Browser, { url, dark = false }: { url: string; dark?: boolean }): Promise<Opened> {
  const viewport = { width: 1280, height: 900 };
  const context = await browser.newContext({ baseURL: url, colorScheme: dark ? "dark" : "light", viewport });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  return { page, context, problems };
}

export async function logIn(page: Page, key: string): Promise<void> {
  await page.goto("/");
  await page.getByLabel("Admin key").fill(key);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
}

/**
 * What axe finds, each by its rule and the first element that breaks it. The dashboard has no frames and no styles from elsewhere, which
 * axe would open a second page for (the mode that it calls legacy does not) and fetch again.
 */
export async function violationsIn(page: Page, part = "html"): Promise<(string | undefined)[][]> {
  const axe = new AxeBuilder({ page })
    .include(part)
    .setLegacyMode(true)
    .options({ preload: false, resultTypes: ["violations"] });
  const { violations } = await axe.analyze();
  return violations.map(({ id, nodes }) => [id, nodes[0]?.html]);
}
