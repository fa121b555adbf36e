/** What `patternProperties` says of members by their names. */

// So that a schema cannot make them take long.
const MOST_PATTERNS = 16;
const MOST_CHARACTERS = 64; // of a name, and of a pattern
// Alternatives, groups and a second repetition may take time without end to find no match.
const BRANCHES = /[|()]|[*+?{].*[*+?{]/;

/** The schemas by patterns that a member of this name has to fit; true stands for any whose pattern is not tried. */
export function schemasOfName({ patternProperties: patterns }: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  if (typeof patterns !== "object" || patterns === null) return [];
  const all = Object.entries(patterns) as [string, unknown][];
  const found = all.slice(0, MOST_PATTERNS).flatMap(([pattern, schema]) => {
    const matches = isMatch(pattern, name);
    return matches === undefined ? [true] : matches ? [schema] : [];
  });
  return all.length > MOST_PATTERNS ? [...found, true] : found;
}

/** Undefined where that is not tried. */
function isMatch(pattern: string, name: string): boolean | undefined {
  if (BRANCHES.test(pattern) || pattern.length > MOST_CHARACTERS || name.length > MOST_CHARACTERS) return undefined;
  try {
    return new RegExp(pattern, "u").test(name);
  } catch {
    return undefined; // it is no pattern
  }
}
