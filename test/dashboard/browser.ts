/** A real browser at a real edge's dashboard. Chromium is Debian's; where there is none, tests that need it are skipped. */
import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

const PLACES = [process.env["NEXTSTATE_CHROMIUM"] ?? "", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export const CHROMIUM = PLACES.find((path) => path !== "" && existsSync(path));

export type Opened = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page complained about. */ readonly problems: string[];
};

/** As root, Chromium has no sandbox of its own to offer. */
export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? "", args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}

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
