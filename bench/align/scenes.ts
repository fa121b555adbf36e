/**
 * Where a preference shows: a dialogue of SGD up to a moment at which the policy is to speak, and what the data does there. At a
 * call: its first one. At a confirmation: before the assistant asks whether a transactional call is right. At a reply: after the first result.
 */
import { spacedJson } from "../../shared/spaced-json.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { plainConversation } from "../../trainer/pretrain/augment.ts";
import {
  type ArgumentValue,
  callArguments,
  plainView,
  type Step,
  toMessages,
  toolDefinition,
  type ToolView,
} from "../../trainer/pretrain/conversation.ts";
import type { Schemas, Sgd, Variant } from "../../trainer/pretrain/sgd.ts";
import type { Prompted } from "../sim/learning.ts";
import { freshRequests, type FreshRequest, isAskable } from "../sim/requests.ts";

type Arguments = Readonly<Record<string, ArgumentValue>>;

export type Scene = Prompted & {
  readonly dialogueId: string;
  readonly service: string;
  /** The call that the data makes here, or, at a reply, has made. */
  readonly call: { readonly name: string; readonly arguments: Arguments };
  /** What the tool gives back to it, or has given. */
  readonly result: string;
  /** What the data's assistant says here; empty where it calls. */
  readonly reply: string;
};
export type CallScene = Scene & Pick<FreshRequest, "silent" | "stated">;
/** With a tool beside the one that the data calls which does the same, and the call of that one. */
export type TwinScene = CallScene & { readonly twinCall: Scene["call"] };

export type Scenes = {
  readonly calls: readonly CallScene[];
  readonly confirmations: readonly Scene[];
  readonly replies: readonly Scene[];
};

/** Whether a client can ask it, and all that is said in a session finds room in a context. */
export type Fits = (scene: Scene) => boolean;

const LONGEST_CHARS = 6_000; // as JSON; what is longer need not be counted
const LATER_TOKENS = 240; // the first answer, the reply to its result, what is objected, and what is said to that
const LEAST_RESULTS = 1;

/** Counts the tokens of a request with its tools and result. */
export function fitsContext(tokenizer: Pick<Tokenizer, "encode" | "encodePrompt">, contextTokens: number): Fits {
  return ({ messages, tools, result }) => {
    if (!isAskable(tools)) return false;
    if (JSON.stringify([messages, tools, result]).length > LONGEST_CHARS) return false;
    const asked = tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true }).length;
    return asked + tokenizer.encode(result).length + LATER_TOKENS <= contextTokens;
  };
}

export function readScenes(sgd: Sgd, fits: Fits): Scenes {
  const calls = freshRequests(sgd).map((request): CallScene => ({ ...request, reply: "" }));
  const open = sgd.dialogues.map((dialogue) => ({ id: dialogue.id, ...plainConversation(dialogue, sgd.schemas) }));
  return {
    calls: calls.filter(fits),
    confirmations: open.flatMap((talk) => confirmation(talk, sgd.schemas)).filter(fits),
    replies: open.flatMap((talk) => firstReply(talk, sgd.schemas)).filter(fits),
  };
}

type Talk = { readonly id: string } & Pick<ReturnType<typeof plainConversation>, "system" | "tools" | "steps">;

/** user · *reply that asks whether all is right* · user · transactional call: up to the first. */
function confirmation({ id, system, tools, steps }: Talk, schemas: Schemas): Scene[] {
  const at = steps.findIndex(
    (step, index) => isConfirmation(step) && steps[index - 1]?.kind === "user" && steps[index + 2]?.kind === "call",
  );
  const [reply, call] = [steps[at], steps[at + 2]];
  if (reply?.kind !== "reply" || call?.kind !== "call" || !isTransactional(schemas, call.service, call.tool.name)) return [];
  return [{ ...common({ id, system, tools, steps }, at), ...calledBy(call, steps[at + 3]), reply: reply.text }];
}

function isConfirmation(step: Step): boolean {
  return step.kind === "reply" && step.acts.some(([act]) => act === "CONFIRM");
}

function isTransactional(schemas: Schemas, service: string, intent: string): boolean {
  return schemas.original.get(service)?.intents.some(({ name, is_transactional: is }) => name === intent && is) ?? false;
}

/** call · result · *reply*, where something was looked for and found. */
function firstReply({ id, system, tools, steps }: Talk, schemas: Schemas): Scene[] {
  const at = steps.findIndex(({ kind }) => kind === "call");
  const [call, result, reply] = [steps[at], steps[at + 1], steps[at + 2]];
  if (call?.kind !== "call" || result?.kind !== "result" || reply?.kind !== "reply") return [];
  if (isTransactional(schemas, call.service, call.tool.name) || readResult(result.content).count < LEAST_RESULTS) return [];
  return [{ ...common({ id, system, tools, steps }, at + 2), ...calledBy(call, result), reply: reply.text }];
}

function common({ id, system, tools, steps }: Talk, at: number): Pick<Scene, "dialogueId" | "messages" | "tools"> {
  return { dialogueId: id, messages: toMessages(system, steps.slice(0, at)), tools };
}

function calledBy(call: Extract<Step, { kind: "call" }>, result: Step | undefined): Pick<Scene, "service" | "call" | "result"> {
  return {
    service: call.service,
    call: { name: call.tool.name, arguments: callArguments(call.tool, call.values) },
    result: result?.kind === "result" ? result.content : spacedJson({ count: 0, results: [] }),
  };
}

export type Result = { readonly count: number; readonly results: readonly Readonly<Record<string, unknown>>[] };

/** A result as the scenes' tools give them. */
export function readResult(text: string): Result {
  const parsed: unknown = JSON.parse(text);
  const { count, results } = parsed as { count: number; results: Record<string, unknown>[] };
  return { count, results };
}

/** A tool that does the same, under the names that a variant of the schemas has for it; undefined where those are not all others. */
export function twinOf(
  schemas: Schemas,
  { service, tool, variant }: { service: string; tool: string; variant: Variant },
): ToolView | undefined {
  const [plain, shown] = [schemas.original.get(service), schemas[variant].get(service)];
  if (plain === undefined || shown === undefined) return undefined;
  const views = [...plainView(plain, shown).tools.values()];
  const twin = plainView(plain, shown).tools.get(tool);
  const names = new Set([...plainView(plain).tools.values()].map(({ name }) => name));
  return twin === undefined || names.has(twin.name) || views.filter(({ name }) => name === twin.name).length > 1 ? undefined : twin;
}

/** The scene with the twin among its tools, last. */
export function withTwin(scene: CallScene, twin: ToolView): TwinScene {
  const values = Object.fromEntries(Object.entries(scene.call.arguments).map(([slot, value]) => [slot, String(value)]));
  const twinCall = { name: twin.name, arguments: callArguments(twin, values) };
  return { ...scene, tools: [...scene.tools, toolDefinition(twin)], twinCall };
}
