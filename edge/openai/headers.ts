/** Headers of a chat completion: which conversation, what kind of turn, and whether it is a retry. */
import { z } from "zod";
import { invalid } from "./refuse.ts";

const MAX_NAME = 256;
const NAME = new RegExp(`^[\\x21-\\x7e]{1,${MAX_NAME}}$`); // as in a header: printable, no spaces
const YES: ReadonlySet<string> = new Set(["1", "true", "yes", "on"]);
const NO: ReadonlySet<string> = new Set(["0", "false", "no", "off"]);

export type TurnHeaders = {
  /** `x-session-id`: the client's own name of the conversation. */
  readonly sessionName: string | undefined;
  /** `x-turn-type`; side turns (titles, heartbeats) are served and never trained. */
  readonly turnKind: "main" | "side";
  /** `x-session-done`: the conversation ends with this turn. */
  readonly closes: boolean;
  readonly idempotencyKey: string | undefined;
  /** `x-stainless-retry-count`, by which OpenAI's clients number their attempts from 0. */
  readonly retryCount: number | undefined;
};

/** @throws {input/invalid} naming the header */
export function parseTurnHeaders(headers: Headers): TurnHeaders {
  return {
    sessionName: checkName(headers.get("x-session-id") ?? undefined, "x-session-id"),
    turnKind: parseKind(headers.get("x-turn-type")),
    closes: parseFlag(headers.get("x-session-done"), "x-session-done"),
    idempotencyKey: checkName(headers.get("idempotency-key") ?? undefined, "idempotency-key"),
    retryCount: parseCount(headers.get("x-stainless-retry-count"), "x-stainless-retry-count"),
  };
}

/** @throws {input/invalid} where a name has spaces, control characters or no length */
export function checkName(name: string | undefined, param: string): string | undefined {
  if (name === undefined || NAME.test(name)) return name;
  throw invalid(param, `1 to ${MAX_NAME} printable characters without spaces expected, got ${JSON.stringify(name.slice(0, 40))}`);
}

function parseKind(value: string | null): "main" | "side" {
  const kind = z.enum(["main", "side"]).safeParse(value ?? "main");
  if (kind.success) return kind.data;
  throw invalid("x-turn-type", `main or side expected, got ${value}`);
}

function parseFlag(value: string | null, param: string): boolean {
  const flag = (value ?? "0").toLowerCase();
  if (YES.has(flag) || NO.has(flag)) return YES.has(flag);
  throw invalid(param, `1 or 0 expected, got ${value}`);
}

function parseCount(value: string | null, param: string): number | undefined {
  if (value === null) return undefined;
  const count = z.coerce.number().int().min(0).safeParse(value);
  if (count.success) return count.data;
  throw invalid(param, `a count from 0 expected, got ${value}`);
}
