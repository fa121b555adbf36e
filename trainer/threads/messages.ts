/** What crosses between a thread and who calls it. */
import type { ErrorRecord } from "../../shared/errors.ts";

export type CallMessage = { readonly id: number; readonly name: string; readonly args: readonly unknown[] };
/** Asks the thread to end after the call under way. */
export const CLOSE = "close";
export type ReplyMessage =
  | { readonly id: number; readonly status: "done"; readonly value: unknown }
  | { readonly id: number; readonly status: "failed"; readonly error: ErrorRecord };

/** The buffers inside `value` that may move instead of being copied: those a typed array covers whole. */
export function transferables(value: unknown): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const visit = (part: unknown): void => {
    if (ArrayBuffer.isView(part)) {
      if (part.buffer instanceof ArrayBuffer && part.byteLength === part.buffer.byteLength) found.add(part.buffer);
    } else if (part instanceof Map) part.forEach(visit);
    else if (Array.isArray(part)) part.forEach(visit);
    else if (typeof part === "object" && part !== null) Object.values(part).forEach(visit);
  };
  visit(value);
  return [...found];
}
