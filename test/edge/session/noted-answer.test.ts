/** A note that is overruled is taken out of the prompt before a call goes out; text goes out as it comes. */
import { describe, expect, it } from "vitest";
import { Vocabulary } from "../../../shared/vocabulary.ts";
import { spacedJson } from "../../../shared/spaced-json.ts";
import { readCheckpoint } from "../../../trainer/model/checkpoint.ts";
import { AnswerReader } from "../../../edge/policy/answer.ts";
import type { CompletionRequest, CompletionStep } from "../../../edge/policy/completer.ts";
import type { Policy } from "../../../edge/policy/policy.ts";
import { NotedAnswer, type NotedCompletion } from "../../../edge/session/noted-answer.ts";

const { tokenizer, tokenizerFiles, config } = readCheckpoint("base");
const vocabulary = new Vocabulary(tokenizerFiles, config.vocabSize);
const id = (token: string): number => tokenizer.specialIds.get(token) ?? -1;
const [openId, closeId] = [id("<tool_call>"), id("</tool_call>")];
const ROOMS = { noteId: "n_rooms", text: "rooms should be 2.", tool: "SearchHotel", parameter: "rooms", corrected: null };
const STARS = { noteId: "n_stars", text: "stars should be 4.", tool: "SearchHotel", parameter: "stars", corrected: null };

const call = (args: object): number[] => [openId, ...tokenizer.encode(spacedJson({ name: "SearchHotel", arguments: args })), closeId];

/** A policy that answers as `script` says for the notes in its prompt; a prompt here is the number of its notes. */
function prepared(notes: NotedCompletion["notes"], script: (notes: readonly string[]) => number[]) {
  const asked: string[][] = [];
  const policy = {
    tokenizer,
    async *complete(request: CompletionRequest & { notes?: NotedCompletion["notes"] }): AsyncGenerator<CompletionStep> {
      const names = (request.notes ?? []).map(({ parameter }) => parameter);
      asked.push(names);
      const reader = new AnswerReader({ vocabulary, markers: { openId, closeId }, stop: [] });
      for (const tokenId of [...script(names), tokenizer.eosId]) {
        const special = vocabulary.isSpecial(tokenId);
        const deltas = reader.push(tokenId);
        yield {
          kind: "token",
          tokenId,
          bytes: vocabulary.bytesOf(tokenId),
          logProb: -0.1,
          topLogProbs: [],
          masked: false,
          special,
          deltas,
        };
      }
      const deltas = reader.finish();
      const { content, calls } = reader;
      yield { kind: "end", deltas, finishReason: "stop", content, calls, masked: false, reusedTokens: 0, prefilledTokens: 1 };
    },
  } as unknown as Policy;
  const completionUnder = (kept: NotedCompletion["notes"]): NotedCompletion =>
    ({ notes: kept, promptTokens: [kept.length] }) as unknown as NotedCompletion;
  return { asked, turn: { policy, completion: completionUnder(notes), completionUnder } };
}

async function answer({ turn }: ReturnType<typeof prepared>) {
  const run = new NotedAnswer(turn, new AbortController().signal);
  const steps: CompletionStep[] = [];
  for await (const step of run.steps()) steps.push(step);
  const end = steps.at(-1);
  const tokens = steps.flatMap((step) => (step.kind === "token" ? [step.tokenId] : []));
  return { tokens, calls: end?.kind === "end" ? end.calls.map((each) => each.arguments) : [], notes: run.completion.notes };
}

describe("NotedAnswer", () => {
  it("asks once where there are no notes, and once for a reply under notes", async () => {
    const plain = prepared([], () => call({ rooms: "1" }));
    expect(await answer(plain)).toMatchObject({ calls: ['{"rooms": "1"}'], notes: [] });
    const reply = prepared([ROOMS], () => tokenizer.encode("How many stars?"));
    expect(await answer(reply)).toMatchObject({ tokens: [...tokenizer.encode("How many stars?"), tokenizer.eosId], notes: [ROOMS] });
    expect([plain.asked, reply.asked]).toEqual([[[]], [["rooms"]]]);
  });

  it("lets a note stand that fills what nobody has said", async () => {
    const turn = prepared([ROOMS], (notes) => call(notes.length > 0 ? { rooms: "2", city: "Porto" } : { city: "Porto" }));
    expect(await answer(turn)).toMatchObject({ calls: ['{"rooms": "2", "city": "Porto"}'], notes: [ROOMS] });
    expect(turn.asked).toEqual([["rooms"], []]);
  });

  it("answers without a note that is overruled, and is recorded as answered so", async () => {
    const turn = prepared([ROOMS], (notes) => call(notes.length > 0 ? { rooms: "2" } : { city: "Porto", rooms: "1" }));
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Porto", "rooms": "1"}'], notes: [] });
  });

  it("keeps the others in the prompt, and asks again under them", async () => {
    const turn = prepared([ROOMS, STARS], (notes) =>
      call({ ...(notes.includes("stars") ? { stars: "4" } : {}), rooms: notes.includes("rooms") ? "2" : "1" }),
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"stars": "4", "rooms": "1"}'], notes: [STARS] });
    expect(turn.asked).toEqual([["rooms", "stars"], [], ["stars"]]);
  });

  it("keeps what a client has seen: words before a call go out at once, and the call with them", async () => {
    const turn = prepared([ROOMS], () => [...tokenizer.encode("One moment."), ...call({ rooms: "2" })]);
    expect(await answer(turn)).toMatchObject({ calls: ['{"rooms": "2"}'], notes: [ROOMS] });
    expect(turn.asked).toEqual([["rooms"]]);
  });
});
