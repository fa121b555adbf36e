/** How deep a body may be nested. What walks it afterwards recurses, and a stack must not be the limit. */
import { AppError } from "../../shared/errors.ts";

const MAX_DEPTH = 100; // a tool's schema at its deepest has two levels for each of its own, and some around it

/** Walks without recursion. @throws {input/invalid} where lists and objects are nested deeper */
export function checkDepth(body: unknown): void {
  let level: unknown[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new AppError("input/invalid", `body: at most ${MAX_DEPTH} levels of nesting expected, got more`);
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
}
