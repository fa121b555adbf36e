/** The one error class, its closed list of codes, and what each code means to a caller. */

type ErrorTraits = {
  /** HTTP status where the error reaches a client. */
  readonly status: number;
  /** The same call may succeed later, unchanged. */
  readonly retryable: boolean;
  /** Process exit code where the error ends a command. */
  readonly exitCode: number;
};

const INPUT = { status: 400, retryable: false, exitCode: 2 } as const;
const FAULT = { status: 500, retryable: false, exitCode: 1 } as const;

/** Total: a code without traits does not compile, and a code outside it does not exist. */
export const ERROR_TRAITS = {
  "input/invalid": INPUT,
  "input/unsupported": INPUT,
  "input/tooLarge": { ...INPUT, status: 413 },
  "input/notFound": { ...INPUT, status: 404 },
  "input/methodNotAllowed": { ...INPUT, status: 405 },
  "auth/missing": { ...INPUT, status: 401 },
  "auth/forbidden": { ...INPUT, status: 403 },
  "auth/limited": { status: 429, retryable: true, exitCode: 1 },
  "session/conflict": { status: 409, retryable: true, exitCode: 1 },
  "agent/conflict": { status: 409, retryable: true, exitCode: 1 },
  "session/aborted": { status: 499, retryable: false, exitCode: 1 },
  "policy/unknown": { ...INPUT, status: 404 },
  "policy/stale": { status: 409, retryable: true, exitCode: 1 },
  "policy/missing": { status: 409, retryable: false, exitCode: 1 },
  "policy/busy": { status: 503, retryable: true, exitCode: 1 },
  "lease/lost": { status: 409, retryable: false, exitCode: 1 },
  "lease/twin": { status: 409, retryable: false, exitCode: 2 },
  "policy/digest": { ...INPUT, status: 422 },
  "policy/refused": { ...INPUT, status: 422 },
  "upstream/unreachable": { status: 502, retryable: true, exitCode: 1 },
  "upstream/failed": { status: 502, retryable: true, exitCode: 1 },
  "upstream/invalid": { status: 502, retryable: false, exitCode: 1 },
  "upstream/timeout": { status: 504, retryable: true, exitCode: 1 },
  "judge/unparsable": FAULT,
  "judge/unavailable": { status: 503, retryable: true, exitCode: 1 },
  "graph/shape": FAULT,
  "graph/unsupported": FAULT,
  "train/lengths": FAULT,
  "train/nonFinite": FAULT,
  "train/refused": FAULT,
  "engine/closed": { status: 503, retryable: true, exitCode: 1 },
  "engine/crashed": FAULT,
  internal: FAULT,
} as const satisfies Record<string, ErrorTraits>;

export type ErrorCode = keyof typeof ERROR_TRAITS;
export type ErrorDetails = Readonly<Record<string, string | number>>;

/** What crosses a wire or a thread: an error without its class, stack or cause. */
export type ErrorRecord = { readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails };

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, { details = {}, cause }: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "AppError";
    this.code = code;
    this.details = details;
  }

  get retryable(): boolean {
    return ERROR_TRAITS[this.code].retryable;
  }

  get status(): number {
    return ERROR_TRAITS[this.code].status;
  }

  get exitCode(): number {
    return ERROR_TRAITS[this.code].exitCode;
  }
}

/** What ends an answer that nobody reads any more. */
export function abortedByReader(cause?: unknown): AppError {
  return new AppError("session/aborted", "answer aborted by its reader", { cause });
}

/** What an HTTP status that is no success means to who called our own API. */
export function codeOfStatus(status: number): ErrorCode {
  if (status === 404) return "input/notFound";
  if (status === 401 || status === 403) return "auth/forbidden";
  return status >= 500 || status === 429 ? "upstream/failed" : "upstream/invalid";
}

/** The record of any thrown value; what is not an AppError becomes `internal` with its message. */
export function toErrorRecord(thrown: unknown): ErrorRecord {
  if (thrown instanceof AppError) return { code: thrown.code, message: thrown.message, details: thrown.details };
  return { code: "internal", message: thrown instanceof Error ? thrown.message : String(thrown), details: {} };
}

/** The error a record was made from. */
export function fromErrorRecord(record: ErrorRecord): AppError {
  return new AppError(record.code, record.message, { details: record.details });
}
