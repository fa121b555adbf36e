/** The answer of a turn as a response, whole or as server-sent events, each sent as soon as it is known. */
import { fromErrorRecord, toErrorRecord } from "../../shared/errors.ts";
import { endless } from "../openai/deltas.ts";
import type { TurnDelta } from "../session/port.ts";
import type { ResponseBase, ResponseEvent, ResponseOnWire } from "./wire.ts";
import { ResponseWriter } from "./writer.ts";

/** Collects an answer. @throws what the turn failed with, {upstream/failed} where it ends without an end */
export async function collectResponse(deltas: AsyncIterable<TurnDelta> | Iterable<TurnDelta>, base: ResponseBase): Promise<ResponseOnWire> {
  const writer = new ResponseWriter(base);
  for await (const delta of deltas) {
    if (delta.kind === "failed") throw fromErrorRecord(delta.error);
    if (delta.kind === "finished") return writer.finish(delta).response;
    writer.accept(delta);
  }
  throw endless();
}

/** The events in the order of the API. A turn that fails ends with `response.failed`. */
export async function* responseEvents(deltas: AsyncIterable<TurnDelta>, base: ResponseBase): AsyncGenerator<ResponseEvent, void, void> {
  const writer = new ResponseWriter(base);
  yield* writer.begin();
  try {
    for await (const delta of deltas) {
      if (delta.kind === "failed") return yield* writer.fail(delta.error);
      if (delta.kind === "finished") return yield* writer.finish(delta).events;
      yield* writer.accept(delta);
    }
    yield* writer.fail(toErrorRecord(endless()));
  } catch (thrown) {
    yield* writer.fail(toErrorRecord(thrown));
  }
}

/** Events as text, named by their type as the API names them. */
export async function* toEventText(events: AsyncIterable<ResponseEvent>): AsyncGenerator<string, void, void> {
  for await (const event of events) yield `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
