/**
 * What a supplied call must not teach: one answer shows its arguments once, and a policy that is shown it alone takes them for
 * defaults and goes deaf to users who state others. So each argument in which it differs from the call given comes with
 * generated requests that state another value, answered as the parent does or would under that value.
 */
import type { ChatMessage } from "../../../shared/chat.ts";
import { argumentText, type Call, findTool, readableCalls, sameText } from "../../../shared/speech/calls.ts";
import { findParameter } from "../../../shared/speech/parameters.ts";
import { Random, seedAt } from "../../random.ts";
import { askLessons } from "../../teacher/answers.ts";
import { generateContexts, type Correction } from "../../teacher/contexts.ts";
import { leadToCalls } from "../../teacher/lead.ts";
import type { AnswerRow } from "./answer-rows.ts";
import { askGreedily, type Adapters, type LearnerDependencies } from "../update/candidate.ts";
import { holdBack, type HeldBack } from "../update/confirm.ts";
import { ANSWER_TOKENS } from "./lessons.ts";
import { fits } from "./rows.ts";
import { teach } from "./teaching.ts";
import type { TaughtLesson } from "../update/train.ts";

const MOST_ARGUMENTS = 3; // of one update
const OWN_SEED = 4_001;

export async function counterCases(
  deps: LearnerDependencies,
  rows: readonly AnswerRow[],
  { adapters, seed }: { adapters: Adapters; seed: number },
): Promise<{ taught: TaughtLesson[]; held: HeldBack[] }> {
  const { engine, base, settings } = deps;
  const { tokenizer } = base;
  const { vocabSize } = base.config;
  const ask = askGreedily(engine, { adapter: adapters.parent, endIds: tokenizer.endIds, seed });
  const roomy = (promptTokens: number): boolean => fits(base, promptTokens, ANSWER_TOKENS);
  const taught: TaughtLesson[] = [];
  const held: HeldBack[] = [];
  for (const [index, { correction, row }] of changedArguments(rows).slice(0, MOST_ARGUMENTS).entries()) {
    const random = new Random(seedAt(seed, OWN_SEED + index));
    const system = row.supplied.turn.payload.messages.filter(({ role }) => role === "system");
    const draw = (stated: number) =>
      generateContexts({ correction, tools: row.tools, system }, { silent: 0, stated, other: 0, anchor: 0 }, random);
    const [own, back] = [draw(settings.contexts.stated), draw(settings.heldBack.stated)];
    const led = await leadToCalls([...own, ...back], { correction, tokenizer, ask, fits: roomy, random });
    const { lessons } = await askLessons(
      led.filter((each) => each !== undefined),
      { correction, tokenizer, ask, fits: roomy },
    );
    const unseen = new Set(led.slice(own.length).map((each) => each?.context));
    const training = lessons.filter(({ context }) => !unseen.has(context));
    taught.push(...(await teach(deps, training, { correction, adapters })));
    const shown = lessons.filter(({ context }) => unseen.has(context));
    held.push(await holdBack(engine, shown, { correction, parent: adapters.parent, tokenizer, vocabSize }));
  }
  return { taught, held };
}

/** Arguments that a supplied call has otherwise than the call given, or that call lacks. */
export function changedArguments(rows: readonly AnswerRow[]): { correction: Correction; row: AnswerRow; call: Call }[] {
  return rows.flatMap((row) => {
    const { answer, turn } = row.supplied;
    return readableCalls(answer).flatMap((call) => {
      const tool = findTool(row.tools, call.name);
      const given = argumentsOf(turn.payload.answer, call.name);
      return Object.entries(call.arguments).flatMap(([name, value]) => {
        const parameter = tool === undefined ? undefined : findParameter(tool, name);
        const text = argumentText(value);
        if (tool === undefined || parameter === undefined || sameText(argumentText(given[name]), text)) return [];
        return [{ correction: { tool, parameter, hint: { parameter: name, value: text } }, row, call }];
      });
    });
  });
}

function argumentsOf(message: ChatMessage, tool: string): Readonly<Record<string, unknown>> {
  return readableCalls(message).findLast(({ name }) => name === tool)?.arguments ?? {};
}
