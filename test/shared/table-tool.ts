/** A tool that books a table, and calls of it, for tests of what is asked and agreed about calls. */
import type { ToolDefinition } from "../../shared/chat.ts";

export const TOOL: ToolDefinition = {
  type: "function",
  function: {
    name: "BookTable",
    parameters: {
      type: "object",
      properties: {
        place: { type: "string" },
        seats: { type: "integer" },
        outside: { type: "boolean" },
        room: { type: "string", enum: ["hall", "bar"], default: "hall" },
      },
      required: ["place"],
    },
  },
};
export const asked = (args: Record<string, unknown>) => ({ tool: TOOL, call: { name: "BookTable", arguments: args } });
export const ARIA = asked({ place: "Aria", seats: 2 });
