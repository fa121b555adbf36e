/** A conversation with ever less of its beginning, for a policy whose context it does not fit (`truncation: "auto"`, as the Responses API has it). Pure. */
import type { ChatMessage } from "../../shared/chat.ts";
import { AppError } from "../../shared/errors.ts";

/** What is to become of a conversation that does not fit the context: it is refused, or answered without its oldest messages. */
export const TRUNCATIONS = ["auto", "disabled"] as const;
export type Truncation = (typeof TRUNCATIONS)[number];

/** `start`: of its messages among those that are no system message. `size`: their characters as JSON. */
type Ending = { readonly start: number; readonly size: number };

/**
 * What `attempt` makes of the longest end of the conversation that it does not refuse for its length. System messages stay, before the rest, and what is left of
 * the others begins with one of the user's, so that no result stands without its call. After a refusal that says how much too long it is, about that much is left out at once.
 * @param attempt is told whether nothing more could be left out
 * @throws what `attempt` throws; for the conversation's length only where nothing more can be left out
 */
export async function shortenedTo<Made>(
  messages: readonly ChatMessage[],
  attempt: (messages: readonly ChatMessage[], isLast: boolean) => Promise<Made>,
): Promise<Made> {
  const system = messages.filter(({ role }) => role === "system");
  const spoken = messages.filter(({ role }) => role !== "system");
  const endings = endingsOf(spoken);
  let ending: Ending = { start: 0, size: sizeOf(spoken) };
  for (;;) {
    const { start, size } = ending;
    const shorter = endings.filter((each) => each.start > start);
    try {
      return await attempt(start === 0 ? messages : [...system, ...spoken.slice(start)], shorter.length === 0);
    } catch (thrown) {
      const share = shareThatFits(thrown);
      const next = shorter.find((each) => each.size <= size * (share ?? 0)) ?? shorter.at(-1);
      if (share === undefined || next === undefined) throw thrown;
      ending = next;
    }
  }
}

/** From each of the user's messages on but the first, the longest ending first. */
function endingsOf(spoken: readonly ChatMessage[]): Ending[] {
  const endings: Ending[] = [];
  let size = 0;
  for (const [start, message] of [...spoken.entries()].toReversed()) {
    size += sizeOf(message);
    if (message.role === "user" && start > 0) endings.push({ start, size });
  }
  return endings.toReversed();
}

function sizeOf(part: unknown): number {
  return JSON.stringify(part).length;
}

/** Of prompt and answer, in tokens; undefined where it was refused for something else. Of a prompt far too long the least that it can have is told. */
function shareThatFits(thrown: unknown): number | undefined {
  if (!(thrown instanceof AppError) || thrown.details["code"] !== "context_length_exceeded") return undefined;
  const { promptTokens, contextTokens, answerTokens = 0 } = thrown.details;
  if (typeof promptTokens !== "number" || typeof contextTokens !== "number") return 1;
  // An answer that is to be as long as the context has room beside no conversation.
  return Number(answerTokens) < contextTokens ? contextTokens / (promptTokens + Number(answerTokens)) : undefined;
}
