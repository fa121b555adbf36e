/**
 * An SGD dialogue made concrete: one reading of its schemas (variant, renamed, shuffled, with distractors), one set of
 * values, and the steps user → call → result → reply in order. Evaluation uses the plain reading; training draws them.
 */
import type { ChatMessage, JsonSchema, ToolDefinition } from "../../shared/chat.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import type { Act, Dialogue, Intent, Service, SgdCall, Slot } from "./sgd.ts";

/** How a service is shown: its tools and parameters under the names that this conversation uses. */
export type ServiceView = {
  service: Service;
  /** Original intent name → tool. */
  tools: Map<string, ToolView>;
};
export type ToolView = { name: string; description: string; parameters: ParameterView[] };
export type ParameterView = {
  slot: string;
  name: string;
  description: string;
  type: "string" | "integer" | "number" | "boolean" | "array";
  options: string[];
  required: boolean;
  fallback: string | undefined;
};

export type Step =
  | { kind: "user"; text: string; acts: readonly Act[] }
  /** `mistaken`: as nobody should learn it. */
  | {
      kind: "call";
      service: string;
      tool: ToolView;
      values: Readonly<Record<string, string>>;
      first?: readonly string[];
      mistaken?: boolean;
    }
  | { kind: "result"; content: string }
  /** `tells`: what the result before it says, word for word. `beside`: to words that no call answers. `asks`: for what the call that is due lacks. */
  | { kind: "reply"; text: string; acts: readonly Act[]; tells?: boolean; beside?: boolean; asks?: boolean; mistaken?: boolean };

export type Conversation = { system: string; tools: ToolDefinition[]; views: Map<string, ServiceView>; steps: Step[] };

/** The one day on which all SGD dialogues take place; relative dates are counted from it. */
export const SGD_TODAY = "2019-03-01";

export function plainSystem(date = SGD_TODAY): string {
  return `You are a helpful assistant. Today is ${weekday(date)}, ${date}.`;
}

export function weekday(date: string): string {
  return new Date(`${date}T00:00:00Z`).toLocaleDateString("en-US", { weekday: "long", timeZone: "UTC" });
}

/** The service as the data describes it: every intent a tool, every slot of it a string parameter. */
export function plainView(service: Service, shown: Service = service): ServiceView {
  const slotAt = new Map(service.slots.map((slot, index) => [slot.name, shown.slots[index] ?? slot]));
  const tools = service.intents.map((intent, index): [string, ToolView] => {
    const shownIntent = shown.intents[index] ?? intent;
    const parameters = inputSlots(intent).map((name) =>
      parameterView(
        name,
        intent,
        slotAt.get(name),
        service.slots.find((slot) => slot.name === name),
      ),
    );
    return [intent.name, { name: shownIntent.name, description: shownIntent.description, parameters }];
  });
  return { service, tools: new Map(tools) };
}

function inputSlots(intent: Intent): string[] {
  return [...intent.required_slots, ...Object.keys(intent.optional_slots)];
}

function parameterView(slot: string, intent: Intent, shown: Slot | undefined, original: Slot | undefined): ParameterView {
  const fallback = intent.optional_slots[slot];
  return {
    slot,
    name: shown?.name ?? slot,
    description: shown?.description ?? "",
    type: "string",
    options: original?.is_categorical === true ? [...original.possible_values] : [],
    required: intent.required_slots.includes(slot),
    fallback: fallback === undefined || fallback === "dontcare" ? undefined : fallback,
  };
}

export function toolDefinition({ name, description, parameters }: ToolView): ToolDefinition {
  const properties = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameterSchema(parameter)]));
  const required = parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name);
  return {
    type: "function",
    function: { name, ...(description === "" ? {} : { description }), parameters: { type: "object", properties, required } },
  };
}

function parameterSchema({ type, description, options, fallback }: ParameterView): JsonSchema {
  return {
    type,
    ...(type === "array" ? { items: { type: "string" } } : {}),
    ...(description === "" ? {} : { description }),
    ...(options.length === 0 || type === "boolean" ? {} : { enum: options.map((option) => typed(option, type)) }),
    ...(fallback === undefined ? {} : { default: typed(fallback, type) }),
  };
}

export type ArgumentValue = string | number | boolean | readonly unknown[];

/** The value as the parameter's type has it, lists from their JSON; a string that is no such value stays a string. */
export function typed(value: string, type: ParameterView["type"]): ArgumentValue {
  if (type === "integer" && /^\d{1,9}$/.test(value)) return Number(value);
  if (type === "number" && /^-?\d{1,9}(?:\.\d{1,6})?$/.test(value)) return Number(value);
  if (type === "array" && value.startsWith("[")) return JSON.parse(value) as unknown[];
  if (type === "boolean" && /^(true|false)$/i.test(value)) return value.toLowerCase() === "true";
  return value;
}

/**
 * Arguments by shown name: those of the slots in `first`, then the others, each in the order of the tool's parameters.
 * What guidance names comes first: where the call begins, one look at the guidance decides, and no place in a list is sought.
 */
export function callArguments(
  tool: ToolView,
  values: Readonly<Record<string, string>>,
  first: readonly string[] = [],
): Record<string, ArgumentValue> {
  const ordered = [...tool.parameters].sort((a, b) => Number(first.includes(b.slot)) - Number(first.includes(a.slot)));
  const entries = ordered.flatMap(({ slot, name, type }) => {
    const value = values[slot];
    return value === undefined ? [] : [[name, typed(value, type)] as const];
  });
  return Object.fromEntries(entries);
}

// Long lists would push the conversation out of the context; the assistant offers results one at a time anyway.
const MAX_RESULT_CHARS = 420;

/** What the tool gave back, at most as many results as fit, with the count. */
export function resultText(call: SgdCall, rename: (slot: string) => string = (slot) => slot): string {
  const shown: string[] = [];
  for (const result of call.results) {
    const text = spacedJson(Object.fromEntries(Object.entries(result).map(([slot, value]) => [rename(slot), value])));
    if (shown.length > 0 && shown.join(", ").length + text.length > MAX_RESULT_CHARS) break;
    shown.push(text);
  }
  return `{"count": ${call.result_count}, "results": [${shown.join(", ")}]}`;
}

/** Steps of the dialogue under the given views. Calls of services without a view are an error in the data. */
export function toSteps(dialogue: Dialogue, views: ReadonlyMap<string, ServiceView>): Step[] {
  return dialogue.turns.flatMap((turn): Step[] => {
    if (turn.role === "user") return [{ kind: "user", text: turn.text, acts: turn.acts }];
    const calls = (turn.calls ?? []).flatMap((call) => callSteps(call, views));
    return [...calls, { kind: "reply", text: turn.text, acts: turn.acts }];
  });
}

function callSteps(call: SgdCall, views: ReadonlyMap<string, ServiceView>): Step[] {
  const view = views.get(call.service);
  const tool = view?.tools.get(call.method);
  if (view === undefined || tool === undefined) throw new Error(`call ${call.service}.${call.method} has no schema`);
  const shownNames = new Map(
    [...view.tools.values()].flatMap(({ parameters }) => parameters.map(({ slot, name }) => [slot, name] as const)),
  );
  return [
    { kind: "call", service: call.service, tool, values: call.parameters },
    { kind: "result", content: resultText(call, (slot) => shownNames.get(slot) ?? slot) },
  ];
}

/** Chat messages of the first `count` steps, as a client would send them. */
export function toMessages(system: string, steps: readonly Step[]): ChatMessage[] {
  const messages: ChatMessage[] = system === "" ? [] : [{ role: "system", content: system }];
  steps.forEach((step, index) => messages.push(toMessage(step, index)));
  return messages;
}

function toMessage(step: Step, index: number): ChatMessage {
  switch (step.kind) {
    case "user":
      return { role: "user", content: step.text };
    case "reply":
      return { role: "assistant", content: step.text };
    case "result":
      return { role: "tool", content: step.content, tool_call_id: `call_${index - 1}` };
    case "call": {
      const call = { name: step.tool.name, arguments: spacedJson(callArguments(step.tool, step.values, step.first)) };
      return { role: "assistant", content: null, tool_calls: [{ id: `call_${index}`, type: "function", function: call }] };
    }
  }
}
