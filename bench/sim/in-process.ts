/**
 * The learning parts of the product in one process: policy with adapter, judge and learner without a wire between them.
 * Events have the shape that the edge logs, so what is measured is the trainer's own code path.
 */
import type { ChatMessage } from "../../shared/chat.ts";
import { FREE_FORM } from "../../shared/grammar/answer-form.ts";
import { SignalSettings } from "../../shared/signal-settings.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import { UpdateSettings } from "../../trainer/config.ts";
import { assembleSignal } from "../../trainer/data/exchange.ts";
import { Engine } from "../../trainer/engine/engine.ts";
import type { Judge } from "../../trainer/judge/judge.ts";
import { createPanel } from "../../trainer/judge/panel.ts";
import { toCorrected, toReplay } from "../../trainer/learn/assemble.ts";
import type { LearnerDependencies } from "../../trainer/learn/candidate.ts";
import type { Learner } from "../../trainer/learn/learner.ts";
import { createLearner } from "../../trainer/learn/update.ts";
import type { AdapterTensors } from "../../trainer/policy/adapter.ts";
import { createJobSampler } from "../../trainer/policy/answerer.ts";
import { loadBase, type Base } from "../../trainer/policy/base.ts";
import { readAnswer, type ReadAnswer } from "../../trainer/teacher/answer-text.ts";
import { Logbook } from "./logbook.ts";
import type { Answer, Heard, LearningSystem, Objection, Prompted } from "./learning.ts";

export type InProcessOptions = {
  readonly threads: number;
  readonly settings: unknown;
  readonly objective: "hybrid" | "paper";
  readonly onLook: NonNullable<LearnerDependencies["onLook"]>;
  readonly onTaught: NonNullable<LearnerDependencies["onTaught"]>;
};

type Sampled = Answer & { readonly prompt: readonly number[]; readonly tokens: readonly number[]; readonly logProbs: readonly number[] };

const ANSWER_TOKENS = 112;
const ADAPTER = "served";
const GENERATE_ROWS = 64;

export class InProcessSystem implements LearningSystem {
  readonly path = "trainer parts in one process, no HTTP";
  readonly #base: Base;
  readonly #engine: Engine;
  readonly #judge: Judge;
  readonly #learner: Learner;
  readonly #objective: InProcessOptions["objective"];
  #log = new Logbook();
  #served: AdapterTensors | null = null;

  private constructor(base: Base, engine: Engine, { settings, objective, onLook, onTaught }: InProcessOptions) {
    this.#base = base;
    this.#engine = engine;
    this.#objective = objective;
    this.#judge = createPanel(createJobSampler(engine, base));
    this.#learner = createLearner({
      engine,
      base,
      settings: UpdateSettings.parse(settings),
      now: () => performance.now(),
      onLook,
      onTaught,
    });
  }

  static async start(folder: string, options: InProcessOptions): Promise<InProcessSystem> {
    const base = loadBase(folder);
    const engine = await Engine.start({ config: base.config, threads: options.threads, tokenizer: base.tokenizerFiles });
    await engine.loadCheckpoint(base.folder);
    return new InProcessSystem(base, engine, options);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  async forget(): Promise<void> {
    if (this.#served !== null) await this.#engine.dropAdapter(ADAPTER);
    this.#served = null;
    this.#log = new Logbook();
  }

  answer(requests: readonly Prompted[], { bare = false }: { bare?: boolean } = {}): Promise<Answer[]> {
    return this.#sample(requests, bare);
  }

  async object({ request, answer, result, objection, seed }: Objection): Promise<Heard> {
    const [first] = await this.#sample([request], false);
    if (first === undefined) return { hint: undefined, learned: false, note: "no answer to object to", seconds: undefined };
    this.#record(request, first);
    const then = { tools: request.tools, messages: [...request.messages, answer.message, resultMessage(answer, result)] };
    const [reply] = await this.#sample([then], false);
    if (reply === undefined) return { hint: undefined, learned: false, note: "no reply", seconds: undefined };
    return this.#react(this.#record(then, reply), objection, seed);
  }

  async #sample(requests: readonly Prompted[], bare: boolean): Promise<Sampled[]> {
    const { tokenizer } = this.#base;
    const prompts = requests.map(({ messages, tools }) => tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true }));
    const sampled: Sampled[] = [];
    for (let start = 0; start < prompts.length; start += GENERATE_ROWS) {
      const some = prompts.slice(start, start + GENERATE_ROWS);
      const adapter = this.#served === null || bare ? {} : { adapter: ADAPTER };
      const forms = requests.slice(start, start + GENERATE_ROWS).map(({ tools }) => ({ tools, form: FREE_FORM }));
      const options = { forms, maxTokens: ANSWER_TOKENS, stopTokens: [tokenizer.eosId], temperature: 0, seed: 0, ...adapter };
      const generated = await this.#engine.generate({ prompts: some.map((prompt) => Int32Array.from(prompt)), ...options });
      generated.forEach(({ tokens, logProbs }, index) => {
        const answer = readAnswer(tokenizer, [...tokens]);
        const message = toMessage(answer, `${this.#log.length}_${start + index}`);
        sampled.push({ ...answer, message, prompt: some[index] ?? [], tokens: [...tokens], logProbs: [...logProbs] });
      });
    }
    return sampled;
  }

  /** Logs a turn as the edge would; returns its completion id. */
  #record(prompted: Prompted, { message, prompt, tokens, logProbs }: Sampled): string {
    return this.#log.turn(prompted, message, {
      promptTokens: [...prompt],
      responseTokens: [...tokens],
      rolloutLogProbs: [...logProbs],
      sampling: { seed: 0, temperature: 0, topP: 1, masked: true, form: FREE_FORM },
    });
  }

  /** Judges the user's next message; where it yields a hint, learns from it and serves the result. */
  async #react(completionId: string, next: ChatMessage, seed: number): Promise<Heard> {
    const started = performance.now();
    const event = this.#log.next(completionId, [next]);
    const assembled = assembleSignal(event, this.#log.cache);
    const verdict = assembled?.status === "signal" ? await this.#judge.judge(assembled.signal, { votes: 3, seed }) : undefined;
    if (assembled?.status !== "signal" || verdict?.hint === undefined)
      return {
        hint: undefined,
        learned: false,
        note: `reward ${verdict?.reward} ${verdict?.refused?.code ?? ""} ${verdict?.refused?.detail ?? ""}`,
        seconds: undefined,
      };
    const outcome = await this.#learner.update({
      corrected: [toCorrected(assembled.signal, verdict, new Map())],
      supplied: [],
      rewarded: [],
      signals: SignalSettings.parse({}),
      replay: toReplay(this.#log.cache.turns()),
      parent: this.#served,
      parentVersion: 0,
      baseline: 0,
      objective: this.#objective,
      seed,
    });
    if (outcome.status === "learned") {
      await this.#engine.loadAdapter(ADAPTER, outcome.adapter);
      this.#served = outcome.adapter;
    }
    const note =
      outcome.status === "learned"
        ? `learned ${JSON.stringify(outcome.metrics)}`
        : outcome.refused.map(({ code, detail }) => `${code}: ${detail}`).join("; ");
    return { hint: verdict.hint.text, learned: outcome.status === "learned", note, seconds: (performance.now() - started) / 1_000 };
  }
}

/** The result of the answer's first call. */
export function resultMessage({ message }: Answer, content: string): ChatMessage {
  const id = message.role === "assistant" ? (message.tool_calls?.[0]?.id ?? "") : "";
  return { role: "tool", content, tool_call_id: id };
}

function toMessage({ calls, text }: ReadAnswer, id: string): ChatMessage {
  if (calls.length === 0) return { role: "assistant", content: text };
  const toolCalls = calls.map(({ name, arguments: args }, index) => ({
    id: `call_${id}_${index}`,
    type: "function" as const,
    function: { name, arguments: spacedJson(args) },
  }));
  return { role: "assistant", content: text === "" ? null : text, tool_calls: toolCalls };
}
