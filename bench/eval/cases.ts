/** What `eval:base` asks: places in SGD dialogues with the context before them and the answer that is right there. */
import type { PromptMessage, ToolDefinition } from "../../shared/chat.ts";
import { withGuidance } from "../../shared/chat.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { changedOnce } from "../../trainer/pretrain/amended.ts";
import { plainConversation } from "../../trainer/pretrain/augment.ts";
import { callArguments, type Conversation, type ParameterView, type Step, toMessages } from "../../trainer/pretrain/conversation.ts";
import { bySpeech, type CallStep, isGuidable } from "../../trainer/pretrain/guidance.ts";
import type { Lexicon } from "../../trainer/pretrain/lexicon.ts";
import { fill } from "../../trainer/pretrain/phrases.ts";
import type { Random } from "../../trainer/random.ts";
import type { Sgd } from "../../trainer/pretrain/sgd.ts";
import { spokenName } from "../../trainer/pretrain/values.ts";
import type { Heard } from "../../shared/yielding.ts";
import { EVAL_CORRECTIONS, EVAL_HINTS, EVAL_NOTES } from "../phrases.ts";
import type { ParsedCall } from "./policy.ts";

/** A prompt, and what the policy should do with it: a call with these arguments, or a reply. */
export type ActCase = {
  prompt: number[];
  tools: readonly ToolDefinition[];
  /** Right call, or undefined where a reply is due. */
  call: { name: string; arguments: Record<string, unknown> } | undefined;
  /** Whether training shows the service of the call (of any of the dialogue's, for a reply). */
  seen: boolean;
};

/** The same place with and without guidance, and the argument that the guidance is about. */
export type GuidedCase = {
  plain: number[];
  guided: number[];
  tools: readonly ToolDefinition[];
  /** The conversation of both prompts. */
  heard: Heard;
  answer: number[];
  tool: string;
  parameter: string;
  /** What the guidance says. */
  value: string;
  wanted: string;
};

/** A prompt that ends with a correction of the call before it, its conversation, and the call that is right there. */
export type CorrectedCase = { prompt: number[]; heard: Heard; call: ParsedCall; parameter: string };

// Room for the longest answer that greedy decoding may write.
export const ANSWER_TOKENS = 112;

type Place = { conversation: Conversation; at: number };

export class Cases {
  readonly #tokenizer: Tokenizer;
  readonly #sgd: Sgd;
  readonly #trainServices: ReadonlySet<string>;
  readonly #context: number;
  #tooLong = 0;
  #unsaid = 0;

  constructor({
    tokenizer,
    sgd,
    trainServices,
    context,
  }: {
    tokenizer: Tokenizer;
    sgd: Sgd;
    trainServices: ReadonlySet<string>;
    context: number;
  }) {
    this.#tokenizer = tokenizer;
    this.#sgd = sgd;
    this.#trainServices = trainServices;
    this.#context = context;
  }

  /** Drawn places that were left out because their last exchange and its tools alone are longer than the context. */
  get tooLong(): number {
    return this.#tooLong;
  }

  /** Drawn values that the user did state, but only in exchanges for which the context has no room: who reads the prompt cannot know them. */
  get unsaid(): number {
    return this.#unsaid;
  }

  conversations(): Conversation[] {
    return this.#sgd.dialogues.map((dialogue) => plainConversation(dialogue, this.#sgd.schemas));
  }

  /** `count` places where a call is due, half of them on services that training never shows where there are that many. */
  calls(conversations: readonly Conversation[], count: number, random: Random): ActCase[] {
    const places = random.shuffled(placesOf(conversations, ({ kind }) => kind === "call"));
    const [seen, unseen] = [places.filter((place) => this.#isSeen(place)), places.filter((place) => !this.#isSeen(place))];
    const half = Math.min(Math.ceil(count / 2), unseen.length);
    return [...seen.slice(0, count - half), ...unseen.slice(0, half)].flatMap((place) => this.#actCase(place));
  }

  /** `count` places where the assistant replied without calling first. */
  replies(conversations: readonly Conversation[], count: number, random: Random): ActCase[] {
    const places = placesOf(conversations, ({ kind }, before) => kind === "reply" && before?.kind === "user");
    return random
      .shuffled(places)
      .slice(0, count)
      .flatMap((place) => this.#actCase(place));
  }

  /** Hints that change one argument of the right call to a value that nobody has said. */
  hinted(conversations: readonly Conversation[], lexicon: Lexicon, count: number, random: Random): GuidedCase[] {
    return this.#guided(conversations, count, random, (_, call) => {
      const parameter = random.pick(call.tool.parameters);
      const value = poolValue(parameter, call.values[parameter.slot], lexicon, random);
      return value === undefined ? undefined : { parameter, wanted: value, said: value, phrases: EVAL_HINTS, kind: "hint" };
    });
  }

  /** Notes that name a default: where the user is silent the default is right, where the user spoke the user's own value. */
  noted(
    conversations: readonly Conversation[],
    lexicon: Lexicon,
    count: number,
    random: Random,
    speech: "silent" | "stated",
  ): GuidedCase[] {
    return this.#guided(conversations, count, random, (steps, call, at) => {
      const parameters = bySpeech(steps, at, call)[speech];
      if (parameters.length === 0) return undefined;
      const parameter = random.pick(parameters);
      const own = call.values[parameter.slot];
      const value = poolValue(parameter, own, lexicon, random);
      if (value === undefined) return undefined;
      return { parameter, wanted: speech === "stated" ? (own ?? value) : value, said: value, phrases: EVAL_NOTES, kind: "note" };
    });
  }

  /** Places where the user says, in words that training never shows, that one argument of the call just made should have another value. */
  corrected(conversations: readonly Conversation[], lexicon: Lexicon, count: number, random: Random): CorrectedCase[] {
    const worded = ({ name }: ParameterView, value: string): string => fill(random.pick(EVAL_CORRECTIONS), spokenName(name), value);
    const cases: CorrectedCase[] = [];
    for (const conversation of random.shuffled(conversations)) {
      if (cases.length >= count) break;
      const changed = changedOnce(conversation, lexicon, random, worded);
      const prompt = changed && this.#prompt({ ...conversation, steps: [...changed.before, changed.call] }, changed.before.length, {});
      if (changed === undefined || prompt === undefined) continue;
      const { tool, values } = changed.call;
      const call = { name: tool.name, arguments: callArguments(tool, values) };
      const heard = { messages: toMessages(conversation.system, changed.before), tools: conversation.tools };
      cases.push({ prompt: prompt.tokens, heard, call, parameter: changed.parameter.name });
    }
    return cases;
  }

  #guided(
    conversations: readonly Conversation[],
    count: number,
    random: Random,
    draw: (
      steps: readonly Step[],
      call: CallStep,
      at: number,
    ) => { parameter: ParameterView; wanted: string; said: string; phrases: readonly string[]; kind: "hint" | "note" } | undefined,
  ): GuidedCase[] {
    const cases: GuidedCase[] = [];
    for (const { conversation, at } of random.shuffled(
      placesOf(conversations, ({ kind }, before) => kind === "call" && before?.kind === "user"),
    )) {
      if (cases.length >= count) break;
      const call = conversation.steps[at];
      if (call?.kind !== "call" || !isGuidable(conversation.steps, at)) continue;
      const drawn = draw(conversation.steps, call, at);
      if (drawn === undefined) continue;
      const { parameter, wanted, said, phrases, kind } = drawn;
      const text = fill(random.pick(phrases), random.chance(0.5) ? parameter.name : spokenName(parameter.name), said);
      const values = { ...call.values, [parameter.slot]: wanted };
      const answer = this.#answer({ name: call.tool.name, arguments: callArguments(call.tool, values, [parameter.slot]) });
      const plain = this.#prompt(conversation, at, {});
      const guided = this.#prompt(conversation, at, kind === "hint" ? { hint: text } : { notes: [text] });
      if (plain === undefined || guided === undefined) continue;
      const spoken = (steps: readonly Step[]): boolean => bySpeech(steps, steps.length, call).stated.includes(parameter);
      if (spoken(conversation.steps.slice(0, at)) && !spoken(conversation.steps.slice(guided.from, at))) {
        this.#unsaid += 1;
        continue;
      }
      const { tools } = conversation;
      const heard = { messages: toMessages(conversation.system, conversation.steps.slice(guided.from, at)), tools };
      cases.push({
        plain: plain.tokens,
        guided: guided.tokens,
        tools,
        heard,
        answer,
        tool: call.tool.name,
        parameter: parameter.name,
        value: said,
        wanted,
      });
    }
    return cases;
  }

  /** One case, or none where it does not fit. */
  #actCase(place: Place): ActCase[] {
    const prompt = this.#prompt(place.conversation, place.at, {});
    if (prompt === undefined) return [];
    const step = place.conversation.steps[place.at];
    const call = step?.kind === "call" ? { name: step.tool.name, arguments: callArguments(step.tool, step.values) } : undefined;
    return [{ prompt: prompt.tokens, tools: place.conversation.tools, call, seen: this.#isSeen(place) }];
  }

  #isSeen({ conversation, at }: Place): boolean {
    const step = conversation.steps[at];
    const services = step?.kind === "call" ? [step.service] : [...conversation.views.keys()];
    return services.every((service) => this.#trainServices.has(service));
  }

  /** The conversation before step `at`, from step `from` on: the oldest exchanges go where it would not fit the context. */
  #prompt(
    { system, tools, steps }: Conversation,
    at: number,
    guidance: { hint?: string; notes?: readonly string[] },
  ): { tokens: number[]; from: number } | undefined {
    const starts = steps.slice(0, at).flatMap((step, index) => (step.kind === "user" ? [index] : []));
    for (const from of [0, ...starts.slice(1)]) {
      const messages: PromptMessage[] = withGuidance(toMessages(system, steps.slice(from, at)), guidance);
      const tokens = this.#tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
      if (tokens.length + ANSWER_TOKENS <= this.#context) return { tokens, from };
    }
    this.#tooLong += 1;
    return undefined;
  }

  /** Tokens that write the call, end token included. */
  #answer(call: { name: string; arguments: Record<string, unknown> }): number[] {
    const message = {
      role: "assistant" as const,
      content: null,
      tool_calls: [{ id: "call", type: "function" as const, function: { name: call.name, arguments: JSON.stringify(call.arguments) } }],
    };
    const [before, after] = [[], [message]].map((messages) =>
      this.#tokenizer.encodePrompt({ messages, addGenerationPrompt: messages.length === 0 }),
    );
    const lineBreak = this.#tokenizer.encode("\n").length;
    return (after ?? []).slice((before ?? []).length, (after ?? []).length - lineBreak);
  }
}

function placesOf(conversations: readonly Conversation[], wanted: (step: Step, before: Step | undefined) => boolean): Place[] {
  return conversations.flatMap((conversation) =>
    conversation.steps.flatMap((step, at) => (wanted(step, conversation.steps[at - 1]) ? [{ conversation, at }] : [])),
  );
}

/** Another value that the data knows for the slot. */
function poolValue(parameter: ParameterView, current: string | undefined, lexicon: Lexicon, random: Random): string | undefined {
  const known = parameter.options.length > 0 ? parameter.options : (lexicon.values.get(parameter.slot) ?? []);
  const others = known.filter((value) => value !== current && value !== parameter.fallback && value !== "dontcare");
  return others.length === 0 ? undefined : random.pick(others);
}
