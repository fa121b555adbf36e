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
  readonly head: Head | undefined;
  /** What the trainer said last while the page was open. */
  readonly trainer: TrainerReport | undefined;
};

const GATHER_MS = 500;
const NOTHING: Live = { connected: false, ticks: 0, head: undefined, trainer: undefined };

export function useLive({ agent, line }: Line): Live {
  const [live, setLive] = useState<Live>(NOTHING);
  const gathered = useRef<number | undefined>(undefined);
  useEffect(() => {
    setLive(NOTHING);
    const source = new EventSource(API.stream.at({ agent }, { line }).path);
    const tick = (): void => {
      gathered.current ??= window.setTimeout(() => {
        gathered.current = undefined;
        setLive((before) => ({ ...before, ticks: before.ticks + 1 }));
      }, GATHER_MS);
    };
    source.addEventListener("open", () => setLive((before) => ({ ...before, connected: true })));
    source.addEventListener("error", () => setLive((before) => ({ ...before, connected: false })));
    source.addEventListener("release", ({ data }: MessageEvent<string>) => {
      const head = JSON.parse(data) as Head;
      setLive((before) => ({ ...before, head }));
      tick();
    });
    source.addEventListener("trainer", ({ data }: MessageEvent<string>) => {
      const trainer = JSON.parse(data) as TrainerReport;
      setLive((before) => ({ ...before, trainer }));
    });
    source.addEventListener("event", tick);
    return () => {
      source.close();
      clearTimeout(gathered.current);
      gathered.current = undefined;
    };
  }, [agent, line]);
  return live;
}
