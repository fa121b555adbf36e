/** Whose versions a view is about: everybody's, or those of one user who has a line of their own. */
import { useLocation } from "preact-iso";
import { API } from "../../shared/api-routes.ts";
import type { ListedLine } from "../../shared/api.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { addressOf, type Line } from "../address.ts";
import type { Live } from "../live.ts";
import { type Paging, usePages } from "../pages.ts";

type Chooser = Line & {
  live: Live;
  /** The view, without what it shows of it. */ section: string;
  /** Who looks at it, as a user. */ user: string;
};

const PAGING: Paging<{ lines: ListedLine[] }, ListedLine> = {
  itemsOf: ({ lines }) => lines,
  idOf: ({ line }) => line,
  after: ({ line }) => ({ after: line }),
  size: 100,
};
const FURTHER = ""; // no line's name

/** Nothing while an agent has one line alone. */
export function LineChooser({ agent, line, live, section, user }: Chooser) {
  const { items: lines, more } = usePages(API.lines.at({ agent }), PAGING, live.ticks);
  const { route } = useLocation();
  if (lines.length < 2 && line === SHARED_LINE) return null;
  const shown = [SHARED_LINE, ...new Set([line, user, ...lines.map((each) => each.line)])].filter(
    (each, place, all) => all.indexOf(each) === place && (each !== user || each === line || lines.some((known) => known.line === user)),
  );
  return (
    <label class="line">
      <span class="note">Line</span>
      <select
        value={line}
        onChange={({ currentTarget: { value } }) => (value === FURTHER ? more?.() : route(addressOf({ agent, line: value }, section)))}
      >
        {shown.map((each) => (
          <option key={each} value={each}>
            {titleOf(
              lines.find((known) => known.line === each),
              { line: each, user },
            )}
          </option>
        ))}
        {more && <option value={FURTHER}>further lines …</option>}
      </select>
    </label>
  );
}

function titleOf(known: ListedLine | undefined, { line, user }: { line: string; user: string }): string {
  const name = line === SHARED_LINE ? "everybody's" : line === user ? `yours, from the playground (${line})` : line;
  return known === undefined || !known.answers ? name : `${name}: version ${known.stable}`;
}
