/** Candidates that do harm: refused by the gate; with the gate off, taken back by the canary before more than its share has met them. */
import type { ChatMessage } from "../../shared/chat.ts";
import { type PolicyManifest, UNTRAINED } from "../../shared/policy.ts";
import { gateFaults, GateBudgets } from "../../shared/release.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import type { AdapterTensors } from "../../trainer/policy/adapter.ts";
import { argumentText } from "../../shared/speech/calls.ts";
import { writeAdapterFiles } from "../../trainer/policy/adapter.ts";
import { publishVersion } from "../../trainer/policy/publish.ts";
import { atLeast, atMost, say, type Bar } from "../bench.ts";
import type { FreshRequest } from "../sim/requests.ts";
import { drillAdapter, noiseAdapter } from "./drilled.ts";
import type { Outcome, Stage } from "./scenario.ts";
import type { Turn } from "../sim/stepped.ts";

const CANARY_SHARE = 0.5;
const MIN_SESSIONS = 10;
const MOST_CONVERSATIONS = 160;
const HEARD_EVERY = 8; // conversations between two steps of the trainer
const DRILLS = 8;
const STEPS = 6;

export async function candidates(stage: Stage): Promise<Outcome> {
  const { town, random, requests } = stage;
  const { tokenizer } = town.base;
  const prompts = random.shuffled(requests).slice(0, DRILLS);
  const drill = (answer: ChatMessage): Promise<AdapterTensors> =>
    drillAdapter(town.engine, {
      base: town.base,
      steps: STEPS,
      drills: prompts.map(({ messages, tools }) => ({
        prompt: tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true }),
        answer: encodeAnswer(tokenizer, answer),
      })),
    });
  const { call } = random.pick(requests);
  const always = { id: "call_1", type: "function" as const, function: { name: call.name, arguments: spacedJson(call.arguments) } };
  const bad: Record<string, AdapterTensors> = {
    noise: noiseAdapter(town.base, { scale: 0.6, random }),
    "one call for everything": await drill({ role: "assistant", content: null, tool_calls: [always] }),
    "no answer": await drill({ role: "assistant", content: "" }),
  };
  const figures: Record<string, unknown> = {};
  const bars: Bar[] = [];
  await town.admin("PATCH", `/api/agents/${town.agent}`, {
    release: { gate: { enabled: false }, canary: { mode: "on", share: CANARY_SHARE, minSessions: MIN_SESSIONS } },
  });
  for (const [name, candidate] of Object.entries(bad)) {
    const report = await town.gate({ parent: null, candidate, suite: [] });
    const faults = gateFaults(report, GateBudgets.parse({}));
    say(`  ${name}: the gate finds ${faults.join("; ") || "nothing"}`);
    const trial = await tryOut(stage, candidate);
    say(`  ${name}: ${trial.status} after ${trial.conversations} conversations, ${trial.met} of which met it`);
    figures[name] = { faults, ...trial };
    bars.push(atLeast(`${name}: faults that the gate finds`, faults.length, 1, "faults"));
    bars.push(atLeast(`${name}: taken back by the canary`, trial.status === "rolledBack" ? 1 : 0, 1, "times"));
    bars.push(
      atMost(`${name}: share of conversations that met it`, trial.met / Math.max(1, trial.conversations), CANARY_SHARE + 0.15, "share"),
    );
  }
  await town.admin("PATCH", `/api/agents/${town.agent}`, { release: { gate: { enabled: true }, canary: { mode: "off" } } });
  return { figures, bars };
}

/** The tokens of an answer with the end of its turn, as a policy writes them. */
function encodeAnswer(tokenizer: Tokenizer, answer: ChatMessage): number[] {
  const opened = tokenizer.encodePrompt({ messages: [], addGenerationPrompt: true });
  const whole = tokenizer.encodePrompt({ messages: [answer], addGenerationPrompt: false });
  return whole.slice(opened.length, whole.lastIndexOf(tokenizer.eosId) + 1);
}

/** Publishes the candidate as a trainer would and lets residents talk until the canary's test has decided. */
async function tryOut(
  { town, residents, requests, random }: Stage,
  candidate: AdapterTensors,
): Promise<{ status: string; conversations: number; met: number }> {
  await town.learn();
  const head = await town.head();
  const manifest: Omit<PolicyManifest, "adapter"> = {
    agent: town.agent,
    line: "shared",
    parent: head.parent,
    baseDigest: head.baseDigest,
    fromSeq: head.cursor,
    toSeq: head.cursor,
    ...UNTRAINED,
  };
  const published = await publishVersion(town.port, writeAdapterFiles(town.base.config, candidate, town.base.name), {
    manifest,
    refused: [],
    cases: [],
    rebuild: false,
  });
  if (published.status !== "published") throw new Error("a fresh head expected, got a stale one");
  const { version } = published;
  let met = 0;
  let conversations = 0;
  while (conversations < MOST_CONVERSATIONS) {
    const [resident, request] = [random.pick(residents), random.pick(requests)];
    const { version: answered } = await town.converse(resident, request, (turn: Turn) => verdictOn(turn, request));
    conversations += 1;
    met += Number(answered === version);
    if (conversations % HEARD_EVERY !== 0) continue;
    await town.learn();
    const status = await town.statusOf(version);
    if (status !== "canary") return { status, conversations, met };
  }
  const status = await town.statusOf(version);
  // The next one is not to wait behind it.
  await town.admin("POST", `/api/agents/${town.agent}/rollback`, { to: (await town.head()).stable, reason: "bench" });
  return { status, conversations, met };
}

/** What a person who wanted the request's call says to the answer: another tool, or nothing of what was said among its arguments, is wrong. */
function verdictOn({ calls }: Turn, { call }: FreshRequest): string {
  const wanted = Object.entries(call.arguments);
  const right = (args: Readonly<Record<string, unknown>>): number =>
    wanted.filter(([name, value]) => argumentText(args[name]) === argumentText(value)).length;
  return calls.some(({ name, arguments: args }) => name === call.name && 2 * right(args) > wanted.length)
    ? "Great, thank you, that is what I wanted."
    : "No, that is wrong. That is not what I asked for.";
}
