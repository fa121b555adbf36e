/** Which events of lines are not learned from. */
import { useEffect, useState } from "preact/hooks";
import { API } from "../shared/api-routes.ts";
import { BARRED_PAGING, readAll } from "./pages.ts";

/** Ids of the events that were in quarantine when the page was opened. */
export function useBarred(agent: string, of: readonly string[]): ReadonlySet<string> {
  const [barred, setBarred] = useState<ReadonlySet<string>>(new Set());
  const lines = [...new Set(of)].toSorted().join(" ");
  useEffect(() => {
    for (const line of lines.split(" ").filter(Boolean))
      readAll(API.quarantined.at({ agent }, { line }), BARRED_PAGING).then(
        (events) => setBarred((before) => new Set([...before, ...events.map(({ eventId }) => eventId)])),
        () => {}, // then each stands as if it were learned from, and can be barred
      );
  }, [agent, lines]);
  return barred;
}
