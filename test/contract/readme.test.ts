/** The README's tree has a line for every source file and none for a file that is gone; the map of CONTRIBUTING has every folder. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = new URL("../../", import.meta.url).pathname;
const FOLDERS = ["edge", "trainer", "shared", "dashboard", "cli", "bench", "migrations", "test"];
const SOURCES = /\.(tsx?|mjs|py|sh|sql)$/;

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder)).flatMap((name) => {
    const path = join(folder, name);
    if (path === "dashboard/dist") return []; // built from the others
    if (statSync(join(root, path)).isDirectory()) return sourceFiles(path);
    return SOURCES.test(name) ? [path] : [];
  });
}

/** Paths in the README's tree: a folder's line ends in `/`, its files are indented below. */
function treeFiles(readme: string): string[] {
  const tree = /```tree\n(.*?)```/s.exec(readme)?.[1] ?? "";
  let folder = "";
  return tree.split("\n").flatMap((line) => {
    if (/^\S+\/$/.test(line)) folder = line.slice(0, -1);
    const [, name] = /^ {2}(\S+)/.exec(line) ?? [];
    return name !== undefined && SOURCES.test(name) ? [join(folder, name)] : [];
  });
}

describe("README", () => {
  it("lists every source file in its tree, and only those", () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const top = readdirSync(root).filter((name) => SOURCES.test(name));
    expect(treeFiles(readme).sort()).toEqual([...top, ...FOLDERS.flatMap(sourceFiles)].sort());
  });

  it("leads to a map that has every folder of the edge and the trainer", () => {
    const map = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
    const folders = ["edge", "trainer"].flatMap((side) =>
      readdirSync(join(root, side), { withFileTypes: true }).flatMap((each) => (each.isDirectory() ? [`${side}/${each.name}`] : [])),
    );
    expect(
      [...map.matchAll(/^\| (`(?:edge|trainer)\/.*?) \|/gm)].flatMap(([, named = ""]) => named.replaceAll("`", "").split(", ")).sort(),
    ).toEqual(folders.sort());
  });

  it("gives every dependency a reason", () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<
      "dependencies" | "devDependencies",
      Record<string, string>
    >;
    const names = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)];
    expect(names.filter((name) => !readme.includes(`| \`${name}\` |`))).toEqual([]);
  });
});
