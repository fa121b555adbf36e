/**
 * An OpenAI-compatible engine: vLLM, SGLang, llama.cpp's server, or any other. The engine renders and encodes the prompt by its own
 * template; ids and log-probs are taken where it tells them, and a turn without them says why. Its adapter is named, loaded where it is not there, and the very one
 * that the turn is bound to.
 */
import { AppError } from "../../shared/errors.ts";
import { adapterName, capabilitiesOf, type OpenAiEngine } from "../../shared/engine.ts";
import type { Env } from "../env.ts";
import { answerEvents } from "./answer-events.ts";
import { chatBody, drawn, isPlainText, templateMember } from "./bodies.ts";
import { ChatStream } from "./chat-stream.ts";
import { loraList, llamaAdapters } from "./llama-adapters.ts";
import { llamaChat, PLAIN_SAMPLING } from "./llama-chat.ts";
import { CompletionStream, GenerateStream } from "./native-streams.ts";
import {
  UNKNOWN_PROMPT,
  type AnswerEnd,
  type AnswerStep,
  type Engine,
  type EngineReport,
  type EngineTurn,
  type PieceStep,
} from "./port.ts";
import { encodeForGenerate, encodeForCompletion } from "./prompt-ids.ts";
import { distortionOf, reportOf, type Told } from "./report.ts";
import { connect, saysTooLong, toAppError, type Upstream, UpstreamRefusal } from "./upstream.ts";

/** Has the adapter of the turn's version loaded; `anew` where the engine turned out not to have it. @throws {upstream/…} */
export type EnsureAdapter = (anew: boolean) => Promise<void>;

type Stream = { push(event: unknown): PieceStep; end(report: (told: Told) => EngineReport): AnswerEnd };
/** What is asked, what reads its answer, and why ids are not told where they are not. */
type Asked = { readonly path: string; readonly body: Readonly<Record<string, unknown>> };
type Plan = { readonly asked: Asked; readonly stream: Stream; readonly silence: string | undefined };

/** By which statuses an engine may say that it does not have an adapter. vLLM, to which an adapter is a model, says so by 404 alone; SGLang by 400. */
const UNKNOWN_ADAPTER: Readonly<Record<OpenAiEngine["flavour"], readonly number[]>> = {
  vllm: [404],
  sglang: [400, 404],
  llamacpp: [400, 404],
  generic: [],
};
/** Of the sampling that chat completions take, off whatever the server was started with. */
const NO_PENALTIES = { repetition_penalty: 1, presence_penalty: 0, frequency_penalty: 0 } as const;
const NOT_ASKED = "the engine's chat completions, which calls, JSON, thoughts and log-probs for the client need, do not report token ids";

export function createOpenAiEngine(env: Env, engine: OpenAiEngine, ensureAdapter: EnsureAdapter): Engine {
  // In a stream SGLang tells without a status what is wrong with the request, an adapter that it does not have among it.
  const uncoded = engine.flavour === "sglang" ? { uncodedStatus: 400 } : {};
  const upstream = { ...connect(env, { what: "the agent's engine", ...engine }), ...uncoded };
  return {
    prepare: async (turn) => {
      checkTurn(engine, turn);
      return { answer: (signal) => ({ steps: answer({ engine, upstream, ensureAdapter }, turn, signal), prompted: () => UNKNOWN_PROMPT }) };
    },
  };
}

type Parts = { readonly engine: OpenAiEngine; readonly upstream: Upstream; readonly ensureAdapter: EnsureAdapter };

async function* answer(parts: Parts, turn: EngineTurn, signal: AbortSignal): AsyncGenerator<AnswerStep, void, void> {
  const { upstream, ensureAdapter } = parts;
  try {
    const adapted = turn.policy.adapter !== null;
    if (adapted) await ensureAdapter(false);
    const first = yield* attempt(parts, turn, { signal, retries: adapted });
    if (first === "answered") return;
    // Whoever restarts an engine takes its adapters away. Nothing was sent, so the answer can begin again.
    await ensureAdapter(true);
    yield* attempt(parts, turn, { signal, retries: false });
  } catch (thrown) {
    throw toAppError(upstream, thrown);
  }
}

/** One try; `unknown` where the engine may not have the adapter and another try may help. */
async function* attempt(
  { engine, upstream }: Parts,
  turn: EngineTurn,
  { signal, retries }: { signal: AbortSignal; retries: boolean },
): AsyncGenerator<AnswerStep, "answered" | "unknown", void> {
  let begun = false;
  try {
    const { asked, stream, silence } = await plan(engine, { upstream, turn, signal });
    for await (const event of answerEvents(upstream, asked, signal)) {
      begun = true;
      yield stream.push(event);
    }
    const { tools, sampling } = turn;
    const distortion = distortionOf(sampling, { tools, atTemperature: engine.flavour === "sglang" });
    yield stream.end((told) => reportOf(told, { silence, distortion }));
    return "answered";
  } catch (thrown) {
    if (!begun && retries && maySayUnknown(engine, thrown)) return "unknown";
    throw thrown;
  }
}

/** What is too long stays so, whichever adapter it is for. */
function maySayUnknown({ flavour }: OpenAiEngine, thrown: unknown): boolean {
  return thrown instanceof UpstreamRefusal && UNKNOWN_ADAPTER[flavour].includes(thrown.status) && !saysTooLong(thrown);
}

async function plan(
  engine: OpenAiEngine,
  { upstream, turn, signal }: { upstream: Upstream; turn: EngineTurn; signal: AbortSignal },
): Promise<Plan> {
  const adapter = turn.policy.adapter === null ? undefined : adapterName(turn.policy.policyDigest);
  switch (engine.flavour) {
    case "vllm": {
      // The name of an adapter is that of a model, and of its prefix cache: it holds the digest, so neither is ever another's.
      const extra = {
        return_token_ids: true,
        logprobs: true,
        top_logprobs: turn.sampling.topLogprobs,
        ...{ top_k: 0, min_p: 0, ...NO_PENALTIES },
      };
      return chat(engine, turn, { model: adapter ?? engine.model, extra });
    }
    case "sglang": {
      const encoded = isPlainText(engine, turn) ? await encodeForGenerate(upstream, { turn, engine, signal }) : NOT_ASKED;
      if (typeof encoded !== "string") return generate(engine, turn, { promptTokens: encoded, adapter });
      const model = adapter === undefined ? engine.model : `${engine.model}:${adapter}`;
      return chat(engine, turn, { model, extra: { top_k: -1, min_p: 0, ...NO_PENALTIES }, silence: encoded });
    }
    case "llamacpp": {
      const present = await llamaAdapters(upstream, signal);
      const extra = { ...loraList(present, adapter), ...PLAIN_SAMPLING };
      const encoded = isPlainText(engine, turn) ? await encodeForCompletion(upstream, { turn, engine, signal }) : NOT_ASKED;
      if (typeof encoded !== "string") return complete(engine, turn, { promptTokens: encoded, extra });
      return chat(engine, turn, { model: engine.model, extra: { ...extra, ...llamaChat(turn) }, silence: encoded });
    }
    case "generic":
      return chat(engine, turn, { model: engine.model, extra: {}, silence: "an engine of no known kind reports no token ids" });
  }
}

function chat(
  engine: OpenAiEngine,
  turn: EngineTurn,
  { model, extra, silence }: { model: string; extra: Readonly<Record<string, unknown>>; silence?: string },
): Plan {
  const { logprobs, topLogprobs } = turn.sampling;
  const body = { ...chatBody(engine, turn), ...templateMember(engine), ...extra, model };
  return { asked: { path: "/v1/chat/completions", body }, stream: new ChatStream(logprobs ? topLogprobs : undefined), silence };
}

function generate(
  engine: OpenAiEngine,
  turn: EngineTurn,
  { promptTokens, adapter }: { promptTokens: readonly number[]; adapter: string | undefined },
): Plan {
  const { temperature, topP, stop, seed, maxTokens } = drawn(engine, turn);
  const sampling_params = {
    ...{ temperature, top_p: topP, top_k: -1, min_p: 0, ...NO_PENALTIES, max_new_tokens: maxTokens, sampling_seed: seed },
    ...(stop.length === 0 ? {} : { stop }),
  };
  const lora = adapter === undefined ? {} : { lora_path: adapter };
  const body = { input_ids: promptTokens, sampling_params, return_logprob: true, stream: true, ...lora };
  return { asked: { path: "/generate", body }, stream: new GenerateStream(promptTokens), silence: undefined };
}

function complete(
  engine: OpenAiEngine,
  turn: EngineTurn,
  { promptTokens, extra }: { promptTokens: readonly number[]; extra: Readonly<Record<string, unknown>> },
): Plan {
  const { temperature, topP, stop, seed, maxTokens } = drawn(engine, turn);
  const body = {
    ...{ prompt: promptTokens, n_predict: maxTokens, temperature, top_p: topP, stop, seed, ...extra },
    ...{ stream: true, return_tokens: true, n_probs: 1 },
  };
  return { asked: { path: "/completion", body }, stream: new CompletionStream(promptTokens), silence: undefined };
}

/** Whether a seed asks for a random one: −1 of vLLM and llama.cpp, to which a seed is 32 bits, so that others are −1, too. */
function isNoSeed(flavour: OpenAiEngine["flavour"], seed: number): boolean {
  return (flavour === "vllm" && seed === -1) || (flavour === "llamacpp" && seed >>> 0 === 0xffff_ffff);
}

/** What an engine would answer otherwise than it was asked to. @throws {input/unsupported} */
function checkTurn(engine: OpenAiEngine, { tools, sampling, policy, seed }: EngineTurn): void {
  const { flavour } = engine;
  if (isNoSeed(flavour, seed))
    throw new AppError(
      "input/unsupported",
      `seed: one that is kept expected, got ${seed}, for which ${flavour} draws another; choose another or leave it out`,
      { details: { param: "seed" } },
    );
  if (flavour === "llamacpp" && sampling.logprobs && tools.length > 0)
    throw new AppError("input/unsupported", "logprobs: llama.cpp's server reports none beside tools; leave one of them out", {
      details: { param: "logprobs" },
    });
  if (!capabilitiesOf(engine).adapters && policy.adapter !== null)
    throw new AppError(
      "upstream/invalid",
      `the agent's engine: a flavour that loads adapters expected, got ${flavour}, and the version has one`,
    );
}
