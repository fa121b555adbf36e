/**
 * The learning parts of the product in one process: policy with adapter, judge, learner, between a simulated user and
 * no wire. Events have the shape that the edge logs, so what is measured is the trainer's own code path.
 */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import type { LoggedEvent } from "../../shared/events.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import { UpdateSettings } from "../../trainer/config.ts";
import { assembleSignal } from "../../trainer/data/exchange.ts";
import { Engine } from "../../trainer/engine/engine.ts";
import { EventCache } from "../../trainer/feed/cache.ts";
import type { Judge, Verdict } from "../../trainer/judge/judge.ts";
import { createPanel } from "../../trainer/judge/panel.ts";
import { toCorrected, toReplay } from "../../trainer/learn/assemble.ts";
import type { Learner, UpdateOutcome } from "../../trainer/learn/learner.ts";
import { createLearner } from "../../trainer/learn/update.ts";
import type { AdapterTensors } from "../../trainer/policy/adapter.ts";
import { createJobSampler } from "../../trainer/policy/answerer.ts";
import { loadBase, type Base } from "../../trainer/policy/base.ts";
import { readAnswer, type ReadAnswer } from "../../trainer/teacher/answer-text.ts";

export type Answer = ReadAnswer & {
  readonly prompt: readonly number[];
  readonly tokens: readonly number[];
  readonly logProbs: readonly number[];
};
export type Prompted = { readonly messages: readonly ChatMessage[]; readonly tools: readonly ToolDefinition[] };

const ANSWER_TOKENS = 112;
const ADAPTER = "served";
const GENERATE_ROWS = 64;

export class LearningSystem {
  readonly base: Base;
  readonly engine: Engine;
  readonly #judge: Judge;
  readonly #learner: Learner;
  #cache = new EventCache(200);
  #served: AdapterTensors | null = null;
  #seq = 0;

  private constructor(base: Base, engine: Engine, { settings, onLook }: SystemOptions) {
    this.base = base;
    this.engine = engine;
    this.#judge = createPanel(createJobSampler({ engine, tokenizer: base.tokenizer, contextTokens: base.shape.contextTokens }));
    this.#learner = createLearner({
      engine,
      base,
      settings: UpdateSettings.parse(settings ?? {}),
      now: () => performance.now(),
      ...(onLook === undefined ? {} : { onLook }),
    });
  }

  static async start(folder: string, options: SystemOptions): Promise<LearningSystem> {
    const base = loadBase(folder);
    const engine = await Engine.start({ config: base.config, threads: options.threads });
    await engine.loadWeights(base.weights);
    return new LearningSystem(base, engine, options);
  }

  close(): Promise<void> {
    return this.engine.close();
  }

  /** Another agent: no adapter, no memory. */
  async forget(): Promise<void> {
    if (this.#served !== null) await this.engine.dropAdapter(ADAPTER);
    this.#served = null;
    this.#cache = new EventCache(200);
  }

  /** Greedy answers of the served policy, by its weights alone: no note, no hint. */
  async answer(requests: readonly Prompted[], { bare = false }: { bare?: boolean } = {}): Promise<Answer[]> {
    const prompts = requests.map(({ messages, tools }) => this.base.tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true }));
    const answers: Answer[] = [];
    for (let start = 0; start < prompts.length; start += GENERATE_ROWS) {
      const some = prompts.slice(start, start + GENERATE_ROWS);
      const adapter = this.#served === null || bare ? {} : { adapter: ADAPTER };
      const generated = await this.engine.generate({
        prompts: some.map((prompt) => Int32Array.from(prompt)),
        maxTokens: ANSWER_TOKENS,
        stopTokens: [this.base.tokenizer.eosId],
        temperature: 0,
        seed: 0,
        ...adapter,
      });
      generated.forEach(({ tokens, logProbs }, index) =>
        answers.push({
          ...readAnswer(this.base.tokenizer, [...tokens]),
          prompt: some[index] ?? [],
          tokens: [...tokens],
          logProbs: [...logProbs],
        }),
      );
    }
    return answers;
  }

  /** Logs a turn as the edge would; returns its completion id and the assistant message that a client would keep. */
  record({ messages, tools }: Prompted, answer: Answer): { completionId: string; message: ChatMessage } {
    const completionId = `c${this.#seq}`;
    const message = toMessage(answer, completionId);
    this.#log(completionId, "finished", {
      kind: "turn:finished",
      completionId,
      turnIndex: 0,
      turnKind: "main",
      origin: "opening",
      policyVersion: 0,
      policyDigest: "0".repeat(64),
      messages: [...messages],
      tools: [...tools],
      answer: message,
      finishReason: "stop",
      rollout: {
        promptTokens: [...answer.prompt],
        responseTokens: [...answer.tokens],
        rolloutLogProbs: [...answer.logProbs],
        sampling: { seed: 0, temperature: 0, topP: 1, masked: false },
      },
    });
    return { completionId, message };
  }

  /** Judges a user's next message; where it yields a hint, learns from it and serves the result. */
  async react(
    completionId: string,
    next: ChatMessage,
    { seed }: { seed: number },
  ): Promise<{ verdict: Verdict | undefined; outcome: UpdateOutcome | undefined }> {
    const event = this.#log(completionId, "next", { kind: "nextState:arrived", completionId, messages: [next] });
    const assembled = assembleSignal(event, this.#cache);
    if (assembled?.status !== "signal") return { verdict: undefined, outcome: undefined };
    const verdict = await this.#judge.judge(assembled.signal, { votes: 3, seed });
    if (verdict?.hint === undefined) return { verdict, outcome: undefined };
    const outcome = await this.#learner.update({
      corrected: [toCorrected(assembled.signal, verdict)],
      replay: toReplay(this.#cache.turns()),
      parent: this.#served,
      baseline: 0,
      objective: "hybrid",
      seed,
    });
    if (outcome.status === "learned") {
      await this.engine.loadAdapter(ADAPTER, outcome.adapter);
      this.#served = outcome.adapter;
    }
    return { verdict, outcome };
  }

  #log(turnId: string, suffix: string, payload: LoggedEvent["payload"]): LoggedEvent {
    this.#seq += 1;
    const event: LoggedEvent = {
      eventId: `${turnId}/${suffix}`,
      agent: "bench",
      line: "shared",
      sessionId: "s1",
      turnId,
      user: "u1",
      createdAt: new Date().toISOString(),
      seq: this.#seq,
      payload,
    };
    this.#cache.add(event);
    return event;
  }
}

export type SystemOptions = {
  readonly threads: number;
  readonly settings?: unknown;
  readonly onLook?: (look: { step: number; loss: number; honoured: number; kept: number; driftNats: number }) => void;
};

function toMessage({ calls, text }: Answer, completionId: string): ChatMessage {
  if (calls.length === 0) return { role: "assistant", content: text };
  const toolCalls = calls.map(({ name, arguments: args }, index) => ({
    id: `${completionId}_${index}`,
    type: "function" as const,
    function: { name, arguments: spacedJson(args) },
  }));
  return { role: "assistant", content: text === "" ? null : text, tool_calls: toolCalls };
}
