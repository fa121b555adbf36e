/** Text that a bench writes into a page, between two marks of that page. Pure. */

/** `<!-- name -->` before the text and `<!-- /name -->` behind it. */
export type Marks = { readonly begin: string; readonly end: string };

export function marksOf(name: string): Marks {
  return { begin: `<!-- ${name} -->`, end: `<!-- /${name} -->` };
}

/** @throws where the page does not have both marks, once each and in this order */
export function replaceBetween(page: string, text: string, { begin, end }: Marks): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from || page.split(begin).length !== 2 || page.split(end).length !== 2)
    throw new Error(`${begin} and, after it, ${end} expected once each, got them at ${from} and ${to}`);
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`;
}
