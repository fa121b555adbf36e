/**
 * Training examples of the three jobs. An example is a token row with a weight per token: how much the loss cares
 * that this token is predicted: what the policy would write most, the words of others a little.
 */
import type { PromptMessage, ToolDefinition } from "../../shared/chat.ts";
import { type JobPrompt, hintPrompt, hintText, judgePrompt, rewardText } from "../../shared/jobs.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { amend } from "./amended.ts";
import { callArguments, type Conversation, type Step, toMessages } from "./conversation.ts";
import { correctedExchange, drawNatural, naturalExchanges, plainExchange } from "./exchanges.ts";
import { type CallStep, drawGuidance, type GuidedCall, isGuidable } from "./guidance.ts";
import type { Lexicon } from "./lexicon.ts";
import { APPROVALS } from "./phrases.ts";
import type { Random } from "../random.ts";
import { argumentSpan } from "../../shared/argument-span.ts";

/** What each token of a message weighs, or its first one and the others. */
type MessageWeight = number | { readonly first: number; readonly rest: number };
export type Example = { tokens: number[]; weights: number[] };

// What cannot be foreseen costs most nats: at weights of 0.3 and 0.1 words and results drowned nine tenths of what calls teach.
export const CALL_WEIGHT = 1;
const NAMED_WEIGHT = 3; // a guided call's first argument and those that guidance names: few tokens, and all that it is about
export const FIRST_WEIGHT = 0.15; // first token of a reply, which says that no call is due: calls that are due and not made are the commoner fault
const REPLY_WEIGHT = 0.1; // many replies are right; one call is
const ASKED_WEIGHT = { first: CALL_WEIGHT, rest: REPLY_WEIGHT } as const; // of a reply that asks for what a tool needs: it is as due as a call
const TOLD_WEIGHT = 0.8; // of a reply that tells what a result says
const BESIDE_WEIGHT = CALL_WEIGHT; // of a reply to what no tool is for, its first token included: there a call is the commoner fault
const USER_WEIGHT = 0.03; // reading people's words well helps to copy from them
const RESULT_WEIGHT = 0.03; // a result repeats the call's names and values: practice in copying

/** Whether the row holds a whole answer to learn: a call, or what a job is to say. Rows cut short may have lost theirs. */
export function teaches({ weights }: Example): boolean {
  return weights.some((weight) => weight >= CALL_WEIGHT);
}

/** Every call and reply of the conversation, each a target in its own context. */
export function actExample(tokenizer: Tokenizer, { system, tools, steps }: Conversation, maxTokens: number): Example {
  return fitted(maxTokens, steps, (kept, dropped) =>
    weighted(tokenizer, toMessages(system, kept), tools, messageWeights(system, kept, dropped)),
  );
}

/**
 * The same with a hint or notes before most calls. Several user messages of one row may carry them, which serving never
 * does; each call still depends on its own only, and a row teaches three times as much. What comes after the answer to
 * the last of them teaches nothing about guidance and is left out. None where no call drew any guidance.
 */
export function guidedExample(
  tokenizer: Tokenizer,
  conversation: Conversation,
  lexicon: Lexicon,
  maxTokens: number,
  random: Random,
): Example | undefined {
  const guidance = new Map<number, GuidedCall>();
  conversation.steps.forEach((step, at) => {
    if (step.kind !== "call" || !isGuidable(conversation.steps, at) || random.chance(0.1)) return;
    const drawn = drawGuidance(conversation, at, step, lexicon, random);
    if (drawn !== undefined) guidance.set(at, drawn);
  });
  if (guidance.size === 0) return undefined;
  const { system, tools } = conversation;
  const end = conversation.steps.findIndex((step, at) => step.kind === "reply" && at > Math.max(...guidance.keys()));
  const steps = conversation.steps.slice(0, end < 0 ? undefined : end + 1).map((step, at): Step => {
    const guided = guidance.get(at);
    return step.kind === "call" && guided !== undefined ? { ...step, values: guided.values, first: guided.named } : step;
  });
  const named = new Map([...guidance].map(([at, { named: slots }]) => [steps[at], slots]));
  const carried = new Map(
    [...guidance].map(([at, { hint, notes }]) => [
      steps[at - 1],
      { ...(hint === undefined ? {} : { hint }), ...(notes === undefined ? {} : { notes }) },
    ]),
  );
  return fitted(maxTokens, steps, (kept, dropped) => {
    const offset = system === "" ? 0 : 1;
    const messages = toMessages(system, kept).map((message, index): PromptMessage => ({
      ...message,
      ...carried.get(kept[index - offset]),
    }));
    return weighted(tokenizer, messages, tools, messageWeights(system, kept, dropped), namedIn(system, kept, named));
  });
}

/** Calls that their user corrects or objects to, and what follows. None where nothing of it was drawn. */
export function amendedExample(
  tokenizer: Tokenizer,
  conversation: Conversation,
  lexicon: Lexicon,
  maxTokens: number,
  random: Random,
): Example | undefined {
  const amended = amend(conversation, lexicon, random);
  if (amended === undefined) return undefined;
  const { system, tools } = conversation;
  return fitted(maxTokens, amended.steps, (kept, dropped) =>
    weighted(tokenizer, toMessages(system, kept), tools, messageWeights(system, kept, dropped), namedIn(system, kept, amended.corrected)),
  );
}

/** What a call of a message is to weigh most for: the parameters of the slots that its step is about. */
function namedIn(
  system: string,
  kept: readonly Step[],
  slotsOf: ReadonlyMap<Step | undefined, readonly string[]>,
): (message: number) => string[] {
  const offset = system === "" ? 0 : 1;
  return (message) => {
    const step = kept[message - offset];
    const slots = slotsOf.get(step);
    return step?.kind === "call" && slots !== undefined ? learntFor(step, slots) : [];
  };
}

/** Names of the parameters that guidance names, and of the one that begins the call: there it shows whether guidance decides. */
function learntFor({ tool, values, first }: CallStep, slots: readonly string[]): string[] {
  const [begun] = Object.keys(callArguments(tool, values, first));
  const named = tool.parameters.filter(({ slot }) => slots.includes(slot)).map(({ name }) => name);
  return [...new Set([...(begun === undefined ? [] : [begun]), ...named])];
}

/** What the user's next turn says about the answer before it. */
export function judgeExample(tokenizer: Tokenizer, conversation: Conversation, lexicon: Lexicon, random: Random): Example | undefined {
  const draw = random.next();
  if (draw < 0.35) {
    const plain = plainExchange(conversation, random);
    return plain === undefined ? undefined : jobExample(tokenizer, judgePrompt(plain.exchange), rewardText(plain.reward));
  }
  if (draw < 0.6) {
    const corrected = correctedExchange(conversation, lexicon, random);
    return corrected === undefined ? undefined : jobExample(tokenizer, judgePrompt(corrected.exchange), rewardText(-1));
  }
  return naturalVerdict(tokenizer, conversation, random);
}

/** A reaction of the data's own. */
export function naturalVerdict(tokenizer: Tokenizer, conversation: Conversation, random: Random): Example | undefined {
  const natural = drawNatural(conversation, random);
  return natural && jobExample(tokenizer, judgePrompt(natural.exchange), rewardText(natural.reward));
}

/** What should have been different, in one sentence, or `none`. */
export function hintJobExample(tokenizer: Tokenizer, conversation: Conversation, lexicon: Lexicon, random: Random): Example | undefined {
  if (random.chance(0.8)) {
    const corrected = correctedExchange(conversation, lexicon, random);
    return corrected === undefined ? undefined : jobExample(tokenizer, hintPrompt(corrected.exchange), hintText(corrected.hint));
  }
  if (random.chance(0.4)) {
    const plain = plainExchange(conversation, random);
    return plain === undefined ? undefined : jobExample(tokenizer, hintPrompt(plain.exchange), "none");
  }
  const fine = naturalExchanges(conversation.steps).filter(({ reward, exchange }) => reward >= 0 && exchange.tools.length > 0);
  if (fine.length === 0) return undefined;
  const { exchange } = random.pick(fine);
  const approved = random.chance(0.3) ? { ...exchange, nextState: [{ role: "user" as const, content: random.pick(APPROVALS) }] } : exchange;
  return jobExample(tokenizer, hintPrompt(approved), "none");
}

export function jobExample(tokenizer: Tokenizer, { messages, tools }: JobPrompt, answer: string): Example {
  return weighted(tokenizer, [...messages, { role: "assistant", content: answer }], tools, [...messages.map(() => 0), CALL_WEIGHT]);
}

function messageWeights(system: string, steps: readonly Step[], dropped: readonly Step[]): MessageWeight[] {
  const weights = steps.map((step, at): MessageWeight => {
    if ("mistaken" in step && step.mistaken === true) return 0;
    if (step.kind === "reply" && step.beside === true) return BESIDE_WEIGHT;
    if (step.kind === "reply" && step.asks === true) return ASKED_WEIGHT;
    if (step.kind === "reply") return step.tells === true ? TOLD_WEIGHT : REPLY_WEIGHT;
    if (step.kind === "user") return USER_WEIGHT;
    if (step.kind === "result") return RESULT_WEIGHT;
    return step.kind === "call" && !leansOn(dropped, step, steps.slice(0, at)) ? CALL_WEIGHT : 0;
  });
  return system === "" ? weights : [0, ...weights];
}

/** Whether a value of the call was said only in what has been dropped: a target that could only be guessed. */
function leansOn(dropped: readonly Step[], { values }: CallStep, before: readonly Step[]): boolean {
  if (dropped.length === 0) return false;
  const [lost, kept] = [spokenText(dropped), spokenText(before)];
  return Object.values(values).some((value) => lost.includes(value) && !kept.includes(value));
}

function spokenText(steps: readonly Step[]): string {
  return steps.map((step) => ("text" in step ? step.text : step.kind === "result" ? step.content : "")).join("\n");
}

/** Drops the oldest exchanges until the row fits, as a client with a short context would: first up to a new request. */
function fitted(maxTokens: number, steps: readonly Step[], build: (kept: readonly Step[], dropped: readonly Step[]) => Example): Example {
  const whole = build(steps, []);
  if (whole.tokens.length <= maxTokens) return whole;
  const requests = steps.flatMap((step, at) =>
    at > 0 && step.kind === "user" && step.acts.some(([act]) => act === "INFORM_INTENT") ? [at] : [],
  );
  for (const cut of requests) {
    const example = build(steps.slice(cut), steps.slice(0, cut));
    if (example.tokens.length <= maxTokens) return example;
  }
  return { tokens: whole.tokens.slice(0, maxTokens), weights: whole.weights.slice(0, maxTokens) };
}

/**
 * Tokens of the conversation; the tokens of message `i`, its end token included, weigh `perMessage[i]`.
 * The first token of an answer decides between a call and a reply, so it weighs more than the rest of a reply; the
 * arguments that `named` gives for a call weigh more than the rest of the call.
 */
export function weighted(
  tokenizer: Tokenizer,
  messages: readonly PromptMessage[],
  tools: readonly ToolDefinition[],
  perMessage: readonly MessageWeight[],
  named: (message: number) => readonly string[] = () => [],
): Example {
  const tokens = tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: false });
  const [start, lineBreak] = [tokenizer.specialIds.get("<|im_start|>"), tokenizer.encode("\n")[0]];
  // The system block that every prompt begins with is a message of the list only where the list begins with one.
  let message = messages[0]?.role === "system" ? -1 : -2;
  let place: "outside" | "header" | "first" | "inside" = "outside";
  const starts = new Map<number, number>();
  const weights = tokens.map((token, at) => {
    if (token === start) {
      message++;
      place = "header";
      return 0;
    }
    if (place === "header" && token === lineBreak) {
      place = "first";
      starts.set(message, at + 1);
      return 0;
    }
    if (place === "header" || place === "outside") return 0;
    const weight = perMessage[message] ?? 0;
    const first = place === "first";
    place = token === tokenizer.eosId ? "outside" : "inside";
    if (typeof weight === "object") return first ? weight.first : weight.rest;
    return first && (weight === REPLY_WEIGHT || weight === TOLD_WEIGHT) ? FIRST_WEIGHT : weight;
  });
  for (const [index, start] of starts)
    for (const parameter of named(index)) {
      if (perMessage[index] !== CALL_WEIGHT) continue;
      const answer = tokens.slice(start, tokens.indexOf(tokenizer.eosId, start));
      const span = argumentSpan(tokenizer, answer, parameter);
      if (span !== undefined) weights.fill(NAMED_WEIGHT, start + span.from, start + span.to);
    }
  return { tokens, weights };
}
