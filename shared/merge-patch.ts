/** JSON merge patches (RFC 7396): what differs between two settings, and settings with that put in. Pure. */
import { canonicalJson } from "./digest.ts";
import { isRecord } from "./grammar/schema-parts.ts";

/** Members of the patch replace, null takes a member away, objects are merged within. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged = new Map<string, unknown>(Object.entries(isRecord(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged); // where assigning would take __proto__ for the prototype
}

/** The patch that makes `after` of `before`. A member that is null in `after` is taken away: a patch cannot say more. */
export function mergePatchOf(before: object, after: object): Record<string, unknown> {
  const [old, now] = [new Map<string, unknown>(Object.entries(before)), new Map<string, unknown>(Object.entries(after))];
  const patch: Record<string, unknown> = {};
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const [from, to] = [old.get(name) ?? null, now.get(name) ?? null];
    if (canonicalJson(from) === canonicalJson(to)) continue;
    patch[name] = isRecord(from) && isRecord(to) ? mergePatchOf(from, to) : to;
  }
  return patch;
}
