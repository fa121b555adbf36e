/**
 * The learning parts of the product in one process: policy with adapter, judge and learner without a wire between them.
 * Events have the shape that the edge logs, so what is measured is the trainer's own code path.
 */
import type { ObjectiveName } from "../../shared/agent.ts";
import { at, zipStrict } from "../../shared/assert.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import { FREE_FORM } from "../../shared/grammar/answer-form.ts";
import { type Held, holdTo, type Sayable } from "../../shared/held-notes.ts";
import { type InheritedDefault, inheritKept, type Kept } from "../../shared/learned-defaults.ts";
import { versionOf, withOwnArguments } from "../../shared/own-arguments.ts";
import { answerEach, type Standing } from "../../shared/reach.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { SignalSettings } from "../../shared/signal-settings.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import { yieldOrHold } from "../../shared/yield-or-hold.ts";
import type { WrittenAnswer } from "../../shared/yielding.ts";
import { UpdateSettings } from "../../trainer/config.ts";
import { assembleSignal } from "../../trainer/data/exchange.ts";
import { Engine } from "../../trainer/engine/engine.ts";
import type { Judge } from "../../trainer/judge/judge.ts";
import { createPanel } from "../../trainer/judge/panel.ts";
import { toCorrected } from "../../trainer/learn/batch/corrected.ts";
import { toReplay } from "../../trainer/learn/batch/replay.ts";
import { rehearsedFor, toRehearsals } from "../../trainer/learn/batch/rehearsed.ts";
import type { LearnerDependencies } from "../../trainer/learn/update/candidate.ts";
import type { Learner } from "../../trainer/learn/update/learner.ts";
import { createLearner } from "../../trainer/learn/update/update.ts";
import type { AdapterTensors } from "../../trainer/policy/adapter.ts";
import { openJudge } from "../../trainer/policy/answerer.ts";
import { loadBase, type Base } from "../../trainer/policy/base.ts";
import { readAnswer, type ReadAnswer } from "../../trainer/teacher/answer-text.ts";
import { Logbook } from "./logbook.ts";
import type { Answer, Heard, LearningSystem, Objection, Prompted } from "./learning.ts";

export type InProcessOptions = {
  readonly threads: number;
  readonly settings: unknown;
  readonly objective: ObjectiveName;
  readonly onLook: NonNullable<LearnerDependencies["onLook"]>;
  readonly onTaught: NonNullable<LearnerDependencies["onTaught"]>;
};

type Sampled = Answer & WrittenAnswer & { readonly prompt: readonly number[]; readonly logProbs: readonly number[] };
/** `name` is the adapter's in the engine. */
type Version = {
  readonly line: string;
  readonly version: number;
  readonly name: string | undefined;
  readonly adapter: AdapterTensors | null;
};

const BARE: Version = { line: SHARED_LINE, version: 0, name: undefined, adapter: null };
const NOTHING: Kept<Version> = { defaults: [], answering: null };

const ANSWER_TOKENS = 112;
const GENERATE_ROWS = 64;

export class InProcessSystem implements LearningSystem {
  readonly path = "trainer parts in one process, no HTTP";
  readonly #base: Base;
  readonly #engine: Engine;
  readonly #judge: Judge;
  readonly #learner: Learner;
  readonly #objective: InProcessOptions["objective"];
  #log = new Logbook();
  /** By number; the bare base is 0. */
  #versions: Version[] = [BARE];
  /** What the last of them has learned, and who answers beside it. */
  #kept: Kept<Version> = NOTHING;

  private constructor(
    { base, engine, judge }: { base: Base; engine: Engine; judge: Judge },
    { settings, objective, onLook, onTaught }: InProcessOptions,
  ) {
    this.#base = base;
    this.#engine = engine;
    this.#objective = objective;
    this.#judge = judge;
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
    return new InProcessSystem({ base, engine, judge: createPanel(await openJudge(engine, base)) }, options);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  async forget(): Promise<void> {
    for (const { name } of this.#versions) if (name !== undefined) await this.#engine.dropAdapter(name);
    this.#versions = [BARE];
    this.#kept = NOTHING;
    this.#log = new Logbook();
  }

  answer(requests: readonly Prompted[], { bare = false }: { bare?: boolean } = {}): Promise<Answer[]> {
    return bare ? this.#sample(requests, BARE) : this.#serve(requests);
  }

  byWeights(requests: readonly Prompted[]): Promise<Answer[]> {
    return this.#serve(requests, { holds: false });
  }

  async object({ request, answer, result, objection, seed }: Objection): Promise<Heard> {
    const [first] = await this.#serve([request]);
    if (first === undefined) return { hint: undefined, learned: false, note: "no answer to object to", seconds: undefined };
    this.#record(request, first);
    const then = { tools: request.tools, messages: [...request.messages, answer.message, resultMessage(answer, result)] };
    const [reply] = await this.#serve([then]);
    if (reply === undefined) return { hint: undefined, learned: false, note: "no reply", seconds: undefined };
    return this.#react(this.#record(then, reply), objection, seed);
  }

  get #served(): Version {
    return at(this.#versions, this.#versions.length - 1);
  }

  get #standing(): Standing<Version> {
    return { bound: this.#served, answering: this.#kept.answering };
  }

  /**
   * What goes out, as the edge decides it: the version answers that knows the tool, and a default that it has learned yields to what the user said, and is held
   * where it is passed over.
   */
  async #serve(requests: readonly Prompted[], { holds } = { holds: true }): Promise<Sampled[]> {
    const begun = await answerEach(requests, this.#standing, (version, asked) => this.#sample(asked, version));
    const answers: Sampled[] = [];
    for (const [request, each] of zipStrict(requests, begun)) {
      answers.push(await this.#decide({ request, ...each }, { holds }));
    }
    return answers;
  }

  async #decide(
    { request, by, answer }: { request: Prompted; by: Version; answer: Sampled },
    { holds }: { holds: boolean },
  ): Promise<Sampled> {
    const { defaults, answering } = this.#kept;
    const from = new Map([[answer, by]]);
    const said = new Map<Version, Sampled | undefined>();
    const askOnce = async (version: Version): Promise<Sampled | undefined> => {
      if (!said.has(version)) said.set(version, (await this.#sample([request], version))[0]);
      const without = said.get(version);
      if (without !== undefined) from.set(without, version);
      return without;
    };
    const ask = ({ before }: InheritedDefault<Version>): Promise<Sampled | undefined> => askOnce(before);
    const askBase = (): Promise<Sampled | undefined> => askOnce(BARE);
    const hold = async (passed: readonly Held[], under: Sampled): Promise<Sampled | undefined> => {
      const before = { text: under.text, calls: under.calls };
      const held = holdTo(passed, { ...FREE_FORM, tools: request.tools }, { before, heard: request });
      const [after] = await this.#sample([{ ...request, held }], from.get(under) ?? by);
      return after;
    };
    const standing = holds ? defaults : [];
    const { answer: decided } = await yieldOrHold(this.#base.tokenizer, answer, { defaults, standing, heard: request, ask, askBase, hold });
    const outside = answering?.outside;
    if (!holds || outside === undefined) return decided;
    return withOwnArguments(decided, { learned: defaults, heard: request, ask: () => askOnce(outside), hold });
  }

  async #sample(requests: readonly (Prompted & { held?: Sayable })[], { name }: Version): Promise<Sampled[]> {
    const { tokenizer } = this.#base;
    const prompts = requests.map(({ messages, tools }) => tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true }));
    const sampled: Sampled[] = [];
    for (let start = 0; start < prompts.length; start += GENERATE_ROWS) {
      const some = prompts.slice(start, start + GENERATE_ROWS);
      const adapter = name === undefined ? {} : { adapter: name };
      const forms = requests
        .slice(start, start + GENERATE_ROWS)
        .map(({ tools, held }) => ({ tools: held?.tools ?? tools, form: FREE_FORM }));
      const options = { forms, maxTokens: ANSWER_TOKENS, stopTokens: tokenizer.endIds, temperature: 0, seed: 0, ...adapter };
      const generated = await this.#engine.generate({ prompts: some.map((prompt) => Int32Array.from(prompt)), ...options });
      generated.forEach(({ tokens, logProbs }, index) => {
        const answer = readAnswer(tokenizer, [...tokens]);
        const message = toMessage(answer, `${this.#log.length}_${start + index}`);
        const written = { prompt: some[index] ?? [], tokens: [...tokens], logProbs: [...logProbs] };
        sampled.push({ ...answer, call: answer.calls[0], message, ...written });
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
    const turns = this.#log.cache.turns();
    const outcome = await this.#learner.update({
      corrected: [toCorrected(assembled.signal, verdict, new Map([[event.eventId, 1]]))],
      supplied: [],
      rewarded: [],
      signals: SignalSettings.parse({}),
      replay: toReplay(turns),
      rehearsed: toRehearsals(rehearsedFor(this.#kept.defaults, turns, { seed }), turns),
      othersAnswer: (place) => versionOf(place, this.#standing, this.#kept.defaults) !== this.#served,
      parent: this.#served.adapter,
      parentVersion: this.#versions.length - 1,
      baseline: 0,
      objective: this.#objective,
      seed,
    });
    if (outcome.status === "learned") {
      const name = `served.${this.#versions.length}`;
      await this.#engine.loadAdapter(name, outcome.adapter);
      const { defaults: learned, reach } = outcome;
      const by = { ...BARE, version: this.#versions.length, name, adapter: outcome.adapter };
      this.#kept = inheritKept({ bound: this.#served, ...this.#kept }, { by, learned, reach });
      this.#versions.push(by);
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
