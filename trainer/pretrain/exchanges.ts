/** Exchanges with what they teach a judge: the data's own, labelled by their acts, and corrected ones. */
import type { ToolDefinition } from "../../shared/chat.ts";
import type { Exchange, Hint } from "../../shared/jobs.ts";
import { rewardOfActs } from "./acts.ts";
import { type Conversation, type Step, toMessages, toolDefinition } from "./conversation.ts";
import { isGuidable, otherValue } from "./guidance.ts";
import type { Lexicon } from "./lexicon.ts";
import { CORRECTION_CLOSERS, CORRECTION_CORES, CORRECTION_OPENERS, fill, loosely, OBJECTIONS } from "./phrases.ts";
import type { Random } from "../random.ts";
import { drawReaction, rejection } from "./reactions.ts";
import { spokenName, spokenValue } from "./values.ts";

export type JudgedExchange = { exchange: Exchange; reward: -1 | 0 | 1 };
export type CorrectedExchange = { exchange: Exchange; hint: Hint };

/** User message, what answered it, and the user's next message, with the reward that its acts tell. */
export function naturalExchanges(steps: readonly Step[]): JudgedExchange[] {
  const starts = steps.flatMap((step, index) => (step.kind === "user" ? [index] : []));
  return starts.slice(1).flatMap((next, index) => {
    const [user, reply] = [steps[next], steps[next - 1]];
    if (user?.kind !== "user" || reply?.kind !== "reply") return [];
    const answered = steps.slice(starts[index], next);
    return [{ exchange: toExchange(answered, user.text), reward: rewardOfActs(user.acts, reply.acts) }];
  });
}

/** An exchange of the data to which the user reacts in general words. Some answers are broken, and rejected. */
export function plainExchange({ steps }: Conversation, random: Random): JudgedExchange | undefined {
  const starts = steps.flatMap((step, index) => (step.kind === "user" ? [index] : []));
  const places = starts.slice(1).flatMap((next, index) => (steps[next - 1]?.kind === "reply" ? [{ from: starts[index] ?? 0, next }] : []));
  if (places.length === 0) return undefined;
  const { from, next } = random.pick(places);
  const answered = steps.slice(from, next);
  if (random.chance(0.8)) {
    const { text, reward } = drawReaction(random);
    return { exchange: toExchange(answered, text), reward };
  }
  return { exchange: toExchange(broken(answered, steps, random), rejection(random)), reward: -1 };
}

/** The answer without its call, and its reply gone, in no order, or one to something else. */
function broken(answered: readonly Step[], steps: readonly Step[], random: Random): Step[] {
  const reply = answered.at(-1);
  if (reply?.kind !== "reply") return [...answered];
  const other = random.pick(steps.filter(({ kind }) => kind === "reply"));
  const texts = [
    "",
    random.shuffled(reply.text.split(" ")).join(" "),
    other.kind === "reply" ? other.text : "",
    reply.text.split(" ").slice(0, 3).join(" "),
  ];
  return [...answered.filter(({ kind }) => kind === "user"), { ...reply, text: random.pick(texts) }];
}

/** A call, its result and reply, and a user who says that one argument should have been another. */
export function correctedExchange(
  conversation: Conversation,
  lexicon: Lexicon,
  random: Random,
  worded: (name: string, value: string) => string = (name, value) => correction(name, value, lexicon, random),
): CorrectedExchange | undefined {
  const { steps } = conversation;
  const places = steps.flatMap((_, index) => (isGuidable(steps, index) ? [index] : []));
  if (places.length === 0) return undefined;
  const at = random.pick(places);
  const call = steps[at];
  const reply = steps.findIndex((step, index) => index > at && step.kind === "reply");
  if (call?.kind !== "call" || reply < 0) return undefined;
  const parameter = random.pick(call.tool.parameters);
  const value = otherValue(parameter, call.values[parameter.slot], lexicon, random);
  if (value === undefined) return undefined;
  const exchange = toExchange(steps.slice(at - 1, reply + 1), worded(parameter.name, value));
  return { exchange, hint: { parameter: parameter.name, value: parameter.type === "boolean" ? value.toLowerCase() : value } };
}

function correction(name: string, value: string, { asides }: Lexicon, random: Random): string {
  const slot = random.chance(0.8) ? spokenName(name) : name;
  const spoken = random.chance(0.6) ? spokenValue(value, random) : value;
  const core = random.chance(0.4) ? loosely(slot, spoken, asides, random) : fill(random.pick(CORRECTION_CORES), slot, spoken);
  const opener = random.chance(0.35) ? `${random.pick(OBJECTIONS)} ` : random.pick(CORRECTION_OPENERS);
  const said = `${opener}${core}${random.pick(CORRECTION_CLOSERS)}`;
  return random.chance(0.7) ? said.slice(0, 1).toUpperCase() + said.slice(1) : said;
}

function toExchange(answered: readonly Step[], next: string): Exchange {
  return { answered: toMessages("", answered), nextState: [{ role: "user", content: next }], tools: calledTools(answered) };
}

function calledTools(steps: readonly Step[]): ToolDefinition[] {
  const tools = new Set(steps.flatMap((step) => (step.kind === "call" ? [step.tool] : [])));
  return [...tools].map(toolDefinition);
}
