/** A policy that answers by a script, and the answers that go out for it. */
import { Vocabulary } from "../../../shared/vocabulary.ts";
import { spacedJson } from "../../../shared/spaced-json.ts";
import { readCheckpoint } from "../../../trainer/model/checkpoint.ts";
import { AnswerReader } from "../../../edge/policy/answer.ts";
import type { CompletionStep } from "../../../edge/policy/completion.ts";
import type { Policy } from "../../../edge/policy/policy.ts";
import { YieldingAnswer } from "../../../edge/yielding/yielding-answer.ts";
import type { Asked, YieldingCompletion, YieldingTurn } from "../../../edge/yielding/yielding-turn.ts";
import { FREE_FORM } from "../../../shared/grammar/answer-form.ts";
import { heardCorrections } from "../../../shared/correction/heard.ts";
import { holdTo } from "../../../shared/held-notes.ts";
import { checkArguments } from "../../../shared/schema-check.ts";
import { doneCalls } from "../../../shared/speech/done-calls.ts";
import { findTool } from "../../../shared/speech/calls.ts";
import { readAnswer } from "../../../trainer/teacher/answer-text.ts";
import type { ServedDefault } from "../../../shared/policy.ts";

export const { tokenizer, tokenizerFiles, config } = readCheckpoint("base");
const vocabulary = new Vocabulary(tokenizerFiles, config.vocabSize);
export const id = (token: string): number => tokenizer.specialIds.get(token) ?? -1;
export const [openId, closeId] = [id("<tool_call>"), id("</tool_call>")];
export const ROOMS = {
  noteId: "n_rooms",
  text: "rooms should be 2.",
  tool: "SearchHotel",
  parameter: "rooms",
  value: "2",
  corrected: null,
};
export const STARS = {
  noteId: "n_stars",
  text: "stars should be 4.",
  tool: "SearchHotel",
  parameter: "stars",
  value: "4",
  corrected: null,
};

export const call = (args: object, name = "SearchHotel"): number[] => [
  openId,
  ...tokenizer.encode(spacedJson({ name, arguments: args })),
  closeId,
];

export const text = { type: "string" };
export const HEARD = {
  messages: [{ role: "user" as const, content: "1 room, 3 rooms, 5 stars, 2 stars." }],
  tools: [
    {
      type: "function" as const,
      function: { name: "SearchHotel", parameters: { type: "object", properties: { city: text, rooms: text, stars: text } } },
    },
  ],
};

const BASE = { line: "shared", version: 0, policyDigest: "0", adapter: null };
const BOUND = { line: "shared", version: 7, policyDigest: "7", adapter: null };

/** A policy that answers as `script` says for the notes in its prompt, the version that is asked, what it is held to, whether its question was agreed to, and whether it may call. */
export function prepared(
  {
    notes = [],
    defaults = [],
    heard = HEARD,
    answering = null,
  }: {
    notes?: YieldingCompletion["notes"];
    defaults?: readonly ServedDefault[];
    heard?: YieldingTurn["heard"];
    answering?: YieldingTurn["standing"]["answering"];
  },
  script: (notes: readonly string[], version: number, held: readonly string[], agreed: boolean, mayCall: boolean) => number[],
) {
  const asked: (string | number)[][] = [];
  const policy = {
    tokenizer,
    async *complete(request: YieldingCompletion): AsyncGenerator<CompletionStep> {
      const names = request.notes.map(({ parameter }) => parameter);
      const held = request.held.map(({ parameter }) => parameter);
      const agreed = request.agreedTo !== undefined;
      asked.push([request.version, ...names, ...held.map((name) => `held ${name}`), ...(agreed ? ["agreed"] : [])]);
      const reader = new AnswerReader({ vocabulary, markers: { openId, closeId }, stop: [] });
      const { responseFormat: form, toolChoice } = request;
      const said =
        form.type === "exact" ? tokenizer.encode(form.text) : script(names, request.version, held, agreed, toolChoice !== "none");
      if (held.length > 0) expectFitting(said, request.tools);
      for (const tokenId of [...said, tokenizer.eosId]) {
        const special = vocabulary.isSpecial(tokenId);
        const deltas = reader.push(tokenId);
        const bytes = vocabulary.bytesOf(tokenId);
        yield { kind: "token", tokenId, bytes, logProb: -0.1, topLogProbs: [], masked: false, special, deltas };
      }
      const deltas = reader.finish();
      const { content, calls } = reader;
      yield { kind: "end", deltas, finishReason: "stop", content, calls, masked: false, reusedTokens: 0, prefilledTokens: 1 };
    },
  } as unknown as Policy;
  const form = { ...FREE_FORM, tools: heard.tools };
  const completionOf = ({ by, notes: kept, agreedTo, hold }: Asked) => {
    const held = hold === undefined ? form : holdTo(hold.to, form, { before: hold.before, heard });
    const prompt = { notes: kept, held: hold?.to ?? [], agreedTo };
    return { ...FREE_FORM, ...held, ...hold?.form, ...by, ...prompt } as unknown as YieldingCompletion;
  };
  const completion = completionOf({ by: BOUND, notes });
  return {
    asked,
    turn: {
      policy,
      completion,
      completionOf,
      standing: { bound: BOUND, answering },
      base: BASE,
      heard,
      corrected: heardCorrections(heard),
      done: doneCalls(heard.messages),
      defaults,
    },
  };
}

export async function answer({ turn }: ReturnType<typeof prepared>, signal = new AbortController().signal) {
  const run = new YieldingAnswer(turn, signal);
  const steps: CompletionStep[] = [];
  for await (const step of run.steps()) steps.push(step);
  const end = steps.at(-1);
  const tokens = steps.flatMap((step) => (step.kind === "token" ? [step.tokenId] : []));
  const { notes, version } = run.completion;
  return { tokens, calls: end?.kind === "end" ? end.calls.map((each) => each.arguments) : [], notes, version };
}

/** As the grammar does: what is held is held, and the rest as it was. */
function expectFitting(said: readonly number[], tools: YieldingCompletion["tools"]): void {
  for (const { name, arguments: args } of readAnswer(tokenizer, said).calls) {
    const tool = findTool(tools, name);
    const problems = tool === undefined ? [] : checkArguments(tool, args);
    if (problems.length > 0) throw new Error(`a held call that fits expected, got ${JSON.stringify(args)}: ${problems.join("; ")}`);
  }
}
