/**
 * The verifiable judge: facts about a call that need no model. A call of an unknown tool, arguments that are not JSON or
 * break the schema, and a tool's own error are −1. A call that ran is 0, not +1: it may still be the wrong call.
 */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { findTool, parseObject, readCalls, type ReadCall } from "../../shared/speech/calls.ts";
import type { Signal } from "../data/exchange.ts";
import type { Judge, Verdict } from "./judge.ts";
import { checkArguments } from "../../shared/schema-check.ts";

export const verifiableJudge: Judge = {
  judge: (signal) => Promise.resolve(verify(signal)),
};

function verify({ turn, toolResults }: Signal): Verdict | undefined {
  const calls = readCalls(turn.payload.answer);
  if (calls.length === 0) return undefined;
  const faults = [...calls.flatMap((call) => callFaults(call, turn.payload.tools)), ...toolResults.flatMap(resultFaults)];
  const reward = faults.length > 0 ? -1 : 0;
  return { judge: "verifiable", reward, votes: [reward], detail: faults.join("; ") || "the call ran" };
}

function callFaults(call: ReadCall, tools: readonly ToolDefinition[]): string[] {
  const tool = findTool(tools, call.name);
  if (tool === undefined) return [`unknown tool ${call.name}`];
  if (call.status === "unreadable") return [`arguments of ${call.name} are not a JSON object`];
  return checkArguments(tool, call.arguments);
}

/** A result that says itself that it failed: an error member, a failed status, a non-zero exit code, a leading "Error". */
function resultFaults(message: ChatMessage): string[] {
  if (message.role !== "tool") return [];
  const text = message.content.trim();
  const failed =
    /^(error|exception|traceback)\b/i.test(text) ||
    Object.entries(parseObject(text) ?? {}).some(([name, value]) => isFailure(name.toLowerCase().replaceAll("_", ""), value));
  return failed ? [`the tool failed: ${text.slice(0, 120)}`] : [];
}

function isFailure(name: string, value: unknown): boolean {
  if (name === "error")
    return value !== null && value !== false && value !== "" && JSON.stringify(value) !== "{}" && JSON.stringify(value) !== "[]";
  if (name === "iserror") return value === true;
  if (name === "status") return typeof value === "string" && /^(error|failed|failure)$/i.test(value);
  return name === "exitcode" && typeof value === "number" && value !== 0;
}
