/**
 * JSON as Python's `json.dumps` writes it, which is how Qwen and Hermes templates show tool calls, and most tools their results.
 * The policy is trained on exactly these bytes, so whatever spacing a client uses, the policy sees one form.
 */

/** JSON with `", "` and `": "` separators, members in their own order. */
export function spacedJson(value: unknown): string {
  return respaceJson(JSON.stringify(value ?? null));
}

// A string, white space, a separator; numbers and what else is left stay as they are written.
const PARTS = /"[^"\\]*(?:\\.[^"\\]*)*"|\s+|[,:]/g;

/** Re-spaces a JSON text, its numbers to the last digit; a text that is not JSON is part of the record and stays as it was. */
export function respaceJson(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  return text.replace(PARTS, (part) => {
    if (part.startsWith('"')) return JSON.stringify(JSON.parse(part));
    return part === "," || part === ":" ? `${part} ` : "";
  });
}

/** The same of what a tool gives back, if that is an object or a list: a small policy that has learned to read one form copies nothing from another. */
export function respaceResult(content: string): string {
  return /^\s*[[{]/.test(content) ? respaceJson(content) : content;
}

const SAFE_DIGITS = 15; // what a double always holds

/** The value of a JSON text with numbers that a double does not hold as their digits. @throws SyntaxError where it is not JSON */
export function parseExactly(text: string): unknown {
  JSON.parse(text);
  const exact = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (part) =>
    part.startsWith('"') || (part.replace(/\D/g, "").length <= SAFE_DIGITS && Number.isFinite(Number(part)))
      ? part
      : `{"digits":"${part}"}`,
  );
  return JSON.parse(exact);
}
