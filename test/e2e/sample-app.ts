/**
 * A small application as one writes it for OpenAI: it asks about the weather by both APIs, runs the tool that is called, and reads
 * a form out of a sentence. Who answers is said by the client's own variables, OPENAI_BASE_URL and OPENAI_API_KEY, and by the model's name.
 */
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

const client = new OpenAI();
const model = process.env["OPENAI_MODEL"] ?? "gpt-4.1-mini";

const INSTRUCTIONS = "You are a helpful assistant. Today is Friday, 2019-03-01.";
const QUESTION = "What will the weather be like in Berkeley?";
const weather = {
  name: "GetWeather",
  description: "Get the weather of a certain location on a date",
  parameters: { type: "object", properties: { city: { type: "string", description: "Name of the city" } }, required: ["city"] },
};
const Form = z.object({ wants: z.enum(["weather", "hotel"]), urgent: z.boolean() });

function lookUp(args: string): string {
  const { city } = z.object({ city: z.string() }).parse(JSON.parse(args));
  return JSON.stringify({ city, temperature: "66", precipitation: "6" });
}

async function byChat(): Promise<string> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "developer", content: INSTRUCTIONS },
    { role: "user", content: QUESTION },
  ];
  const tools: OpenAI.ChatCompletionTool[] = [{ type: "function", function: weather }];
  const settings = { model, temperature: 0, tools };
  const asked = await client.chat.completions.create({ ...settings, messages, tool_choice: "required", parallel_tool_calls: false });
  for (const { message } of asked.choices) {
    messages.push(message);
    for (const call of message.tool_calls ?? [])
      if (call.type === "function") messages.push({ role: "tool", tool_call_id: call.id, content: lookUp(call.function.arguments) });
  }
  let text = "";
  const stream = await client.chat.completions.create({ ...settings, messages, tool_choice: "none", stream: true });
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
  return text;
}

async function byResponses(): Promise<string> {
  const tools: OpenAI.Responses.Tool[] = [{ type: "function", strict: true, ...weather }];
  const asked = { model, temperature: 0, instructions: INSTRUCTIONS, tools };
  const first = await client.responses.create({ ...asked, input: QUESTION, tool_choice: "required", parallel_tool_calls: false });
  const results = first.output.flatMap((item) =>
    item.type === "function_call" ? [{ type: "function_call_output" as const, call_id: item.call_id, output: lookUp(item.arguments) }] : [],
  );
  const last = await client.responses.create({ ...asked, input: results, tool_choice: "none", previous_response_id: first.id });
  return last.output_text;
}

async function byForm(): Promise<unknown> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: QUESTION }];
  const { choices } = await client.chat.completions.parse({
    model,
    temperature: 0,
    messages,
    response_format: zodResponseFormat(Form, "form"),
  });
  return choices[0]?.message.parsed;
}

process.stdout.write(JSON.stringify({ chat: await byChat(), responses: await byResponses(), form: await byForm() }));
