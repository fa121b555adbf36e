/** A base whose calls are words, as Llama 3.1 writes them: corrections are refused by name, and supplied answers are learned. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aspectParameter } from "../../../../shared/aspects.ts";
import type { AssistantMessage, ToolDefinition } from "../../../../shared/chat.ts";
import { SignalSettings } from "../../../../shared/signal-settings.ts";
import { spacedJson } from "../../../../shared/spaced-json.ts";
import { findParameter } from "../../../../shared/speech/parameters.ts";
import type { CorrectedExchange, UpdateRequest } from "../../../../trainer/learn/update/learner.ts";
import { createLearner } from "../../../../trainer/learn/update/update.ts";
import { CHAT_TEMPLATE } from "../../../../trainer/pretrain/chat-template.ts";
import { writeRandomBase } from "../../../helpers/random-base.ts";
import { LARGE_RATES, withRandomEngine } from "../../../helpers/random-engine.ts";
import { call, SEARCH, turn, user } from "../../hotel.ts";

/** Of as few tokens as a call can have: the base has one for each letter. */
const SHORT: ToolDefinition = {
  type: "function",
  function: { name: "F", parameters: { type: "object", properties: { a: { type: "string", enum: ["1", "2"] } } } },
};

const tiny = withRandomEngine(writeUnmarked);

/** A call is `{"name": …, "parameters": …}`, and no token marks it. */
async function writeUnmarked(folder: string): Promise<string> {
  await writeRandomBase(folder);
  const template = CHAT_TEMPLATE.replace("<tool_call>", "").replace("}</tool_call>", "}").replace("arguments\": '", "parameters\": '");
  await writeFile(join(folder, "chat_template.jinja"), template);
  const tokenizer = join(folder, "tokenizer.json");
  const marked = await readFile(tokenizer, "utf8");
  await writeFile(tokenizer, marked.replaceAll('"<tool_call>"', '"<|python_tag|>"').replaceAll('"</tool_call>"', '"<|eom_id|>"'));
  return folder;
}

function called(tool: ToolDefinition, args: Record<string, string>) {
  const { tokenizer } = tiny.base;
  const { name } = tool.function;
  const messages = [user("A hotel in Porto.")];
  const responseTokens = [...tokenizer.encode(spacedJson({ name, parameters: args })), tokenizer.eosId];
  const rollout = {
    promptTokens: tokenizer.encodePrompt({ messages, tools: [tool], addGenerationPrompt: true }),
    responseTokens,
    rolloutLogProbs: responseTokens.map(() => -1),
    sampling: { seed: 1, temperature: 1, topP: 1, masked: false },
  };
  return turn(messages, call(name, args), { tools: [tool], rollout });
}

function correctedTo(name: string, value: string): CorrectedExchange {
  const parameter = aspectParameter(name) ?? findParameter(SEARCH, name);
  if (parameter === undefined) throw new Error("an argument or aspect expected");
  const made = called(SEARCH, { city: "Porto" });
  const correction = { tool: SEARCH, parameter, hint: { parameter: name, value } };
  return { eventId: `${made.turnId}/next`, seq: made.seq, correction, turns: [made], reward: -1, held: undefined, words: "No!", share: 1 };
}

function update(asked: Partial<UpdateRequest>) {
  const none = { corrected: [], supplied: [], rewarded: [], replay: [], parent: null, parentVersion: 0, baseline: 0 };
  const request: UpdateRequest = { ...none, signals: SignalSettings.parse({}), objective: "hybrid", seed: 7, ...asked };
  return createLearner({ ...tiny, settings: { ...LARGE_RATES, maxSteps: 40, lr: 1e-2 }, now: () => 0 }).update(request);
}

describe("a base whose calls are words", { timeout: 60_000 }, () => {
  it.each([
    ["an argument", "number_of_rooms", "2"],
    ["a call", "@ask", "first"],
    ["a reply's wording", "@length", "8"],
  ])("has a correction of %s refused, with what to change", async (_, name, value) => {
    const corrected = correctedTo(name, value);
    expect(await update({ corrected: [corrected] })).toEqual({
      status: "refused",
      refused: [{ eventId: corrected.eventId, code: "teacher/unmarked", detail: expect.stringMatching(/<tool_call>.*supply the answer/s) }],
    });
  });

  it("learns an answer that somebody supplies, a call as its template writes it", async () => {
    const made = called(SHORT, { a: "1" });
    const answer = call("F", { a: "2" }) as AssistantMessage;
    const outcome = await update({
      supplied: [{ eventId: `${made.turnId}/feedback`, seq: made.seq, turn: made, answer, share: 1, reference: null }],
    });
    const after = '{"name": "F", "parameters": {"a": "2"}}';
    expect(outcome).toMatchObject({ status: "learned", changes: [{ after }], refused: [] });
  });
});
