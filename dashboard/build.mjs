// Builds dashboard/ to dashboard/dist with Vite. Does nothing when sources and packages are the ones it was built from, which
// dist/.digest records.
import { createHash } from "node:crypto";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

const PACKAGES = ["vite", "preact", "preact-iso", "uplot", "@picocss/pico"];

// Whoever builds it, a test included: a page built for development carries the paths of the machine that it was built on.
process.env.NODE_ENV = "production";

const here = import.meta.dirname;
const require = createRequire(import.meta.url);
const target = join(here, "dist");

/** Of what the page is made of: its own files, the types and constants it shares, and the packages. */
async function digestOfSources() {
  const hash = createHash("sha256").update(process.env.NODE_ENV);
  for (const name of PACKAGES) hash.update(JSON.stringify([name, await versionOf(name)]));
  for (const folder of [here, join(here, "../shared")])
    for (const entry of (await readdir(folder, { recursive: true, withFileTypes: true })).toSorted(byPath)) {
      if (!entry.isFile() || entry.parentPath.startsWith(target)) continue;
      const path = join(entry.parentPath, entry.name);
      hash.update(path.slice(here.length)).update(await readFile(path));
    }
  return hash.digest("hex");
}

function byPath(a, b) {
  return join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1;
}

/** Some packages do not export their package.json. */
async function versionOf(name) {
  const path = require.resolve.paths(name)?.map((folder) => join(folder, name, "package.json")) ?? [];
  for (const each of path) {
    const text = await readFile(each, "utf8").catch(() => undefined);
    if (text !== undefined) return JSON.parse(text).version;
  }
  throw new Error(`${name}: an installed package expected, got none`);
}

async function isBuilt(digest) {
  return (await readFile(join(target, ".digest"), "utf8").catch(() => "")) === digest;
}

const digest = await digestOfSources();
if (!(await isBuilt(digest))) {
  const { build } = await import("vite"); // which takes longer to load than all that is needed where there is nothing to build
  const fresh = `${target}.${process.pid}`;
  await build({ root: here, logLevel: "warn", build: { outDir: fresh } });
  await writeFile(join(fresh, ".digest"), digest);
  // Put into place whole: another process may be reading, or building the same. Who comes second has nothing left to do.
  const gone = `${fresh}.gone`;
  await rename(target, gone).catch((error) => {
    if (error.code !== "ENOENT") throw error;
  });
  try {
    await rename(fresh, target);
  } catch (error) {
    if (!(await isBuilt(digest))) throw error;
  } finally {
    for (const folder of [fresh, gone]) await rm(folder, { recursive: true, force: true });
  }
}
