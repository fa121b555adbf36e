/** The policy's own part of `eval:base`: calls and replies, and what it makes of hints and notes. */
import { zipStrict } from "../../shared/assert.ts";
import { isRecord } from "../../shared/grammar/schema-parts.ts";
import { checkArguments } from "../../shared/schema-check.ts";
import { median } from "../bench.ts";
import { type ActCase, ANSWER_TOKENS, type CorrectedCase, type GuidedCase } from "./cases.ts";
import { argumentOf, beginsCall, declines, type EvaluatedPolicy, parseCall, sameCall } from "./policy.ts";
import { type Share, share, shareOf } from "./share.ts";

export async function evaluateActs(policy: EvaluatedPolicy, calls: readonly ActCase[], replies: readonly ActCase[]) {
  const prompts = calls.map(({ prompt }) => prompt);
  const free = await policy.answers("calls", prompts, { maxTokens: ANSWER_TOKENS });
  const held = await policy.answers("calls, as served", prompts, { maxTokens: ANSWER_TOKENS, tools: calls.map(({ tools }) => tools) });
  const needless = (
    await policy.answers(
      "replies",
      replies.map(({ prompt }) => prompt),
      { maxTokens: 2 },
    )
  ).filter(beginsCall).length;
  return {
    callMade: share(free.map(beginsCall)),
    /** Of calls that are due: told that they cannot be helped with. */
    declined: share(free.map(declines)),
    needlessCall: shareOf(needless, replies.length),
    ...callFigures(calls, free),
    asServed: callFigures(calls, held),
  };
}

function callFigures(cases: readonly ActCase[], texts: readonly string[]) {
  const made = texts.map(parseCall);
  const exact = cases.map(({ call }, index) => call !== undefined && sameCall(made[index], call));
  const begun = cases.flatMap((each, index) => (beginsCall(texts[index] ?? "") ? [fits(each, made[index])] : []));
  return {
    rightTool: share(cases.map(({ call }, index) => made[index]?.name === call?.name)),
    /** Of the calls that were begun, those that were finished within the limit and fit their tool's schema. */
    valid: share(begun),
    exact: share(exact),
    exactSeen: share(exact.filter((_, index) => cases[index]?.seen === true)),
    exactUnseen: share(exact.filter((_, index) => cases[index]?.seen === false)),
    argumentsRight: share(
      cases.flatMap(({ call }, index) =>
        Object.entries(call?.arguments ?? {}).map(([name, value]) => argumentOf(made[index], name) === value),
      ),
    ),
  };
}

function fits({ tools }: ActCase, made: ReturnType<typeof parseCall>): boolean {
  const tool = tools.find((each) => each.function.name === made?.name);
  return tool !== undefined && isRecord(made?.arguments) && checkArguments(tool, made.arguments).length === 0;
}

export async function evaluateHints(policy: EvaluatedPolicy, cases: readonly GuidedCase[], context: number) {
  const without = await policy.logProbs(
    "hint lift, without",
    cases.map(({ plain, answer }) => ({ prompt: plain, answer })),
    context,
  );
  const under = await policy.logProbs(
    "hint lift, under the hint",
    cases.map(({ guided, answer }) => ({ prompt: guided, answer })),
    context,
  );
  const tools = cases.map((each) => each.tools);
  const held = await policy.answers("hints, as served", guidedOf(cases), { maxTokens: ANSWER_TOKENS, tools });
  const free = await policy.answers("hints", guidedOf(cases), { maxTokens: ANSWER_TOKENS });
  return {
    medianLiftNats: cases.length === 0 ? null : median(under.map((logProb, index) => logProb - (without[index] ?? 0))),
    asServed: shareUsed(cases, held),
    free: shareUsed(cases, free),
  };
}

/** Notes as served, held to the schema and yielding to what was said; and unconstrained, by the prompt alone. */
export async function evaluateNotes(
  policy: EvaluatedPolicy,
  label: string,
  cases: readonly GuidedCase[],
): Promise<{ asServed: Share; free: Share }> {
  return {
    asServed: shareUsed(cases, await policy.answersUnderNotes(label, cases, ANSWER_TOKENS)),
    free: shareUsed(cases, await policy.answers(label, guidedOf(cases), { maxTokens: ANSWER_TOKENS })),
  };
}

/** Share of guided prompts whose greedy call is to the right tool and has the wanted value. */
function shareUsed(cases: readonly GuidedCase[], texts: readonly string[]): Share {
  return share(
    cases.map(({ tool, parameter, wanted }, index) => {
      const made = parseCall(texts[index] ?? "");
      return made?.name === tool && argumentOf(made, parameter) === wanted;
    }),
  );
}

function guidedOf(cases: readonly GuidedCase[]): number[][] {
  return cases.map(({ guided }) => guided);
}

/** The answer to a correction, as served: held to the schemas of the tools, and to what the correction says in so many words. `free`: to the schemas alone. */
export async function evaluateCorrected(policy: EvaluatedPolicy, cases: readonly CorrectedCase[]) {
  const { free, served } = await policy.answersToCorrections("corrections", cases, ANSWER_TOKENS);
  return { ...correctedFigures(cases, served), free: correctedFigures(cases, free) };
}

function correctedFigures(cases: readonly CorrectedCase[], texts: readonly string[]) {
  const made = zipStrict(cases, texts).map(([wanted, text]) => ({ ...wanted, again: parseCall(text) }));
  return {
    callMade: share(texts.map(beginsCall)),
    valueTaken: share(
      made.map(({ call, parameter, again }) => again?.name === call.name && argumentOf(again, parameter) === argumentOf(call, parameter)),
    ),
    exact: share(made.map(({ call, again }) => sameCall(again, call))),
  };
}
