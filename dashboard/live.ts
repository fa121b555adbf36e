/** What happens to an agent, as it happens: what answers, what its trainer says, and a count that views load again by. */
import { API } from "../shared/api-routes.ts";
import type { TrainerReport } from "../shared/api.ts";
import type { Line } from "./address.ts";
import { useEffect, useRef, useState } from "preact/hooks";

type Head = {
  readonly stable: number;
  readonly canary: { readonly version: number; readonly share: number } | null;
  readonly latest: number;
  readonly cursor: number;
};

export type Live = {
  readonly connected: boolean;
  /** Grows when something has happened, at most twice a second. */
  readonly ticks: number;
  /** Grows when the line has moved: fewer than ticks, since what is said moves no version. */
  readonly moves: number;
  readonly head: Head | undefined;
  /** What the trainer said last while the page was open. */
  readonly trainer: TrainerReport | undefined;
};

const GATHER_MS = 500;
/** A browser gives up at any answer but 200; it is asked again after this, twice as long each time it fails, at most the longest. */
const AGAIN_MS = { first: 1_000, longest: 30_000 };
const NOTHING: Live = { connected: false, ticks: 0, moves: 0, head: undefined, trainer: undefined };

export function useLive({ agent, line }: Line): Live {
  const [live, setLive] = useState<Live>(NOTHING);
  const gathered = useRef<number | undefined>(undefined);
  useEffect(() => {
    setLive(NOTHING);
    let source: EventSource;
    let again: number | undefined;
    let waitMs = AGAIN_MS.first;
    const tick = (): void => {
      gathered.current ??= window.setTimeout(() => {
        gathered.current = undefined;
        setLive((before) => ({ ...before, ticks: before.ticks + 1 }));
      }, GATHER_MS);
    };
    const listen = (): void => {
      source = new EventSource(API.stream.at({ agent }, { line }).path);
      source.addEventListener("open", () => {
        waitMs = AGAIN_MS.first;
        setLive((before) => ({ ...before, connected: true }));
      });
      source.addEventListener("error", () => {
        setLive((before) => ({ ...before, connected: false }));
        if (source.readyState !== EventSource.CLOSED) return;
        again = window.setTimeout(listen, waitMs);
        waitMs = Math.min(2 * waitMs, AGAIN_MS.longest);
      });
      source.addEventListener("release", ({ data }: MessageEvent<string>) => {
        const head = JSON.parse(data) as Head;
        setLive((before) => ({ ...before, head, moves: before.moves + 1 }));
        tick();
      });
      source.addEventListener("trainer", ({ data }: MessageEvent<string>) => {
        const trainer = JSON.parse(data) as TrainerReport;
        setLive((before) => ({ ...before, trainer }));
      });
      source.addEventListener("event", tick);
    };
    const listenNow = (): void => {
      if (source.readyState !== EventSource.CLOSED) return;
      clearTimeout(again);
      waitMs = AGAIN_MS.first;
      listen();
    };
    listen();
    window.addEventListener("online", listenNow);
    return () => {
      window.removeEventListener("online", listenNow);
      source.close();
      clearTimeout(again);
      clearTimeout(gathered.current);
      gathered.current = undefined;
    };
  }, [agent, line]);
  return live;
}
