/** `nextstate lines`: the shared line of an agent, and those of users who have a version of their own. */
import { buildCommand } from "@stricli/core";
import type { ListedLine } from "../../shared/api.ts";
import { show, table } from "./output.ts";
import { PAGE } from "./paged.ts";
import { AGENT, amount, COMMON, connect, type Common, type Context } from "./where.ts";

export const lines = buildCommand<Common & { limit: number }, [string], Context>({
  docs: { brief: "Lines: the shared one, and those of users who have a version of their own" },
  parameters: {
    flags: { ...COMMON, limit: { kind: "parsed", parse: amount, default: "100", placeholder: "n", brief: "how many are listed" } },
    positional: { kind: "tuple", parameters: [AGENT] },
  },
  func: async (flags, agent) => {
    const edge = connect(flags);
    const found: ListedLine[] = [];
    for (let after: string | undefined; found.length < flags.limit; after = found.at(-1)?.line) {
      const limit = Math.min(PAGE, flags.limit - found.length);
      const page = await edge.lines(agent, { ...(after === undefined ? {} : { after }), limit });
      found.push(...page.lines);
      if (page.lines.length < limit) break;
    }
    show(flags, { lines: found }, (all) => table(["line", "stable", "over", "answers"], all.lines.map(toRow)));
  },
});

function toRow({ line, stable, over, answers }: ListedLine): string[] {
  return [line, `v${stable}`, over === null ? "–" : `v${over} of shared`, answers ? "itself" : "shared"];
}
