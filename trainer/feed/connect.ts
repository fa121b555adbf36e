/** A trainer's first call: whether anything answers at its URL, whether that is Nextstate, and whether it takes the key. */
import { AppError, type ErrorCode } from "../../shared/errors.ts";
import type { EdgePort } from "./edge-port.ts";
import { backoffMs, pause, type RetryOptions } from "./retry.ts";

/** With growing waits about a minute: an edge that restarts is back by then, and one that is not has another address. */
const ATTEMPTS = 30;

export type ConnectOptions = RetryOptions & { readonly url: string; readonly attempts?: number };

/**
 * Returns once the edge has answered, or the signal ends the waiting.
 * @throws {auth/forbidden} where the key is not a trainer's, {upstream/unreachable} after the last attempt,
 *   {input/invalid} where something else than Nextstate answers
 */
export async function connect(edge: Pick<EdgePort, "listAgents">, options: ConnectOptions): Promise<void> {
  const { url, random, signal, onRetry, attempts = ATTEMPTS } = options;
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      await edge.listAgents();
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof AppError)) throw error;
      if (!error.retryable) throw explain(error, url);
      if (attempt === attempts)
        throw new AppError("upstream/unreachable", `${url}: an answer within ${attempts} attempts expected, got ${error.message}`, {
          cause: error,
        });
      const delayMs = backoffMs(attempt - 1, random.next());
      onRetry(error, delayMs);
      await pause(delayMs, signal);
    }
  }
}

const NOT_OURS: ReadonlySet<ErrorCode> = new Set(["input/notFound", "upstream/invalid"]);

function explain(error: AppError, url: string): AppError {
  if (error.code === "auth/forbidden")
    return new AppError(
      error.code,
      `${url} does not take this key: a trainer key expected, as \`npm start\` and \`npm run deploy\` leave it in keys.json; give it with --key or NEXTSTATE_TRAINER_KEY (${error.message})`,
      { cause: error },
    );
  if (!NOT_OURS.has(error.code)) return error;
  return new AppError("input/invalid", `${url}: the address of a Nextstate edge expected, without /v1, got ${error.message}`, {
    cause: error,
  });
}
