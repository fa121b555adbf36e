/**
 * `npm run demo`: corrects the running system once, in plain words, and shows what became of it. Talks to it as a user
 * and its owner would; every step is checked, and the first that does not happen ends the demo with exit code 1.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { Tokenizer, type TokenizerFiles } from "../shared/tokenizer.ts";
import { DemoClient, type Answer } from "./demo-client.ts";
import { runTool, SCENES, type Scene, type Tool } from "./demo-scenes.ts";
import { readKeys } from "./keys.ts";

const LEARNING_MS = 240_000;
const POLL_MS = 500;
const GUIDANCE_TOKENS = ["<note>", "<hint>"];

class StepFailed extends Error {}

const { values: flags } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:8787" },
    state: { type: "string", default: ".nextstate" },
    base: { type: "string", default: "base" },
    agent: { type: "string", default: "assistant" },
  },
});

try {
  await run();
} catch (error) {
  const advice =
    error instanceof StepFailed ? "" : `\nIs the system running? \`npm start\` in another terminal; --url and --state say where.`;
  process.stdout.write(`\n✗ ${error instanceof Error ? error.message : String(error)}${advice}\n`);
  process.exit(1);
}

async function run(): Promise<void> {
  const client = new DemoClient({ url: flags.url, keys: await readKeys(flags.state), agent: flags.agent });
  const tokenizer = await readTokenizer(flags.base);
  const before = await client.versions();

  title(`1. Before the lesson: version ${before.stable} answers`);
  const chosen = await chooseScene(client);
  const { scene, fresh } = chosen;
  const unrelated = await askFresh(client, scene.unrelated, scene.tools);

  title("2. A user asks, and corrects the answer in plain words");
  const wanted = await lesson(client, chosen);

  title("3. The trainer learns from it");
  const version = await waitForVersion(client, before.latest);

  title("4. A new conversation: the weights alone");
  const { parameter } = scene;
  const after = await askAfterSwap(client, scene, version);
  check(after.version === version, `version ${version} answers`, `version ${version} expected to answer, got ${after.version}`);
  const learned = after.call?.args[parameter];
  check(learned === wanted, `${parameter} is ${wanted} without being told`, `${parameter} ${wanted} expected, got ${show(after)}`);
  await showPrompt(client, tokenizer, after);
  const untouched = await askFresh(client, scene.unrelated, scene.tools);
  const kept = same(untouched, unrelated);
  check(kept, "an unrelated request is answered as before", `unrelated request: ${show(unrelated)} expected, got ${show(untouched)}`);

  title(`5. Back to version ${before.stable}`);
  await client.rollback(before.stable);
  const back = await askAfterSwap(client, scene, before.stable);
  check(same(back, fresh), "the old answer is back, byte for byte", `${show(fresh)} expected, got ${show(back)}`);
  say(`\n✓ Learned from one correction as version ${version}, and rolled back to version ${before.stable}.`);
}

type Chosen = { scene: Scene; fresh: Answer; first: Answer };

/** The first scene in which the policy calls the tool by itself, for both requests; with its answers to them. */
async function chooseScene(client: DemoClient): Promise<Chosen> {
  for (const scene of SCENES) {
    const fresh = await askFresh(client, scene.fresh, scene.tools);
    const first = await client.ask([user(scene.first)], scene.tools);
    if ([fresh, first].every(({ call }) => call?.name === scene.tools[0].function.name)) return { scene, fresh, first };
    say(`  (about ${scene.name}, this policy does not call the tool at once; the user talks about something else)`);
  }
  throw new StepFailed("a call in one of the scenes expected, got none");
}

/** Lets the tool run, then corrects; returns the value that the user insisted on. */
async function lesson(client: DemoClient, { scene, fresh, first }: Chosen): Promise<string> {
  const { tools, first: request, parameter, wishes } = scene;
  say(`  user       ${request}`);
  say(`  assistant  ${show(first)}`);
  const { call } = first;
  const wish = wishes.find(({ value }) => [call, fresh.call].every((each) => each?.args[parameter] !== value));
  if (call === undefined || wish === undefined) throw new StepFailed(`a ${parameter} that can be corrected expected, got ${show(first)}`);
  const done = [user(request), first.message, { role: "tool" as const, tool_call_id: call.id, content: runTool(call.args) }];
  const reply = await client.ask(done, tools);
  say(`  tool       ${runTool(call.args)}`);
  say(`  assistant  ${show(reply)}`);
  say(`  user       ${wish.correction}`);
  const answer = await client.ask([...done, reply.message, user(wish.correction)], tools);
  say(`  assistant  ${show(answer)}`);
  return wish.value;
}

async function waitForVersion(client: DemoClient, latest: number): Promise<number> {
  const started = Date.now();
  for (;;) {
    const now = await client.versions();
    if (now.latest > latest && now.stable === now.latest) {
      const version = now.versions.find((each) => each.version === now.latest);
      say(`  version ${now.latest} after ${Math.round((Date.now() - started) / 1000)} s`);
      for (const { reward, votes, hint, liftNats } of version?.events ?? [])
        say(
          `  judged ${reward} (votes ${votes.join(", ")})${hint === undefined ? "" : `; hint: ${hint}`}${liftNats === undefined ? "" : `; lift ${liftNats.toFixed(1)} nats`}`,
        );
      if (version?.metrics) say(`  ${JSON.stringify(version.metrics)}`);
      return now.latest;
    }
    if (Date.now() - started > LEARNING_MS)
      throw new StepFailed(
        `a new version expected within ${LEARNING_MS / 1000} s; last moves: ${JSON.stringify((await client.audit()).slice(0, 3))}`,
      );
    await pause();
  }
}

/** Asks in a conversation of its own and shows both sides. */
async function askFresh(client: DemoClient, request: string, tools: readonly Tool[]): Promise<Answer> {
  const answer = await client.ask([user(request)], tools);
  say(`  user       ${request}`);
  say(`  assistant  ${show(answer)}`);
  return answer;
}

/** A running isolate learns of a swap within about a second. */
async function askAfterSwap(client: DemoClient, { fresh, tools }: Scene, version: number): Promise<Answer> {
  const started = Date.now();
  for (;;) {
    const answer = await askFresh(client, fresh, tools);
    if (answer.version === version || Date.now() - started > 5_000) return answer;
    await pause();
  }
}

async function showPrompt(client: DemoClient, tokenizer: Tokenizer, { completionId }: Answer): Promise<void> {
  const turn = await waitForTurn(client, completionId);
  const prompt = turn.rollout.promptTokens;
  say(`  the prompt that the policy saw (${prompt.length} tokens, from the event log):`);
  for (const line of tokenizer.decode(prompt).split("\n")) say(`  │ ${line}`);
  const found = GUIDANCE_TOKENS.filter((token) => prompt.includes(tokenizer.specialIds.get(token) ?? -1));
  check(found.length === 0, "it holds no note and no hint", `a prompt without guidance expected, got ${found.join(" and ")}`);
}

async function waitForTurn(client: DemoClient, completionId: string) {
  for (let attempt = 0; attempt < 20; attempt++) {
    const turn = await client.turn(completionId);
    if (turn !== undefined) return turn;
    await pause();
  }
  throw new StepFailed(`turn ${completionId} expected in the event log, not found`);
}

async function readTokenizer(base: string): Promise<Tokenizer> {
  const read = async (name: string): Promise<unknown> => JSON.parse(await readFile(join(base, name), "utf8"));
  const file = z.looseObject({});
  return new Tokenizer({
    tokenizer: file.parse(await read("tokenizer.json")),
    config: file.parse(await read("tokenizer_config.json")),
  } as TokenizerFiles);
}

function user(content: string): { role: "user"; content: string } {
  return { role: "user", content };
}

function show({ call, message }: Answer): string {
  return call === undefined ? JSON.stringify(message.content ?? message.tool_calls) : `${call.name}(${JSON.stringify(call.args)})`;
}

/** Equal text and equal calls; the ids of calls are new each time. */
function same(left: Answer, right: Answer): boolean {
  const form = ({ message }: Answer): string =>
    JSON.stringify([message.content, (message.tool_calls ?? []).map((call) => (call.type === "function" ? call.function : call))]);
  return form(left) === form(right);
}

function check(holds: boolean, what: string, otherwise: string): void {
  if (!holds) throw new StepFailed(otherwise);
  say(`  ✓ ${what}`);
}

function title(text: string): void {
  say(`\n${text}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
