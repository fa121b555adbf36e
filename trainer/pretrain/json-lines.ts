/** Data that stands beside code, a JSON value a line. */
import { readFileSync } from "node:fs";
import type { z } from "zod";

/** All lines, in their order. @throws z.ZodError where one is not of the schema */
export function readJsonLines<T>(file: URL, schema: z.ZodType<T>): T[] {
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => schema.parse(JSON.parse(line)));
}
