/** Sets of Unicode code points, and those that a regular expression names by a letter. */

/** Ranges with both ends inside, ascending, apart from each other. */
export type CodePoints = readonly (readonly [from: number, to: number])[];

export const LAST_POINT = 0x10ffff;
/** Characters up to here are one unit of UTF-16, so that a pattern reads them alike with and without the flag `u`. */
export const LAST_PLAIN = 0xffff;

export const ANY_POINT: CodePoints = [[0, LAST_POINT]];
export const DIGITS: CodePoints = [[0x30, 0x39]];
export const WORD: CodePoints = [[0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]]; // prettier-ignore
/** `\s`: white space and line ends (ECMA-262 §22.2.2.9). */
export const SPACE: CodePoints = [
  [0x09, 0x0d], [0x20, 0x20], [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f, 0x202f], [0x205f, 0x205f],
  [0x3000, 0x3000], [0xfeff, 0xfeff],
]; // prettier-ignore
/** What `.` leaves out. */
export const LINE_ENDS: CodePoints = [[0x0a, 0x0a], [0x0d, 0x0d], [0x2028, 0x2029]]; // prettier-ignore

export function onePoint(point: number): CodePoints {
  return [[point, point]];
}

export function union(ranges: CodePoints): CodePoints {
  const merged: [number, number][] = [];
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

export function complement(points: CodePoints): CodePoints {
  const ends = [...points, [LAST_POINT + 1, LAST_POINT + 1] as const];
  return ends.flatMap(([from], index): CodePoints => {
    const after = (points[index - 1]?.[1] ?? -1) + 1;
    return after < from ? [[after, from - 1]] : [];
  });
}

/** Those up to U+FFFF. */
export function plainOf(points: CodePoints): CodePoints {
  return points.flatMap(([from, to]): CodePoints => (from > LAST_PLAIN ? [] : [[from, Math.min(to, LAST_PLAIN)]]));
}

// Between these no character is assigned, and few are above: whether such a one has a property is not asked.
const ASKED: CodePoints = [[0, 0xd7ff], [0xe000, 0x3ffff], [0xe0000, 0xe0fff]]; // prettier-ignore
const BLOCK = 0x1000;
const known = new Map<string, readonly [CodePoints, CodePoints]>();
const MOST_KNOWN = 32; // each up to some thousand ranges

/** Those that have a property, as `\p{…}` names it, and those that have it not, by the machine's own expressions. @throws {SyntaxError} for none */
export function ofProperty(name: string): readonly [having: CodePoints, lacking: CodePoints] {
  const found = known.get(name);
  if (found !== undefined) return found;
  const expression = new RegExp(`\\p{${name}}+`, "gu");
  const points = union(ASKED.flatMap(([from, to]) => matchesOf(expression, from, to)));
  const both = [points, complement(union([...points, ...complement(ASKED)]))] as const;
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(name, both);
  return both;
}

function matchesOf(expression: RegExp, first: number, last: number): CodePoints {
  const ranges: [number, number][] = [];
  for (let from = first; from <= last; from = (from | (BLOCK - 1)) + 1) {
    const width = from > LAST_PLAIN ? 2 : 1;
    for (const { 0: text, index } of textOfPoints(from, Math.min(last, from | (BLOCK - 1))).matchAll(expression))
      ranges.push([from + index / width, from + (index + text.length) / width - 1]);
  }
  return ranges;
}

function textOfPoints(from: number, to: number): string {
  const isWide = from > LAST_PLAIN;
  const units = new Uint16Array((to - from + 1) * (isWide ? 2 : 1));
  for (let point = from; point <= to; point += 1) {
    if (!isWide) units[point - from] = point;
    else units.set([0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff)], 2 * (point - from));
  }
  return new TextDecoder("utf-16le", { fatal: true, ignoreBOM: true }).decode(units);
}
