/**
 * Which version answers. A correction changes what it is about, and nothing else: a tool is called by the version that last learned about it, and a tool that
 * nothing was learned about by the version from before anything was. An edit has a scope, and what is outside it stays with the model
 * that was edited (SERAC, arXiv:2206.06520, §3).
 */
import { z } from "zod";
import { at, zipStrict } from "./assert.ts";
import type { ChatMessage, ToolDefinition } from "./chat.ts";
import { SHARED_LINE } from "./shared-line.ts";
import { repliedTools } from "./wording.ts";

const MOST_TOOLS = 128;

/** The tools that an update has learned of, so that it may change calls of these and replies to their results; null where it may change everything. */
export const Reach = z.array(z.string().max(200)).max(MOST_TOOLS).nullable();
export type Reach = z.infer<typeof Reach>;

type Numbered = { readonly line: string; readonly version: number };

/** Who answers beside a version: for each tool that something was learned of, and for all others. */
export type Answering<Version> = {
  readonly outside: Version;
  readonly tools: readonly { readonly tool: string; readonly by: Version }[];
};

/** A version with those that answer beside it; null where it answers for everything. */
export type Standing<Version> = { readonly bound: Version; readonly answering: Answering<Version> | null };

/** Who answers beside a version that was learned over another. One that has learned of more tools than are kept answers for everything. */
export function inheritAnswering<Version>(
  { bound, answering }: Standing<Version>,
  { by, reach }: { by: Version; reach: Reach },
): Answering<Version> | null {
  if (reach === null) return null;
  const others = (answering?.tools ?? []).filter(({ tool }) => !reach.includes(tool));
  const tools = [...reach.map((tool) => ({ tool, by })), ...others];
  return tools.length > MOST_TOOLS ? null : { outside: answering?.outside ?? bound, tools };
}

/** The version that calls a tool and replies to its results. */
export function versionFor<Version>(tool: string, { bound, answering }: Standing<Version>): Version {
  if (answering === null) return bound;
  return answering.tools.find((each) => each.tool === tool)?.by ?? answering.outside;
}

/** The tools that an answer may be about from its beginning: those whose results are to be replied to, else all that are at hand. */
export function toolsAhead({ messages, tools }: { messages: readonly ChatMessage[]; tools: readonly ToolDefinition[] }): string[] {
  const replied = repliedTools(messages);
  return replied.length > 0 ? replied : tools.map(({ function: { name } }) => name);
}

/** The version that begins an answer: the newest of those for the tools that it may be about. */
export function versionToBegin<Version extends Numbered>(standing: Standing<Version>, heard: Parameters<typeof toolsAhead>[0]): Version {
  const versions = toolsAhead(heard).map((tool) => versionFor(tool, standing));
  const none = standing.answering?.outside ?? standing.bound;
  return versions.reduce((newest, each) => (isNewer(each, newest) ? each : newest), versions[0] ?? none);
}

/**
 * Answers that nobody waits for, each by its version: whole ones are asked for, and where the first call is of another version's tool that one is asked
 * instead. Of each version all is asked at once.
 */
export async function answerEach<
  Asked extends Parameters<typeof toolsAhead>[0],
  Version extends Numbered,
  Answer extends { readonly calls: readonly { readonly name: string }[] },
>(
  asked: readonly Asked[],
  standing: Standing<Version>,
  ask: (version: Version, asked: readonly Asked[]) => Promise<readonly Answer[]>,
): Promise<{ readonly by: Version; readonly answer: Answer }[]> {
  const answers: { by: Version; answer: Answer }[] = [];
  const askAll = async (wanted: readonly { index: number; each: Asked; by: Version }[]): Promise<void> => {
    const versions = new Map(wanted.map(({ by }) => [`${by.line} ${by.version}`, by]));
    for (const by of versions.values()) {
      const own = wanted.filter((one) => isSameVersion(one.by, by));
      const said = await ask(
        by,
        own.map(({ each }) => each),
      );
      for (const [{ index }, answer] of zipStrict(own, said)) answers[index] = { by, answer };
    }
  };
  await askAll(asked.map((each, index) => ({ index, each, by: versionToBegin(standing, each) })));
  const passed = asked.flatMap((each, index) => {
    const { by, answer } = at(answers, index);
    const next = answer.calls[0] === undefined ? by : versionFor(answer.calls[0].name, standing);
    return isSameVersion(next, by) ? [] : [{ index, each, by: next }];
  });
  await askAll(passed);
  return answers;
}

export function isSameVersion(left: Numbered, right: Numbered): boolean {
  return left.line === right.line && left.version === right.version;
}

/** A user's own line stands on the shared one. */
function isNewer(left: Numbered, right: Numbered): boolean {
  return left.line === right.line ? left.version > right.version : left.line !== SHARED_LINE;
}
