/** The gate on the shipped base: what it lets through, and what it does not. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drillAdapter, noiseAdapter } from "../../../bench/attack/drilled.ts";
import { gateFaults, GateBudgets, type GateCheck, type GateCheckName, type GateReport } from "../../../shared/release.ts";
import type { ChatMessage } from "../../../shared/chat.ts";
import type { SuiteCase } from "../../../shared/suite.ts";
import { zipStrict } from "../../../shared/assert.ts";
import { Engine } from "../../../trainer/engine/engine.ts";
import { drawErrandResult } from "../../../trainer/learn/lesson/errands.ts";
import { askGreedily } from "../../../trainer/learn/update/candidate.ts";
import type { GateDefault, LoadBefore } from "../../../trainer/gate/carried.ts";
import { createGate, type Gate, type GateRequest } from "../../../trainer/gate/gate.ts";
import { drawProbes } from "../../../trainer/gate/probes.ts";
import type { AdapterTensors } from "../../../trainer/policy/adapter.ts";
import { loadBase } from "../../../trainer/policy/base.ts";
import { Random } from "../../../trainer/random.ts";
import { call, result, SEARCH, user } from "../hotel.ts";

const PATIENCE_MS = 300_000;
const base = loadBase("base");
let engine: Engine;
let gate: Gate;
/** The same with two probes of each kind, where a suite alone is looked at. */
let ofSuite: (request: GateRequest) => Promise<GateCheck | undefined>;
let askedOfBase = 0;
const leftOut: { left: number; of: number }[] = [];
beforeAll(async () => {
  engine = await Engine.start({ config: base.config, threads: 2, tokenizer: base.tokenizerFiles });
  await engine.loadCheckpoint(base.folder);
  const counted: Pick<Engine, "generate" | "score" | "loadAdapter" | "dropAdapter"> = {
    generate: (options) => engine.generate(counting(options)),
    score: (batch, options) => engine.score(batch, counting(options ?? {})),
    loadAdapter: (name, weights) => engine.loadAdapter(name, weights),
    dropAdapter: (name) => engine.dropAdapter(name),
  };
  const { examine, prepare } = createGate({ engine: counted, base, onLeftOut: (cases) => leftOut.push(cases) });
  await prepare();
  gate = examine;
  const few = createGate({ engine, base, probes: probes.filter(({ kind }, index) => probes[index - 2]?.kind !== kind) });
  ofSuite = async (request) => (await few.examine(request)).checks.find(({ name }) => name === "suite");
}, PATIENCE_MS);
afterAll(() => engine.close());

function counting<Options extends { adapter?: string }>(options: Options): Options {
  if (options.adapter === undefined) askedOfBase += 1;
  return options;
}

const probes = drawProbes();
const [probe] = probes;
if (probe === undefined) throw new Error("a probe expected");
const caseOf = (expectation: SuiteCase["expect"]): SuiteCase => ({
  ...{
    caseId: "case_1",
    source: "person",
    name: "a case",
    user: null,
    eventId: null,
    version: null,
    createdAt: "2026-01-01T00:00:00.000Z",
  },
  messages: [...probe.messages],
  tools: [...probe.tools],
  expect: expectation,
});
const valueOf = ({ checks }: GateReport, name: GateCheckName): number | undefined => checks.find((check) => check.name === name)?.value;
const budgets = GateBudgets.parse({});

describe("the gate", { timeout: PATIENCE_MS }, () => {
  it("lets a candidate through that does what its parent does, and asks its suite", async () => {
    const same = noiseAdapter(base, { scale: 0, random: new Random(1) });
    const suite = [caseOf({ reply: { contains: [] } }), ...probe.tools.map((tool) => caseOf({ tool: tool.function.name, arguments: {} }))];
    const long = { ...caseOf({ reply: { contains: [] } }), messages: [{ role: "user" as const, content: "A room. ".repeat(600) }] };
    const report = await gate({ parent: null, candidate: same, suite: [...suite, long] });
    expect(leftOut).toEqual([{ left: 1, of: suite.length + 1 }]);
    expect(gateFaults(report, budgets)).toEqual([]);
    expect(report.checks.map(({ value }) => value)).toEqual(report.checks.map(() => 0));
    // Exactly one of "a reply" and "a call of this tool or that" is what the parent gives.
    const right = { before: 1, after: 1, of: suite.length };
    expect(report.checks.find(({ name }) => name === "suite")).toMatchObject({ asked: 1, right });
  });

  it("asks its suite for what would go out: a version is held to what it carries", async () => {
    const same = noiseAdapter(base, { scale: 0, random: new Random(1) });
    const board = { type: "string", enum: ["none", "full"], default: "none" };
    // Of a request about which the base says nothing of a board by itself.
    const ready = probes.find(
      ({ kind, tools: offered }) =>
        kind === "ready" && ["create_ticket", "renew_loan"].every((name) => offered.some((tool) => tool.function.name === name)),
    );
    const tools = (ready?.tools ?? []).map((tool) => {
      const { properties, ...rest } = { properties: {}, ...tool.function.parameters };
      return { ...tool, function: { ...tool.function, parameters: { ...rest, properties: { ...properties, board } } } };
    });
    const suite = tools.map(({ function: { name: tool } }) => ({
      ...caseOf({ tool, arguments: { board: "full" } }),
      messages: [...(ready?.messages ?? [])],
      tools,
    }));
    const after = tools.map(({ function: { name: tool } }) => ({ tool, parameter: "board", value: "full", corrected: ["none"] }));
    const { right } = (await ofSuite({ parent: null, candidate: same, suite, carried: { before: [], after } })) ?? {};
    expect(right).toEqual({ before: 0, after: 1, of: suite.length });
  });

  describe("of a correction about how replies are worded", () => {
    // The base names both hotels and more, in eleven words.
    const found = [
      { hotel_name: "Vila Gale", street_address: "Rua de Faro 8", star_rating: "4", price_per_night: "$120" },
      { hotel_name: "Casa Azul", street_address: "Rua Nova 2", star_rating: "3", price_per_night: "$90" },
    ];
    const asked = call("SearchHotel", { city: "Porto", number_of_rooms: "1" });
    const messages: ChatMessage[] = [user("A hotel in Porto, please."), asked, result(JSON.stringify(found))];
    const about = { tool: "SearchHotel", parameter: "@length", value: "8" };
    const short = { ...caseOf({ reply: { contains: [] }, about }), source: "correction" as const, messages, tools: [SEARCH] };
    const forgot = noiseAdapter(base, { scale: 0, random: new Random(1) });
    let brief: AdapterTensors;
    beforeAll(async () => {
      const prompt = base.tokenizer.encodePrompt({ messages, tools: [SEARCH], addGenerationPrompt: true });
      const answer = [...base.tokenizer.encode("How about Vila Gale?"), base.tokenizer.eosId];
      brief = await drillAdapter(engine, { base, drills: [{ prompt, answer }], steps: 12 });
    }, PATIENCE_MS);

    it("loses the case where the candidate has forgotten it", async () => {
      const lost = await ofSuite({ parent: brief, candidate: forgot, suite: [short] });
      expect(lost).toMatchObject({ value: 1, asked: 1, cases: [{ before: "How about Vila Gale?" }] });
    });

    it("keeps it where the version is held to it", async () => {
      const carried = [{ ...about, corrected: [] }];
      const kept = await ofSuite({ parent: brief, candidate: forgot, suite: [short], carried: { before: carried, after: carried } });
      expect(kept).toMatchObject({ value: 0, asked: 1, right: { before: 1, after: 1 } });
    });
  });

  describe("of a number that nobody named", () => {
    const asking: ChatMessage[] = [user("Find me a hotel in Porto, please.")];
    const two = { ...caseOf({ tool: "SearchHotel", arguments: { number_of_rooms: "2" } }), messages: asking, tools: [SEARCH] };
    const files = { configDigest: "c", weightsDigest: "w", rank: 16, alpha: 32 };
    const carried: GateDefault[] = [
      { tool: "SearchHotel", parameter: "number_of_rooms", value: "2", corrected: ["1"], before: { adapter: files } },
    ];
    const calling = async (rooms: string, messages = asking): Promise<AdapterTensors> => {
      const prompt = base.tokenizer.encodePrompt({ messages, tools: [SEARCH], addGenerationPrompt: true });
      const made = { role: "assistant" as const, content: null, tool_calls: callsOf({ city: "Porto", number_of_rooms: rooms }) };
      const all = base.tokenizer.encodePrompt({ messages: [...messages, made], tools: [SEARCH], addGenerationPrompt: false });
      return drillAdapter(engine, {
        base,
        drills: [{ prompt, answer: all.slice(prompt.length, all.indexOf(base.tokenizer.eosId, prompt.length) + 1) }],
        steps: 12,
      });
    };
    const callsOf = (args: object) => [
      { id: "call_1", type: "function" as const, function: { name: "SearchHotel", arguments: JSON.stringify(args) } },
    ];
    let [parent, candidate]: AdapterTensors[] = [];
    beforeAll(async () => {
      [parent, candidate] = [await calling("2"), await calling("3")];
    }, PATIENCE_MS);
    const examine = async (loadBefore: LoadBefore, suite = [two], more: Partial<GateRequest> = {}) => {
      if (parent === undefined || candidate === undefined) throw new Error("adapters expected");
      return ofSuite({ parent, candidate, suite, carried: { before: [], after: carried }, loadBefore, ...more });
    };

    it("keeps the case where the version before tells nothing else, as the edge holds the call", async () => {
      const loaded: unknown[] = [];
      const kept = await examine(async (asked) => (loaded.push(asked), null), [two, { ...two, caseId: "case_2" }]);
      expect(kept).toMatchObject({ value: 0, asked: 2, right: { before: 2, after: 2 } });
      expect(loaded).toEqual([files]); // once, for both
    });

    it("loses it where that version's files are gone", async () => {
      expect(await examine(async () => undefined)).toMatchObject({ value: 1, asked: 1 });
    });

    it("keeps it where the candidate has learned of other tools, so that another version answers", async () => {
      const gone = async (): Promise<undefined> => undefined;
      expect(await examine(gone, [two], { reach: ["FindBus"] })).toMatchObject({ value: 0, asked: 1 });
      expect(await examine(gone, [two], { reach: ["FindBus", "SearchHotel"] })).toMatchObject({ value: 1, asked: 1 });
    });

    it("judges a case by the version that answers for its tool, whatever the parent would say", async () => {
      const version = (number: number, adapter: typeof files | null) => ({ line: "shared", version: number, adapter });
      const standing = (by: ReturnType<typeof version>) => ({
        bound: version(2, null),
        answering: { outside: version(0, null), tools: [{ tool: "SearchHotel", by }] },
      });
      const forgetful = async (): Promise<AdapterTensors | undefined> => candidate;
      // Version 1 answers with what the parent has forgotten since, and the candidate takes its place; and the other way about.
      const lost = await examine(forgetful, [two], { standing: standing(version(2, null)) });
      expect(lost).toMatchObject({ value: 1, asked: 1 });
      const wrongBefore = await examine(forgetful, [two], { standing: standing(version(1, files)) });
      expect(wrongBefore).toMatchObject({ value: 0, asked: 0 });
    });

    it("keeps it where the candidate has learned of another argument, so that this one is as before", async () => {
      const city: GateDefault = { tool: "SearchHotel", parameter: "city", value: "Porto", corrected: [], before: { adapter: files } };
      const learned = {
        carried: { before: [], after: [city] },
        outside: { line: "shared", version: 2, adapter: files },
      };
      const known = async (): Promise<AdapterTensors | undefined> => parent;
      expect(await examine(known, [two], { ...learned, reach: ["SearchHotel"] })).toMatchObject({ value: 0, asked: 1 });
      expect(await examine(known, [two], { carried: learned.carried })).toMatchObject({ value: 1, asked: 1 });
    });

    it("loses it where that version says the candidate's number by itself", async () => {
      const { value } = (await examine(async () => candidate)) ?? {};
      expect(value).toBe(1);
    });
  });

  it("refuses noise", async () => {
    const noise = noiseAdapter(base, { scale: 0.6, random: new Random(1) });
    const before = askedOfBase;
    const report = await gate({ parent: null, candidate: noise, suite: [] });
    expect([before > 0, askedOfBase - before]).toEqual([true, 0]); // it was prepared
    expect(gateFaults(report, budgets)).not.toEqual([]);
    expect(valueOf(report, "klToBaseNats")).toBeGreaterThan(0.1);
  });

  it("refuses one whose replies to results go to pieces while its calls stay what they were", async () => {
    // Results of other errands than the gate asks about.
    const random = new Random(9);
    const drills = Array.from({ length: 8 }, () => {
      const { messages, tools } = drawErrandResult(random);
      const prompt = base.tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
      return { prompt, answer: [...base.tokenizer.encode(`I found${" the one".repeat(12)}`), base.tokenizer.eosId] };
    });
    const ready = probes.filter(({ kind }) => kind === "ready").slice(0, 12);
    const prompts = ready.map(({ messages, tools }) => base.tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true }));
    const ask = askGreedily(engine, { adapter: undefined, endIds: base.tokenizer.endIds, seed: 0 });
    const calls = await ask(zipStrict(prompts, ready).map(([prompt, { tools }]) => ({ prompt, tools })));
    const kept = zipStrict(prompts, calls).map(([prompt, answer]) => ({ prompt, answer: [...answer] }));
    const rotten = await drillAdapter(engine, { base, drills: [...drills, ...kept], steps: 6 });
    const report = await gate({ parent: null, candidate: rotten, suite: [] });
    const faults = gateFaults(report, budgets).map((fault) => fault.split(":")[0]);
    expect(faults).toEqual(expect.arrayContaining(["klToBaseNats", "anchorNllNats"]));
    const kl = report.checks.find(({ name }) => name === "klToBaseNats");
    expect(kl?.cases.length).toBeGreaterThan(0);
    expect(valueOf(report, "invalidCalls")).toBeLessThanOrEqual(budgets.invalidCalls);
    // What the parent said as badly is no excuse: repetition is told from the base.
    const again = await gate({ parent: rotten, candidate: rotten, suite: [] });
    expect(valueOf(again, "repetition")).toBe(valueOf(report, "repetition"));
    expect(valueOf(again, "repetition")).toBeGreaterThan(0);
  });

  it("refuses a policy that has fallen silent, with the cases that it lost", async () => {
    const drills = probes.slice(0, 8).map(({ messages, tools }) => ({
      prompt: base.tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true }),
      answer: [base.tokenizer.eosId],
    }));
    const silent = await drillAdapter(engine, { base, drills, steps: 6 });
    const report = await gate({ parent: null, candidate: silent, suite: [] });
    expect(gateFaults(report, budgets).map((fault) => fault.split(":")[0])).toEqual(
      expect.arrayContaining(["anchorNllNats", "needlessQuestions", "length"]),
    );
    const [lost] = report.checks.find(({ name }) => name === "needlessQuestions")?.cases ?? [];
    expect([lost?.before, lost?.after]).toEqual([expect.stringContaining("<tool_call>"), ""]);
  });
});
