/**
 * How long what a trainer writes may be: asked where it comes in, and not where it is read again, so that what was stored before a limit stays
 * readable. What is longer is refused by member; the trainer itself cuts what is for people to see.
 */
import { z, type ZodType } from "zod";

/** Of an id: with a suffix it is the name of a stored file, which may have 1,024 bytes. */
export const MOST_ID_CHARS = 256;
export const MOST_HINT_CHARS = 4_000;
export const MOST_DETAIL_CHARS = 2_000;
export const MOST_SAMPLE_CHARS = 8_000;
/** Of a row as JSON, half of what a Durable Object's SQLite holds in one (2 MB): the lineage of thousands of events, as a rebuild has it. */
export const MOST_ROW_BYTES = 1_000_000;

export const Id = z.string().max(MOST_ID_CHARS);

/** The same of no more bytes as JSON than a row may have. */
export function asRow<Schema extends ZodType>(schema: Schema): Schema {
  return schema.refine((value) => jsonBytes(value) <= MOST_ROW_BYTES, {
    error: ({ input }) => `at most ${MOST_ROW_BYTES} bytes as JSON expected, got ${jsonBytes(input)}`,
  });
}

function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** A text for people that is no longer than it may be; where it is cut, it says so. */
export function cutTo(most: number, text: string): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}
