/** How deep a body may be nested. */
import { AppError } from "../../shared/errors.ts";
import { isNestedDeeper, MOST_LEVELS } from "../../shared/nesting.ts";

/** @throws {input/invalid} where lists and objects are nested deeper */
export function checkDepth(body: unknown): void {
  if (isNestedDeeper(body)) throw new AppError("input/invalid", `body: at most ${MOST_LEVELS} levels of nesting expected, got more`);
}
