/** The policy under evaluation: greedy answers and log-probs of given answers, in batches, with progress on stderr. */
import type { ToolDefinition } from "../../shared/chat.ts";
import { canonicalJson } from "../../shared/digest.ts";
import { FREE_FORM } from "../../shared/grammar/answer-form.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import type { Engine } from "../../trainer/engine/engine.ts";
import { toBatch } from "../../trainer/pretrain/batches.ts";
import { say } from "../bench.ts";

const GENERATE_ROWS = 32;
const SCORE_ROWS = 4;

export type ParsedCall = { name: string; arguments: unknown };

export class EvaluatedPolicy {
  readonly #engine: Engine;
  readonly #tokenizer: Tokenizer;

  constructor(engine: Engine, tokenizer: Tokenizer) {
    this.#engine = engine;
    this.#tokenizer = tokenizer;
  }

  /** The text after each prompt, greedy, up to the end token: free, or held to the schemas of the prompts' tools as when it is served. */
  async answers(
    label: string,
    prompts: readonly number[][],
    { maxTokens, tools }: { maxTokens: number; tools?: readonly (readonly ToolDefinition[])[] },
  ): Promise<string[]> {
    // Like lengths together: a batch costs what its longest prompt costs.
    const order = prompts.map((_, index) => index).sort((a, b) => (prompts[a]?.length ?? 0) - (prompts[b]?.length ?? 0));
    const texts = new Array<string>(prompts.length).fill("");
    for (let start = 0; start < order.length; start += GENERATE_ROWS) {
      const rows = order.slice(start, start + GENERATE_ROWS);
      const generated = await this.#engine.generate({
        prompts: rows.map((row) => Int32Array.from(prompts[row] ?? [])),
        ...(tools === undefined ? {} : { forms: rows.map((row) => ({ tools: tools[row] ?? [], form: FREE_FORM })) }),
        maxTokens,
        stopTokens: [this.#tokenizer.eosId],
        temperature: 0,
        seed: 0,
      });
      generated.forEach(({ tokens }, index) => {
        const row = rows[index];
        if (row !== undefined) texts[row] = this.#tokenizer.decode(Array.from(tokens).filter((token) => token !== this.#tokenizer.eosId));
      });
      say(`${label}: ${Math.min(start + GENERATE_ROWS, order.length)}/${order.length}`);
    }
    return texts;
  }

  /** ln p of each answer after its prompt, summed over its tokens, nats. */
  async logProbs(
    label: string,
    pairs: readonly { prompt: readonly number[]; answer: readonly number[] }[],
    context: number,
  ): Promise<number[]> {
    const sums: number[] = [];
    for (let start = 0; start < pairs.length; start += SCORE_ROWS) {
      const rows = pairs.slice(start, start + SCORE_ROWS);
      const examples = rows.map(({ prompt, answer }) => ({
        tokens: [...prompt, ...answer],
        weights: [...prompt.map(() => 0), ...answer.map(() => 1)],
      }));
      const { logProbs } = await this.#engine.score(toBatch(examples, { length: context, rows: SCORE_ROWS }), {});
      let place = 0;
      for (const { answer } of rows) {
        sums.push(logProbs.subarray(place, place + answer.length).reduce((sum, each) => sum + each, 0));
        place += answer.length;
      }
      if (start % (SCORE_ROWS * 16) === 0) say(`${label}: ${start}/${pairs.length}`);
    }
    return sums;
  }
}

/** The call that an answer makes, if it makes a readable one. */
export function parseCall(text: string): ParsedCall | undefined {
  const [, body] = /^<tool_call>(.*?)<\/tool_call>/s.exec(text) ?? [];
  if (body === undefined) return undefined;
  try {
    const call: unknown = JSON.parse(body);
    if (typeof call !== "object" || call === null || !("name" in call) || typeof call.name !== "string") return undefined;
    return { name: call.name, arguments: "arguments" in call ? call.arguments : undefined };
  } catch {
    // Not JSON: no call was made that a client could run.
    return undefined;
  }
}

export function sameCall(made: ParsedCall | undefined, wanted: ParsedCall): boolean {
  return made !== undefined && made.name === wanted.name && canonicalJson(made.arguments) === canonicalJson(wanted.arguments);
}

export function argumentOf(made: ParsedCall | undefined, parameter: string): unknown {
  return typeof made?.arguments === "object" && made.arguments !== null
    ? Object.entries(made.arguments).find(([name]) => name === parameter)?.[1]
    : undefined;
}
