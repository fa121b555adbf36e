/** One argument of a call held to a value, in its tokens and in its distributions. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Tokenizer } from "../../../shared/tokenizer.ts";
import type { ToolDefinition } from "../../../shared/chat.ts";
import { readCheckpoint } from "../../../trainer/model/checkpoint.ts";
import { readAnswer } from "../../../trainer/teacher/answer-text.ts";
import { forceArgument, forceLogProbs } from "../../../trainer/teacher/forced.ts";
import { argumentSpan } from "../../../shared/argument-span.ts";
import { writeRandomBase } from "../../helpers/random-base.ts";
import { SEARCH } from "../hotel.ts";

let folder = "";
let tokenizer: Tokenizer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-forced-"));
  tokenizer = readCheckpoint(await writeRandomBase(folder)).tokenizer;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function callTokens(args: string): number[] {
  const special = (name: string): number => tokenizer.specialIds.get(name) ?? -1;
  return [
    special("<tool_call>"),
    ...tokenizer.encode(`{"name": "SearchHotel", "arguments": ${args}}`),
    special("</tool_call>"),
    tokenizer.eosId,
  ];
}

const ROOMS = { tool: SEARCH, parameter: "number_of_rooms", value: "2" };

describe("forceArgument", () => {
  it.each([
    {
      name: "puts a missing argument where the schema lists it",
      before: '{"city": "Porto", "has_wifi": "True"}',
      after: '{"city": "Porto", "number_of_rooms": "2", "has_wifi": "True"}',
    },
    {
      name: "replaces a wrong value",
      before: '{"city": "Porto", "number_of_rooms": "1"}',
      after: '{"city": "Porto", "number_of_rooms": "2"}',
    },
  ])("$name", ({ before, after }) => {
    expect(forceArgument(tokenizer, callTokens(before), ROOMS)).toEqual(callTokens(after));
  });

  it.each([
    { name: "begins the call with an argument that was missing", before: '{"city": "Porto", "has_wifi": "True"}' },
    { name: "moves one that stood elsewhere to the front", before: '{"city": "Porto", "number_of_rooms": "1", "has_wifi": "True"}' },
  ])("$name", ({ before }) => {
    expect(forceArgument(tokenizer, callTokens(before), { ...ROOMS, first: true })).toEqual(
      callTokens('{"number_of_rooms": "2", "city": "Porto", "has_wifi": "True"}'),
    );
  });

  it("keeps the policy's own order behind it: a default that was learned before stays where it was put", () => {
    expect(forceArgument(tokenizer, callTokens('{"has_wifi": "True", "city": "Porto"}'), { ...ROOMS, first: true })).toEqual(
      callTokens('{"number_of_rooms": "2", "has_wifi": "True", "city": "Porto"}'),
    );
  });

  it("holds nothing that the argument's type does not have", () => {
    const nights: ToolDefinition = {
      type: "function",
      function: {
        name: "SearchHotel",
        parameters: { type: "object", properties: { nights: { type: "integer" }, tags: { type: "array" } } },
      },
    };
    const answer = callTokens("{}");
    expect(forceArgument(tokenizer, answer, { tool: nights, parameter: "nights", value: "3" })).toEqual(callTokens('{"nights": 3}'));
    expect(forceArgument(tokenizer, answer, { tool: nights, parameter: "nights", value: "three" })).toBeUndefined();
    expect(forceArgument(tokenizer, answer, { tool: nights, parameter: "tags", value: "quiet" })).toBeUndefined();
  });

  it.each(['{"city": 12345678901234567890}', '{"city": 2.50}', '{"city": 1e2}'])(
    "holds nothing beside %s, which it could not write again as it is",
    (args) => {
      expect(forceArgument(tokenizer, callTokens(args), ROOMS)).toBeUndefined();
    },
  );

  it("holds nothing in an answer that is no call of the tool", () => {
    expect(forceArgument(tokenizer, [...tokenizer.encode("Which city?"), tokenizer.eosId], ROOMS)).toBeUndefined();
    expect(forceArgument(tokenizer, callTokens('{"city": "Porto"}').slice(0, -1), ROOMS)).toBeUndefined();
  });
});

describe("argumentSpan", () => {
  it("covers separator, name and value", () => {
    const answer = callTokens('{"city": "Porto", "number_of_rooms": "2"}');
    const span = argumentSpan(tokenizer, answer, "number_of_rooms");
    expect(span === undefined ? "" : tokenizer.decode(answer.slice(span.from, span.to))).toBe(', "number_of_rooms": "2"');
  });

  it("is of the call's own arguments: neither the tool's name nor a key deeper down nor text inside a string", () => {
    const covered = (given: string, parameter: string): string => {
      const answer = callTokens(given);
      const span = argumentSpan(tokenizer, answer, parameter);
      return span === undefined ? "" : tokenizer.decode(answer.slice(span.from, span.to));
    };
    expect(covered('{"city": "Porto", "name": "Ada"}', "name")).toBe(', "name": "Ada"');
    expect(covered('{"city": {"name": "Porto"}, "name": ["a", "b"]}', "name")).toBe(', "name": ["a", "b"]');
    expect(covered('{"city": "a, \\"name\\": 1"}', "name")).toBe("");
  });

  it("is of the named tool's last call, where there are several", () => {
    const written = (name: string, city: string): string =>
      `<tool_call>${JSON.stringify({ name, arguments: { city } }).replaceAll(":", ": ").replace(",", ", ")}</tool_call>`;
    const answer = tokenizer.encode([written("A", "Rome"), written("B", "Oslo"), written("B", "Bergen"), written("C", "Bonn")].join(""));
    const covered = (tool: string | undefined, parameter = "city"): string | undefined => {
      const span = argumentSpan(tokenizer, answer, parameter, tool);
      return span && tokenizer.decode(answer.slice(span.from, span.to));
    };
    expect(covered("B")).toContain('"city": "Bergen"');
    expect(covered("A")).toContain('"city": "Rome"');
    expect(covered(undefined)).toContain('"city": "Rome"');
    expect(covered("D")).toBeUndefined();
    expect(covered("B", "rooms")).toBeUndefined();
  });

  it("is nothing where the call has no such argument", () => {
    expect(argumentSpan(tokenizer, callTokens('{"city": "Porto"}'), "number_of_rooms")).toBeUndefined();
  });
});

describe("forceLogProbs", () => {
  const vocabSize = 512;
  /** Sure of the answer's tokens, but of the one at `other`, where it is sure of another. */
  function scoresOf(answer: readonly number[], other: number): { full: Float32Array; argmax: number[] } {
    const full = new Float32Array(answer.length * vocabSize).fill(Math.log(0.1 / (vocabSize - 1)));
    const argmax = answer.map((token, index) => (index === other ? 7 : token));
    argmax.forEach((token, index) => (full[index * vocabSize + token] = Math.log(0.9)));
    return { full, argmax };
  }

  it("is certain at the argument's tokens and at what the policy would not write itself, sums to one, and leaves the others alone", () => {
    const answer = callTokens('{"number_of_rooms": "2", "city": "Porto"}');
    const span = argumentSpan(tokenizer, answer, "number_of_rooms");
    const city = argumentSpan(tokenizer, answer, "city");
    const scores = scoresOf(answer, city?.from ?? 0);
    const forced = forceLogProbs(tokenizer, scores, { answer, parameter: "number_of_rooms", vocabSize });
    const row = (values: Float32Array, index: number): Float32Array => values.subarray(index * vocabSize, (index + 1) * vocabSize);
    const certain = answer.flatMap((token, index) => (Math.abs((row(forced, index)[token] ?? 0) - Math.log(0.999)) < 1e-6 ? [index] : []));
    const held = Array.from({ length: (span?.to ?? 0) - (span?.from ?? 0) }, (_, offset) => (span?.from ?? 0) + offset);
    expect(certain).toEqual([...held, city?.from]);
    for (const index of certain) expect(row(forced, index).reduce((sum, logProb) => sum + Math.exp(logProb), 0)).toBeCloseTo(1, 5);
    const others = answer.flatMap((_, index) => (certain.includes(index) ? [] : [index]));
    for (const index of others) expect(row(forced, index)).toEqual(row(scores.full, index));
    expect(readAnswer(tokenizer, answer).calls).toEqual([{ name: "SearchHotel", arguments: { city: "Porto", number_of_rooms: "2" } }]);
  });
});
