/** What a line's next version is learned from: its parent, or, where the shared line has moved on under a personal one, the shared version. */
import type { LineHead } from "../../../shared/policy.ts";

/** Whether a personal line's next version is learned from another version of the shared line than its parent was. */
export function isNewGround({ over }: Pick<LineHead, "over">): boolean {
  return over !== null && over.parentOver !== over.version;
}

/** The adapter that a line's next version is learned from: of its parent, or of the shared version that it is new ground; null for the bare base. */
export function groundOf(head: Pick<LineHead, "over" | "parentAdapter">): LineHead["parentAdapter"] {
  return isNewGround(head) ? (head.over?.adapter ?? null) : head.parentAdapter;
}
