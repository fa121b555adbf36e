/** From so many users on a line is no small circle any more: below it, one may teach it alone. Apart from influence.ts, so that the dashboard loads no schemas. */
export const SMALL_CIRCLE = 4;
