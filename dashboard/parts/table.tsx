/** A table that may be wider than the page, and on a phone has its rows below one another; and what loads the rest of a list. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Pages } from "../pages.ts";
import { Scroll } from "./shown.tsx";

export function Table({ label, columns, children }: { label: string; columns: readonly string[]; children: ComponentChildren }) {
  return (
    <Scroll label={label}>
      <table style={Object.fromEntries(columns.map((name, at) => [`--column${at + 1}`, JSON.stringify(name)]))}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Scroll>
  );
}

type Listed = Pick<Pages<unknown, unknown>, "items" | "more" | "further" | "busy">;

/** How much of a list is shown, and what loads the rest; nothing where all of it came at once. */
export function More({ what, pages: { items, more, further, busy } }: { what: string; pages: Listed }) {
  const told = useRef<HTMLSpanElement>(null);
  const wasMore = useRef(false);
  useEffect(() => {
    // Whoever loaded the last page by keyboard goes on from here, not from the top of the page.
    if (more === undefined && wasMore.current && document.activeElement === document.body) told.current?.focus();
    if (more !== undefined) wasMore.current = true;
  }, [more === undefined]);
  if (more === undefined && !further) return null;
  return (
    <p class="more">
      {more !== undefined && (
        // Not disabled: that would take the focus away.
        <button type="button" class="secondary" aria-busy={busy} aria-disabled={busy} onClick={() => busy || more()}>
          Load more {what}
        </button>
      )}
      <span class="note" role="status" tabIndex={-1} ref={told}>
        {more === undefined ? `All ${items.length} are shown.` : `${items.length} are shown.`}
      </span>
    </p>
  );
}
