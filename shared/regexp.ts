/** Literal text as part of a regular expression; `RegExp.escape` where every runtime has it one day. */
export function escapeRegExp(literal: string): string {
  return literal.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
