/** What a stored response was given, as the items that `GET /v1/responses/:response/input_items` lists: pages of a conversation. */
import { z } from "zod";
import { assertNever } from "../../shared/assert.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import { invalid } from "../openai/refuse.ts";
import { wholeNumber } from "../whole-number.ts";

export const InputItemsQuery = z.strictObject({
  /** The id of the item before the page. */
  after: z.string().min(1).optional(),
  limit: wholeNumber({ least: 1, most: 100 }).default(20),
  order: z.enum(["asc", "desc"]).default("desc"),
});

type InputItem =
  | { type: "message"; role: "system" | "user"; content: { type: "input_text"; text: string }[] }
  | { type: "message"; role: "assistant"; content: { type: "output_text"; text: string; annotations: never[]; logprobs: never[] }[] }
  | { type: "function_call"; call_id: string; name: string; arguments: string }
  | { type: "function_call_output"; call_id: string; output: string };
export type ListedItem = InputItem & { id: string; status: "completed" };

const PREFIXES = { message: "msg", function_call: "fc", function_call_output: "fco" } as const satisfies Record<InputItem["type"], string>;

export type ItemPage = { object: "list"; data: ListedItem[]; first_id: string | null; last_id: string | null; has_more: boolean };

/** @throws {input/invalid} where `after` is no item of this response */
export function pageOf(
  messages: readonly ChatMessage[],
  { responseId, after, limit, order }: z.infer<typeof InputItemsQuery> & { responseId: string },
): ItemPage {
  const digits = responseId.replace(/^resp_/, "");
  const items = messages.flatMap(toItems).map((item, index): ListedItem => {
    const id = `${PREFIXES[item.type]}_${digits}_in${index}`;
    return { id, status: "completed", ...item };
  });
  const ordered = order === "asc" ? items : items.toReversed();
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && from === 0) throw invalid("after", `the id of an input item of ${responseId} expected, got ${after}`);
  const data = ordered.slice(from, from + limit);
  const ends = { first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return { object: "list", data, ...ends, has_more: from + limit < ordered.length };
}

/** Text and calls of one answer are items of their own here. */
function toItems(message: ChatMessage): InputItem[] {
  switch (message.role) {
    case "system":
    case "user":
      return [{ type: "message", role: message.role, content: [{ type: "input_text", text: message.content }] }];
    case "assistant":
      return [
        ...((message.content ?? "") === "" ? [] : [textOf(message.content ?? "")]),
        ...(message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }): InputItem => ({
          type: "function_call",
          call_id: id,
          name,
          arguments: text,
        })),
      ];
    case "tool":
      return [{ type: "function_call_output", call_id: message.tool_call_id, output: message.content }];
    default:
      return assertNever(message);
  }
}

function textOf(text: string): InputItem {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text, annotations: [], logprobs: [] }] };
}
