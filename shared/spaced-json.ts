/**
 * JSON as Python's `json.dumps` writes it, which is how Qwen and Hermes templates show tool calls.
 * The policy is trained on exactly these bytes, so whatever spacing a client uses, the policy sees one form.
 */

/** JSON with `", "` and `": "` separators, members in their own order. */
export function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(", ")}]`;
  if (value !== null && typeof value === "object")
    return `{${Object.entries(value)
      .map(([key, member]) => `${JSON.stringify(key)}: ${spacedJson(member)}`)
      .join(", ")}}`;
  return JSON.stringify(value ?? null);
}

/** Re-spaces a JSON text; a text that is not JSON is part of the record and stays as it was. */
export function respaceJson(text: string): string {
  try {
    return spacedJson(JSON.parse(text));
  } catch {
    return text;
  }
}
