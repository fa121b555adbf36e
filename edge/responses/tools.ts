/** Tools and their choice as the Responses API writes them, flat, ↔ as Chat Completions does. */
import { z } from "zod";
import type { ToolDefinition } from "../../shared/chat.ts";
import type { ToolOffer } from "../tools/offer.ts";
import { AllowedMode, FunctionName, FunctionType, type ToolChoiceParameter } from "../openai/tools.ts";

const MAX_TOOLS = 128; // as the API

const FunctionTool = z.strictObject({
  type: FunctionType,
  name: FunctionName,
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  /** Left out, a call is held to its schema as far as that goes, and nothing is refused. */
  strict: z.boolean().nullish(),
  allowed_callers: z.array(z.literal("direct", "calls by programs are not supported")).nullish(),
  async: z.literal(false, "only calls that are waited for are supported").optional(),
  defer_loading: z.literal(false, "tools are always loaded").optional(),
  output_schema: z.null("schemas of results are not supported").optional(),
});
type FunctionTool = z.infer<typeof FunctionTool>;

/** An empty list is a choice: the client runs nothing, whatever tools of its own the agent has for it to run. */
export const FunctionToolList = z.array(FunctionTool).max(MAX_TOOLS, `at most ${MAX_TOOLS} tools expected`);

const NamedFunction = z.strictObject({ type: z.literal("function"), name: z.string() });
export const FlatToolChoice = z.union(
  [
    z.enum(["auto", "none", "required"]),
    NamedFunction,
    z.strictObject({ type: z.literal("allowed_tools"), mode: AllowedMode, tools: z.array(NamedFunction).min(1).max(MAX_TOOLS) }),
  ],
  'auto, none, required, {"type": "function", "name": …} or {"type": "allowed_tools", "mode": …, "tools": […]} expected',
);
export type FlatToolChoice = z.infer<typeof FlatToolChoice>;

export type FunctionOnWire = {
  type: "function";
  name: string;
  description: string | null;
  parameters: Record<string, unknown> | null;
  strict: boolean | null;
};
/** Tools that are run on this side, in the form in which clients know such: where they are is not told. */
export type ServedOnWire = { type: "mcp"; server_label: string; allowed_tools: string[]; require_approval: "never" };
export type ToolOnWire = FunctionOnWire | ServedOnWire;

export function toDefinition({ name, description, parameters, strict }: FunctionTool): ToolDefinition {
  return {
    type: "function",
    function: { name, description: description ?? undefined, parameters: parameters ?? undefined, strict: strict ?? undefined },
  };
}

export function toolsOnWire({ tools, runners }: ToolOffer): ToolOnWire[] {
  const served = new Map<string, string[]>();
  for (const [name, { label }] of Object.entries(runners)) served.set(label, [...(served.get(label) ?? []), name]);
  const mcp = [...served].map(([label, names]): ServedOnWire => ({
    ...{ type: "mcp", server_label: label, allowed_tools: names, require_approval: "never" },
  }));
  return [...tools.filter(({ function: { name } }) => !Object.hasOwn(runners, name)).map(fromDefinition), ...mcp];
}

function fromDefinition({ function: { name, description, parameters, strict } }: ToolDefinition): FunctionOnWire {
  return { type: "function", name, description: description ?? null, parameters: parameters ?? null, strict: strict ?? null };
}

export function toChatChoice(choice: FlatToolChoice | undefined): z.infer<typeof ToolChoiceParameter> | undefined {
  if (typeof choice !== "object") return choice;
  if (choice.type === "function") return named(choice);
  return { type: "allowed_tools", allowed_tools: { mode: choice.mode, tools: choice.tools.map(named) } };
}

function named({ name }: { name: string }): { type: "function"; function: { name: string } } {
  return { type: "function", function: { name } };
}
