/** Bundles the Worker, and builds what it is served with: one ES module, and every `.wasm` it imports as a compiled module beside it. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { build as bundle, type Plugin } from "esbuild";

export type WorkerModule = { type: "ESModule" | "CompiledWasm"; path: string; contents: string | Uint8Array<ArrayBuffer> };

/**
 * Builds the kernel where its build script exists, then the Worker; the first module is the entry.
 * @throws esbuild's or the kernel build's own error, with its message
 */
export async function bundleWorker(root: string, entry: string, define: Record<string, string> = {}): Promise<WorkerModule[]> {
  await buildKernel(root);
  const wasm = new Map<string, string>();
  const result = await bundle({
    entryPoints: [entry],
    absWorkingDir: root,
    bundle: true,
    write: false,
    format: "esm",
    target: "es2023",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*"],
    define,
    plugins: [collectWasm(wasm)],
    logLevel: "silent",
  });
  const code = result.outputFiles[0]?.text ?? "";
  const compiled = [...wasm].map(async ([path, file]): Promise<WorkerModule> => {
    return { type: "CompiledWasm", path, contents: new Uint8Array(await readFile(file)) };
  });
  return [{ type: "ESModule", path: "index.mjs", contents: code }, ...(await Promise.all(compiled))];
}

/** Compiles the WASM kernel where its sources changed. */
export function buildKernel(root: string): Promise<void> {
  return runBuild(root, "edge/kernel/build.mjs");
}

/** Builds the dashboard's files where its sources changed. */
export function buildDashboard(root: string): Promise<void> {
  return runBuild(root, "dashboard/build.mjs");
}

async function runBuild(root: string, script: string): Promise<void> {
  if (existsSync(join(root, script))) await promisify(execFile)(process.execPath, [join(root, script)], { cwd: root });
}

/** workerd compiles WASM only from modules it is given, so the import stays and the file goes along. */
function collectWasm(found: Map<string, string>): Plugin {
  return {
    name: "collect-wasm",
    setup(build) {
      build.onResolve({ filter: /\.wasm$/ }, ({ path, resolveDir }) => {
        const name = `./${basename(path)}`;
        found.set(name.slice(2), resolve(resolveDir, path));
        return { path: name, external: true };
      });
    },
  };
}
