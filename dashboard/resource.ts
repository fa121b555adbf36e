/** What a view shows of the API: loaded once, and again whenever something has happened. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Asked } from "../shared/api-routes.ts";
import { get, Unreachable } from "./api.ts";

export type Resource<Answer> = {
  readonly data: Answer | undefined;
  readonly error: Error | undefined;
  readonly reload: () => void;
};

/** Where nothing answers it is asked again after this, twice as long each time, at most the longest; at once where the network is back. */
const AGAIN_MS = { first: 1_000, longest: 30_000 };

/**
 * @param asked null loads nothing. @param version another one loads again, and what is shown stays until the answer is there
 * @param load where one request does not answer the whole
 */
export function useResource<Answer>(
  asked: Asked<Answer> | null,
  version: number | string = 0,
  load: (asked: Asked<Answer>) => Promise<Answer> = get,
): Resource<Answer> {
  const path = asked?.path ?? null;
  const [state, setState] = useState<{ path: string | null; data?: Answer | undefined; error?: Error | undefined }>({ path });
  const [round, setRound] = useState(0);
  const rounds = useRef(0);
  useEffect(() => {
    if (asked === null) return;
    const own = (rounds.current += 1);
    const settle = (next: { data?: Answer; error?: Error }): void => {
      // A slow answer must not stand over a newer one.
      if (own === rounds.current)
        setState((before) => ({ path, data: before.path === path ? before.data : undefined, ...next, error: next.error }));
    };
    load(asked).then(
      (data) => settle({ data }),
      (error: unknown) => settle({ error: error instanceof Error ? error : new Error(String(error)) }),
    );
  }, [path, version, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const waitMs = useRef(AGAIN_MS.first);
  useEffect(() => {
    if (state.error === undefined) waitMs.current = AGAIN_MS.first;
    if (!(state.error instanceof Unreachable)) return;
    const timer = setTimeout(reload, waitMs.current);
    waitMs.current = Math.min(2 * waitMs.current, AGAIN_MS.longest);
    window.addEventListener("online", reload);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("online", reload);
    };
  }, [state.error]);
  const own = state.path === path;
  return { data: own ? state.data : undefined, error: own ? state.error : undefined, reload };
}

/** Runs what somebody asked for, one at a time; what went wrong stands in `error` until the next try. */
export function useAction(): { run: (action: () => Promise<unknown>) => void; busy: boolean; error: string | undefined } {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const run = useCallback((action: () => Promise<unknown>): void => {
    setBusy(true);
    setError(undefined);
    action()
      .catch((thrown: unknown) => setError(thrown instanceof Error ? thrown.message : String(thrown)))
      .finally(() => setBusy(false));
  }, []);
  return { run, busy, error };
}
