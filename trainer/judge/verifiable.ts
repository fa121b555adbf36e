/**
 * The verifiable judge: facts about a call that need no model. A call of an unknown tool, arguments that are not JSON or
 * break the schema, and a tool's own error are −1. A call that ran is 0, not +1: it may still be the wrong call.
 */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { findTool, readCalls, type ReadCall } from "../../shared/speech/calls.ts";
import { saysFailure } from "../../shared/speech/failure.ts";
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

function resultFaults(message: ChatMessage): string[] {
  return message.role === "tool" && saysFailure(message.content) ? [`the tool failed: ${message.content.trim().slice(0, 120)}`] : [];
}
