/** Whose versions a view is about: everybody's, or those of one user who has a line of their own. */
import { useLocation } from "preact-iso";
import { API } from "../../shared/api-routes.ts";
import type { ListedLine } from "../../shared/api.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { addressOf, type Line } from "../address.ts";
import type { Live } from "../live.ts";
import { useResource } from "../resource.ts";

type Chooser = Line & {
  live: Live;
  /** The view, without what it shows of it. */ section: string;
  /** Who looks at it, as a user. */ user: string;
};

/** Nothing while an agent has one line alone. */
export function LineChooser({ agent, line, live, section, user }: Chooser) {
  const { lines = [] } = useResource(API.lines.at({ agent }), live.ticks).data ?? {};
  const { route } = useLocation();
  if (lines.length < 2 && line === SHARED_LINE) return null;
  // The edge lists a page of them, by name; of others their conversations lead here.
  const shown = [SHARED_LINE, ...new Set([line, user, ...lines.map((each) => each.line)])].filter(
    (each, place, all) => all.indexOf(each) === place && (each !== user || each === line || lines.some((known) => known.line === user)),
  );
  return (
    <label class="line">
      <span class="note">Line</span>
      <select value={line} onChange={({ currentTarget }) => route(addressOf({ agent, line: currentTarget.value }, section))}>
        {shown.map((each) => (
          <option key={each} value={each}>
            {titleOf(
              lines.find((known) => known.line === each),
              { line: each, user },
            )}
          </option>
        ))}
      </select>
    </label>
  );
}

function titleOf(known: ListedLine | undefined, { line, user }: { line: string; user: string }): string {
  const name = line === SHARED_LINE ? "everybody's" : line === user ? `yours, from the playground (${line})` : line;
  return known === undefined || !known.answers ? name : `${name}: version ${known.stable}`;
}
