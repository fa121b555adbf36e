/**
 * Which version answers. A correction changes what it is about, and nothing else: a call of a tool is made by the version that learned of that tool last, and
 * one of a tool of which nothing was learned by the version from before anything was. An edit has a scope, and what is outside it stays with the model
 * that was edited (SERAC, arXiv:2206.06520, §3).
 */
import { z } from "zod";
import type { ChatMessage, ToolDefinition } from "./chat.ts";
import { toolsOf } from "./aspects.ts";
import { type HeldDefault, MOST_DEFAULTS } from "./learned-defaults.ts";
import { SHARED_LINE } from "./shared-line.ts";
import { repliedTools } from "./wording.ts";

/** What an update may change: calls of the tools that its defaults are about and replies to their results, or everything. */
export const Reach = z.enum(["tools", "everything"]);
export type Reach = z.infer<typeof Reach>;

export type Numbered = { readonly line: string; readonly version: number };

/** A version with what it has learned. */
export type Reaching<Version> = {
  readonly bound: Version;
  /** `by`: the version that answers for the tool; absent where that is not known, so that the bound one does. */
  readonly defaults: readonly (HeldDefault & { readonly by?: Version | undefined })[];
  /** The version from before anything was learned of any tool alone; null where that is the bound one. */
  readonly outside: Version | null;
};

/** The version that calls a tool and replies to its results. */
export function versionFor<Version>(tool: string, { bound, defaults, outside }: Reaching<Version>): Version {
  const learned = defaults.find((each) => toolsOf(each).includes(tool));
  if (learned !== undefined) return learned.by ?? bound;
  // Of a version that has learned more than it keeps, the rest may be about any tool.
  return defaults.length < MOST_DEFAULTS && outside !== null ? outside : bound;
}

/** The version that begins an answer: the one for the tool whose result is to be replied to, else the newest of those for the tools at hand. */
export function versionToBegin<Version extends Numbered>(
  reaching: Reaching<Version>,
  { messages, tools }: { messages: readonly ChatMessage[]; tools: readonly ToolDefinition[] },
): Version {
  const replied = repliedTools(messages);
  const about = replied.length > 0 ? replied : tools.map(({ function: { name } }) => name);
  const versions = about.map((tool) => versionFor(tool, reaching));
  return versions.reduce((newest, each) => (isNewer(each, newest) ? each : newest), versions[0] ?? reaching.outside ?? reaching.bound);
}

export function isSameVersion(left: Numbered, right: Numbered): boolean {
  return left.line === right.line && left.version === right.version;
}

/** A user's own line stands on the shared one. */
function isNewer(left: Numbered, right: Numbered): boolean {
  return left.line === right.line ? left.version > right.version : left.line !== SHARED_LINE;
}
