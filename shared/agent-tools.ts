/**
 * Tools that the edge runs itself: where each is, how long and how much it may answer, and which secret goes with a call.
 * A secret is named here and never held: its value is a binding of the Worker's, and so is the one origin that it is for.
 */
import { z } from "zod";
import { ToolDefinition } from "./chat.ts";

/** No other binding can be named. */
const SECRET_NAME = /^TOOL_SECRET_[A-Z0-9_]{1,64}$/;

export const ToolSecret = z.object({
  name: z.string().regex(SECRET_NAME, "TOOL_SECRET_ and 1 to 64 capital letters, digits or _ expected"),
  /** The header that carries it; those that HTTP or MCP itself needs are refused where settings are checked. */
  header: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, "1 to 64 lower-case letters, digits or - expected")
    .default("authorization"),
  /** Stands before the value. */
  prefix: z
    .string()
    .regex(/^[\x21-\x7e ]{0,32}$/, "at most 32 printable characters expected")
    .default("Bearer "),
});
export type ToolSecret = z.infer<typeof ToolSecret>;

const REACHED = {
  url: z.string().min(1).max(2_048),
  secret: ToolSecret.optional(),
  /** From the request to the last byte of the answer. */
  timeoutMs: z.number().int().min(100).max(60_000).default(10_000),
  /** Of an answer as it comes over the wire; what is longer is refused whole. */
  maxBytes: z.number().int().min(256).max(262_144).default(32_768),
};

/** Where a tool is: a call's arguments are posted there as JSON, and the answer is its result. */
export const ToolEndpoint = z.object(REACHED);
export type ToolEndpoint = z.infer<typeof ToolEndpoint>;

/** A remote MCP server (Streamable HTTP), whose tools the agent has beside its own. */
export const McpServer = z.object({
  /** Names it in answers, as OpenAI's `server_label` does. */
  label: z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "a letter, and at most 63 letters, digits, _ or - expected"),
  ...REACHED,
  /** Which of its tools the agent has; all where it is left out. */
  allowedTools: z.array(z.string().min(1).max(128)).min(1).max(128).optional(),
});
export type McpServer = z.infer<typeof McpServer>;

/** A tool of an agent's own: run by the edge where it has an endpoint, by the client where it has none. */
export const AgentTool = ToolDefinition.extend({ endpoint: ToolEndpoint.optional() });
export type AgentTool = z.infer<typeof AgentTool>;

/** The label of tools that have an endpoint of their own; no MCP server may have it. */
export const ENDPOINT_LABEL = "edge";
