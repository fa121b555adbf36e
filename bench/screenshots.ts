/**
 * `npm run screenshots`: every view of the dashboard in light and dark, of a system that really runs: users talk to an agent and
 * correct it, the trainer learns from it, and the pictures are taken meanwhile and afterwards. Minutes, mostly the trainer's.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCommandLine } from "../trainer/command-line.ts";
import type { Browser, Page } from "playwright-core";
import { DemoClient } from "../cli/demo-client.ts";
import { type Scene, SCENES, SYSTEM } from "../cli/demo-scenes.ts";
import { Talk } from "../cli/demo-talk.ts";
import { startSystem } from "../cli/system.ts";
import type { AuditRow, ListedVersion, TrainerView } from "../shared/api.ts";
import { zipStrict } from "../shared/assert.ts";
import { EXAMPLE_WORDS } from "../shared/example.ts";
import { say } from "./bench.ts";
import { launch } from "./browser.ts";

const SCHEMES = ["light", "dark"] as const;
const VIEWPORT = { width: 1280, height: 860 };
const QUALITY = 0.82;
const LEARNING_MS = 3_600_000; // on a machine that does much else
const POLL_MS = 250;

/** Run by the page: base64 of a PNG to base64 of a WebP. */
const TO_WEBP = `async (png, quality) => {
  const image = new Image();
  image.src = "data:image/png;base64," + png;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", quality).split(",")[1];
}`;

type Placed = { scrollIntoView(options: { block: "start" | "end" }): void };
/** Run by the page: what is wanted stands at the lower edge, with what came after it above. */
const TO_ITS_END = (element: Placed): void => element.scrollIntoView({ block: "end" });

const TO_ITS_START = (element: Placed): void => element.scrollIntoView({ block: "start" });

/** What the shipped base reads at once. */
const LESSONS = SCENES.filter(({ name }) => name === "a table" || name === "a restaurant");

const { values: options } = readCommandLine({
  options: {
    out: { type: "string", default: "docs/images" },
    base: { type: "string", default: "base" },
    // A state folder of an earlier run: what was learned then is shown again, and nobody has to wait for it.
    state: { type: "string" },
    // Another agent of that folder: `assistant`, which `npm run demo` has taught.
    agent: { type: "string", default: "travel-desk" },
    // One view, such as `overview`.
    only: { type: "string" },
    // By the published recipe and without a gate, for whoever is after the pictures alone: a version in a minute, not one to be proud of.
    quick: { type: "boolean", default: false },
  },
});

type Ask = <Answer>(method: string, path: string, body?: unknown) => Promise<Answer>;
type Stage = { readonly browser: Browser; readonly url: string; readonly key: string };

async function main(): Promise<void> {
  const folder = options.state ?? (await mkdtemp(join(tmpdir(), "nextstate-pictures-")));
  const system = await startSystem({
    stateFolder: folder,
    baseFolder: options.base,
    host: "127.0.0.1",
    port: 0,
    say() {},
    onHopeless: say,
  });
  const browser = await launch();
  try {
    const { url, keys } = system.edge;
    const stage: Stage = { browser, url, key: keys.admin };
    const ask: Ask = async (method, path, body) => {
      const headers = { authorization: `Bearer ${keys.admin}`, "content-type": "application/json" };
      const response = await fetch(`${url}/api/agents/${options.agent}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: 2xx expected, got ${response.status} ${await response.text()}`);
      return (await response.json()) as never;
    };
    if (!(await hasLearned(url, keys.admin))) await live(stage, ask, new DemoClient({ url, keys, agent: options.agent }));
    await pictures(stage, ask);
  } finally {
    await browser.close();
    await system.close();
    if (options.state === undefined) await rm(folder, { recursive: true, force: true });
  }
}

/** Whether the state folder has a version that was learned. */
async function hasLearned(url: string, key: string): Promise<boolean> {
  const response = await fetch(`${url}/api/agents/${options.agent}/versions`, { headers: { authorization: `Bearer ${key}` } });
  return response.ok && ((await response.json()) as { latest: number }).latest > 0;
}

/** Conversations, and two lessons one after the other. */
async function live(stage: Stage, ask: Ask, client: DemoClient): Promise<void> {
  const tools = new Map(SCENES.flatMap((scene) => scene.tools).map((tool) => [tool.function.name, tool]));
  await ask("PUT", "", {
    instructions: SYSTEM,
    tools: [...tools.values()],
    learning: { maxWaitMs: 1_000, objective: options.quick ? "paper" : "distillation" },
    release: { gate: { enabled: !options.quick } },
  });
  for (const [user, scene] of zipStrict(["ann", "ben", "cleo"], SCENES.slice(0, 3)))
    await new Talk(client, { tools: scene.tools, user }).askFor(scene.unrelated);
  for (const [round, scene] of LESSONS.entries()) {
    if (!(await teach(client, scene, round === 0 ? "ann" : "ben"))) continue;
    await waitFor(ask, ({ trainer }) => trainer?.phase === "updating" && trainer.done > 0);
    await take(stage, "learning", `/agents/${options.agent}`, (page) => page.locator(".chart canvas").first().waitFor());
    await learned(ask);
  }
}

/** One correction of a call that has what it needs; false where this base makes no such call. */
async function teach(client: DemoClient, scene: Scene, user: string): Promise<boolean> {
  const { tools, first, parameter, wishes } = scene;
  const talk = new Talk(client, { tools, user });
  await talk.askFor(first);
  const answer = talk.last;
  const wish = wishes.find(({ value }) => value !== talk.argument(parameter));
  if (answer?.call === undefined || wish === undefined) return false;
  await talk.runTools(answer);
  await talk.say(wish.correction);
  return true;
}

/** Until a version of it answers, or the audit says why there is none. */
async function learned(ask: Ask): Promise<void> {
  const ended = await waitFor(ask, ({ trainer }) => trainer?.phase === "watching" && trainer.corrections === 0);
  const { versions } = await ask<{ versions: ListedVersion[] }>("GET", "/versions");
  const { audit } = await ask<{ audit: AuditRow[] }>("GET", "/audit");
  const refusals = audit.flatMap(({ refused }) => refused.map(({ code, detail }) => `${code} (${detail})`));
  say(
    `${ended}; versions ${versions.map(({ version, status }) => `${version} ${status}`).join(", ")}; not learned from: ${refusals.join("; ")}`,
  );
}

async function waitFor(ask: Ask, holds: (view: TrainerView) => boolean): Promise<string> {
  const started = Date.now();
  for (;;) {
    const view = await ask<TrainerView>("GET", "/trainer");
    if (holds(view)) return `${view.trainer?.phase} after ${Math.round((Date.now() - started) / 1_000)} s`;
    if (Date.now() - started > LEARNING_MS) throw new Error(`the trainer expected to get there, got ${JSON.stringify(view.trainer)}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** What is taken once everything has happened. */
async function pictures(stage: Stage, ask: Ask): Promise<void> {
  await furnish(stage);
  await waitFor(ask, ({ trainer }) => trainer?.phase === "watching");
  const { versions } = await ask<{ versions: ListedVersion[] }>("GET", "/versions");
  const shown = versions.find(({ status, changes }) => status === "stable" && changes.length > 0) ?? versions[0];
  const version = shown?.version ?? 0;
  const about = `/agents/${options.agent}`;
  await take(stage, "overview", about, (page) => page.locator(".chart canvas").first().waitFor());
  await take(stage, "agents", "/");
  await take(stage, "keys", "/keys");
  await take(stage, "versions", `${about}/versions`);
  await take(stage, "version", `${about}/versions/${version}`);
  await take(stage, "conversations", `${about}/conversations`, async (page) => {
    await page.getByLabel("Words").fill("should be");
    await page.waitForTimeout(1_500); // asked for once nobody types, and answered
  });
  const [taught] = shown?.events ?? [];
  if (taught !== undefined)
    await take(stage, "conversation", `${about}/conversations/${taught.turnId.split("/", 1)[0]}`, async (page) => {
      const turns = page.locator("article.turn");
      await turns.first().waitFor();
      // Nothing is said of the tokens of a call that left the corrected argument out.
      const moved = turns.filter({ has: page.locator(".heat") });
      await ((await moved.count()) > 0 ? moved.first() : turns.first()).evaluate(TO_ITS_END);
    });
  await take(stage, "playground", `${about}/playground?version=${version}&beside=0`, async (page) => {
    const calls = page.locator(".talk .call");
    for (const words of [EXAMPLE_WORDS.again, EXAMPLE_WORDS.yes, EXAMPLE_WORDS.yes]) {
      // Both ask back, or one has called already and waits for its result.
      if ((await calls.count()) > 0) break;
      await page.getByLabel("Say").fill(words);
      await page.getByRole("button", { name: "Send" }).click();
      await page.locator("form.say button[aria-busy=false]").waitFor({ timeout: 60_000 });
    }
  });
  await take(stage, "budgets", `${about}/settings`, async (page) => {
    await page.getByText("What a version may cost at the gate").click();
    await page.locator("legend", { hasText: "Learning" }).evaluate(TO_ITS_START);
  });
  for (const view of ["notes", "suite", "audit", "settings"]) await take(stage, view, `${about}/${view}`);
}

/** An agent whose clients bring their tools along has none to be asked about in the playground: it is given the example's, there. */
async function furnish({ browser, url, key }: Stage): Promise<void> {
  const context = await browser.newContext({ baseURL: url });
  const page = await context.newPage();
  await page.request.post("/api/login", { data: { key } });
  await page.goto(`/agents/${options.agent}/playground`);
  const give = page.getByRole("button", { name: "Give it the example's tools" });
  await give.or(page.getByText("Ask for something that its tools do")).waitFor();
  if (await give.isVisible()) {
    await give.click();
    await page.getByText("Ask for something that its tools do").waitFor();
  }
  await context.close();
}

/** One view in both schemes, as WebP: the browser itself writes it. */
async function take({ browser, url, key }: Stage, name: string, path: string, arrange: (page: Page) => Promise<unknown> = async () => {}) {
  if (options.only !== undefined && options.only !== name) return;
  for (const colorScheme of SCHEMES) {
    const context = await browser.newContext({ baseURL: url, colorScheme, viewport: VIEWPORT });
    const page = await context.newPage();
    await page.request.post("/api/login", { data: { key } });
    await page.goto(path);
    await page.locator("main h1, main h2").first().waitFor();
    await arrange(page);
    await page.waitForTimeout(700); // what was loaded is drawn, and the stream has said its first word
    const png = (await page.screenshot()).toString("base64");
    const blank = await browser.newPage();
    const webp = await blank.evaluate<string>(`(${TO_WEBP})(${JSON.stringify(png)}, ${QUALITY})`);
    await blank.close();
    await context.close();
    await mkdir(options.out, { recursive: true });
    const bytes = Buffer.from(webp, "base64");
    await writeFile(join(options.out, `${name}-${colorScheme}.webp`), bytes);
    say(`${name}-${colorScheme}.webp ${bytes.length} bytes`);
  }
}

await main();
