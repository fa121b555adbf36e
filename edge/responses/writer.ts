/**
 * The deltas of an answer → the items of a response, and the events that tell of them. Text is an item, and so is each
 * call; an item is done when the next one begins or the answer ends, and a call that is run on this side when its result is there.
 */
import { assertNever, invariant } from "../../shared/assert.ts";
import type { ErrorRecord } from "../../shared/errors.ts";
import type { ContentLogprob, FinishedDelta, TurnDelta } from "../session/port.ts";
import {
  type CallItem,
  type MessageItem,
  type OutputItem,
  type OutputText,
  type ResponseBase,
  type ResponseEvent,
  type ResponseOnWire,
  type ServedCallItem,
  toResponse,
  toResponseUsage,
  type UnnumberedEvent,
} from "./wire.ts";

type Text = { readonly text: string; readonly logprobs: readonly ContentLogprob[] };
const NO_TEXT: Text = { text: "", logprobs: [] };

export class ResponseWriter {
  readonly #base: ResponseBase;
  /** In the order of their places; those that are not done yet stand as they are so far. */
  readonly #items: OutputItem[] = [];
  /** The place of the item that is being written. */
  #open: number | undefined;
  /** Places of calls that are run on this side and have no result yet, by their numbers. */
  readonly #running = new Map<number, number>();
  /** White space that may turn out to stand between calls: alone it is no message. */
  #held = NO_TEXT;
  #events = 0;

  constructor(base: ResponseBase) {
    this.#base = base;
  }

  begin(): ResponseEvent[] {
    const response = toResponse(this.#base, { status: "in_progress", output: [] });
    return this.#number([
      { type: "response.created", response },
      { type: "response.in_progress", response },
    ]);
  }

  accept(delta: Exclude<TurnDelta, FinishedDelta | { kind: "failed" }>): ResponseEvent[] {
    switch (delta.kind) {
      case "content":
        return this.#number(this.#write({ text: delta.text, logprobs: delta.logprobs ?? [] }));
      case "call":
        return this.#number([...this.#close("completed"), ...this.#openCall(delta)]);
      case "arguments":
        return this.#number(this.#argue(delta.text));
      case "result":
        return this.#number([...this.#close("completed"), ...this.#result(delta)]);
      case "step":
        this.#held = NO_TEXT;
        return this.#number(this.#close("completed"));
      default:
        return assertNever(delta);
    }
  }

  /** The last events, and the response that they state. */
  finish(finished: FinishedDelta): { events: ResponseEvent[]; response: ResponseOnWire } {
    const cut = finished.finishReason === "length";
    const empty = this.#items.length === 0;
    const last = [...(empty ? this.#openMessage() : []), ...this.#close(cut ? "incomplete" : "completed"), ...this.#giveUp()];
    const { finishedAt } = finished;
    const response = toResponse(this.#base, {
      status: cut ? "incomplete" : "completed",
      completed_at: cut || finishedAt === undefined ? null : Math.floor(finishedAt / 1000),
      incomplete_details: cut ? { reason: "max_output_tokens" } : null,
      output: this.#items,
      usage: toResponseUsage(finished),
    });
    return { events: this.#number([...last, { type: cut ? "response.incomplete" : "response.completed", response }]), response };
  }

  fail({ message }: ErrorRecord): ResponseEvent[] {
    const last = [...this.#close("incomplete"), ...this.#giveUp()];
    const response = toResponse(this.#base, { status: "failed", error: { code: "server_error", message }, output: this.#items });
    return this.#number([...last, { type: "response.failed", response }]);
  }

  #write({ text, logprobs }: Text): UnnumberedEvent[] {
    const all = { text: this.#held.text + text, logprobs: [...this.#held.logprobs, ...logprobs] };
    const begins = this.#opened()?.type !== "message";
    this.#held = begins && all.text.trim() === "" ? all : NO_TEXT;
    if (this.#held !== NO_TEXT) return [];
    return [...(begins ? [...this.#close("completed"), ...this.#openMessage()] : []), ...this.#append(all)];
  }

  #append({ text, logprobs }: Text): UnnumberedEvent[] {
    const { message, part, place } = this.#message();
    const longer = { ...part, text: part.text + text, logprobs: [...part.logprobs, ...logprobs] };
    this.#items[place.output_index] = { ...message, content: [longer] };
    return [{ type: "response.output_text.delta", ...place, content_index: 0, delta: text, logprobs: [...logprobs] }];
  }

  #argue(text: string): UnnumberedEvent[] {
    const call = this.#opened();
    const place = this.#place();
    invariant(call !== undefined && call.type !== "message", "arguments of a call that is open expected");
    this.#items[place.output_index] = { ...call, arguments: call.arguments + text };
    const api = call.type === "mcp_call" ? "mcp_call_arguments" : "function_call_arguments";
    return [{ type: `response.${api}.delta`, ...place, delta: text }];
  }

  #openCall({ index, id, name, runner }: Extract<TurnDelta, { kind: "call" }>): UnnumberedEvent[] {
    const call = { name, arguments: "", status: "in_progress" as const };
    if (runner === undefined) return this.#add({ type: "function_call", id: this.#itemId("fc"), call_id: id, ...call });
    const run = { server_label: runner, output: null, error: null, approval_request_id: null };
    const added = this.#add({ type: "mcp_call", id: this.#itemId("mcp"), ...call, ...run });
    this.#running.set(index, this.#items.length - 1);
    return [...added, { type: "response.mcp_call.in_progress", ...this.#place() }];
  }

  #openMessage(): UnnumberedEvent[] {
    const part: OutputText = { type: "output_text", text: "", annotations: [], logprobs: [] };
    const message: MessageItem = { type: "message", id: this.#itemId("msg"), role: "assistant", status: "in_progress", content: [] };
    const events = this.#add(message);
    this.#items[this.#items.length - 1] = { ...message, content: [part] };
    return [...events, { type: "response.content_part.added", ...this.#place(), content_index: 0, part }];
  }

  #add(item: OutputItem): UnnumberedEvent[] {
    this.#open = this.#items.push(item) - 1;
    return [{ type: "response.output_item.added", output_index: this.#open, item }];
  }

  /** Ends the item that is being written. A call that is run on this side waits for its result. */
  #close(status: "completed" | "incomplete"): UnnumberedEvent[] {
    const item = this.#opened();
    if (item === undefined) return [];
    const place = this.#place();
    const events = item.type === "message" ? this.#closeText() : this.#closeCall(item);
    this.#open = undefined;
    return item.type === "mcp_call" ? events : [...events, ...this.#done(place.output_index, { ...item, status })];
  }

  #closeText(): UnnumberedEvent[] {
    const { part, place } = this.#message();
    const within = { ...place, content_index: 0 as const };
    return [
      { type: "response.output_text.done", ...within, text: part.text, logprobs: part.logprobs },
      { type: "response.content_part.done", ...within, part },
    ];
  }

  #closeCall({ type, name, arguments: text }: CallItem | ServedCallItem): UnnumberedEvent[] {
    if (type === "mcp_call") return [{ type: "response.mcp_call_arguments.done", ...this.#place(), arguments: text }];
    return [{ type: "response.function_call_arguments.done", ...this.#place(), name, arguments: text }];
  }

  #result({ index, output, failed }: Extract<TurnDelta, { kind: "result" }>): UnnumberedEvent[] {
    const at = this.#running.get(index);
    const call = at === undefined ? undefined : this.#items[at];
    if (at === undefined || call?.type !== "mcp_call") return [];
    this.#running.delete(index);
    const error = { type: "mcp_tool_execution_error" as const, content: [{ type: "text" as const, text: output }] };
    const outcome = failed ? { status: "failed" as const, output: null, error } : { status: "completed" as const, output };
    const event = failed ? ("response.mcp_call.failed" as const) : ("response.mcp_call.completed" as const);
    return [{ type: event, item_id: call.id, output_index: at }, ...this.#done(at, { ...call, ...outcome })];
  }

  /** Calls that were made and not run. */
  #giveUp(): UnnumberedEvent[] {
    const places = [...this.#running.values()];
    this.#running.clear();
    return places.flatMap((at) => {
      const call = this.#items[at];
      return call?.type === "mcp_call" ? this.#done(at, { ...call, status: "incomplete" }) : [];
    });
  }

  #done(at: number, item: OutputItem): UnnumberedEvent[] {
    this.#items[at] = item;
    return [{ type: "response.output_item.done", output_index: at, item }];
  }

  #opened(): OutputItem | undefined {
    return this.#open === undefined ? undefined : this.#items[this.#open];
  }

  #message(): { message: MessageItem; part: OutputText; place: { item_id: string; output_index: number } } {
    const message = this.#opened();
    const part = message?.type === "message" ? message.content[0] : undefined;
    invariant(message?.type === "message" && part !== undefined, "a message that is open expected");
    return { message, part, place: this.#place() };
  }

  #place(): { item_id: string; output_index: number } {
    const item = this.#opened();
    invariant(item !== undefined && this.#open !== undefined, "an item that is open expected");
    return { item_id: item.id, output_index: this.#open };
  }

  /** Unique among all items: the response's own digits, and the item's position. */
  #itemId(prefix: "msg" | "fc" | "mcp"): string {
    return `${prefix}_${this.#base.id.replace(/^resp_/, "")}_${this.#items.length}`;
  }

  #number(events: readonly UnnumberedEvent[]): ResponseEvent[] {
    return events.map((event) => ({ ...event, sequence_number: this.#events++ }));
  }
}
