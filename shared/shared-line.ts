/** The line that serves everybody who has no line of their own. Apart from policy.ts, so that the dashboard loads no schemas. */
export const SHARED_LINE = "shared";
