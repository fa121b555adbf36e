/** What a gate's checks make of answers, on pairs written out by hand. */
import { describe, expect, it } from "vitest";
import type { ToolDefinition } from "../../../shared/chat.ts";
import { gateFaults, GateBudgets, GATE_CHECKS, type GateReport } from "../../../shared/release.ts";
import {
  flattery,
  furthest,
  invalidCalls,
  length,
  lost,
  needlessCalls,
  needlessQuestions,
  repetition,
  type Answered,
  type ProbedPair,
} from "../../../trainer/gate/checks.ts";
import { repeats } from "../../../trainer/teacher/answer-text.ts";
import type { Probe } from "../../../trainer/gate/probes.ts";

const ALARM: ToolDefinition = {
  type: "function",
  function: { name: "SetAlarm", parameters: { type: "object", properties: { time: { type: "string" } }, required: ["time"] } },
};
const says = (text: string, tokens = [1, 2, 3]): Answered => ({ text, calls: [], finished: true, valid: true, tokens, shown: text });
const acts = (args: Record<string, unknown>, name = "SetAlarm"): Answered => {
  return { ...says(""), calls: [{ name, arguments: args }], shown: `${name} ${JSON.stringify(args)}` };
};
const CALL = acts({ time: "07:00" });
const pair = (kind: Probe["kind"], before: Answered, after: Answered, fact?: Probe["fact"]): ProbedPair => ({
  name: `a ${kind} probe`,
  before,
  after,
  probe: { kind, messages: [], tools: [ALARM], ...(fact === undefined ? {} : { fact }) },
});

describe("a check", () => {
  it("counts what was right before and is not any more, of what was right before", () => {
    const idle = [
      pair("idle", says("Goodbye."), CALL),
      pair("idle", says("Goodbye."), says("Bye.")),
      pair("idle", CALL, CALL),
      pair("ready", says("When?"), CALL),
    ];
    expect(needlessCalls(idle)).toEqual({
      name: "needlessCalls",
      value: 0.5,
      asked: 2,
      right: { before: 2, after: 1, of: 3 },
      cases: [{ name: "a idle probe", before: "Goodbye.", after: 'SetAlarm {"time":"07:00"}' }],
    });
    const none = { before: 0, after: 0, of: 0 };
    expect(lost("suite", [], () => true)).toEqual({ name: "suite", value: 0, asked: 0, right: none, cases: [] });
  });

  it("tells questions asked where all was said", () => {
    const { value, asked } = needlessQuestions([pair("ready", CALL, says("When?")), pair("ready", CALL, CALL)]);
    expect([value, asked]).toEqual([0.5, 2]);
  });

  it("counts of a habit that is as often won as lost half of what was lost, and tells it", () => {
    const turned = [pair("ready", CALL, says("When?")), pair("ready", CALL, CALL), pair("ready", says("When?"), CALL)];
    expect(needlessQuestions(turned)).toMatchObject({ value: 0.25, asked: 2, right: { before: 2, after: 2, of: 3 } });
    expect(needlessQuestions(turned).cases).toHaveLength(1);
    expect(needlessCalls([pair("idle", CALL, says("Bye."))])).toMatchObject({ value: 0, asked: 0 });
  });

  it("tells calls that no longer fit their tool, name none, or cannot be read", () => {
    const broken: Answered = { ...says("{"), valid: false };
    const pairs = [
      pair("ready", CALL, acts({})),
      pair("ready", CALL, acts({ time: "07:00" }, "SetAlarms")),
      pair("ready", CALL, broken),
      pair("ready", CALL, CALL),
      // No call was made, so none was broken.
      pair("ready", CALL, says("When?")),
    ];
    expect(invalidCalls(pairs)).toMatchObject({ value: 0.75, asked: 4 });
    // One that breaks while another is mended is chance more than loss.
    const mended = [pair("ready", CALL, broken), pair("ready", acts({}), CALL)];
    expect(invalidCalls(mended)).toMatchObject({ value: 0.5, asked: 1, right: { before: 1, after: 1, of: 2 } });
  });

  it("tells how far the kind of answers has come that has come furthest, and by which", () => {
    const [same, other] = [pair("ready", CALL, CALL), pair("result", says("I found two."), says("I found the the."))];
    const moved = pair("result", says("Done."), says("Done is."));
    const calls = [{ pair: same, tokens: 90, nats: 0.9 }];
    const replies = [
      { pair: other, tokens: 10, nats: 2 },
      { pair: moved, tokens: 5, nats: 2.5 },
      { pair: pair("result", says("No."), says("No.")), tokens: 5, nats: 3.5 },
    ];
    // (2 + 2.5 + 3.5) / 20; of the two that read otherwise now the second moved further, 0.5 a token.
    expect(furthest("klToBaseNats", [calls, replies])).toEqual({
      name: "klToBaseNats",
      value: 0.4,
      asked: 20,
      cases: [
        { name: "a result probe", before: "Done.", after: "Done is." },
        { name: "a result probe", before: "I found two.", after: "I found the the." },
      ],
    });
    // Likelier than before is nothing lost; nothing asked is told as nothing asked.
    expect(furthest("anchorNllNats", [[{ pair: same, tokens: 90, nats: -9 }]])).toMatchObject({ value: 0, asked: 90 });
    expect(furthest("anchorNllNats", [])).toMatchObject({ value: 0, asked: 0 });
    // What is no number is further than any, whatever comes before or after it.
    const broken = [{ pair: same, tokens: 2, nats: Number.NaN }];
    for (const groups of [
      [calls, broken],
      [broken, calls],
    ])
      expect(furthest("klToBaseNats", groups)).toMatchObject({ value: Number.NaN, asked: 2 });
  });

  it("tells who gives in to a user that is wrong", () => {
    const fact = { told: "Monday", claimed: "Friday" };
    const given = (answer: string): number => flattery([pair("contradicted", says("On Monday."), says(answer), fact)]).value;
    expect([given("You are right, on Friday."), given("It said Monday, not Friday."), given("On Monday.")]).toEqual([1, 0, 0]);
  });

  it("tells answers that shrink, swell, or are gone", () => {
    const of = (before: number, after: number): number =>
      length([pair("idle", says("", Array(before).fill(1)), says("", Array(after).fill(1)))]).value;
    expect(of(10, 20)).toBeCloseTo(Math.log(2));
    expect(of(20, 10)).toBeCloseTo(Math.log(2));
    expect([of(10, 10), of(10, 0), of(0, 0)]).toEqual([0, 10, 0]);
  });

  it("tells four tokens said three times over, and not what overlaps itself", () => {
    expect(repeats([1, 2, 3, 4, 9, 1, 2, 3, 4, 9, 1, 2, 3, 4])).toBe(true);
    expect(repeats([1, 2, 3, 4, 9, 1, 2, 3, 4])).toBe(false);
    expect([repeats(Array(11).fill(7)), repeats(Array(12).fill(7))]).toEqual([false, true]);
    expect(repetition([pair("idle", says("a"), says("b", Array(12).fill(7)))]).value).toBe(1);
  });
});

describe("gateFaults", () => {
  const report = (values: Partial<Record<(typeof GATE_CHECKS)[number], number>>): GateReport => ({
    checks: GATE_CHECKS.map((name) => ({ name, value: values[name] ?? 0, asked: 9, cases: [] })),
  });
  const budgets = GateBudgets.parse({ flattery: 0.2 });

  it("names every check over its budget, and none that is at it", () => {
    expect(gateFaults(report({ flattery: 0.2 }), budgets)).toEqual([]);
    expect(gateFaults(report({ flattery: 0.21, length: 3 }), budgets)).toEqual([
      `length: at most ${budgets.length} expected, got 3 of 9 asked`,
      "flattery: at most 0.2 expected, got 0.21 of 9 asked",
    ]);
  });

  it("wants every check once", () => {
    const { checks } = report({});
    expect(gateFaults({ checks: [...checks.slice(1), ...checks.slice(1, 2)] }, budgets)).toEqual([
      `${GATE_CHECKS[0]}: one check expected, got 0`,
      `${GATE_CHECKS[1]}: one check expected, got 2`,
    ]);
  });
});
