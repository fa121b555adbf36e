/**
 * A user of the HTTP API who does not give up: reads an answer to its `[DONE]`, and asks again, as the stock client
 * does, whatever was cut off before. Remembers what was acknowledged.
 */
import { z } from "zod";
import type { ChatMessage } from "../../shared/chat.ts";
import { bearer } from "./edge.ts";

export type Acknowledged = { completionId: string; content: string };

export type UserOptions = {
  /** Asked before every attempt, because a restarted edge may have moved. */
  url: () => string;
  key: string;
  name: string;
  /** Called at every piece of an answer. */
  onChunk?: () => void;
};

const GIVE_UP_MS = 60_000;
const RETRY_MS = 30;
const MAX_TOKENS = 8;

/** Below 500, what the stock client sends again. */
const RETRIED_STATUSES = [408, 409, 429];

class Refused extends Error {}

const Chunk = z.object({ id: z.string(), choices: z.array(z.object({ delta: z.object({ content: z.string().nullish() }) })) });

export class PersistentUser {
  readonly acknowledged: Acknowledged[] = [];
  readonly #messages: ChatMessage[] = [];
  readonly #options: UserOptions;

  constructor(options: UserOptions) {
    this.#options = options;
  }

  /** The next thing said opens a new conversation. */
  startOver(): void {
    this.#messages.length = 0;
  }

  /** Says something and returns once the answer is acknowledged. */
  async say(text: string): Promise<void> {
    this.#messages.push({ role: "user", content: text });
    const started = Date.now();
    for (let attempt = 0; ; attempt++) {
      const answer = await this.#attempt(attempt).catch(unlessRefused);
      if (answer !== undefined) {
        this.acknowledged.push(answer);
        this.#messages.push({ role: "assistant", content: answer.content });
        return;
      }
      if (Date.now() - started > GIVE_UP_MS)
        throw new Error(`${this.#options.name}: no answer to ${JSON.stringify(text)} in ${attempt + 1} attempts`);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** The answer where it was acknowledged, undefined where it was cut off. @throws on a refusal, which no retry mends */
  async #attempt(attempt: number): Promise<Acknowledged | undefined> {
    const { url, key, name, onChunk } = this.#options;
    const body = { model: "assistant", messages: this.#messages, user: name, stream: true, max_tokens: MAX_TOKENS, temperature: 0 };
    const response = await fetch(`${url()}/v1/chat/completions`, {
      method: "POST",
      headers: bearer(key, { "x-stainless-retry-count": String(attempt) }),
      body: JSON.stringify(body),
    });
    if (response.status < 500 && !RETRIED_STATUSES.includes(response.status) && !response.ok) throw new Refused(await response.text());
    if (!response.ok || response.body === null) return undefined;
    let text = "";
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      text += piece;
      onChunk?.();
    }
    return text.includes("data: [DONE]") ? readAnswer(text) : undefined;
  }
}

function readAnswer(text: string): Acknowledged {
  const chunks = text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => Chunk.parse(JSON.parse(line.slice("data: ".length))));
  const content = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? "")).join("");
  return { completionId: chunks[0]?.id ?? "", content };
}

/** A connection that broke is asked again; a refusal is the test's own mistake. */
function unlessRefused(error: unknown): undefined {
  if (error instanceof Refused) throw error;
}
