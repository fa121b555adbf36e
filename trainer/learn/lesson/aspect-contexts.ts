/**
 * Contexts for lessons of an aspect: the corrected turns, requests made up in which the aspect shows, and others that must stay as they are. Who is
 * to call unasked still asks for what is missing, so that of some requests something is.
 */
import { ASK_NEVER } from "../../../shared/aspects.ts";
import { at } from "../../../shared/assert.ts";
import type { ChatMessage } from "../../../shared/chat.ts";
import { findTool } from "../../../shared/speech/calls.ts";
import { readParameters } from "../../../shared/speech/parameters.ts";
import { isReplyAspect, repliedTool } from "../../../shared/wording.ts";
import type { Random } from "../../random.ts";
import {
  type Context,
  type ContextCounts,
  type ContextSource,
  type Correction,
  generateContexts,
  offerTools,
  silentContext,
} from "../../teacher/contexts.ts";
import { chooseFacts, converse } from "../../teacher/requests.ts";
import { drawErrandResult } from "./errands.ts";
import { ANCHOR_TOOLS } from "../../teacher/anchor-tools.ts";
import { repliedAnew, repliedElsewhere, variedReply } from "../../teacher/varied-reply.ts";
import type { CorrectedExchange } from "../update/learner.ts";

type Wanted = { readonly correction: Correction; readonly counts: ContextCounts; readonly own: boolean; readonly random: Random };

/** @param wanted.own whether the corrected turns themselves are among them */
export function aspectContexts(group: readonly CorrectedExchange[], wanted: Wanted): Context[] {
  const { correction, counts, own, random } = wanted;
  const turns = group.flatMap((each) => each.turns);
  const last = turns.at(-1)?.payload;
  const system: ChatMessage[] = (last?.messages ?? []).filter(({ role }) => role === "system");
  const tools = last?.tools ?? [correction.tool];
  const source: ContextSource = { correction, tools, system };
  const corrected = turns.map(({ turnId, payload }): Context => {
    return { kind: "silent", origin: turnId, messages: payload.messages, tools: payload.tools, tool: correction.tool.function.name };
  });
  const others = (): Context[] => generateContexts(source, { ...counts, silent: 0, stated: 0 }, random);
  if (isReplyAspect(correction.parameter.name)) {
    const replies = corrected.filter(({ messages }) => repliedTool(messages) === correction.tool.function.name);
    return [...(own ? replies : []), ...replyContexts(replies, wanted), ...others(), ...repliesElsewhere(replies, wanted)];
  }
  const begun = turns.map(({ payload }) => begunBefore(payload.messages));
  const requests = requestContexts(source, { ...wanted, begun });
  // Where a policy calls at once in most that is made up, it asks on in what was not.
  const again = isUnasked(correction) ? amongOthers(corrected, wanted) : [];
  return [...(own ? corrected : []), ...again, ...requests, ...others()];
}

/** The corrected conversations with some of their tools, in another order. */
function amongOthers(corrected: readonly Context[], { counts, random }: Wanted): Context[] {
  return Array.from({ length: corrected.length === 0 ? 0 : Math.ceil(counts.silent / 2) }, (): Context => {
    const context = random.pick(corrected);
    const due = findTool(context.tools, context.tool);
    return { ...context, origin: "generated", tools: due === undefined ? context.tools : offerTools(context, due, random) };
  });
}

/** Results to reply to, as many in the corrected conversations as in requests made up. */
function replyContexts(replies: readonly Context[], { correction, counts, random }: Wanted): Context[] {
  if (replies.length === 0) return [];
  return Array.from({ length: 4 * counts.silent }, (_, index) => {
    const reply = random.pick(replies);
    return index % 2 === 0 ? variedReply(reply, random) : repliedAnew(reply, correction, random);
  }).filter((context) => context !== undefined);
}

/**
 * Results of other tools, the agent's and such as it never had: replies to those stay as they are. Where nothing says so, a name that is not surely
 * learned turns up in them in part, over and over.
 */
function repliesElsewhere(replies: readonly Context[], { correction: { tool }, counts, random }: Wanted): Context[] {
  const others = replies.flatMap(({ tools }) => tools.filter((each) => each.function.name !== tool.function.name));
  const anchors = ANCHOR_TOOLS.filter((each) => each.function.name !== tool.function.name);
  return Array.from({ length: counts.other + counts.anchor }, (_, index): Context | undefined => {
    if (index >= counts.anchor && replies.length > 0) {
      const other = others.length > 0 && random.chance(0.5) ? random.pick(others) : random.pick(anchors);
      return repliedElsewhere(random.pick(replies), other, random);
    }
    const { messages, tools } = drawErrandResult(random);
    return { kind: "anchor", origin: "generated", messages, tools, tool: repliedTool(messages) ?? "" };
  }).filter((context) => context !== undefined);
}

/** What a corrected conversation had come to before its last request: of a long one, up to the last reply to a result. */
function begunBefore(messages: readonly ChatMessage[]): ChatMessage[] {
  const reply = messages.findLastIndex((message, index) => isReply(message) && messages[index - 1]?.role === "tool");
  return reply < 0 ? messages.filter(({ role }) => role === "system") : messages.slice(0, reply + 1);
}

function isReply(message: ChatMessage): boolean {
  return message.role === "assistant" && (message.tool_calls ?? []).length === 0;
}

/**
 * Requests with all that the tool needs, of two tools as many for either: half of them where the corrected conversations stood, the others at
 * the start. And such as lack something, where nobody is to be asked.
 */
function requestContexts(
  source: ContextSource,
  { correction, counts, random, begun }: Wanted & { readonly begun: readonly ChatMessage[][] },
): Context[] {
  const instead = findTool(source.tools, correction.hint.value);
  const asked = instead === undefined ? [correction.tool] : [correction.tool, instead];
  const unasked = isUnasked(correction);
  const silent = unasked ? 2 * counts.silent : counts.silent;
  const whole = asked.flatMap((tool) =>
    Array.from({ length: Math.ceil(silent / asked.length) }, (_, index): Context => {
      const system = index % 2 === 0 || begun.length === 0 ? source.system : random.pick(begun);
      const context = silentContext({ ...source, system, correction: { ...correction, tool } }, random);
      return { ...context, tools: [...new Set([...context.tools, ...asked])] };
    }),
  );
  if (!unasked) return whole;
  const lacking = Array.from({ length: counts.silent }, (_, index) => lackingContext(source, at(whole, index), random));
  return [...whole, ...lacking.filter((context) => context !== undefined)];
}

/** A request without one of the arguments that the call needs. */
function lackingContext({ correction: { tool }, system }: ContextSource, { tools }: Context, random: Random): Context | undefined {
  const needed = readParameters(tool).filter(({ required }) => required);
  if (needed.length === 0) return undefined;
  const facts = chooseFacts(tool, [random.pick(needed).name], random);
  const messages = converse({ system, tool, facts }, random);
  return { kind: "other", origin: "generated", messages, tools, tool: tool.function.name };
}

/** Whether a call is to be made without a question before it. */
export function isUnasked({ parameter, hint }: Pick<Correction, "parameter" | "hint">): boolean {
  return parameter.name === "@ask" && hint.value === ASK_NEVER;
}
