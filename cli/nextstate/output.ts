/** What people read on a terminal: colours where there is one, tables, and texts of others without their control characters. */
import { once } from "node:events";
import { stripVTControlCharacters, styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];
type Stream = NodeJS.WriteStream;

const CLIPPED = "…";

export function hasColours({ isTTY }: Stream): boolean {
  return isTTY && (process.env.NO_COLOR ?? "") === "";
}

export function paint(style: Style, text: string): string {
  // Its own check obeys FORCE_COLOR, and a file is no place for colours whatever the environment says.
  return hasColours(process.stdout) ? styleText(style, text, { validateStream: false }) : text;
}

export function say(line = ""): void {
  process.stdout.write(`${line}\n`);
}

/** What is said beside the result: it stays out of pipes. */
export function remark(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function sayJson(value: unknown): void {
  say(JSON.stringify(value, null, 2));
}

/** One JSON document on a line; waits while the reader is slower. */
export async function sayJsonLine(value: unknown): Promise<void> {
  if (!process.stdout.write(`${JSON.stringify(value)}\n`)) await once(process.stdout, "drain");
}

/** The API's JSON, or what people read of it. */
export function show<Value>({ json }: { json: boolean }, value: Value, forPeople: (value: Value) => void): void {
  if (json) sayJson(value);
  else forPeople(value);
}

/** Columns as wide as their widest cell; the last is not padded. Where there are no rows, what is said instead of them. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], none = ""): void {
  if (rows.length === 0 && none !== "") return say(none);
  const widths = head.map((title, column) => Math.max(...[title, ...rows.map((row) => row[column] ?? "")].map(widthOf)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)))
      .join("  ")
      .trimEnd();
  say(paint("dim", line(head)));
  for (const row of rows) say(line(row));
}

/** Names on the left, what they are on the right. */
export function fields(entries: Readonly<Record<string, string>>): void {
  const width = Math.max(...Object.keys(entries).map((name) => name.length));
  for (const [name, value] of Object.entries(entries)) say(`${paint("dim", name.padEnd(width))}  ${value}`);
}

/** Text of somebody else: escape sequences in it must not reach the terminal. Line breaks stay. */
export function harmless(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[^\P{Cc}\n\t]/gu, "");
}

/** On one line, at most so long. */
export function clip(text: string, length = 80): string {
  const line = harmless(text).replaceAll(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 1)}${CLIPPED}`;
}

/** To the second, in UTC as the API has it, so that two outputs can be compared. */
export function time(iso: string | null): string {
  return iso === null ? "–" : iso.replace("T", " ").replace(/\.\d+Z$/, "Z");
}

function widthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}
