/** Fenced blocks of a page: commands, what the page says they print, and how a page's commands become one script (pure). */

export type Block = {
  /** `sh` or `ts`. */
  readonly language: string;
  /** Not run here: it starts, tests or deploys whole systems, or needs another machine. */
  readonly elsewhere: boolean;
  readonly text: string;
  /** Lines of the `output` block that follows; … stands for anything. */
  readonly output: readonly string[];
  readonly line: number;
};

/** Commands of a page with what they are said to print. */
export function blocksOf(page: string): Block[] {
  const fences = [...page.matchAll(/^```(\w+)([^\n]*)\n(.*?)^```$/gms)];
  return fences.flatMap((fence, index) => {
    const [whole, language = "", info = "", text = ""] = fence;
    if (language !== "sh" && language !== "ts") return [];
    const next = fences[index + 1];
    const follows = next?.[1] === "output" && page.slice(fence.index + whole.length, next.index).trim() === "";
    const output = follows ? (next[3] ?? "").split("\n").filter((line) => line !== "") : [];
    const line = page.slice(0, fence.index).split("\n").length;
    return [{ language, elsewhere: info.trim() === "elsewhere", text, output, line }];
  });
}

const MARK = "— block at line";

/** One shell for a page, as a reader has one; it ends at the first command that fails. `node` runs what is TypeScript. */
export function scriptOf(blocks: readonly Block[], node: string): string {
  const commands = blocks.map(({ language, text, line }) => {
    const run = language === "ts" ? `${node} --input-type=module-typescript <<'END-OF-PROGRAM'\n${text}END-OF-PROGRAM\n` : text;
    return `echo; echo '${MARK} ${line}'\n${run}`;
  });
  return ["set -euo pipefail", ...commands].join("\n");
}

/** What each block printed, by its line in the page. */
export function outputsOf(printed: string): Map<number, string> {
  const [, ...parts] = printed.split(`\n${MARK} `);
  return new Map(parts.map((part) => [Number.parseInt(part, 10), part.slice(part.indexOf("\n") + 1)]));
}

/** The first line that the page shows and the block did not print, after those before it; undefined where all were. */
export function missingLine(expected: readonly string[], printed: string): string | undefined {
  const lines = printed.split("\n");
  let at = 0;
  return expected.find((line) => {
    const pattern = new RegExp(`^${line.split("…").map(escape).join(".*")}$`);
    const found = lines.findIndex((each, index) => index >= at && pattern.test(each.trimEnd()));
    if (line !== "…" && found !== -1) at = found + 1;
    return line !== "…" && found === -1;
  });
}

/** Columns of a table may be wider than the page has them. */
function escape(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`).replaceAll(/ {2,}/g, " {2,}");
}
