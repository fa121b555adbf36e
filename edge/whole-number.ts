/** Numbers as paths, queries and headers write them. */
import { z } from "zod";

const DIGITS = /^\d{1,15}$/; // as many as a double holds

/** A whole number in digits, and in nothing else: `Number` reads "" and " " as 0, and "0x1" as 1. */
export function wholeNumber({ least = 0, most = Number.MAX_SAFE_INTEGER }: { least?: number; most?: number } = {}) {
  const digits = z.string().refine((text) => DIGITS.test(text), "a whole number in digits expected");
  // What clients that are made from the API's description send.
  const told = digits.meta({ type: "integer", minimum: least, maximum: most });
  return told.transform(Number).pipe(z.number().min(least).max(most));
}
