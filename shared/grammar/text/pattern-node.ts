/** Regular expressions as trees (ECMA-262 §22.2.1), without what only captures, and what they say of where they may match. */
import { type CodePoints, plainOf } from "./code-points.ts";

export type Node =
  | { readonly kind: "set"; readonly points: CodePoints }
  /** One after the other; none of them is nothing at all. */
  | { readonly kind: "sequence"; readonly parts: readonly Node[] }
  | { readonly kind: "either"; readonly options: readonly Node[] }
  | { readonly kind: "repeat"; readonly body: Node; readonly least: number; readonly most: number }
  /** What follows does, or does not, begin with the body. */
  | { readonly kind: "look"; readonly body: Node; readonly negative: boolean }
  | { readonly kind: "start" }
  | { readonly kind: "end" }
  | { readonly kind: "boundary"; readonly negative: boolean };

/** What a text has to fit, and how many code points it has. */
export type Pattern = { readonly nodes: readonly Node[]; readonly least: number; readonly most: number };

export function sequence(parts: readonly Node[]): Node {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { kind: "sequence", parts };
}

/** Whether it matches at the start of a text alone. */
export function isAnchored(node: Node): boolean {
  switch (node.kind) {
    case "start":
      return true;
    case "sequence":
      return node.parts.slice(0, 1).every(isAnchored) && node.parts.length > 0;
    case "either":
      return node.options.every(isAnchored);
    case "set":
    case "repeat":
    case "look":
    case "end":
    case "boundary":
      return false;
  }
}

/**
 * The pattern with its lengths told apart, where it says them of the whole text: `^[a-z]{3,20}$`, or `^(?=.{1,253}$)` before the rest.
 * Counted by lengths, it takes a state where a state for each character would. Of a look ahead at very long texts, as `^(?=.{1,253}\.?$)`,
 * the one character that may stand behind the counted ones is left out.
 */
export function withLengths(node: Node): Pattern {
  const { looks, rest } = conjunctsOf(node);
  const uncounted = (each: Node): Counted => ({ node: each, least: 0, most: Infinity });
  const counted = [...looks.map((look) => countedOf(look, LONG) ?? uncounted(look)), countedOf(rest) ?? uncounted(rest)];
  return {
    nodes: counted.map((each) => each.node),
    least: Math.max(...counted.map(({ least }) => least)),
    most: Math.min(...counted.map(({ most }) => most)),
  };
}

type Counted = { readonly node: Node; readonly least: number; readonly most: number };

const LONG = 100; // characters: each would take a state for every state of the rest

/** `^(?=a)(?=b)c` as `^a`, `^b` and `^c`. */
function conjunctsOf(node: Node): { readonly looks: readonly Node[]; readonly rest: Node } {
  const [start, ...parts] = partsOf(node);
  if (start?.kind !== "start") return { looks: [], rest: node };
  const end = parts.findIndex((part) => part.kind !== "look" || part.negative);
  const looks = parts.slice(0, end < 0 ? parts.length : end).flatMap((part) => (part.kind === "look" ? [part.body] : []));
  return {
    looks: looks.map((body) => sequence([start, ...partsOf(body)])),
    rest: sequence([start, ...parts.slice(looks.length)]),
  };
}

function partsOf(node: Node): readonly Node[] {
  return node.kind === "sequence" ? node.parts : [node];
}

/** Undefined where it is no count of the whole text. What may follow the count is left out where that is at least `shortened`. */
function countedOf(node: Node, shortened = Infinity): Counted | undefined {
  const [start, counted, ...rest] = partsOf(node);
  if (start?.kind !== "start" || rest.at(-1)?.kind !== "end") return undefined;
  if (counted?.kind !== "repeat" || counted.body.kind !== "set") return undefined;
  const { least, most, body } = counted;
  const [behind, ...others] = rest.slice(0, -1);
  const mayBeNothing = behind?.kind === "repeat" && behind.least === 0 && behind.most === 1 && others.length === 0;
  if (behind !== undefined && !(mayBeNothing && most >= shortened)) return undefined;
  if (least <= 1 && most === Infinity) return undefined; // nothing is counted
  return { node: sequence([start, { kind: "repeat", body, least: 0, most: Infinity }, { kind: "end" }]), least, most };
}

/**
 * The pattern over texts that it reads alike with the flag `u` and without. Without it a character beyond U+FFFF is two, which makes no
 * difference in a loop over all that a set holds, and may make one anywhere else: there it is left out.
 */
export function readAlike(node: Node, isLooped = false): Node {
  switch (node.kind) {
    case "set":
      return isLooped ? node : { ...node, points: plainOf(node.points) };
    case "sequence":
      return { ...node, parts: node.parts.map((part) => readAlike(part)) };
    case "either":
      return { ...node, options: node.options.map((option) => readAlike(option, isLooped)) };
    case "repeat":
      return { ...node, body: readAlike(node.body, node.least <= 1 && node.most === Infinity) };
    case "look":
      return { ...node, body: readAlike(node.body) };
    case "start":
    case "end":
    case "boundary":
      return node;
  }
}

/** Whether something must not follow somewhere: what is left out of that would be let through. */
export function isNegative(node: Node): boolean {
  switch (node.kind) {
    case "sequence":
      return node.parts.some(isNegative);
    case "either":
      return node.options.some(isNegative);
    case "repeat":
      return isNegative(node.body);
    case "look":
      return node.negative || isNegative(node.body);
    case "set":
    case "start":
    case "end":
    case "boundary":
      return false;
  }
}
