/**
 * An answer as Chat Completions shows it. There a call asks the client to run something, so what is run on this side is no call: it is told
 * in `executed_tools`, as Groq's compound systems do, which clients that do not know it leave alone. Pure.
 */
import type { ExecutedTool } from "../../shared/executed-tool.ts";
import { PARAGRAPH } from "../session/shown-answer.ts";
import type { FinishedDelta, TurnDelta } from "../session/port.ts";

export type ChatPiece =
  | Extract<TurnDelta, { kind: "content" | "arguments" }>
  | { readonly kind: "call"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly kind: "executed"; readonly tool: ExecutedTool }
  | FinishedDelta;

type Executed = { readonly index: number; readonly id: string; readonly label: string; readonly name: string; text: string };

export class ChatView {
  /** By the call's number in the whole answer. */
  readonly #executed = new Map<number, Executed>();
  /** The client's calls, numbered without gaps. */
  readonly #calls = new Map<number, number>();
  #hasText = false;
  #paragraph = false;

  accept(delta: Exclude<TurnDelta, { kind: "failed" }>): ChatPiece[] {
    switch (delta.kind) {
      case "content":
        return [this.#say(delta)];
      case "call":
        return [this.#call(delta)];
      case "arguments":
        return this.#argue(delta);
      case "result":
        return this.#result(delta);
      case "step":
        this.#paragraph = this.#hasText;
        return [];
      case "finished":
        return [delta];
    }
  }

  #say(delta: Extract<TurnDelta, { kind: "content" }>): ChatPiece {
    const text = this.#paragraph ? PARAGRAPH + delta.text : delta.text;
    this.#paragraph = false;
    this.#hasText ||= text.trim() !== "";
    return { ...delta, text };
  }

  #call({ index: number, id, name, runner }: Extract<TurnDelta, { kind: "call" }>): ChatPiece {
    if (runner === undefined) {
      const index = this.#calls.size;
      this.#calls.set(number, index);
      return { kind: "call", index, id, name };
    }
    const executed = { index: this.#executed.size, id, label: runner, name, text: "" };
    this.#executed.set(number, executed);
    return { kind: "executed", tool: toTool(executed, { status: "in_progress" }) };
  }

  #argue({ index: number, text }: Extract<TurnDelta, { kind: "arguments" }>): ChatPiece[] {
    const executed = this.#executed.get(number);
    if (executed !== undefined) executed.text += text;
    const index = this.#calls.get(number);
    return index === undefined ? [] : [{ kind: "arguments", index, text }];
  }

  #result({ index: number, output, failed }: Extract<TurnDelta, { kind: "result" }>): ChatPiece[] {
    const executed = this.#executed.get(number);
    if (executed === undefined) return [];
    return [{ kind: "executed", tool: toTool(executed, { status: failed ? "failed" : "completed", arguments: executed.text, output }) }];
  }
}

function toTool(
  { index, id, label, name }: Executed,
  state: Pick<ExecutedTool, "status"> & Partial<Pick<ExecutedTool, "arguments" | "output">>,
): ExecutedTool {
  return { index, id, type: "mcp", server_label: label, name, ...state };
}
