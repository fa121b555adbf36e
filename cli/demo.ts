/**
 * `npm run demo`: corrects the running system once, in plain words, and shows what became of it. Talks to it as a user
 * and its owner would; every step is checked, and the first that does not happen ends the demo with exit code 1.
 */
import { randomUUID } from "node:crypto";
import { readCommandLine } from "../trainer/command-line.ts";
import { APIError } from "openai";
import { AppError } from "../shared/errors.ts";
import type { PolicyVersion } from "../shared/policy.ts";
import { Tokenizer } from "../shared/tokenizer.ts";
import { readTokenizerFiles } from "../trainer/model/checkpoint.ts";
import { addressOf } from "../trainer/address.ts";
import { DemoClient, makeAgent } from "./demo-client.ts";
import { isRightlyRead, SCENES, type Scene } from "./demo-scenes.ts";
import { describe, sameAnswers, Talk } from "./demo-talk.ts";
import { readKeys } from "./keys.ts";
import { count } from "../shared/count.ts";
import { EdgeClient } from "./nextstate/edge-client.ts";
import { Progress } from "./nextstate/progress.ts";

const USAGE = `npm run demo -- [options]
  --url <url>       where the system listens (what its state folder says)
  --state <folder>  state folder that it was started with, for address and keys (.nextstate)
  --base <folder>   base checkpoint that it was started with (base)
  --agent <id>      agent to talk to, and to teach (one that is made for this run: demo-1, or the next that is free)`;

const LEARNING_MS = 600_000; // three times what two cores take when they are busy
const STARTING_MS = 15_000;
const SWAP_MS = 10_000;
const POLL_MS = 500;
const LOG_ATTEMPTS = 20;
const NOTE_MS = 60_000;
// A note is in force for who gave it; what everybody gets is the version's.
const [TEACHER, STRANGER] = [randomUUID(), randomUUID()];
const GUIDANCE_TOKENS = ["<note>", "<hint>"];

class StepFailed extends Error {}

const { values: flags } = readCommandLine(
  {
    options: {
      url: { type: "string" },
      state: { type: "string", default: ".nextstate" },
      base: { type: "string", default: "base" },
      agent: { type: "string" },
      help: { type: "boolean", default: false },
    },
  },
  USAGE,
);

if (flags.help) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}

try {
  await run();
} catch (error) {
  const advice =
    error instanceof StepFailed || error instanceof AppError || (error instanceof APIError && error.status !== undefined)
      ? ""
      : `\nIs the system running? \`npm start\` in another terminal; --url and --state say where.`;
  process.stdout.write(`\n✗ ${error instanceof Error ? error.message : String(error)}${advice}\n`);
  process.exit(1);
}

async function run(): Promise<void> {
  const url = addressOf({ url: flags.url, stateFolder: flags.state });
  const owner = { url, keys: await readKeys(flags.state) };
  // Who has been taught by others already takes more users to be taught anew, and one that has learned this has no default left to correct.
  const agent = flags.agent ?? (await makeAgent(owner));
  const client = new DemoClient({ ...owner, agent });
  say(`  talking to agent ${agent}: ${url}/agents/${agent}`);
  const tokenizer = new Tokenizer(readTokenizerFiles(flags.base));
  const before = await firstVersions(client);
  const lastMove = (await client.audit())[0]?.id ?? 0;

  title(`1. Before the lesson: version ${before.stable} answers`);
  const { scene, fresh } = await chooseScene(client);
  const { parameter } = scene;
  const unrelated = await ask(client, scene, scene.unrelated);

  title("2. A user asks, and corrects the answer in plain words");
  const { wanted, corrected, correctedAt } = await lesson(client, scene, fresh);
  if (await keepsNotes({ ...owner, agent }))
    await showNote(client, scene, { wanted, corrected, correctedAt, page: `${url}/agents/${agent}` });
  else say("  (this agent keeps no notes)");

  title("3. The trainer learns from it");
  const version = await waitForVersion(client, { latest: before.latest, lastMove, corrected });

  title("4. Another user's conversation: the version alone");
  const after = await askUnder(version, client, scene);
  check(
    after.argument(parameter) === wanted,
    `${parameter} is ${wanted} without being told`,
    `${parameter} ${wanted} expected, got ${describeLast(after)}`,
  );
  await showPrompt(client, tokenizer, after);
  await showHeld(client, after);
  const untouched = await ask(client, scene, scene.unrelated);
  check(
    sameAnswers(untouched, unrelated),
    "an unrelated request is answered as before",
    `${describeLast(unrelated)} expected, got ${describeLast(untouched)}`,
  );

  title(`5. Back to version ${before.stable}`);
  await client.rollback(before.stable);
  const back = await askUnder(before.stable, client, scene);
  check(sameAnswers(back, fresh), "the old answers are back, byte for byte", `${describeLast(fresh)} expected, got ${describeLast(back)}`);
  say(`\n✓ Learned from one correction as version ${version}, and rolled back to version ${before.stable}.`);
  say(`  See it: ${url}/agents/${agent}/versions/${version}`);
}

async function keepsNotes({ url, keys, agent }: { url: string; keys: { admin: string; client: string }; agent: string }): Promise<boolean> {
  const edge = new EdgeClient(url, { admin: async () => keys.admin, client: async () => keys.client });
  return (await edge.agent(agent)).settings.learning.notes !== "off";
}

/** The versions there are; a system that has just been started listens a moment before its first agent is there. */
async function firstVersions(client: DemoClient): ReturnType<DemoClient["versions"]> {
  for (const started = Date.now(); ; await pause())
    try {
      return await client.versions();
    } catch (error) {
      if (!(error instanceof AppError && error.code === "input/notFound") || Date.now() - started > STARTING_MS) throw error;
    }
}

/** The first scene that the policy reads rightly by itself, and its answers to the fresh request. A misreading has no default to correct. */
async function chooseScene(client: DemoClient): Promise<{ scene: Scene; fresh: Talk }> {
  for (const scene of SCENES) {
    const fresh = await ask(client, scene, scene.fresh);
    const asked = isRightlyRead(fresh.last?.call, scene, "fresh") ? await ask(client, scene, scene.first) : undefined;
    if (isRightlyRead(asked?.last?.call, scene, "first")) return { scene, fresh };
    say(`  (this policy misreads requests about ${scene.name}; the user talks about something else)`);
  }
  throw new StepFailed("a call with all that its tool requires, in one of the scenes, expected, got none");
}

/** Asks, lets the tool run, then corrects; returns the value that the user insisted on, and the event that says so. */
async function lesson(client: DemoClient, scene: Scene, fresh: Talk): Promise<{ wanted: string; corrected: string; correctedAt: number }> {
  const { tools, first, parameter, wishes } = scene;
  const talk = await ask(client, scene, first, TEACHER);
  const answer = talk.last;
  if (answer?.call?.name !== tools[0].function.name)
    throw new StepFailed(`a call of ${tools[0].function.name} expected, got ${describeLast(talk)}`);
  const wish = wishes.find(({ value }) => value !== talk.argument(parameter) && value !== fresh.argument(parameter));
  if (wish === undefined) throw new StepFailed(`a ${parameter} that can be corrected expected, got ${describeLast(talk)}`);
  const { completionId } = await talk.runTools(answer);
  const correctedAt = Date.now();
  await talk.say(wish.correction);
  return { wanted: wish.value, correctedAt, corrected: await logged(() => client.nextStateEvent(completionId)) };
}

/** Returns the new version once it answers; meanwhile shows what the trainer refuses to learn from, and why. */
async function waitForVersion(
  client: DemoClient,
  { latest, lastMove, corrected }: { latest: number; lastMove: number; corrected: string },
): Promise<number> {
  const started = Date.now();
  let seen = lastMove;
  const watch = new Progress("  trainer");
  for (let phase = ""; ;) {
    phase = await showTrainer(client, watch, phase);
    const moves = (await client.audit()).filter(({ id }) => id > seen);
    for (const { eventId, code, detail } of moves.toReversed().flatMap(({ refused }) => refused)) {
      if (eventId === corrected) throw new StepFailed(`the trainer refused to learn from the correction: ${code} (${detail})`);
      // What was approved of is no news.
      if (code !== "judge/notNegative") say(`  not learned from: ${code} (${detail})`);
    }
    seen = moves[0]?.id ?? seen;
    const now = await client.versions();
    if (now.latest > latest && now.stable === now.latest) {
      watch.end();
      say(`  version ${now.latest} after ${Math.round((Date.now() - started) / 1000)} s`);
      showLineage(now.versions.find(({ version }) => version === now.latest));
      return now.latest;
    }
    if (Date.now() - started > LEARNING_MS) throw new StepFailed(`a new version expected within ${LEARNING_MS / 1000} s, got none`);
    await pause();
  }
}

/** A bar on a terminal, elsewhere a line for each phase. Returns the phase. */
async function showTrainer(client: DemoClient, watch: Progress, before: string): Promise<string> {
  const trainer = await client.trainer();
  if (trainer === null) return before;
  const { phase, done, of } = trainer;
  watch.update(of === 0 ? 0 : done / of, phase);
  if (!process.stderr.isTTY && phase !== before) say(`  the trainer is ${phase}`);
  return phase;
}

function showLineage(version: Partial<PolicyVersion> | undefined): void {
  for (const { reward, votes, hint, liftNats } of version?.events ?? []) {
    say(`  judged ${reward} by votes ${votes.join(", ")}${hint === undefined ? "" : `; hint: ${hint}`}`);
    if (liftNats !== undefined) say(`  the hint makes the right answer ${liftNats.toFixed(1)} nats likelier`);
  }
  if (!version?.metrics) return;
  const { steps, contexts, seconds, lossBefore, loss } = version.metrics;
  say(
    `  ${count(steps, "step")} over ${count(contexts, "context")} in ${Math.round(seconds)} s; loss ${lossBefore.toFixed(1)} → ${loss.toFixed(1)}`,
  );
}

/** Shows the correction in force as a note: for the user who gave it, before the weights have it. */
async function showNote(
  client: DemoClient,
  scene: Scene,
  { wanted, corrected, correctedAt, page }: { wanted: string; corrected: string; correctedAt: number; page: string },
): Promise<void> {
  let note = await client.noteOf(corrected);
  for (; note === undefined && Date.now() - correctedAt < NOTE_MS; note = await client.noteOf(corrected)) await pause();
  if (note === undefined)
    throw new StepFailed(
      `a note expected within ${NOTE_MS / 1_000} s of the correction, got none: "What was heard" at ${page} says what the trainer made of it, and whether one is there`,
    );
  say(`  a note is in force for this user after ${((Date.now() - correctedAt) / 1_000).toFixed(1)} s: "${note}"`);
  await pause(2 * POLL_MS); // running isolates learn of it within about a second
  const talk = await ask(client, scene, scene.fresh, TEACHER);
  say(
    talk.argument(scene.parameter) === wanted
      ? `  ✓ ${scene.parameter} is ${wanted} already, in a new conversation of the same user`
      : `  (the policy does not follow the note here: ${describeLast(talk)})`,
  );
}

/** Asks in a conversation of its own. */
async function ask(client: DemoClient, { tools }: Scene, request: string, user: string = STRANGER): Promise<Talk> {
  const talk = new Talk(client, { tools, user });
  await talk.askFor(request);
  return talk;
}

/** The fresh request, answered by this version throughout; running isolates learn of a swap within about a second. */
async function askUnder(version: number, client: DemoClient, scene: Scene): Promise<Talk> {
  const started = Date.now();
  for (;;) {
    const talk = await ask(client, scene, scene.fresh);
    const versions = talk.answers.map((answer) => answer.version);
    if (versions.every((each) => each === version)) return talk;
    if (Date.now() - started > SWAP_MS) throw new StepFailed(`version ${version} expected to answer, got ${versions.join(", ")}`);
    await pause();
  }
}

/** Shows what the policy was given for the last answer, from the event log, and checks every prompt of the talk. */
async function showPrompt(client: DemoClient, tokenizer: Tokenizer, { answers }: Talk): Promise<void> {
  const prompts: number[][] = [];
  for (const { completionId } of answers) prompts.push((await logged(() => client.turn(completionId))).rollout.promptTokens);
  const shown = prompts.at(-1) ?? [];
  say(`  the prompt that the policy saw (${shown.length} tokens, from the event log):`);
  for (const line of tokenizer.decode(shown).split("\n")) say(`  │ ${line}`);
  const found = GUIDANCE_TOKENS.filter((token) => prompts.flat().includes(tokenizer.specialIds.get(token) ?? -1));
  check(found.length === 0, "it holds no note and no hint", `a prompt without guidance expected, got ${found.join(" and ")}`);
}

/** Tells whether the call was held to what was learned, or is that of the weights by themselves. */
async function showHeld(client: DemoClient, { last }: Talk): Promise<void> {
  const held = last === undefined ? [] : ((await logged(() => client.turn(last.completionId))).heldTo ?? []);
  if (held.length === 0) say("  its weights did so by themselves");
  for (const { parameter, value } of held) say(`  the call is held to what the version has learned: ${parameter} ${value}`);
}

/** What the event log must have within moments of an answer. */
async function logged<Value>(find: () => Promise<Value | undefined>): Promise<Value> {
  for (let attempt = 0; attempt < LOG_ATTEMPTS; attempt++) {
    const found = await find();
    if (found !== undefined) return found;
    await pause();
  }
  throw new StepFailed("the answer's event expected in the log, not found");
}

function describeLast({ last }: Talk): string {
  return last === undefined ? "nothing" : describe(last);
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

function pause(ms = POLL_MS): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
