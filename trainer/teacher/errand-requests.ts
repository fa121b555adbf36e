/**
 * Errands as the base's training draws them, up to a place where the policy has to answer. No two have the same tools:
 * keeping to them teaches more than a list of tools would.
 */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { SGD_TODAY, toMessages } from "../pretrain/conversation.ts";
import { drawErrand } from "../pretrain/errand.ts";
import { Vocabulary } from "../pretrain/errand-tools.ts";
import type { Random } from "../random.ts";

const DAY_MS = 86_400_000;
const DAYS = Array.from({ length: 14 }, (_, day) => new Date(Date.parse(SGD_TODAY) + day * DAY_MS).toISOString().slice(0, 10));
const TIMES = Array.from({ length: 13 }, (_, hour) => String(8 + hour).padStart(2, "0")).flatMap((hour) => [`${hour}:00`, `${hour}:30`]);
// Days and times that people may name; everything else is made up.
const FORMS: ReadonlyMap<string, readonly string[]> = new Map([...DAYS, ...TIMES].map((value) => [value, []]));
const VOCABULARY = new Vocabulary({ values: new Map(), asides: [], forms: FORMS }, []);
const CALL_SHARE = 0.75; // of answers; the others are replies

/** A conversation that ends with a user's message, and the tool that is due there, if any; none where the errand has no such place. */
export function drawErrandRequest(
  random: Random,
): { readonly messages: readonly ChatMessage[]; readonly tools: readonly ToolDefinition[]; readonly tool: string } | undefined {
  const { system, tools, steps } = drawErrand(VOCABULARY, FORMS, random).conversation;
  const due = random.chance(CALL_SHARE) ? "call" : "reply";
  const places = steps.flatMap((step, place) => (step.kind === due && steps[place - 1]?.kind === "user" ? [place] : []));
  if (places.length === 0) return undefined;
  const place = random.pick(places);
  const step = steps[place];
  return { messages: toMessages(system, steps.slice(0, place)), tools, tool: step?.kind === "call" ? step.tool.name : "" };
}
