/** A list that comes in pages: the first is loaded again whenever something has happened, further ones when they are asked for. */
import { useEffect, useRef, useState } from "preact/hooks";
import { type Asked, further } from "../shared/api-routes.ts";
import type { ListedTurn, ListedVersion, QuarantinedEvent, VersionPage } from "../shared/api.ts";
import { get } from "./api.ts";
import type { Note } from "../shared/note.ts";
import type { LineHead } from "../shared/policy.ts";
import { type Resource, useAction, useResource } from "./resource.ts";

export type Paging<Page, Item> = {
  readonly itemsOf: (page: Page) => readonly Item[];
  readonly idOf: (item: Item) => string | number;
  /** The query that asks for what comes after an item. */
  readonly after: (item: Item) => Readonly<Record<string, string | number>>;
  /** Items of a full page; null where a page may be shorter and yet not the last. */
  readonly size: number | null;
  /** Whether nothing can come after an item; where it is left out, that is found out by asking. */
  readonly isEnd?: (item: Item) => boolean;
};

export type Pages<Page, Item> = Resource<Page> & {
  readonly items: readonly Item[];
  /** Loads the next page; undefined where there is none. */
  readonly more: (() => void) | undefined;
  /** Whether pages behind the first are shown. */
  readonly further: boolean;
  readonly busy: boolean;
};

/** By name. */
export const AGENT_PAGING: Paging<{ agents: LineHead[] }, LineHead> = {
  itemsOf: ({ agents }) => agents,
  idOf: ({ agent }) => agent,
  after: ({ agent }) => ({ after: agent }),
  size: 100,
};

/** Of a line, the newest first. */
export const VERSION_PAGING: Paging<VersionPage, ListedVersion> = {
  itemsOf: ({ versions }) => versions,
  idOf: ({ version }) => version,
  after: ({ version }) => ({ before: version }),
  size: null, // fewer come where they are large
  isEnd: ({ version }) => version === 0,
};

/** Turns of an agent, the newest first. */
export const TURN_PAGING: Paging<{ turns: ListedTurn[] }, ListedTurn> = {
  itemsOf: ({ turns }) => turns,
  idOf: ({ turnId }) => turnId,
  after: ({ seq }) => ({ before: seq }),
  size: null, // fewer come where they are large
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

/** Lists as they were left, by what they asked for: on the way back the pages that were loaded are there. */
const LEFT = new Map<string, Held<unknown>>();
const MOST_LEFT = 20;

export function forgetPages(): void {
  LEFT.clear();
}

/** What is asked for under an address is of one kind. */
function leftAt<Item>(path: string): Held<Item> | undefined {
  return LEFT.get(path) as Held<Item> | undefined;
}

function leave(held: Held<unknown>): void {
  LEFT.delete(held.path);
  LEFT.set(held.path, held);
  const [oldest] = LEFT.keys();
  if (LEFT.size > MOST_LEFT && oldest !== undefined) LEFT.delete(oldest);
}

type Held<Item> = { readonly path: string; readonly items: readonly Item[]; readonly ended: boolean };

/** @param asked with a query of its own or none */
export function usePages<Page, Item>(asked: Asked<Page>, paging: Paging<Page, Item>, version: number | string = 0): Pages<Page, Item> {
  const { path } = asked;
  const first = useResource(asked, version);
  const { data } = first;
  const [held, setHeld] = useState<Held<Item>>(() => leftAt(path) ?? { path, items: [], ended: true });
  const seen = useRef<Page | undefined>(undefined);
  const before = held.path === path ? held : leftAt<Item>(path);
  // What has just come is shown at once: the list is never empty while it is not.
  const own = data === undefined || data === seen.current ? before : refreshed(before, { path, page: paging.itemsOf(data), paging });
  useEffect(() => {
    if (data === undefined || data === seen.current) return;
    seen.current = data;
    setHeld((now) => refreshed(now.path === path ? now : leftAt<Item>(path), { path, page: paging.itemsOf(data), paging }));
  }, [path, data]);
  useEffect(() => {
    if (held.items.length > 0) leave(held);
  }, [held]);
  const { run, busy, error } = useAction();
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
    further: own !== undefined && data !== undefined && own.items.length > paging.itemsOf(data).length,
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

function isLast<Page, Item>(items: readonly Item[], { size, isEnd }: Paging<Page, Item>): boolean {
  const last = items.at(-1);
  return items.length < (size ?? 1) || (last !== undefined && isEnd?.(last) === true);
}
