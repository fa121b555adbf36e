/** What README and `docs/` tell a reader to type is typed here, against a system that `npm start` started, and prints what they say. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readBase } from "../../cli/base-files.ts";
import { readKeys } from "../../cli/keys.ts";
import { parseModelConfig } from "../../shared/model-config.ts";
import { publishAdapter, putRandomAdapter } from "../helpers/adapters.ts";
import { call } from "../helpers/call.ts";
import { type Block, blocksOf, missingLine, outputsOf, scriptOf } from "./blocks.ts";

const PATIENCE_MS = 300_000;
const README = "README.md";
/** In an order in which a reader may come by: the agent is defined first, and learning, which takes both cores, begins last. */
const PAGES = [
  README,
  "docs/define-an-agent.md",
  "docs/personal-policies.md",
  "docs/tools.md",
  "docs/engines.md",
  "docs/use-it-from-your-client.md",
  "docs/read-the-dashboard.md",
  "docs/roll-back.md",
  "docs/privacy.md",
  "docs/deploy.md",
  "docs/extend.md",
  "docs/reference.md",
  "docs/measured.md",
  "docs/how-it-learns.md",
];

const pageOf = (path: string): Block[] => blocksOf(readFileSync(path, "utf8"));

describe("the pages", { timeout: PATIENCE_MS }, () => {
  let folder = "";
  let state = "";
  let system: ChildProcess;
  let said = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nextstate-docs-"));
    state = join(folder, "state");
    system = spawn(process.execPath, ["cli/bootstrap.mjs", "cli/start.ts", "--port", "0", "--state", state]);
    for (const stream of [system.stdout, system.stderr]) stream?.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await until(() => said.includes("Next:") || system.exitCode !== null);
  }, PATIENCE_MS);
  afterAll(async () => {
    system.kill("SIGINT");
    await until(() => system.exitCode !== null);
    await rm(folder, { recursive: true, force: true });
  }, PATIENCE_MS);

  const url = (): string => /dashboard +(\S+)/.exec(said)?.[1] ?? `no address in: ${said}`;
  /** A page names the address and the folder of a system that was started without options. */
  const here = (text: string): string =>
    text
      .replaceAll("http://127.0.0.1:8787", url())
      .replaceAll(/"\.\/\.nextstate\//g, `"${state}/`)
      .replaceAll(".nextstate/keys.json", "…keys.json");

  it("are all tried", () => {
    const pages = readdirSync("docs").filter((name) => name.endsWith(".md"));
    expect([...PAGES].sort()).toEqual([README, ...pages.map((name) => `docs/${name}`)].sort());
  });

  it("show what `npm start` prints", () => {
    const [start] = pageOf(README);
    expect(start?.text).toMatch(/^npm start\b/);
    expect(start?.output.length).toBeGreaterThan(3);
    expect(missingLine(start?.output.map(here) ?? [], said)).toBe(undefined);
  });

  it.for(PAGES)("%s does what it says", async (path) => {
    if (path === "docs/roll-back.md") await publishTwo({ url: url(), state });
    const blocks = pageOf(path).filter(({ elsewhere }) => !elsewhere);
    const keys = await readKeys(state);
    const env = { NEXTSTATE_URL: url(), NEXTSTATE_KEY: keys.client, NEXTSTATE_ADMIN_KEY: keys.admin, npm_config_loglevel: "error" };
    const { code, output } = await runScript(here(scriptOf(blocks, process.execPath)), env);
    const outputs = outputsOf(output);
    expect({ page: path, code, printed: code === 0 ? "" : output.slice(-2_000) }).toEqual({ page: path, code: 0, printed: "" });
    for (const { line, output: expected } of blocks) {
      const missing = missingLine(expected.map(here), outputs.get(line) ?? "");
      expect({ at: `${path}:${line}`, missing, printed: missing === undefined ? "" : outputs.get(line) }).toEqual({
        at: `${path}:${line}`,
        missing: undefined,
        printed: "",
      });
    }
  });

  it("leave nothing to be run elsewhere but commands that exist", async () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
    const { output: help } = await runScript("npx nextstate --help", { npm_config_loglevel: "error" });
    const lines = PAGES.flatMap(pageOf)
      .filter(({ elsewhere, language }) => elsewhere && language === "sh")
      .flatMap(({ text }) => text.trim().split("\n"));
    const exists = (line: string): boolean => {
      const [, script] = /^npm (?:run )?([\w:]+)/.exec(line) ?? [];
      if (script !== undefined) return script in scripts;
      const [, command] = /^(?:source <\()?npx nextstate (\w+)/.exec(line) ?? [];
      if (command !== undefined) return help.includes(`  nextstate ${command} `);
      const [file] = /deploy\/[\w.-]+/.exec(line) ?? [];
      return file === undefined ? /^(?:npx wrangler login|docker run)\b/.test(line) : existsSync(file);
    };
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.filter((line) => !exists(line))).toEqual([]);
  });

  it("quote code as it stands in a file that they link to", () => {
    for (const path of PAGES) {
      const sources = linksOf(path).filter(({ target }) => target.endsWith(".ts"));
      const code = sources.map(({ target }) => readFileSync(target, "utf8"));
      for (const { elsewhere, language, text } of pageOf(path))
        if (elsewhere && language === "ts") expect(code.some((source) => source.includes(text))).toBe(true);
    }
  });

  it("link to nothing that is not there", () => {
    const links = PAGES.flatMap(linksOf);
    const broken = links.filter(
      ({ target, anchor }) => !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor)),
    );
    expect(links.length).toBeGreaterThan(50);
    expect(broken).toEqual([]);
  });
});

function linksOf(path: string): { target: string; anchor: string | undefined }[] {
  const links = readFileSync(path, "utf8").matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]+))?\)/g);
  return [...links].map(([, file = "", anchor]) => ({ target: file === "" ? path : join(path, "..", file), anchor }));
}

/** Headings as GitHub names them in addresses. */
function anchorsOf(path: string): string[] {
  const headings = [...readFileSync(path, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .replaceAll(" ", "-"),
  );
}

/** Two versions after the base, so that there is something to roll back from. */
async function publishTwo({ url, state }: { url: string; state: string }): Promise<void> {
  const { digest: baseDigest, files, manifest } = await readBase("base");
  const config = parseModelConfig(JSON.parse(new TextDecoder().decode(files.get(manifest.files["config.json"] ?? ""))));
  const edge = { url, keys: await readKeys(state), baseDigest };
  await call(edge, "admin", "PATCH /api/agents/hotel-desk", { release: { canary: { mode: "off" } } });
  // The system's own trainer holds the agent; a refusal names the token of its lease.
  const refused = await call(edge, "trainer", "POST /trainer/v1/agents/hotel-desk/lines/shared/cursor", { from: 0, to: 0, refused: [] });
  const lease = Number(/x-lease-token: (\d+)/.exec(refused.body.error?.message)?.[1] ?? 0);
  for (const seed of [1, 2]) await publishAdapter(edge, "hotel-desk", await putRandomAdapter(edge, config, seed), lease);
}

function runScript(script: string, variables: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const child = spawn("bash", ["-s"], { env: { ...process.env, ...variables }, timeout: PATIENCE_MS - 10_000 });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stdin.end(script);
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 25));
}
