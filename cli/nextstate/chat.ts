/** `nextstate chat`: a conversation with an agent, as any client of the endpoint has it. What is said is what the agent learns from. */
import { buildCommand, numberParser } from "@stricli/core";
import type OpenAI from "openai";
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { ExecutedTool } from "../../shared/executed-tool.ts";
import { refused, unreachable, type EdgeClient } from "./edge-client.ts";
import { canAsk, Lines } from "./input.ts";
import { clip, harmless, paint, say, sayJson, sayJsonLine } from "./output.ts";
import { AGENT, COMMON, connect, type Common, type Context } from "./where.ts";

type Flags = Common & { message?: string; user?: string; temperature?: number; result: string };
type Completion = OpenAI.Chat.Completions.ChatCompletion;
type Message = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type Call = { id: string; type: "function"; function: { name: string; arguments: string } };
type Reply = { role: "assistant"; content: string | null; tool_calls?: Call[] };

/** Of a chunk: what clients of OpenAI know nothing of. */
const Executed = z.object({ executed_tools: z.array(ExecutedTool) });

const RESULT = '{"status": "ok"}';
const MOST_ROUNDS = 8; // of calls in a row that nobody watches

export const chat = buildCommand<Flags, [string], Context>({
  docs: {
    brief: "Talk to an agent: at the terminal, from the lines of stdin, or with one --message",
    fullDescription:
      "Talk to an agent: at the terminal, from the lines of stdin, or with one --message.\n" +
      "The agent learns from it as from any user. With --json every answer is one JSON document.",
  },
  parameters: {
    flags: {
      ...COMMON,
      message: { kind: "parsed", parse: String, optional: true, placeholder: "text", brief: "ask this, print the answer, and end" },
      user: { kind: "parsed", parse: String, optional: true, placeholder: "name", brief: "who asks; left out: the key" },
      temperature: {
        kind: "parsed",
        parse: numberParser,
        optional: true,
        placeholder: "n",
        brief: "0 gives equal answers to equal questions; left out: the agent's",
      },
      result: {
        kind: "parsed",
        parse: String,
        default: RESULT,
        placeholder: "text",
        brief: "what a tool gives where nobody says otherwise",
      },
    },
    positional: { kind: "tuple", parameters: [AGENT] },
  },
  func: async ({ message, ...flags }, agent) => {
    const talk = new Talk(connect(flags), agent, flags);
    if (message === undefined) return converse(talk, flags.result);
    const completion = await talk.say({ role: "user", content: message });
    if (flags.json) sayJson(completion);
  },
});

class Talk {
  readonly #edge: EdgeClient;
  readonly #agent: string;
  readonly #flags: Omit<Flags, "message">;
  readonly #messages: Message[] = [];
  #midLine = false;

  constructor(edge: EdgeClient, agent: string, flags: Omit<Flags, "message">) {
    this.#edge = edge;
    this.#agent = agent;
    this.#flags = flags;
  }

  get wantsJson(): boolean {
    return this.#flags.json;
  }

  /** Calls of the last answer that have no result yet. */
  get calls(): readonly Call[] {
    const last = this.#messages.at(-1);
    return last?.role === "assistant" ? ((last as Reply).tool_calls ?? []) : [];
  }

  give(call: Call, content: string): void {
    this.#messages.push({ role: "tool", tool_call_id: call.id, content });
  }

  /** Asks with what was said and given so far; shown as it is written, unless JSON is wanted. */
  async say(message?: Message): Promise<Completion> {
    if (message !== undefined) this.#messages.push(message);
    const completion = await this.#complete();
    const answer = completion.choices[0]?.message;
    if (answer === undefined) throw new AppError("upstream/invalid", "an answer with one choice expected, got none");
    this.#messages.push(replyOf(answer));
    if (!this.#flags.json) showRest(completion, this.calls);
    return completion;
  }

  #write(text: string): void {
    process.stdout.write(harmless(text));
    if (text !== "") this.#midLine = !text.endsWith("\n");
  }

  /** What the edge ran itself, each once there is a result. */
  #showExecuted({ choices }: OpenAI.Chat.Completions.ChatCompletionChunk): void {
    const delta = Executed.safeParse(choices[0]?.delta).data;
    for (const { name, status, arguments: given = "", output } of delta?.executed_tools ?? []) {
      if (output === undefined) continue;
      if (this.#midLine) say();
      this.#midLine = false;
      say(`${paint("cyan", `⚙ ${harmless(name)}`)}(${harmless(given)}) ${status === "failed" ? "failed: " : ""}${clip(output)}`);
    }
  }

  async #complete(): Promise<Completion> {
    // Loaded here, so that the other commands, and completion above all, need not wait for it.
    const { OpenAI: Client, APIError, APIConnectionError } = await import("openai");
    const { url } = this.#edge;
    const client = new Client({ baseURL: `${url}/v1`, apiKey: await this.#edge.clientKey(), maxRetries: 0 });
    const { user, temperature, json } = this.#flags;
    const request = {
      model: this.#agent,
      messages: this.#messages,
      ...(user === undefined ? {} : { safety_identifier: user }),
      ...(temperature === undefined ? {} : { temperature }),
    };
    try {
      if (json) return await client.chat.completions.create(request);
      const stream = client.chat.completions.stream(request);
      stream.on("content", (delta) => this.#write(delta));
      stream.on("chunk", (chunk) => this.#showExecuted(chunk));
      return await stream.finalChatCompletion();
    } catch (error) {
      if (error instanceof APIConnectionError) throw unreachable(url, error);
      if (error instanceof APIError && error.status !== undefined) throw refused(error.status, error.message);
      throw error;
    }
  }
}

/** Until the lines end. Every call has its result before the user speaks again, as the API wants it. */
async function converse(talk: Talk, result: string): Promise<void> {
  const lines = new Lines();
  for (let line = await lines.read("you> "); line !== undefined; line = await lines.read("you> ")) {
    if (line.trim() === "") continue;
    await tell(talk, { role: "user", content: line });
    for (let round = 1; talk.calls.length > 0; round += 1) {
      for (const call of talk.calls) talk.give(call, await resultOf(call, lines, result));
      if (!canAsk() && round === MOST_ROUNDS) break;
      await tell(talk);
    }
  }
  lines.close();
}

async function tell(talk: Talk, message?: Message): Promise<void> {
  const completion = await talk.say(message);
  if (talk.wantsJson) await sayJsonLine(completion);
}

async function resultOf({ function: { name } }: Call, lines: Lines, result: string): Promise<string> {
  const given = canAsk() ? await lines.read(`result of ${harmless(name)} [${result}]> `) : undefined;
  return given === undefined || given.trim() === "" ? result : given;
}

/** What the stream has not shown: calls, and which version it was. */
function showRest({ choices, system_fingerprint: fingerprint }: Completion, calls: readonly Call[]): void {
  if (choices[0]?.message.content) say();
  for (const { function: called } of calls) say(`${paint("cyan", `→ ${harmless(called.name)}`)}(${harmless(called.arguments)})`);
  const [, version = "?"] = /^v(\d+)-/.exec(fingerprint ?? "") ?? [];
  const cut = choices[0]?.finish_reason === "length" ? ", cut short" : "";
  say(paint("dim", `[version ${version}${cut}]`));
}

/** Only what the wire wants back: the client's helpers add members of their own. */
function replyOf({ content, tool_calls: calls = [] }: OpenAI.Chat.Completions.ChatCompletionMessage): Reply {
  const asked = calls.flatMap((call): Call[] => {
    if (call.type !== "function") return [];
    const { name, arguments: given } = call.function;
    return [{ id: call.id, type: "function", function: { name, arguments: given } }];
  });
  return { role: "assistant", content, ...(asked.length === 0 ? {} : { tool_calls: asked }) };
}
