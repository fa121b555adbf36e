/** An agent's suite: what every version must still do, as people have written it down or corrections have taught it. */
import { z } from "zod";
import { ASK_NEVER, topicsOf } from "./aspects.ts";
import { ChatMessage, ToolDefinition } from "./chat.ts";

/** What the answer has to be; for a call, the arguments named are compared as text, others are free. */
const About = {
  /** What a learned case decides where that is no argument: an aspect of a tool's call or of replies to it, which the answer must do, too. */
  about: z.strictObject({ tool: z.string().min(1), parameter: z.string().min(1), value: z.string() }).optional(),
};
export const Expectation = z.union(
  [
    z.strictObject({ tool: z.string().min(1), arguments: z.record(z.string(), z.unknown()).default({}), ...About }),
    /** A reply without a call that holds each of the texts, in any case. */
    z.strictObject({ reply: z.strictObject({ contains: z.array(z.string().min(1)).default([]) }), ...About }),
  ],
  '{"tool": "…", "arguments": {…}} or {"reply": {"contains": ["…"]}} expected',
);
export type Expectation = z.infer<typeof Expectation>;

/**
 * Whether what was learned last overrules a learned case: of one place the latest counts, and where a tool is called in another's place, or only
 * after a question, cases that call the one at once are of before.
 */
export function overrules(learned: Expectation, known: Expectation): boolean {
  const { about } = learned;
  if (about === undefined) return known.about === undefined && placeOf(learned) === placeOf(known);
  if (known.about !== undefined) return topicsOf(known.about).some((topic) => topicsOf(about).includes(topic));
  const displaces = about.parameter === "@tool" || (about.parameter === "@ask" && about.value !== ASK_NEVER);
  return "tool" in known && known.tool === about.tool && displaces;
}

/** The argument that a case is about: its tool and the names of what it expects. Of learned cases of one place the latest counts. */
export function placeOf(expect: Expectation): string {
  return "tool" in expect ? JSON.stringify([expect.tool, Object.keys(expect.arguments).toSorted()]) : JSON.stringify(expect);
}

export const SuiteCase = z.object({
  /** Made of what the case asks and expects, so that writing it twice is one case. */
  caseId: z.string(),
  source: z.enum(["person", "correction"]),
  name: z.string(),
  /** The conversation that the policy answers, instructions included. */
  messages: z.array(ChatMessage).min(1),
  tools: z.array(ToolDefinition),
  expect: Expectation,
  /** Of a correction: whose it was, the event, and the version that learned it first. */
  user: z.string().nullable(),
  eventId: z.string().nullable(),
  version: z.number().int().nullable(),
  createdAt: z.string(),
});
export type SuiteCase = z.infer<typeof SuiteCase>;

/** A correction as a trainer hands it in with the version that has learned it. */
export const LearnedCase = SuiteCase.pick({ name: true, messages: true, tools: true, expect: true }).extend({
  user: z.string(),
  eventId: z.string(),
});
export type LearnedCase = z.infer<typeof LearnedCase>;
