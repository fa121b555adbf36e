/** An agent's suite: what every version must still do, as people have written it down or corrections have taught it. */
import { z } from "zod";
import { ChatMessage, ToolDefinition } from "./chat.ts";

/** What the answer has to be; for a call, the arguments named are compared as text, others are free. */
const About = {
  /** What a learned case decides where that is no argument: the topic of an aspect. */
  about: z.string().min(1).optional(),
};
export const Expectation = z.union([
  z.strictObject({ tool: z.string().min(1), arguments: z.record(z.string(), z.unknown()).default({}), ...About }),
  /** A reply without a call that holds each of the texts, in any case. */
  z.strictObject({ reply: z.strictObject({ contains: z.array(z.string().min(1)).default([]) }), ...About }),
]);
export type Expectation = z.infer<typeof Expectation>;

/** What a case is about: its tool and the names of what it expects, or an aspect. Of learned cases of one place the latest counts. */
export function placeOf(expect: Expectation): string {
  if (expect.about !== undefined) return expect.about;
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
