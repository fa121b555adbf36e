/** Events of an answer. Builds of llama.cpp's server of before May 2025 stream none where there are tools: asked again, they answer whole, as one chunk. */
import { z } from "zod";
import { eventsOf } from "./event-stream.ts";
import { jsonBody, requestJson, type Upstream, UpstreamRefusal } from "./upstream.ts";

const STREAMS_NO_TOOLS = /tools with stream/i;

const Choice = z.looseObject({ message: z.looseObject({ tool_calls: z.array(z.looseObject({})).nullish() }) });
export const WholeCompletion = z.looseObject({ choices: z.array(Choice).length(1) });

/** @throws {upstream/…} {UpstreamRefusal} */
export async function* answerEvents(
  upstream: Upstream,
  { path, body }: { path: string; body: Readonly<Record<string, unknown>> },
  signal: AbortSignal,
): AsyncGenerator<unknown, void, void> {
  try {
    yield* eventsOf(upstream, { method: "POST", path, body: jsonBody(body) }, signal);
  } catch (thrown) {
    if (!(thrown instanceof UpstreamRefusal && STREAMS_NO_TOOLS.test(thrown.said))) throw thrown;
    const { stream_options: _, ...asked } = body;
    const call = { method: "POST", path, body: jsonBody({ ...asked, stream: false }) } as const;
    yield toChunk(await requestJson(upstream, call, { schema: WholeCompletion, signal }));
  }
}

/** A whole chat completion as the only chunk of a streamed one. */
export function toChunk({ choices, ...rest }: z.infer<typeof WholeCompletion>): unknown {
  const chunked = choices.map(({ message, ...choice }) => {
    const calls = message.tool_calls?.map((call, index) => ({ ...call, index }));
    return { ...choice, delta: { ...message, tool_calls: calls } };
  });
  return { ...rest, choices: chunked };
}
