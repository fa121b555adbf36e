/** A list in pages: all of it, and what is shown of it while others add to it and take from it: nothing twice, and no gap. */
import { describe, expect, it, vi } from "vitest";
import { type Paging, readAll, refreshed } from "../../dashboard/pages.ts";

const paging: Paging<readonly number[], number> = {
  itemsOf: (page) => page,
  idOf: (item) => item,
  after: (item) => ({ before: item }),
  size: 3,
};
const refresh = (held: readonly number[] | undefined, page: readonly number[], ended = false) =>
  refreshed(held === undefined ? undefined : { path: "p", items: held, ended }, { path: "p", page, paging });

describe("refreshed", () => {
  it("begins with the first page, which is the last where it is not full", () => {
    expect(refresh(undefined, [9, 8, 7])).toEqual({ path: "p", items: [9, 8, 7], ended: false });
    expect(refresh(undefined, [9, 8])).toMatchObject({ ended: true });
    expect(refresh(undefined, [])).toMatchObject({ items: [], ended: true });
  });

  it("keeps what was loaded behind the first page when something new pushes the page on", () => {
    expect(refresh([9, 8, 7, 6, 5], [10, 9, 8], true)).toEqual({ path: "p", items: [10, 9, 8, 7, 6, 5], ended: true });
  });

  it("lets go of what is no longer there", () => {
    expect(refresh([9, 8, 7, 6], [9, 7, 6]).items).toEqual([9, 7, 6]);
  });

  it("begins again where more has come than a page holds", () => {
    expect(refresh([9, 8, 7, 6], [14, 13, 12], true)).toEqual({ path: "p", items: [14, 13, 12], ended: false });
  });
});

describe("a page of what may be large", () => {
  const large: Paging<readonly number[], number> = { ...paging, size: null, isEnd: (item) => item === 0 };
  const first = (page: readonly number[]) => refreshed(undefined, { path: "p", page, paging: large });

  it("is not the last for being short, but where it holds the end or nothing", () => {
    expect(first([9])).toMatchObject({ ended: false });
    expect(first([1, 0])).toMatchObject({ ended: true });
    expect(first([])).toMatchObject({ ended: true });
  });
});

describe("readAll", () => {
  it("asks for each page behind the last one's end, with what was asked for at first, until one is not full", async () => {
    const asked: string[] = [];
    const pages = [[9, 8, 7], [6, 5, 4], [3]];
    vi.stubGlobal("fetch", async (path: string) => Response.json(pages[asked.push(path) - 1]));
    try {
      expect(await readAll<readonly number[], number>({ method: "GET", path: "/list?line=u" }, paging)).toEqual([9, 8, 7, 6, 5, 4, 3]);
    } finally {
      vi.unstubAllGlobals();
    }
    expect(asked).toEqual(["/list?line=u", "/list?line=u&before=7", "/list?line=u&before=4"]);
  });
});
