/** On the way back a page is where it was left: its lists come later than the browser waits for them. */
import { useEffect } from "preact/hooks";

const WAIT_MS = 5_000; // for what is loaded again
/** Whoever does one of these goes somewhere else. */
const MOVED_BY = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

export function useScrollPlaces(): void {
  useEffect(() => {
    const places = new Map<string, number>();
    let wanted: number | undefined;
    let timer: number | undefined;
    const here = (): string => window.location.pathname + window.location.search;
    const stop = (): void => {
      wanted = undefined;
      clearTimeout(timer);
    };
    const tryIt = (): void => {
      if (wanted === undefined) return;
      const room = document.documentElement.scrollHeight - window.innerHeight;
      window.scrollTo({ top: Math.min(wanted, room), behavior: "instant" });
      if (room >= wanted) stop();
    };
    const keep = (): void => {
      if (wanted === undefined) places.set(here(), window.scrollY);
    };
    const goBack = (): void => {
      stop();
      wanted = places.get(here());
      timer = window.setTimeout(stop, WAIT_MS);
      tryIt();
    };
    const grown = new ResizeObserver(tryIt);
    grown.observe(document.body);
    window.addEventListener("scroll", keep, { passive: true });
    // Who scrolls and leaves within one frame is gone before its scroll event comes.
    window.addEventListener("click", keep, { capture: true });
    window.addEventListener("popstate", goBack);
    for (const name of MOVED_BY) window.addEventListener(name, stop, { passive: true });
    return () => {
      stop();
      grown.disconnect();
      window.removeEventListener("scroll", keep);
      window.removeEventListener("click", keep, { capture: true });
      window.removeEventListener("popstate", goBack);
      for (const name of MOVED_BY) window.removeEventListener(name, stop);
    };
  }, []);
}
