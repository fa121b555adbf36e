/**
 * Where things stand in a text of JSON: every value's place by its path, and the place of what is no JSON. Browsers' own messages
 * name a place each in their own way, or none.
 */
export type Located = { readonly value: unknown; readonly places: ReadonlyMap<string, number> };
export type Misplaced = { readonly at: number; readonly message: string };

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// oxlint-disable-next-line no-control-regex -- what JSON's grammar leaves out of a string (RFC 8259 §7)
const STRING = /"(?:[^"\\\u0000-\u001F]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORD = /true|false|null/y;
const SPACE = /[ \t\r\n]*/y;

/** The value with the place of each of its parts by a path such as `0.function.name`, or what is wrong and where. */
export function locate(text: string): Located | Misplaced {
  const places = new Map<string, number>();
  let at = 0;
  const fail = (expected: string): never => {
    const got = at >= text.length ? "the end" : JSON.stringify(text.slice(at, at + 12));
    throw new Misplacement(at, `${expected} expected, got ${got}`);
  };
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const string = (what: string): string => JSON.parse(take(STRING) ?? fail(what)) as string;
  const list = (close: string, read: (index: number) => void): void => {
    at += 1;
    take(SPACE);
    for (let index = 0; text[at] !== close; index += 1) {
      if (index > 0) {
        if (text[at] !== ",") fail(`, or ${close}`);
        at += 1;
        take(SPACE);
      }
      read(index);
      take(SPACE);
    }
    at += 1;
  };
  const value = (path: string): unknown => {
    take(SPACE);
    places.set(path, at);
    const inside = (key: string | number): string => (path === "" ? String(key) : `${path}.${key}`);
    if (text[at] === "[") {
      const items: unknown[] = [];
      list("]", (index) => items.push(value(inside(index))));
      return items;
    }
    if (text[at] === "{") {
      const members: [string, unknown][] = [];
      list("}", () => {
        const key = string('a name in "" or }');
        take(SPACE);
        if (text[at] !== ":") fail(":");
        at += 1;
        members.push([key, value(inside(key))]);
      });
      return Object.fromEntries(members);
    }
    if (text[at] === '"') return string('a text that ends with " on its line');
    return JSON.parse(take(NUMBER) ?? take(WORD) ?? fail("a value")) as unknown;
  };
  try {
    const whole = value("");
    take(SPACE);
    return at === text.length ? { value: whole, places } : fail("nothing more");
  } catch (error) {
    if (error instanceof Misplacement) return { at: error.at, message: error.message };
    throw error;
  }
}

/** Line and column of a place, from 1, as editors count them. */
export function lineOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** The place of a path, or of the nearest part of it that is there. */
export function placeOf({ places }: Located, path: string): number {
  for (let rest = path; rest !== ""; rest = rest.slice(0, Math.max(0, rest.lastIndexOf(".")))) {
    const at = places.get(rest);
    if (at !== undefined) return at;
  }
  return 0;
}

class Misplacement extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}
