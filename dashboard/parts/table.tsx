/** A table that may be wider than the page, and on a phone has its rows below one another; and what loads the rest of a list. */
import type { ComponentChildren } from "preact";
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

export function More({ what, pages: { more, busy } }: { what: string; pages: { more: (() => void) | undefined; busy: boolean } }) {
  if (more === undefined) return null;
  return (
    <button type="button" class="secondary" aria-busy={busy} disabled={busy} onClick={more}>
      Load more {what}
    </button>
  );
}
