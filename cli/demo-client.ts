/** The demo's two views of the system: a user's, through the stock OpenAI client, and an owner's, through /api. */
import OpenAI from "openai";
import { z } from "zod";
import { AppError, codeOfStatus } from "../shared/errors.ts";
import { LoggedEvent, type TurnFinished } from "../shared/events.ts";
import { Note } from "../shared/note.ts";
import { PolicyVersion } from "../shared/policy.ts";
import type { LocalKeys } from "./keys.ts";
import { SYSTEM, type Tool } from "./demo-scenes.ts";

type Message = OpenAI.Chat.Completions.ChatCompletionMessageParam;

export type Answer = {
  completionId: string;
  message: OpenAI.Chat.Completions.ChatCompletionMessage;
  /** Policy version that answered, from the response header. */
  version: number;
  /** The first call, where there is one and its arguments are JSON. */
  call: { id: string; name: string; args: Record<string, unknown> } | undefined;
};

const Versions = z.object({
  stable: z.number(),
  latest: z.number(),
  versions: z.array(PolicyVersion.partial().required({ version: true })),
});
const EventsPage = z.object({ events: z.array(LoggedEvent), cursor: z.number() });
const Refusal = z.object({ eventId: z.string(), code: z.string(), detail: z.string() });
const Audit = z.object({ audit: z.array(z.object({ id: z.number(), refused: z.array(Refusal) })) });
const Trainer = z.object({ trainer: z.object({ phase: z.string(), done: z.number(), of: z.number() }).nullable() });
const Notes = z.object({ notes: z.array(Note) });
const Args = z.record(z.string(), z.unknown());

const MAX_ANSWER_TOKENS = 200;

type Owner = { readonly url: string; readonly keys: LocalKeys };

/** Makes an agent that nobody has talked to: `demo-1`, or the next that there is none of. Returns its name. */
export async function makeAgent({ url, keys: { admin } }: Owner): Promise<string> {
  for (let number = 1; ; number += 1) {
    const agent = { url, adminKey: admin, agent: `demo-${number}` };
    try {
      await callAgent(agent, "");
    } catch (error) {
      if (!(error instanceof AppError && error.code === "input/notFound")) throw error;
      await callAgent(agent, "", { method: "PUT", body: {} });
      return agent.agent;
    }
  }
}

export class DemoClient {
  readonly #openai: OpenAI;
  readonly #url: string;
  readonly #adminKey: string;
  readonly #agent: string;

  constructor({ url, keys, agent }: Owner & { agent: string }) {
    this.#openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: keys.client, maxRetries: 1 });
    this.#url = url;
    this.#adminKey = keys.admin;
    this.#agent = agent;
  }

  /**
   * Sends a conversation as it stands; temperature 0, so that equal policies give equal answers. The session is named
   * because the demo holds the same conversation several times, and only its user can tell them apart.
   */
  async ask(
    { sessionId, user }: { sessionId: string; user: string },
    messages: readonly Message[],
    tools: readonly Tool[],
  ): Promise<Answer> {
    const { data, response } = await this.#openai.chat.completions
      .create({
        model: this.#agent,
        messages: [{ role: "system", content: SYSTEM }, ...messages],
        tools: [...tools],
        metadata: { session_id: sessionId },
        safety_identifier: user,
        temperature: 0,
        max_tokens: MAX_ANSWER_TOKENS,
      })
      .withResponse();
    const message = data.choices[0]?.message;
    if (message === undefined) throw new Error("the answer has no choice");
    return { completionId: data.id, message, version: Number(response.headers.get("x-policy-version")), call: readCall(message) };
  }

  async versions(): Promise<z.infer<typeof Versions>> {
    return Versions.parse(await this.#api(`/versions`));
  }

  async rollback(to: number): Promise<void> {
    await this.#api("/rollback", { to, reason: "demo: shows the old behaviour again" });
  }

  /** The agent's last moves, newest first, with what the trainer refused to learn from. */
  async audit(): Promise<z.infer<typeof Audit>["audit"]> {
    return Audit.parse(await this.#api("/audit")).audit;
  }

  /** What the trainer says that it is doing; null while none has said anything. */
  async trainer(): Promise<z.infer<typeof Trainer>["trainer"]> {
    return Trainer.parse(await this.#api("/trainer")).trainer;
  }

  /** The note that the event gave; undefined while there is none. */
  async noteOf(eventId: string): Promise<string | undefined> {
    return Notes.parse(await this.#api("/notes")).notes.find((note) => note.eventId === eventId)?.text;
  }

  /** A completion as the event log has it; undefined while it is not there. */
  async turn(completionId: string): Promise<TurnFinished | undefined> {
    for await (const { payload } of this.#events())
      if (payload.kind === "turn:finished" && payload.completionId === completionId) return payload;
    return undefined;
  }

  /** The event that holds what followed a completion. */
  async nextStateEvent(completionId: string): Promise<string | undefined> {
    for await (const { eventId, payload } of this.#events())
      if (payload.kind === "nextState:arrived" && payload.completionId === completionId) return eventId;
    return undefined;
  }

  /** The agent's events from the first to the last. */
  async *#events(): AsyncGenerator<LoggedEvent> {
    for (let cursor = 0; ;) {
      const page = EventsPage.parse(await this.#api(`/events?cursor=${cursor}&limit=100`));
      if (page.events.length === 0) return;
      yield* page.events;
      cursor = page.cursor;
    }
  }

  #api(path: string, body?: unknown): Promise<unknown> {
    const agent = { url: this.#url, adminKey: this.#adminKey, agent: this.#agent };
    return callAgent(agent, path, body === undefined ? undefined : { method: "POST", body });
  }
}

async function callAgent(
  { url, adminKey, agent }: { url: string; adminKey: string; agent: string },
  path: string,
  sent?: { method: "POST" | "PUT"; body: unknown },
): Promise<unknown> {
  const response = await fetch(`${url}/api/agents/${agent}${path}`, {
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    ...(sent && { method: sent.method, body: JSON.stringify(sent.body) }),
  });
  if (!response.ok)
    throw new AppError(codeOfStatus(response.status), `/api/agents/${agent}${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

function readCall(message: Answer["message"]): Answer["call"] {
  const call = message.tool_calls?.[0];
  if (call?.type !== "function") return undefined;
  const args = readArguments(call.function.arguments);
  return args === undefined ? undefined : { id: call.id, name: call.function.name, args };
}

/** A small policy may write arguments that are not JSON; they reach the client as they are. */
function readArguments(text: string): Record<string, unknown> | undefined {
  try {
    return Args.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
