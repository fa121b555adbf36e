/** A call that the edge ran itself, as Chat Completions tells of it in `executed_tools`: once when it is made, once with what came of it. */
import { z } from "zod";

export const ExecutedTool = z.object({
  /** Its place among those of one answer, from 0. */
  index: z.number().int().min(0),
  id: z.string(),
  type: z.literal("mcp"),
  server_label: z.string(),
  name: z.string(),
  status: z.enum(["in_progress", "completed", "failed"]),
  /** With what came of it. */
  arguments: z.string().optional(),
  output: z.string().optional(),
});
export type ExecutedTool = z.infer<typeof ExecutedTool>;
