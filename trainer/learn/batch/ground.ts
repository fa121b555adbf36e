/** What a line's next version is learned from: its parent, or, where the shared line has moved on under a personal one, the shared version. */
import type { KeptDefaults, LineHead, VersionFiles } from "../../../shared/policy.ts";
import { versionOf } from "../../../shared/own-arguments.ts";
import { type Standing, isSameVersion } from "../../../shared/reach.ts";
import { SHARED_LINE } from "../../../shared/shared-line.ts";
import type { Place } from "../../../shared/yielding.ts";
import type { UpdateRequest } from "../update/learner.ts";

/** A version with what it has learned. */
export type Ground = { readonly version: Answerer; readonly kept: KeptDefaults };
export type Answerer = Pick<VersionFiles, "line" | "version" | "adapter">;
type Head = Pick<LineHead, "line" | "parent" | "parentAdapter" | "over" | "defaults" | "answering" | "parentKept">;

/** Whether a personal line's next version is learned from another version of the shared line than its parent was. */
export function isNewGround({ over }: Pick<LineHead, "over">): boolean {
  return over !== null && over.parentOver !== over.version;
}

/** The version that a line's next one is learned from. */
export function groundOf(head: Head): Ground {
  const { over } = head;
  if (over === null || !isNewGround(head)) return parentOf(head);
  const { version, adapter, kept } = over;
  return { version: { line: SHARED_LINE, version, adapter }, kept: kept ?? { defaults: [], answering: null } };
}

/** The version that a line's next one takes the place of: its ground, unless its user had more than that. */
export function replacedBy(head: Head): Ground {
  return head.over?.parentOver === null ? groundOf(head) : parentOf(head);
}

/** What answers are held to until there is a next version, and which of their calls and arguments are another version's than its ground's; engines elsewhere have one for all. */
export function servedUntil(head: Head & Pick<LineHead, "onEngine">): Pick<UpdateRequest, "carried" | "othersAnswer"> {
  const { version, kept } = groundOf(head);
  const standing: Standing<Pick<VersionFiles, "line" | "version">> = { bound: version, answering: kept.answering };
  const othersAnswer = (place: Place): boolean => !isSameVersion(versionOf(place, standing, kept.defaults), version);
  return { carried: kept.defaults, ...(!head.onEngine && { othersAnswer }) };
}

function parentOf({ line, parent, parentAdapter, parentKept, defaults, answering }: Head): Ground {
  return { version: { line, version: parent, adapter: parentAdapter }, kept: parentKept ?? { defaults, answering } };
}
