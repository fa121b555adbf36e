/** A conversation between the demo's user and the system, shown line by line as it goes. */
import { randomUUID } from "node:crypto";
import type OpenAI from "openai";
import type { Answer, DemoClient } from "./demo-client.ts";
import { runTool, YES, type Tool } from "./demo-scenes.ts";

const MAX_QUESTIONS = 2;
const MAX_TOOL_ROUNDS = 3;

export class Talk {
  readonly answers: Answer[] = [];
  readonly #sessionId = randomUUID();
  readonly #client: DemoClient;
  readonly #tools: readonly Tool[];
  readonly #user: string;
  readonly #messages: OpenAI.Chat.Completions.ChatCompletionMessageParam[] = [];

  constructor(client: DemoClient, { tools, user }: { tools: readonly Tool[]; user: string }) {
    this.#client = client;
    this.#tools = tools;
    this.#user = user;
  }

  get last(): Answer | undefined {
    return this.answers.at(-1);
  }

  /** Value of an argument in the last answer's call; undefined where there is no call or no such argument. */
  argument(name: string): unknown {
    return this.last?.call?.args[name];
  }

  async say(text: string): Promise<Answer> {
    this.#runCalls();
    show("user", text);
    this.#messages.push({ role: "user", content: text });
    return this.#answer();
  }

  /** Asks for something, and says yes to what is asked back, until the tool is called or it takes too long. */
  async askFor(request: string): Promise<Answer> {
    let answer = await this.say(request);
    for (let question = 0; answer.call === undefined && question < MAX_QUESTIONS; question++) answer = await this.say(YES);
    return answer;
  }

  /** Lets tools run, those of the last answer and those called upon their results, until there is a reply or it takes too long. */
  async runTools(last: Answer): Promise<Answer> {
    let answer = last;
    for (let round = 0; round < MAX_TOOL_ROUNDS && this.#runCalls() > 0; round++) answer = await this.#answer();
    return answer;
  }

  /** Puts a result behind every call of the last message, as an API client must before anything else; returns how many. */
  #runCalls(): number {
    const last = this.#messages.at(-1);
    const calls = last?.role === "assistant" ? (last.tool_calls ?? []) : [];
    for (const call of calls) {
      const content = runTool(call.type === "function" ? call.function.arguments : "");
      show("tool", content);
      this.#messages.push({ role: "tool", tool_call_id: call.id, content });
    }
    return calls.length;
  }

  async #answer(): Promise<Answer> {
    const answer = await this.#client.ask({ sessionId: this.#sessionId, user: this.#user }, this.#messages, this.#tools);
    show("assistant", describe(answer));
    this.#messages.push(answer.message);
    this.answers.push(answer);
    return answer;
  }
}

/** Equal texts and equal calls in equal order; the ids of calls are new each time. */
export function sameAnswers(left: Talk, right: Talk): boolean {
  const form = ({ answers }: Talk): string =>
    JSON.stringify(
      answers.map(({ message: { content, tool_calls = [] } }) => [
        content,
        tool_calls.map((call) => (call.type === "function" ? call.function : call)),
      ]),
    );
  return form(left) === form(right);
}

export function describe({ call, message }: Answer): string {
  return call === undefined ? JSON.stringify(message.content ?? message.tool_calls) : `${call.name}(${JSON.stringify(call.args)})`;
}

function show(who: string, text: string): void {
  process.stdout.write(`  ${who.padEnd(10)} ${text}\n`);
}
