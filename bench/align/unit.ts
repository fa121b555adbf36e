/**
 * One unit: an agent under one arm, the users that share it, and their sessions in turn until each preference has been met in three
 * first answers in a row or the cap is reached. Everything goes over HTTP; the trainer learns all that a session taught before the next.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { at } from "../../shared/assert.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { argumentText, readCalls } from "../../shared/speech/calls.ts";
import { checkArguments } from "../../shared/schema-check.ts";
import type { LineLoop } from "../../trainer/loop.ts";
import { Random, seedAt } from "../../trainer/random.ts";
import { stepUntilQuiet, type SteppedSystem, type Turn } from "../sim/stepped.ts";
import { isExact } from "../sim/trial.ts";
import { type Arm, armOf, hearing, settingsOf } from "./arms.ts";
import type { BarePolicy } from "./bare.ts";
import { type Corpus, scenesOf, type User } from "./cast.ts";
import { nameOf, type Preference, reactionTo, wantedAnswer } from "./preference.ts";
import type { Side, Track, UnitName, UnitResult } from "./records.ts";
import type { CallScene, Scene } from "./scenes.ts";
import { inARow } from "./statistics.ts";
import { contentment, objection, type OwnCorrections, type Said } from "./voice.ts";

export type Stage = {
  readonly system: SteppedSystem;
  readonly corpus: Corpus;
  readonly own: OwnCorrections;
  readonly bare: BarePolicy;
  readonly cap: number;
  readonly key: string;
  /** Every first answer, what was said to it, and what the judge made of that. */
  readonly tell?: (line: string) => void;
};

const MOST_ROUNDS = 3; // of calls and their results before the user speaks
const LATER_TOKENS = 32; // what is said to a result, and to a reaction, matters to nobody here
const UNRELATED_CALLS = 12;
const UNRELATED_REPLIES = 6;
const STATED = 6; // requests for each default
const LASTING = 2;
const LOG_MS = 30_000;
const POLL_MS = 50;
const SWAP_MS = 1_500; // running isolates learn of a version or a note within about a second

type AskApart = (user: User, scene: Scene) => Promise<Turn>;
type Open = {
  readonly user: User;
  readonly preference: Preference;
  readonly scenes: readonly Scene[];
  readonly stated: readonly CallScene[];
  readonly random: Random;
  readonly track: Track;
  /** Whether the next session follows the first objection that told something. */
  told: boolean;
};

export async function runUnit(stage: Stage, unit: UnitName, users: readonly User[]): Promise<UnitResult> {
  return new Unit(stage, unit, users).run();
}

class Unit {
  readonly #stage: Stage;
  readonly #unit: UnitName;
  readonly #arm: Arm;
  readonly #agent: string;
  readonly #users: readonly User[];
  readonly #updates = { learned: 0, refused: 0, held: 0, reasons: [] as string[], steps: 0, seconds: 0 };
  #loop: LineLoop | undefined;

  constructor(stage: Stage, unit: UnitName, users: readonly User[]) {
    this.#stage = stage;
    this.#unit = unit;
    this.#arm = armOf(unit.arm);
    this.#agent = `${unit.arm}-${unit.sharing}-${unit.group}-${unit.seed}`;
    this.#users = users;
  }

  async run(): Promise<UnitResult> {
    const started = performance.now();
    const { seed, group, sharing } = this.#unit;
    const { system, cap } = this.#stage;
    await system.admin("PUT", `/api/agents/${this.#agent}`, settingsOf(this.#arm, sharing === 1 ? "personal" : "shared"));
    // The same for every arm, so that arms differ in what they learn alone.
    const random = new Random(seedAt(seed, group));
    const open = this.#users.flatMap((user) => user.preferences.map((preference) => this.#open(user, preference, random)));
    const asked = this.#unrelated(random);
    const before = await this.#sides(asked, (_, scene) => this.#stage.bare.ask(scene));
    const statedBefore = await this.#stated(open, (_, scene) => this.#stage.bare.ask(scene));
    for (let left = open; left.length > 0; left = open.filter(({ track }) => !isOver(track, cap)))
      for (const each of left) await this.#session(each);
    const after = await this.#sides(asked, this.#apart);
    const statedAfter = await this.#stated(open, this.#apart);
    for (const [index, { track, user, preference, scenes }] of open.entries()) {
      const [won, kept] = [at(statedBefore, index), at(statedAfter, index)];
      track.statedKept.push(...kept.filter((_, place) => won[place] === true));
      for (const scene of scenes.slice(0, LASTING)) track.lasting.push(reactionTo(preference, scene, await this.#apart(user, scene)));
    }
    const seconds = (performance.now() - started) / 1_000;
    return { ...this.#unit, tracks: open.map(({ track }) => track), before, after, updates: this.#updates, seconds };
  }

  #open(user: User, preference: Preference, random: Random): Open {
    const { corpus } = this.#stage;
    const own = new Random(random.below(2 ** 31));
    const scenes = own.shuffled(scenesOf(preference, corpus));
    const { kind } = preference;
    const track: Track = {
      ...{ user: user.name, preference: nameOf(preference), kind },
      ...{ sessions: [], manners: [], next: null, lasting: [], statedKept: [] },
    };
    const stated = own.shuffled(kind === "default" ? corpus.scenes.calls.filter((scene) => statesOther(scene, preference)) : []);
    return { user, preference, scenes, stated: stated.slice(0, STATED), random: own, track, told: false };
  }

  async #session(open: Open): Promise<void> {
    const { user, preference, scenes, track, random } = open;
    const scene = at(scenes, track.sessions.length % scenes.length);
    const conversation = randomUUID();
    const learns = this.#arm.hears !== "nothing";
    const first = learns ? await this.#ask(user, scene, { conversation }) : await this.#stage.bare.ask(scene);
    const reaction = reactionTo(preference, scene, first);
    track.sessions.push(reaction);
    this.#tell(`${nameOf(preference)}: ${reaction} under v${first.version}: ${first.text}${JSON.stringify(first.calls)}`);
    if (open.told) track.next ??= reaction;
    if (!learns) return;
    // Drawn whether used or not: what one session comes to changes nothing in the next one's words.
    const said = objection(preference, { scene, own: this.#stage.own, random });
    const content = contentment(random);
    if (reaction === "violated") {
      track.manners.push(said.manner);
      open.told ||= said.manner !== "again" || this.#arm.shows === true;
      await this.#object({ user, scene, first, said, preference, conversation });
    } else if (reaction === "honoured" && content !== undefined) await this.#say(user, { scene, first, text: content, conversation });
    else return;
    await this.#learn();
    await new Promise((resolve) => setTimeout(resolve, SWAP_MS));
  }

  /** Everything that was said since; who is alone on a policy has a line of their own, which begins with what they say first. */
  async #learn(): Promise<void> {
    const { system } = this.#stage;
    const { seed, sharing } = this.#unit;
    const [own] = sharing === 1 ? await system.linesDue(this.#agent) : [SHARED_LINE];
    if (own === undefined) return;
    this.#loop ??= await system.open(this.#agent, {
      line: own,
      seed,
      hear: (judge) => hearing(this.#arm.hears, judge),
      metrics: (event, fields) => this.#count(event, fields),
    });
    await stepUntilQuiet(this.#loop);
  }

  async #object(heard: { user: User; scene: Scene; first: Turn; said: Said; preference: Preference; conversation: string }): Promise<void> {
    const { user, scene, first, said, preference, conversation } = heard;
    if (this.#arm.shows !== true) return this.#say(user, { scene, first, text: said.text, conversation });
    const answer = wantedAnswer(preference, scene, "call_wanted");
    const body = { completion_id: first.completionId, answer };
    await this.#stage.system.send(this.#stage.key, "POST", "/v1/feedback", { body });
    await this.#logged(first, 1);
  }

  /** The results of the first answer's calls, what is said and called then, and what the user says to that. */
  async #say(
    user: User,
    { scene, first, text, conversation }: { scene: Scene; first: Turn; text: string; conversation: string },
  ): Promise<void> {
    const last: ChatMessage = { role: "user", content: text };
    this.#tell(`  "${text}"`);
    const messages = [...scene.messages, first.message, ...resultsFor(first, scene)];
    const later = { conversation, maxTokens: LATER_TOKENS };
    let rounds = 0;
    for (; messages.at(-1)?.role === "tool" && rounds < MOST_ROUNDS; rounds += 1) {
      const reply = await this.#ask(user, { ...scene, messages }, later);
      messages.push(reply.message, ...resultsFor(reply, scene));
    }
    await this.#ask(user, { ...scene, messages: [...messages, last] }, later);
    await this.#logged(first, rounds + 1);
  }

  /** Returns when so many signals of the session are in the log. */
  async #logged({ sessionId }: Turn, signals: number): Promise<void> {
    const db = await this.#stage.system.edge.getD1();
    const query = "SELECT count(*) AS count FROM events WHERE session_id = ? AND kind IN ('nextState:arrived', 'feedback:given')";
    const statement = db.prepare(query).bind(sessionId);
    for (const deadline = performance.now() + LOG_MS; performance.now() < deadline;) {
      if (((await statement.first<number>("count")) ?? 0) >= signals) return;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw new Error(`session ${sessionId}: ${signals} signals in the log expected within ${LOG_MS} ms, got fewer`);
  }

  #ask(
    { name }: User,
    { messages, tools }: Pick<Scene, "messages" | "tools">,
    more: { store?: boolean; conversation?: string; maxTokens?: number },
  ): Promise<Turn> {
    const { system, key } = this.#stage;
    return system.ask({ agent: this.#agent, key, user: `${this.#agent}/${name}`, messages, tools, ...more });
  }

  /** Requests of no service and for no tool that somebody has a preference of: services share names of tools, and a note is about a name. */
  #unrelated(random: Random): { calls: Scene[]; replies: Scene[] } {
    const preferences = this.#users.flatMap((user) => user.preferences);
    const services = new Set(preferences.map(({ service }) => service));
    const tools = new Set(preferences.flatMap((each) => [each.tool, ...(each.kind === "tool" ? [each.instead] : [])]));
    const { calls, replies } = this.#stage.corpus.scenes;
    const some = (scenes: readonly Scene[], count: number): Scene[] =>
      random.shuffled(scenes.filter(({ service, call }) => !services.has(service) && !tools.has(call.name))).slice(0, count);
    return { calls: some(calls, UNRELATED_CALLS), replies: some(replies, UNRELATED_REPLIES) };
  }

  /** What an answer is now, without anybody learning from it. Where nothing is learnt that is what it was. */
  readonly #apart: AskApart = (user, scene) =>
    this.#arm.hears === "nothing" ? this.#stage.bare.ask(scene) : this.#ask(user, scene, { store: false });

  /** Asked by the users in turn, with whatever stands for them. */
  async #sides({ calls, replies }: { calls: readonly Scene[]; replies: readonly Scene[] }, ask: AskApart): Promise<Side> {
    const side: Side = { exact: [], lengths: [], calls: 0, invalid: 0 };
    for (const [index, scene] of [...calls, ...replies].entries()) {
      const turn = await ask(at(this.#users, index % this.#users.length), scene);
      if (index < calls.length) side.exact.push(isExact(scene, turn));
      else if (turn.calls.length === 0) side.lengths.push(turn.text.length);
      const made = readCalls(turn.message);
      if (made.length > 0) side.calls += 1;
      if (made.some((call) => !isWhole(call, scene)) || (made.length > 0 && turn.cut)) side.invalid += 1;
    }
    return side;
  }

  async #stated(open: readonly Open[], ask: AskApart): Promise<boolean[][]> {
    const won: boolean[][] = [];
    for (const { user, preference, stated } of open) {
      const own: boolean[] = [];
      for (const scene of stated) own.push(hasOwnValue(await ask(user, scene), scene, preference));
      won.push(own);
    }
    return won;
  }

  #tell(line: string): void {
    this.#stage.tell?.(line);
  }

  #count(event: string, fields: Readonly<Record<string, unknown>>): void {
    const updates = this.#updates;
    this.#tell(`  ${event} ${JSON.stringify(fields)}`);
    if (event === "update:learned") {
      updates.learned += 1;
      updates.steps += Number(fields["steps"] ?? 0);
      updates.seconds += Number(fields["seconds"] ?? 0);
    } else if (event === "update:refused") {
      updates.refused += 1;
      updates.reasons.push(...z.array(z.string()).parse(fields["details"]));
    } else if (event === "policy:refused" || event === "policy:rejected") {
      updates.held += 1;
      updates.reasons.push(JSON.stringify(fields["faults"] ?? fields["detail"]));
    }
  }
}

function resultsFor({ message }: Pick<Turn, "message">, { result }: Pick<Scene, "result">): ChatMessage[] {
  const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
  return calls.map(({ id }) => ({ role: "tool", content: result, tool_call_id: id }));
}

function isOver({ sessions }: Track, cap: number): boolean {
  return inARow(sessions) !== undefined || sessions.length >= cap;
}

function isWhole(call: ReturnType<typeof readCalls>[number], { tools }: Scene): boolean {
  const tool = tools.find((each) => each.function.name === call.name);
  return call.status === "read" && tool !== undefined && checkArguments(tool, call.arguments).length === 0;
}

function statesOther({ service, call, stated }: CallScene, preference: Preference): boolean {
  if (preference.kind !== "default" || service !== preference.service || call.name !== preference.tool) return false;
  const { parameter, value } = preference;
  return stated.some(({ name }) => name === parameter) && argumentText(call.arguments[parameter]) !== value;
}

function hasOwnValue({ calls }: Pick<Turn, "calls">, { call }: Scene, preference: Preference): boolean {
  if (preference.kind !== "default") return false;
  const { tool, parameter } = preference;
  const own = argumentText(call.arguments[parameter]);
  return calls.some(({ name, arguments: args }) => name === tool && argumentText(args[parameter]) === own);
}
