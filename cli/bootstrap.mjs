/**
 * Runs a script of this repository on a current Node, whatever Node starts it: installs what is missing, then hands over.
 *
 *     node cli/bootstrap.mjs <script.ts> [arguments]
 *
 * Plain JavaScript without dependencies, because it runs before there are any, on Node 20 and newer.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NODE = join(ROOT, "node_modules/.bin/node");
/** Compiled sources: without them each thread strips the types of what it imports anew. */
const COMPILED = join(ROOT, "node_modules/.cache/node-compiled");
const NPM_INSTALL = ["install", "--no-save"];
const OLDEST_NODE = 20;
const FAILURE_LINES = 15; // of npm's output; its cause is at the end
const PARENT_CHECK_MS = 1000;

/** Whether every package of the lockfile is installed in its version. Optional ones belong to other platforms. */
function isInstalled() {
  const installedFile = join(ROOT, "node_modules/.package-lock.json"); // npm writes it last
  if (!existsSync(installedFile) || !existsSync(NODE)) return false;
  const installed = readPackages(installedFile);
  return Object.entries(readPackages(join(ROOT, "package-lock.json"))).every(
    ([path, entry]) => path === "" || entry.optional || entry.devOptional || installed[path]?.version === entry.version,
  );
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, "utf8")).packages;
}

async function install() {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const { isTTY } = process.stderr;
  process.stderr.write(`Installing dependencies, once …${isTTY ? "" : "\n"}`);
  const ticker = setInterval(() => isTTY && process.stderr.write(`\rInstalling dependencies, once … ${seconds()} s`), 1000);
  const { code, output } = await runNpm();
  clearInterval(ticker);
  if (code === 0 && existsSync(NODE)) {
    process.stderr.write(`${isTTY ? "\r" : ""}Dependencies installed in ${seconds()} s.      \n`);
    return;
  }
  const why = code === 0 ? "its install scripts did not run (is ignore-scripts set?)" : `npm ended with code ${code}`;
  const said = output.trim().split("\n").slice(-FAILURE_LINES).join("\n");
  fail(
    `\nDependencies could not be installed: ${why}.\n${said}\nRun \`npm ${NPM_INSTALL.join(" ")}\` in ${ROOT} to see all of it; it needs the npm registry.`,
  );
}

/**
 * Installs what the lockfile says, without engine warnings, audit and the CUDA download of onnxruntime-node.
 * Not `npm ci`: that removes first what is there, which a process beside this one may be using.
 */
function runNpm() {
  const cli = process.env.npm_execpath;
  const [command, ...before] = cli?.endsWith(".js") ? [process.execPath, cli] : ["npm"];
  const child = spawn(command, [...before, ...NPM_INSTALL, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: ROOT,
    env: { ...process.env, ONNXRUNTIME_NODE_INSTALL: "skip" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ code: error.message, output: "" }));
    child.on("close", (code) => resolve({ code, output: Buffer.concat(chunks).toString() }));
  });
}

/** Runs the script; its exit code becomes ours, our signals and our end become its. */
function handOver(script, args) {
  // Tools that the script starts find the same Node.
  const env = { NODE_COMPILE_CACHE: COMPILED, ...process.env, PATH: `${dirname(NODE)}${delimiter}${process.env.PATH ?? ""}` };
  // The channel closes when this process ends in any way, which tells the script that nobody waits for it.
  const child = spawn(NODE, [join(ROOT, script), ...args], { cwd: ROOT, env, stdio: ["inherit", "inherit", "inherit", "ipc"] });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(`${script} could not be started: ${error.message}`));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
  // A killed npm tells nobody; that the parent changed does.
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && child.kill("SIGTERM"), PARENT_CHECK_MS).unref();
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

const [script, ...args] = process.argv.slice(2);
if (script === undefined) fail("usage: node cli/bootstrap.mjs <script.ts> [arguments]");
if (Number(process.versions.node.split(".")[0]) < OLDEST_NODE)
  fail(
    `Node ${OLDEST_NODE} or newer is needed to start, got ${process.version}. The rest runs on a Node that is installed with the dependencies.`,
  );
if (!isInstalled()) await install();
handOver(script, args);
