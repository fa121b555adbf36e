/** A list that comes in pages: the first is loaded again whenever something has happened, further ones when they are asked for. */
import { useEffect, useState } from "preact/hooks";
import { type Asked, further } from "../shared/api-routes.ts";
import type { ListedVersion, QuarantinedEvent, VersionPage } from "../shared/api.ts";
import { get } from "./api.ts";
import type { Note } from "../shared/note.ts";
import { type Resource, useAction, useResource } from "./resource.ts";

export type Paging<Page, Item> = {
  readonly itemsOf: (page: Page) => readonly Item[];
  readonly idOf: (item: Item) => string | number;
  /** The query that asks for what comes after an item. */
  readonly after: (item: Item) => Readonly<Record<string, string | number>>;
  /** Items of a full page; null where a page may be shorter and yet not the last. */
  readonly size: number | null;
};

export type Pages<Page, Item> = Resource<Page> & {
  readonly items: readonly Item[];
  /** Loads the next page; undefined where there is none. */
  readonly more: (() => void) | undefined;
  readonly busy: boolean;
};

/** Of a line, the newest first. */
export const VERSION_PAGING: Paging<VersionPage, ListedVersion> = {
  itemsOf: ({ versions }) => versions,
  idOf: ({ version }) => version,
  after: ({ version }) => ({ before: version }),
  size: 100,
};

/** Notes of a line, the newest first. */
export const NOTE_PAGING: Paging<{ notes: Note[] }, Note> = {
  itemsOf: ({ notes }) => notes,
  idOf: ({ noteId }) => noteId,
  after: ({ noteId }) => ({ before: noteId }),
  size: 100,
};

/** Events of a line that no version learns from. */
export const BARRED_PAGING: Paging<{ events: QuarantinedEvent[] }, QuarantinedEvent> = {
  itemsOf: ({ events }) => events,
  idOf: ({ eventId }) => eventId,
  after: ({ eventId }) => ({ after: eventId }),
  size: 100,
};

type Held<Item> = { readonly path: string; readonly items: readonly Item[]; readonly ended: boolean };

/** @param asked with a query of its own or none */
export function usePages<Page, Item>(asked: Asked<Page>, paging: Paging<Page, Item>, version: number | string = 0): Pages<Page, Item> {
  const { path } = asked;
  const first = useResource(asked, version);
  const [held, setHeld] = useState<Held<Item>>({ path, items: [], ended: true });
  const { run, busy, error } = useAction();
  const { data } = first;
  useEffect(() => {
    if (data !== undefined)
      setHeld((before) => refreshed(before.path === path ? before : undefined, { path, page: paging.itemsOf(data), paging }));
  }, [path, data]);
  const own = held.path === path ? held : undefined;
  const last = own?.items.at(-1);
  const load = (from: Item): void =>
    run(async () => {
      const items = paging.itemsOf(await get(further(asked, paging.after(from))));
      setHeld((before) => {
        // Somebody may have changed the list, or the address, meanwhile.
        const end = before.items.at(-1);
        if (before.path !== path || end === undefined || paging.idOf(end) !== paging.idOf(from)) return before;
        return { path, items: [...before.items, ...items], ended: isLast(items, paging) };
      });
    });
  return {
    ...first,
    error: first.error ?? (error === undefined ? undefined : new Error(error)),
    items: own?.items ?? [],
    more: own === undefined || own.ended || last === undefined ? undefined : () => load(last),
    busy,
  };
}

/** A whole list, page after page. @param asked with a query of its own or none */
export async function readAll<Page, Item>(asked: Asked<Page>, paging: Paging<Page, Item>): Promise<Item[]> {
  const found: Item[] = [];
  for (let next = asked; ;) {
    const items = paging.itemsOf(await get(next));
    found.push(...items);
    const last = items.at(-1);
    if (last === undefined || isLast(items, paging)) return found;
    next = further(asked, paging.after(last));
  }
}

/**
 * The first page with what is held behind its last item. Where that item is not held, more has come than a page holds, and what is
 * held would leave a gap.
 */
export function refreshed<Page, Item>(
  before: Held<Item> | undefined,
  { path, page, paging }: { path: string; page: readonly Item[]; paging: Paging<Page, Item> },
): Held<Item> {
  const last = page.at(-1);
  const place = last === undefined ? -1 : (before?.items.findIndex((item) => paging.idOf(item) === paging.idOf(last)) ?? -1);
  if (before === undefined || place < 0) return { path, items: page, ended: isLast(page, paging) };
  return { path, items: [...page, ...before.items.slice(place + 1)], ended: before.ended };
}

function isLast<Page, Item>(items: readonly Item[], { size }: Paging<Page, Item>): boolean {
  return items.length < (size ?? 1);
}
