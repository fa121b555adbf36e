/** What an answer's steps say, once they have come to their end. */
import type { Said } from "../../shared/held-notes.ts";
import type { WrittenAnswer } from "../../shared/yielding.ts";
import type { CompletionStep, EndStep } from "../policy/completion.ts";

/** Its tokens, its calls that can be read, and its text. */
export function readSteps(steps: readonly CompletionStep[]): WrittenAnswer & Said {
  const tokens = steps.flatMap((step) => (step.kind === "token" ? [step] : []));
  const end = steps.find((step): step is EndStep => step.kind === "end");
  return {
    tokens: tokens.map(({ tokenId }) => tokenId),
    logProbs: tokens.map(({ logProb }) => logProb),
    call: firstCall(end),
    calls: (end?.calls ?? []).flatMap((call) => readCall(call) ?? []),
    text: end?.content ?? "",
  };
}

function firstCall(end: EndStep | undefined): WrittenAnswer["call"] {
  const [call] = end?.calls ?? [];
  return call === undefined ? undefined : readCall(call);
}

function readCall(call: EndStep["calls"][number]): WrittenAnswer["call"] {
  if (!call.valid) return undefined;
  const parsed: unknown = JSON.parse(call.arguments); // a valid call's arguments are a JSON object
  return { name: call.name, arguments: { ...(parsed as Record<string, unknown>) } };
}
