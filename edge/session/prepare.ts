/** Everything that a turn needs before it opens, and every reason not to open it. */
import type { ChatMessage } from "../../shared/chat.ts";
import { engineTitle } from "../../shared/engine.ts";
import { AppError } from "../../shared/errors.ts";
import { engineFor } from "../engine/engines.ts";
import type { PreparedAnswer } from "../engine/port.ts";
import type { Env } from "../env.ts";
import { newSeed } from "./identity.ts";
import type { TurnPolicy, TurnRequest } from "./port.ts";
import { shortenedTo } from "./shortened.ts";

const MAX_RECORD_BYTES = 1_500_000; // a row holds 2 MB, and the answer's tokens stand beside it

export type PreparedTurn = PreparedAnswer & {
  /** The conversation as the policy sees it: without what did not fit, where the request allows that. */
  readonly messages: readonly ChatMessage[];
  readonly seed: number;
};

/**
 * @param bound the version that answers, and whether the turn is of an answer that has begun
 * @throws {input/invalid} {input/unsupported} for a turn that the agent's engine cannot answer, {auth/limited} {policy/busy} where too many wait
 */
export async function prepareTurn(
  env: Env,
  request: TurnRequest,
  { policy, goesOn }: { policy: TurnPolicy; goesOn: boolean },
): Promise<PreparedTurn> {
  const whole = withInstructions(request.instructions, request.messages);
  const { tools, notes, sampling, session, metadata, truncation } = request;
  const { seed = newSeed() } = sampling;
  checkTruncation(request, policy);
  checkRecord({ messages: whole, tools, metadata });
  const engine = engineFor(env, request, policy);
  const named = { cacheKey: session.sessionId, keyId: session.keyId, goesOn };
  const prepare = async (messages: readonly ChatMessage[], isLast: boolean): Promise<PreparedTurn> => ({
    ...(await engine.prepare({ messages, tools, notes, sampling, policy, seed, isShortenable: !isLast, ...named })),
    messages,
    seed,
  });
  return truncation === "auto" ? shortenedTo(whole, prepare) : prepare(whole, true);
}

/** How long a prompt is for an engine elsewhere is known only when it refuses it. @throws {input/unsupported} */
function checkTruncation(
  { truncation, engine }: Pick<TurnRequest, "truncation" | "engine">,
  { onEngine }: Pick<TurnPolicy, "onEngine">,
): void {
  if (truncation === "disabled" || !onEngine) return;
  const message = `truncation: "disabled" expected where ${engineTitle(engine)} answers, got "auto"; send fewer messages`;
  throw new AppError("input/unsupported", message, { details: { param: "truncation" } });
}

/** The agent's instructions stand before the client's own system text, in one system message. */
export function withInstructions(instructions: string, messages: readonly ChatMessage[]): ChatMessage[] {
  if (instructions === "") return [...messages];
  const [first, ...rest] = messages;
  if (first?.role !== "system") return [{ role: "system", content: instructions }, ...messages];
  return [{ role: "system", content: `${instructions}\n${first.content}` }, ...rest];
}

/** What is recorded of a turn must fit a row. Numbers may take many more characters than the client wrote. @throws {input/tooLarge} */
function checkRecord(record: Pick<TurnRequest, "tools" | "metadata"> & { messages: readonly ChatMessage[] }): void {
  const { length } = new TextEncoder().encode(JSON.stringify(record));
  if (length > MAX_RECORD_BYTES)
    throw new AppError(
      "input/tooLarge",
      `body: at most ${MAX_RECORD_BYTES} bytes as it is recorded expected, got ${length}; shorten tools or messages`,
    );
}
