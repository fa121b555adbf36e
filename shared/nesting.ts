/** How deep JSON is nested. What walks it recurses, and a stack must not be the limit. */

/** A tool's schema at its deepest has two levels for each of its own, and some around it. */
export const MOST_LEVELS = 100;

/** Whether lists and objects stand in each other deeper than that. Walks without recursion. */
export function isNestedDeeper(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MOST_LEVELS) return true;
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
  }
  return false;
}
