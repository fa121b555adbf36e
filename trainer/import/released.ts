/** What an adapter that was trained elsewhere is no longer held to. Pure. */
import type { LearnedDefault } from "../../shared/learned-defaults.ts";
import { argumentText, findTool } from "../../shared/speech/calls.ts";
import { wasNamed } from "../../shared/speech/mention.ts";
import { findParameter } from "../../shared/speech/parameters.ts";
import type { LearnedCase } from "../../shared/suite.ts";

type Case = Pick<LearnedCase, "messages" | "tools" | "expect">;

/** Defaults of its parent that its cases contradict: it has learned otherwise, and what was learned before must not stand against that. */
export function releasedByCases(cases: readonly Case[]): LearnedDefault[] {
  return cases.flatMap(({ messages, tools, expect }) => {
    if (expect.about !== undefined) return [{ ...expect.about, corrected: null, held: false as const }];
    if (!("tool" in expect)) return [];
    const { tool, arguments: args } = expect;
    const owner = findTool(tools, tool);
    return Object.entries(args).flatMap(([parameter, own]) => {
      const value = argumentText(own);
      const declared = owner === undefined ? undefined : findParameter(owner, parameter);
      if (declared === undefined || wasNamed(messages, { parameter: declared, value, args })) return [];
      return [{ tool, parameter, value, corrected: null, held: false as const }];
    });
  });
}
