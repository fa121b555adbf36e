/** What a request asks of the form of its answer, beside its tools: recorded with the turn, so that its masks can be made again. */
import { z } from "zod";
import { JsonSchema } from "../chat.ts";

export const ToolChoice = z.union([z.enum(["auto", "none", "required"]), z.object({ name: z.string() })]);
export type ToolChoice = z.infer<typeof ToolChoice>;

/** `json_object` is any JSON object; a schema is enforced as far as a rule can hold a text to it. */
export const ResponseFormat = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  /** `name` and `strict` as they were asked for: they mean something to engines alone. */
  z.object({ type: z.literal("json_schema"), schema: JsonSchema, name: z.string().optional(), strict: z.boolean().optional() }),
]);
export type ResponseFormat = z.infer<typeof ResponseFormat>;

export const AnswerForm = z.object({ toolChoice: ToolChoice, parallelToolCalls: z.boolean(), responseFormat: ResponseFormat });
export type AnswerForm = z.infer<typeof AnswerForm>;

/** One text, word for word. Nobody asks for it: an answer that has to ask something is held to it. */
type ExactText = { readonly type: "exact"; readonly text: string };

/** What an answer is written under: what was asked for, or what it is held to in its place. */
export type HeldForm = Omit<AnswerForm, "responseFormat"> & { readonly responseFormat: ResponseFormat | ExactText };

/** What a request that says nothing asks for. */
export const FREE_FORM: AnswerForm = { toolChoice: "auto", parallelToolCalls: true, responseFormat: { type: "text" } };
