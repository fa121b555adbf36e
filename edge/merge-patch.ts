import { isRecord } from "../shared/grammar/schema-parts.ts";

/** JSON merge patch (RFC 7396): members of the patch replace, null takes a member away, objects are merged within. Pure. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}
