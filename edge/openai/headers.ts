/**
 * Which conversation a turn is of, what kind of turn it is, and whether it is a retry: from the headers, and where those say nothing
 * from the members of the body by which OpenClaw-RL's clients say the same.
 */
import { z } from "zod";
import { wholeNumber } from "../whole-number.ts";
import { invalid } from "./refuse.ts";

const MAX_NAME = 256;
const NAME = new RegExp(`^[\\x21-\\x7e]{1,${MAX_NAME}}$`); // as in a header: printable, no spaces
const YES: ReadonlySet<string> = new Set(["1", "true", "yes", "on"]);
const NO: ReadonlySet<string> = new Set(["0", "false", "no", "off"]);

type TurnKind = "main" | "side";

export type TurnHeaders = {
  /** `x-session-id`: the client's own name of the conversation. */
  readonly sessionName: string | undefined;
  /** `x-turn-type`; side turns (titles, heartbeats) are served and never trained. */
  readonly turnKind: TurnKind | undefined;
  /** `x-session-done`: the conversation ends with this turn. */
  readonly closes: boolean | undefined;
  readonly idempotencyKey: string | undefined;
  /** `x-stainless-retry-count`, by which OpenAI's clients number their attempts from 0. */
  readonly retryCount: number | undefined;
};

/** `turn_type` of a body. */
export const TurnType = z.enum(["main", "side"]);

/** `session_done` of a body: whatever OpenClaw-RL takes for a yes, and what is as plainly a no. */
export const SessionDone = z.union(
  [z.boolean(), z.literal([0, 1]), z.string().refine(isFlag, "true or false expected")],
  "true or false expected",
);

export function isYes(flag: z.infer<typeof SessionDone>): boolean {
  return YES.has(String(flag).toLowerCase());
}

function isFlag(text: string): boolean {
  return YES.has(text.toLowerCase()) || NO.has(text.toLowerCase());
}

/** @throws {input/invalid} naming the header */
export function parseTurnHeaders(headers: Headers): TurnHeaders {
  return {
    sessionName: checkName(headers.get("x-session-id") ?? undefined, "x-session-id"),
    turnKind: parseKind(headers.get("x-turn-type")),
    closes: parseFlag(headers.get("x-session-done")),
    idempotencyKey: checkName(headers.get("idempotency-key") ?? undefined, "idempotency-key"),
    retryCount: parseCount(headers.get("x-stainless-retry-count"), "x-stainless-retry-count"),
  };
}

/** Whether a header could be the name: it has no spaces and no control characters, and a length. */
export function isName(name: string): boolean {
  return NAME.test(name);
}

/** @throws {input/invalid} for what is no name */
export function checkName(name: string | undefined, param: string): string | undefined {
  if (name === undefined || isName(name)) return name;
  throw invalid(param, `1 to ${MAX_NAME} printable characters without spaces expected, got ${JSON.stringify(name.slice(0, 40))}`);
}

function parseKind(value: string | null): TurnKind | undefined {
  if (value === null) return undefined;
  const kind = TurnType.safeParse(value);
  if (kind.success) return kind.data;
  throw invalid("x-turn-type", `main or side expected, got ${value}`);
}

function parseFlag(value: string | null): boolean | undefined {
  if (value === null) return undefined;
  const flag = SessionDone.safeParse(value);
  if (flag.success) return isYes(flag.data);
  throw invalid("x-session-done", `1 or 0 expected, got ${value}`);
}

function parseCount(value: string | null, param: string): number | undefined {
  if (value === null) return undefined;
  const count = wholeNumber().safeParse(value);
  if (count.success) return count.data;
  throw invalid(param, `a count from 0 expected, got ${value}`);
}
