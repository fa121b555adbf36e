/** The machine's own Chromium, for benches and tests. As root it has no sandbox of its own to offer. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Undefined where there is none. */
export const CHROMIUM = [process.env["NEXTSTATE_CHROMIUM"] ?? "", ...PLACES].find((path) => path !== "" && existsSync(path));

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? "", args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}
