/**
 * The deltas of a turn → the items of a response, and the events that tell of them. Text is an item, and so is each
 * call; an item is done when the next one begins or the answer ends.
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
  toResponse,
  toResponseUsage,
  type UnnumberedEvent,
} from "./wire.ts";

type Text = { readonly text: string; readonly logprobs: readonly ContentLogprob[] };
const NO_TEXT: Text = { text: "", logprobs: [] };

export class ResponseWriter {
  readonly #base: ResponseBase;
  readonly #done: OutputItem[] = [];
  #open: OutputItem | undefined;
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
      default:
        return assertNever(delta);
    }
  }

  /** The last events, and the response that they state. */
  finish(finished: FinishedDelta): { events: ResponseEvent[]; response: ResponseOnWire } {
    const cut = finished.finishReason === "length";
    const empty = this.#open === undefined && this.#done.length === 0;
    const last = [...(empty ? this.#openMessage() : []), ...this.#close(cut ? "incomplete" : "completed")];
    const response = toResponse(this.#base, {
      status: cut ? "incomplete" : "completed",
      incomplete_details: cut ? { reason: "max_output_tokens" } : null,
      output: this.#done,
      usage: toResponseUsage(finished),
    });
    return { events: this.#number([...last, { type: cut ? "response.incomplete" : "response.completed", response }]), response };
  }

  fail({ message }: ErrorRecord): ResponseEvent[] {
    const last = this.#close("incomplete");
    const response = toResponse(this.#base, { status: "failed", error: { code: "server_error", message }, output: this.#done });
    return this.#number([...last, { type: "response.failed", response }]);
  }

  #write({ text, logprobs }: Text): UnnumberedEvent[] {
    const all = { text: this.#held.text + text, logprobs: [...this.#held.logprobs, ...logprobs] };
    const begins = this.#open?.type !== "message";
    this.#held = begins && all.text.trim() === "" ? all : NO_TEXT;
    if (this.#held !== NO_TEXT) return [];
    return [...(begins ? [...this.#close("completed"), ...this.#openMessage()] : []), ...this.#append(all)];
  }

  #append({ text, logprobs }: Text): UnnumberedEvent[] {
    const { message, part } = this.#message();
    const longer = { ...part, text: part.text + text, logprobs: [...part.logprobs, ...logprobs] };
    this.#open = { ...message, content: [longer] };
    return [{ type: "response.output_text.delta", ...this.#place(message), content_index: 0, delta: text, logprobs: [...logprobs] }];
  }

  #argue(text: string): UnnumberedEvent[] {
    const call = this.#open;
    invariant(call?.type === "function_call", "arguments of a call that is open expected");
    this.#open = { ...call, arguments: call.arguments + text };
    return [{ type: "response.function_call_arguments.delta", ...this.#place(call), delta: text }];
  }

  #openCall({ id, name }: { id: string; name: string }): UnnumberedEvent[] {
    return this.#add({ type: "function_call", id: this.#itemId("fc"), call_id: id, name, arguments: "", status: "in_progress" });
  }

  #openMessage(): UnnumberedEvent[] {
    const message: MessageItem = { type: "message", id: this.#itemId("msg"), role: "assistant", status: "in_progress", content: [] };
    const part: OutputText = { type: "output_text", text: "", annotations: [], logprobs: [] };
    const events = this.#add(message);
    this.#open = { ...message, content: [part] };
    return [...events, { type: "response.content_part.added", ...this.#place(message), content_index: 0, part }];
  }

  #add(item: OutputItem): UnnumberedEvent[] {
    this.#open = item;
    return [{ type: "response.output_item.added", output_index: this.#done.length, item }];
  }

  #close(status: "completed" | "incomplete"): UnnumberedEvent[] {
    if (this.#open === undefined) return [];
    const events = this.#open.type === "message" ? this.#closeText() : this.#closeCall(this.#open);
    const item = { ...this.#open, status };
    const output_index = this.#done.length;
    this.#done.push(item);
    this.#open = undefined;
    return [...events, { type: "response.output_item.done", output_index, item }];
  }

  #closeText(): UnnumberedEvent[] {
    const { message, part } = this.#message();
    const place = { ...this.#place(message), content_index: 0 as const };
    return [
      { type: "response.output_text.done", ...place, text: part.text, logprobs: part.logprobs },
      { type: "response.content_part.done", ...place, part },
    ];
  }

  #closeCall(call: CallItem): UnnumberedEvent[] {
    return [{ type: "response.function_call_arguments.done", ...this.#place(call), name: call.name, arguments: call.arguments }];
  }

  #message(): { message: MessageItem; part: OutputText } {
    const message = this.#open;
    const part = message?.type === "message" ? message.content[0] : undefined;
    invariant(message?.type === "message" && part !== undefined, "a message that is open expected");
    return { message, part };
  }

  #place({ id }: OutputItem): { item_id: string; output_index: number } {
    return { item_id: id, output_index: this.#done.length };
  }

  /** Unique among all items: the response's own digits, and the item's position. */
  #itemId(prefix: "msg" | "fc"): string {
    return `${prefix}_${this.#base.id.replace(/^resp_/, "")}_${this.#done.length}`;
  }

  #number(events: readonly UnnumberedEvent[]): ResponseEvent[] {
    return events.map((event) => ({ ...event, sequence_number: this.#events++ }));
  }
}
