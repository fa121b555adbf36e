/** Exchanges with what they teach a judge: the data's own, labelled by their acts, and corrected ones. */
import type { ToolDefinition } from "../../shared/chat.ts";
import type { Exchange, Hint, Wish } from "../../shared/jobs.ts";
import { REWARDS, type Reward } from "../judge/vote.ts";
import { rewardOfActs } from "./acts.ts";
import { type Conversation, type Step, toMessages, toolDefinition } from "./conversation.ts";
import { isGuidable, otherValue } from "./guidance.ts";
import type { Lexicon } from "./lexicon.ts";
import { namedCorrection } from "./corrections.ts";
import { saidAgain, toolObjection, valueDenial, wordingObjection } from "./objections.ts";
import type { Random } from "../random.ts";
import { drawReaction, rejection } from "./reactions.ts";
import { madeUpWord, spokenName, spokenValue } from "./values.ts";
import { askWish, drawWish, goWish } from "./wishes.ts";

export type JudgedExchange = { exchange: Exchange; reward: Reward };
export type CorrectedExchange = { exchange: Exchange; hint: Hint };

export type WishedExchange = { exchange: Exchange; wish: Wish };

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

/**
 * One of the data's own, of a reward drawn first; undefined where the conversation has none of it. So rejections, which few conversations have, are
 * drawn more often than they come, and still less often than the others.
 */
export function drawNatural({ steps }: Conversation, random: Random): JudgedExchange | undefined {
  const wanted = random.pick(REWARDS);
  const judged = naturalExchanges(steps).filter(({ reward }) => reward === wanted);
  return judged.length === 0 ? undefined : random.pick(judged);
}

/** An exchange of the data to which the user reacts in general words. Some answers are broken, and rejected. */
export function plainExchange({ steps }: Conversation, random: Random): JudgedExchange | undefined {
  const places = exchangesOf(steps);
  if (places.length === 0) return undefined;
  const { answered } = random.pick(places);
  if (random.chance(0.9)) {
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
  worded: (name: string, value: string) => string = (name, value) => namedCorrection(name, value, lexicon, random),
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

const REASONED = 0.6; // of wishes: where the answer gives reason to them. What is said decides, not where

/** An exchange after which the user says whether they want to be asked, or something that sounds like it. */
export function wishedExchange({ steps }: Conversation, random: Random): WishedExchange | undefined {
  const { text, wish } = drawWish(random);
  const reasoned = wish !== "none" && random.chance(REASONED);
  const places = exchangesOf(steps).filter(({ answered }) => !reasoned || givesReason(answered, wish));
  if (places.length === 0) return undefined;
  return { exchange: toExchange(random.pick(places).answered, text), wish };
}

/** Who wants to be asked mostly was not, and who does not want to be was. */
function givesReason(answered: readonly Step[], wish: Wish): boolean {
  if (wish === "ask") return answered.some(({ kind }) => kind === "call");
  const reply = answered.at(-1);
  return reply?.kind === "reply" && reply.acts.some(([act]) => act === "CONFIRM");
}

/** An answer that is rejected in words that name no argument's right value. */
export function objectedExchange(conversation: Conversation, lexicon: Lexicon, random: Random): Exchange | undefined {
  const places = exchangesOf(conversation.steps);
  if (places.length === 0) return undefined;
  const { answered } = random.pick(places);
  const text = objection(conversation, answered, lexicon, random);
  return text === undefined ? undefined : toExchange(answered, text);
}

function objection({ views }: Conversation, answered: readonly Step[], lexicon: Lexicon, random: Random): string | undefined {
  const call = answered.findLast((step) => step.kind === "call");
  const draw = random.next();
  if (draw < 0.12) return wordingObjection(random);
  if (draw < 0.3) return saidAgain(answered[0]?.kind === "user" ? answered[0].text : "", random);
  if (draw < 0.5) return random.chance(0.5) ? askWish(random) : goWish(random);
  if (call === undefined) return undefined;
  if (draw < 0.75) {
    const tools = [...views.values()].flatMap((view) => [...view.tools.values()]).filter(({ name }) => name !== call.tool.name);
    const other = tools.length === 0 || random.chance(0.3) ? madeUpTool(random) : random.pick(tools).name;
    const named = (name: string): string => (random.chance(0.7) ? spokenName(name) : name);
    return toolObjection({ used: named(call.tool.name), tool: named(other) }, random);
  }
  const parameter = random.pick(call.tool.parameters);
  const value = call.values[parameter.slot] ?? parameter.fallback ?? otherValue(parameter, undefined, lexicon, random);
  return value === undefined ? undefined : valueDenial({ slot: spokenName(parameter.name), value: spokenValue(value, random) }, random);
}

function madeUpTool(random: Random): string {
  return `${random.pick(["Find", "Search", "Get", "Look up", "Reserve", "Fetch", "Query", "Plan"])} ${madeUpWord(random)}`;
}

/** What answered each user message that another one follows. */
function exchangesOf(steps: readonly Step[]): { answered: Step[] }[] {
  const starts = steps.flatMap((step, index) => (step.kind === "user" ? [index] : []));
  return starts
    .slice(1)
    .flatMap((next, index) => (steps[next - 1]?.kind === "reply" ? [{ answered: steps.slice(starts[index], next) }] : []));
}

function toExchange(answered: readonly Step[], next: string): Exchange {
  return { answered: toMessages("", answered), nextState: [{ role: "user", content: next }], tools: calledTools(answered) };
}

function calledTools(steps: readonly Step[]): ToolDefinition[] {
  const tools = new Set(steps.flatMap((step) => (step.kind === "call" ? [step.tool] : [])));
  return [...tools].map(toolDefinition);
}
