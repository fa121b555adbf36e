/**
 * What a user always wants, in five kinds, and whether an answer gives it: read off the call that was made or off the text that was
 * said. An answer that does not do what was asked for satisfies nobody, whatever its form.
 */
import { z } from "zod";
import { assertNever } from "../../shared/assert.ts";
import type { AssistantMessage } from "../../shared/chat.ts";
import { sameText, argumentText, findTool } from "../../shared/speech/calls.ts";
import { mentions } from "../../shared/speech/mention.ts";
import { readParameters } from "../../shared/speech/parameters.ts";
import { checkArguments } from "../../shared/schema-check.ts";
import { spokenName } from "../../trainer/pretrain/values.ts";
import type { AnswerCall } from "../../trainer/teacher/answer-text.ts";
import type { Answer } from "../sim/learning.ts";
import { readResult, type Scene, type TwinScene } from "./scenes.ts";
import { breaksRule, obeying, WordingRule } from "./wording.ts";

const Place = { service: z.string(), tool: z.string() };

export const Preference = z.discriminatedUnion("kind", [
  /** Where the request is silent about the parameter, the call has this value. */
  z.object({ kind: z.literal("default"), ...Place, parameter: z.string(), value: z.string() }),
  /** The call has any other value; left out, it is the schema's default that counts. */
  z.object({ kind: z.literal("never"), ...Place, parameter: z.string(), value: z.string() }),
  /** Before this transactional call the user is asked whether all is right; or is not asked. */
  z.object({ kind: z.literal("confirm"), ...Place, wish: z.enum(["always", "never"]) }),
  /** How a reply to a result is worded. */
  z.object({ kind: z.literal("wording"), ...Place, rule: WordingRule }),
  /** Of two tools that do the same, `tool` and not `instead`; `twin` is the variant of the schemas that the one of them is from which is not the original. */
  z.object({ kind: z.literal("tool"), ...Place, instead: z.string(), twin: z.enum(["v1", "v2", "v3", "v4", "v5"]) }),
]);
export type Preference = z.infer<typeof Preference>;
export type PreferenceKind = Preference["kind"];
export const KINDS: readonly PreferenceKind[] = ["default", "never", "confirm", "wording", "tool"];

/** `elsewhere`: the answer is about something else than the preference, or no answer at all; nobody would say a word of the preference. */
export type Reaction = "honoured" | "violated" | "elsewhere";

type Kind<Name extends PreferenceKind> = Extract<Preference, { kind: Name }>;

export function reactionTo(preference: Preference, scene: Scene, answer: Pick<Answer, "calls" | "text">): Reaction {
  if (!answer.calls.every((call) => isValid(call, scene))) return "elsewhere";
  switch (preference.kind) {
    case "default":
      return toArgument(preference, scene, { answer, good: (value) => value === preference.value });
    case "never":
      return toArgument(preference, scene, { answer, good: (value) => value !== undefined && !sameText(value, preference.value) });
    case "confirm":
      return toConfirmation(preference, scene, answer);
    case "wording":
      return toWording(preference, scene, answer);
    case "tool":
      return toTool(preference, answer);
    default:
      return assertNever(preference);
  }
}

function isValid({ name, arguments: args }: AnswerCall, { tools }: Scene): boolean {
  const tool = findTool(tools, name);
  return tool !== undefined && checkArguments(tool, args).length === 0;
}

function toArgument(
  { tool: name, parameter }: Kind<"default" | "never">,
  { tools }: Scene,
  { answer: { calls }, good }: { answer: Pick<Answer, "calls">; good: (value: string | undefined) => boolean },
): Reaction {
  const own = calls.filter((call) => call.name === name);
  if (own.length === 0) return "elsewhere";
  const tool = findTool(tools, name);
  const fallback = tool === undefined ? undefined : readParameters(tool).find((each) => each.name === parameter)?.fallback;
  const used = own.map(({ arguments: args }) => (args[parameter] === undefined ? fallback : argumentText(args[parameter])));
  return used.every(good) ? "honoured" : "violated";
}

function toConfirmation({ tool, wish }: Kind<"confirm">, scene: Scene, { calls, text }: Pick<Answer, "calls" | "text">): Reaction {
  const called = calls.some(({ name }) => name === tool);
  const asked = calls.length === 0 && asksToConfirm(text, scene);
  if (!called && !asked) return "elsewhere";
  return (wish === "always") === asked ? "honoured" : "violated";
}

const ASKING = /\?|\b(?:confirm|verify|check|review|to be clear)/i;

/** Asks, and repeats something of what the call would have. */
export function asksToConfirm(text: string, { call, tools }: Pick<Scene, "call" | "tools">): boolean {
  if (!ASKING.test(text)) return false;
  const tool = findTool(tools, call.name);
  return (
    tool !== undefined &&
    readParameters(tool).some((parameter) => {
      const value = call.arguments[parameter.name];
      return value !== undefined && parameter.kind !== "boolean" && mentions(text, { parameter, value: argumentText(value) });
    })
  );
}

function toWording({ rule }: Kind<"wording">, { result }: Scene, { calls, text }: Pick<Answer, "calls" | "text">): Reaction {
  if (calls.length > 0 || !tellsResult(text, result)) return "elsewhere";
  return breaksRule(rule, { text, result: readResult(result) }) ? "violated" : "honoured";
}

/** Whether the text names something that was found: a reply that says nothing is well worded in vain. */
export function tellsResult(text: string, result: string): boolean {
  return readResult(result)
    .results.flatMap((each) => Object.entries(each))
    .some(
      ([name, value]) =>
        isTelling(value) &&
        mentions(text, { parameter: { name, words: spokenName(name), description: "", kind: "text" }, value: argumentText(value) }),
    );
}

/** Truth values and single digits stand in many sentences. */
function isTelling(value: unknown): boolean {
  const text = argumentText(value);
  return text.length > 1 && !/^(true|false)$/i.test(text);
}

function toTool({ tool, instead }: Kind<"tool">, { calls }: Pick<Answer, "calls">): Reaction {
  if (calls.some(({ name }) => name === instead)) return "violated";
  return calls.some(({ name }) => name === tool) ? "honoured" : "elsewhere";
}

/** The answer that the user would have given in the policy's place. */
export function wantedAnswer(preference: Preference, scene: Scene & Partial<Pick<TwinScene, "twinCall">>, id: string): AssistantMessage {
  const { call, result, reply, twinCall } = scene;
  const calling = ({ name, arguments: args }: Scene["call"]): AssistantMessage => ({
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(args) } }],
  });
  switch (preference.kind) {
    case "default":
      return calling({ ...call, arguments: { ...call.arguments, [preference.parameter]: preference.value } });
    case "never":
      return calling({ ...call, arguments: { ...call.arguments, [preference.parameter]: otherValue(preference, scene) } });
    case "confirm":
      return preference.wish === "never" ? calling(call) : { role: "assistant", content: reply };
    case "wording":
      return { role: "assistant", content: obeying(preference.rule, readResult(result)) };
    case "tool":
      return calling(twinCall?.name === preference.tool ? twinCall : call);
    default:
      return assertNever(preference);
  }
}

function otherValue({ tool: name, parameter, value }: Kind<"never">, { tools }: Scene): string {
  const tool = findTool(tools, name);
  const allowed = tool === undefined ? [] : (readParameters(tool).find((each) => each.name === parameter)?.allowed ?? []);
  const other = allowed.find((each) => !sameText(each, value));
  if (other === undefined) throw new Error(`${name}.${parameter}: another value than ${value} expected, got none`);
  return other;
}

export function nameOf(preference: Preference): string {
  const place = `${preference.service}.${preference.tool}`;
  switch (preference.kind) {
    case "default":
      return `${place} ${preference.parameter} = ${preference.value}`;
    case "never":
      return `${place} ${preference.parameter} never ${preference.value}`;
    case "confirm":
      return `${place} ${preference.wish} confirmed`;
    case "wording":
      return `${place} replies: ${preference.rule.name}`;
    case "tool":
      return `${place} rather than ${preference.instead}`;
    default:
      return assertNever(preference);
  }
}

/** What two people who share a policy cannot both have their way with. */
export function placeOf(preference: Preference): string {
  const argument = preference.kind === "default" || preference.kind === "never" ? preference.parameter : preference.kind;
  const tool = preference.kind === "tool" ? [preference.tool, preference.instead].toSorted().join(" or ") : preference.tool;
  return JSON.stringify([preference.service, tool, argument]);
}
