// Compiles edge/kernel/assembly to edge/kernel/kernel.wasm. Does nothing when sources, options and compiler are the
// ones the file was built from, which kernel.wasm.sha256 beside it records.
import { createHash } from "node:crypto";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const OPTIONS = [
  "--optimizeLevel",
  "3",
  "--shrinkLevel",
  "0",
  "--converge",
  "--noAssert",
  "--runtime",
  "stub",
  "--use",
  "abort=",
  "--disableWarning",
  "112", // v128 crosses modules of the kernel, never its exports
  "--enable",
  "simd", // plain SIMD128: relaxed SIMD gives other numbers on other hosts
];

const here = fileURLToPath(new URL(".", import.meta.url));
const target = `${here}kernel.wasm`;
const record = `${target}.sha256`;

const compilerVersion = createRequire(import.meta.url)("assemblyscript/package.json").version;
const names = (await readdir(`${here}assembly`)).filter((name) => name.endsWith(".ts")).sort();
const sources = new Map();
for (const name of names) sources.set(`assembly/${name}`, await readFile(`${here}assembly/${name}`, "utf8"));

const hash = createHash("sha256").update(JSON.stringify([compilerVersion, OPTIONS, [...sources]]));
const digest = hash.digest("hex");

const built = await readFile(target).catch(() => null);
const recorded = await readFile(record, "utf8").catch(() => "");
if (built === null || recorded !== digest) {
  const { default: asc } = await import("assemblyscript/asc"); // which takes most of a second to load
  const outputs = new Map();
  let complaints = "";
  const stderr = { write: (text) => void (complaints += text) };
  const { error } = await asc.main(["assembly/index.ts", "--outFile", "kernel.wasm", ...OPTIONS], {
    readFile: (name) => sources.get(name) ?? null,
    writeFile: (name, contents) => outputs.set(name, contents),
    listFiles: () => [],
    stderr,
  });
  const wasm = outputs.get("kernel.wasm");
  if (error || wasm === undefined) {
    process.stderr.write(complaints);
    throw error ?? new Error("kernel build expected kernel.wasm, got no output");
  }
  // Renamed into place: another process may be reading, or building the same.
  for (const [file, content] of [
    [target, wasm],
    [record, digest],
  ]) {
    await writeFile(`${file}.${process.pid}`, content);
    await rename(`${file}.${process.pid}`, file);
  }
  process.stdout.write(`kernel.wasm ${wasm.length} bytes\n`);
}
