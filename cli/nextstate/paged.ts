/** Lists of the API, which come in pages. */

export const PAGE = 100; // the most that the API gives at once

/** A whole list that gives PAGE at once, page after page; of turns, which may come fewer, it would be the first page. @param page at most PAGE of what stands behind an id, or from the list's beginning */
export async function readAll<Listed>(
  page: (after: string | undefined) => Promise<readonly Listed[]>,
  idOf: (listed: Listed) => string,
): Promise<Listed[]> {
  const found: Listed[] = [];
  for (;;) {
    const last = found.at(-1);
    const further = await page(last === undefined ? undefined : idOf(last));
    found.push(...further);
    if (further.length < PAGE) return found;
  }
}
