/**
 * Corrections that name no argument, and messages that correct nothing, about calls of products that nobody has built. Each set was written for this project by somebody who
 * had seen neither what the judge is trained on nor its rules. All have been looked at since; what was heard before is in docs/measured.md.
 */
import { z } from "zod";
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { isAspect } from "../../shared/aspects.ts";
import { sameText } from "../../shared/speech/calls.ts";
import type { JobSampler } from "../../trainer/judge/job-sampler.ts";
import { readJsonLines } from "../../trainer/pretrain/json-lines.ts";
import { createPanel } from "../../trainer/judge/panel.ts";
import { say } from "../bench.ts";
import { signalIn } from "../sim/logbook.ts";
import { type Share, share } from "./share.ts";

const ToolLine = z.strictObject({
  set: z.string(),
  tool: z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()) }),
});
const CaseLine = z.strictObject({
  set: z.string(),
  /** Tools at hand, by name, among the set's. */
  tools: z.array(z.string()),
  request: z.string(),
  call: z.string(),
  arguments: z.string(),
  result: z.string(),
  reply: z.string(),
  said: z.string(),
  /** What a careful reader takes it for; null where it corrects nothing. */
  expect: z.strictObject({ parameter: z.string(), value: z.string() }).nullable(),
});
type Case = z.infer<typeof CaseLine>;

const FILE = new URL("unnamed-cases.jsonl", import.meta.url);

/** By set: corrections heard as they are meant, those taken for another, and messages without one that were taken for one. */
export async function evaluateUnnamed(sampler: JobSampler): Promise<Record<string, { heard: Share; misread: Share; madeUp: Share }>> {
  const lines = readJsonLines(FILE, z.union([ToolLine, CaseLine]));
  const tools = lines.filter((line) => "tool" in line);
  const cases = lines.filter((line) => "said" in line);
  const panel = createPanel(sampler);
  const outcomes: { set: string; isCorrection: boolean; outcome: "right" | "wrong" | "none" }[] = [];
  for (const [index, each] of cases.entries()) {
    const verdict = await panel.judge(signalOf(each, tools), { votes: 3, seed: index });
    const heard = [verdict?.hint, ...(verdict?.further ?? [])].flatMap((found) => found?.hint ?? []);
    outcomes.push({ set: each.set, isCorrection: each.expect !== null, outcome: outcomeOf(each, heard) });
    if (index % 25 === 0) say(`unnamed: ${index}/${cases.length}`);
  }
  const sets = [...new Set(cases.map(({ set }) => set))];
  return Object.fromEntries(
    sets.map((set) => {
      const own = outcomes.filter((each) => each.set === set);
      const corrections = own.filter(({ isCorrection }) => isCorrection).map(({ outcome }) => outcome);
      const others = own.filter(({ isCorrection }) => !isCorrection).map(({ outcome }) => outcome);
      return [
        set,
        {
          heard: share(corrections.map((outcome) => outcome === "right")),
          misread: share(corrections.map((outcome) => outcome === "wrong")),
          madeUp: share(others.map((outcome) => outcome === "wrong")),
        },
      ];
    }),
  );
}

/** Right is one hint, or several, of which all say what was meant. */
function outcomeOf({ expect }: Case, heard: readonly { parameter: string; value: string }[]): "right" | "wrong" | "none" {
  if (heard.length === 0) return "none";
  const isMeant = heard.every(
    ({ parameter, value }) => expect !== null && !isAspect(parameter) && parameter === expect.parameter && sameText(value, expect.value),
  );
  return isMeant ? "right" : "wrong";
}

function signalOf(
  { set, tools: names, request, call, arguments: args, result, reply, said }: Case,
  known: readonly z.infer<typeof ToolLine>[],
): ReturnType<typeof signalIn> {
  const tools = names.map((name): ToolDefinition => {
    const line = known.find((each) => each.set === set && each.tool.name === name);
    if (line === undefined) throw new Error(`set ${set}: a tool ${name} expected, got none`);
    return { type: "function", function: line.tool };
  });
  const messages: ChatMessage[] = [
    { role: "user", content: request },
    { role: "assistant", content: null, tool_calls: [{ id: "call_1", type: "function", function: { name: call, arguments: args } }] },
    { role: "tool", tool_call_id: "call_1", content: result },
  ];
  return signalIn({ messages, tools }, { role: "assistant", content: reply }, [{ role: "user", content: said }]);
}
