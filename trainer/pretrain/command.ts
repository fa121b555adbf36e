/**
 * Commands: conversations with an agent that somebody built for themselves. Each request names a tool by what it does and its values in
 * passing, as texts, numbers, truths or lists; where one is missing, the assistant asks; where it was wrong, the user says so. What only a tool
 * of another service would do, the assistant says that it cannot.
 */
import type { Random } from "../random.ts";
import { drawCasing, drawSystem } from "./augment.ts";
import { besideExchange, type Elsewhere, isForNone, wordsOfTools } from "./beside.ts";
import { DECLINED } from "./beside-words.ts";
import { drawCorrection } from "./command-corrections.ts";
import { Referrals, type Referral, type Shown } from "./command-referrals.ts";
import { type CommandRequest, type CommandService, placesIn, readCommandServices } from "./command-services.ts";
import { drawTools } from "./command-tools.ts";
import { CommandValues, type Drawn, textOf, type ValueSource } from "./command-values.ts";
import { callArguments, type Step, toolDefinition, type ToolView } from "./conversation.ts";
import type { Vocabulary } from "./errand-tools.ts";
import type { Errand } from "./errand.ts";
import { drawReceipt } from "./findings.ts";
import type { Lexicon } from "./lexicon.ts";
import { ADDRESSES, FOLLOW_UPS, THANKED } from "./phrases.ts";
import { sayingsOf } from "./sayings.ts";
import type { Act } from "./sgd.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import { madeUpWord, spokenName } from "./values.ts";
import { FAILURES, RECEIPTS, REGRETS } from "./wordbook.ts";

const ADDRESSED_SHARE = 0.2; // of requests
const MOST_REQUESTS = 7;
const MAX_REDRAWS = 5;
const OTHER_SHARE = 0.25; // of conversations: one more service beside the one that is spoken to, again and again
const REFERRED_SHARE = 0.2; // of calls that another request follows: it names something only by "it", or "the second one"
const CORRECTED_SHARE = 0.4; // of the others
const FOLLOWED_SHARE = 0.18;
const ELSEWHERE_SHARE = 0.05; // of requests: before them one for a service that is not there
const THANKED_SHARE = 0.12; // of conversations
const RECEIPT_SHARE = 0.15; // of results: tell something, and the reply passes it on
const FAILURE_SHARE = 0.06;
const DATED_SHARE = 0.6; // of conversations: the day is known, and days are passed as dates
const BARE_SHARE = 0.3; // of answers to a question: the value and no more
const WRITTEN_SHARE = 0.35; // of conversations: somebody wrote what the agent is for

export function drawCommands(vocabulary: Vocabulary, forms: Lexicon["forms"], random: Random): Errand {
  const services = readCommandServices();
  const service = random.pick(services);
  const others: CommandService[] = [];
  while (random.chance(OTHER_SHARE)) others.push(random.pick(services));
  const dated = random.chance(DATED_SHARE);
  const own = drawTools(service, random);
  const from = { vocabulary, forms, dated };
  const values = new CommandValues(service, from, random);
  // Two tools of one name could not be told apart.
  const shown = new Map(
    [...others.map((each) => drawTools(each, random)), own].flatMap((each) => [...each.values()].map((tool) => [tool.name, tool])),
  );
  const tools = random.shuffled([...shown.values()]).map(toolDefinition);
  const toolWords = wordsOfTools({ tools });
  // A tool whose name is made up has no word of what it is for.
  const absent = services.filter((each) => each !== service && !others.includes(each));
  const elsewhere = (): string | undefined => {
    for (let tries = 0; tries < MAX_REDRAWS; tries += 1) {
      const drawn = drawRequest(random.pick(absent), from, random);
      if (isForNone(drawn, toolWords)) return drawn.text;
    }
    return undefined;
  };
  const steps = drawCasing(new Talk(service, own, { values, vocabulary, elsewhere }, random).steps(), random);
  return {
    conversation: {
      system: drawInstructions(service, dated, random),
      tools,
      views: new Map([["Commands", { service: { service_name: "Commands", description: "", slots: [], intents: [] }, tools: own }]]),
      steps,
    },
    values: values.pool(),
  };
}

/** What the two say to each other. */
class Talk {
  readonly #service: CommandService;
  readonly #tools: ReadonlyMap<string, ToolView>;
  readonly #values: CommandValues;
  readonly #referrals: Referrals;
  readonly #vocabulary: Vocabulary;
  readonly #elsewhere: () => string | undefined;
  readonly #random: Random;
  readonly #steps: Step[] = [];

  constructor(
    service: CommandService,
    tools: ReadonlyMap<string, ToolView>,
    { values, vocabulary, elsewhere }: { values: CommandValues; vocabulary: Vocabulary; elsewhere: () => string | undefined },
    random: Random,
  ) {
    this.#service = service;
    this.#tools = tools;
    this.#values = values;
    this.#referrals = new Referrals(service, values, random);
    this.#vocabulary = vocabulary;
    this.#elsewhere = elsewhere;
    this.#random = random;
  }

  steps(): Step[] {
    const random = this.#random;
    let referral: Referral | undefined;
    for (let left = 1 + random.below(MOST_REQUESTS); left > 0; left--) {
      const other = referral === undefined && random.chance(ELSEWHERE_SHARE) ? this.#elsewhere() : undefined;
      if (other !== undefined) this.#steps.push(...besideExchange(this.#addressed(other), random.pick(DECLINED)));
      const request = referral?.request ?? random.pick(this.#service.requests);
      const given = this.#ask(request, referral?.told ?? new Map());
      referral = left > 1 && random.chance(REFERRED_SHARE) ? this.#referrals.draw(given) : undefined;
      this.#call(request.tool, given, { shown: referral?.shown });
      if (referral !== undefined) continue;
      if (random.chance(CORRECTED_SHARE)) this.#correct(request.tool, given);
      else if (random.chance(FOLLOWED_SHARE)) this.#follow(request.tool, given);
    }
    if (random.chance(THANKED_SHARE)) this.#steps.push(...besideExchange(random.pick(sayingsOf(1)).text, random.pick(THANKED)));
    return this.#steps;
  }

  /** The request, and questions and answers for what it leaves out. `told` is known from before, and in its words. */
  #ask({ tool, said, set }: CommandRequest, told: ReadonlyMap<string, Drawn>): Map<string, string> {
    const random = this.#random;
    const given = new Map(Object.entries(set).map(([slot, value]) => [slot, textOf(value)]));
    for (const [slot, { value }] of told) given.set(slot, value);
    this.#user(this.#addressed(this.#filled(said, given)), given, true);
    const required = this.#service.tools.find(({ name }) => name === tool)?.required ?? [];
    for (const slot of required.filter((each) => !given.has(each))) {
      this.#reply(random.pick(this.#service.asks[slot] ?? []), [["REQUEST", slot, []]], { asks: true });
      const answer = random.chance(BARE_SHARE) ? `{${slot}}` : random.pick(this.#service.answers[slot] ?? []);
      const more = new Map<string, string>();
      this.#user(this.#filled(answer, more), more);
      for (const [name, value] of more) given.set(name, value);
    }
    return given;
  }

  /** The request as some people begin or end theirs. */
  #addressed(said: string): string {
    const random = this.#random;
    if (!random.chance(ADDRESSED_SHARE)) return said;
    return random.pick(ADDRESSES).replace("{said}", () => said);
  }

  /** What was meant, in the user's words. */
  #correct(tool: string, given: Map<string, string>): void {
    const random = this.#random;
    if (given.size === 0) return;
    const slot = random.pick([...given.keys()]);
    const saying = drawCorrection(this.#service, slot, given.get(slot), random);
    if (saying !== undefined) this.#again(tool, given, { slot, saying });
  }

  /** What is wanted next: the same with something else. */
  #follow(tool: string, given: Map<string, string>): void {
    const random = this.#random;
    const { answers } = this.#service;
    const slots = [...given.keys()].filter((slot) => (answers[slot] ?? []).some((text) => placesIn(text).length > 0));
    if (slots.length === 0) return;
    const slot = random.pick(slots);
    const answer = random.pick(answers[slot] ?? []);
    this.#again(tool, given, { slot, saying: random.pick(FOLLOW_UPS).replace("{said}", () => answer) });
  }

  /** The call once more with the value that the saying has for one of its arguments. */
  #again(tool: string, given: Map<string, string>, { slot, saying }: { slot: string; saying: string }): void {
    const told = new Map<string, string>();
    const said = this.#filled(saying, told);
    const value = told.get(slot);
    if (value === undefined || value === given.get(slot)) return;
    given.set(slot, value);
    this.#user(said, told);
    this.#call(tool, given, { first: [slot] });
  }

  #call(
    name: string,
    given: ReadonlyMap<string, string>,
    { first, shown }: { first?: readonly string[]; shown?: Shown | undefined },
  ): void {
    const tool = this.#tools.get(name);
    if (tool === undefined) throw new Error(`${this.#service.domain}: no tool ${JSON.stringify(name)} for a request`);
    const values = Object.fromEntries(given);
    this.#steps.push({ kind: "call", service: "Commands", tool, values, ...(first === undefined ? {} : { first }) });
    const done = this.#random.pick(this.#service.done[name] ?? []).replace(/\{(\w+)\}/g, (_, slot: string) => given.get(slot) ?? "");
    const { content, reply, tells } =
      shown === undefined
        ? this.#result(callArguments(tool, values), done)
        : { ...shown, reply: `${done}${shown.told}`, tells: shown.told !== "" };
    this.#steps.push({ kind: "result", content });
    this.#reply(reply, [], tells ? { tells } : {});
  }

  #result(given: Readonly<Record<string, unknown>>, done: string): { content: string; reply: string; tells: boolean } {
    const random = this.#random;
    if (random.chance(RECEIPT_SHARE)) {
      const noun = random.pick(this.#service.domain.split(" "));
      return { ...drawReceipt(noun, this.#vocabulary, random), tells: true };
    }
    const failed = random.chance(FAILURE_SHARE);
    const content = random
      .pick(failed ? FAILURES : RECEIPTS)
      .replace("{values}", () => spacedJson(given))
      .replace("{code}", madeUpWord(random).toUpperCase());
    return { content, reply: failed ? random.pick(REGRETS) : done, tells: false };
  }

  /** The saying with a value drawn for each of its places, which `given` takes up. */
  #filled(saying: string, given: Map<string, string>): string {
    const { text, drawn } = fill(saying, this.#values);
    for (const [slot, { value }] of drawn) given.set(slot, value);
    return text;
  }

  #user(text: string, told: ReadonlyMap<string, string>, opens = false): void {
    const said = [...told].map(([slot, value]): Act => ["INFORM", slot, [value]]);
    this.#steps.push({ kind: "user", text, acts: opens ? [["INFORM_INTENT", "intent", ["Commands"]], ...said] : said });
  }

  #reply(text: string, acts: readonly Act[], marks: { asks?: true; tells?: true }): void {
    this.#steps.push({ kind: "reply", text, acts, ...marks });
  }
}

/** A request of some service, whichever. */
export function drawElsewhere(vocabulary: Vocabulary, forms: Lexicon["forms"], random: Random): Elsewhere {
  return drawRequest(random.pick(readCommandServices()), { vocabulary, forms, dated: random.chance(DATED_SHARE) }, random);
}

/** A request as somebody makes it of a service, and what tells what it is about beside its own words. */
function drawRequest(service: CommandService, from: ValueSource, random: Random): Elsewhere {
  const { said, tool } = random.pick(service.requests);
  const { text } = fill(said, new CommandValues(service, from, random));
  return { text, about: `${service.domain} ${spokenName(tool)}` };
}

function fill(saying: string, values: CommandValues): { text: string; drawn: ReadonlyMap<string, Drawn> } {
  const drawn = new Map(placesIn(saying).map((slot) => [slot, values.draw(slot)]));
  return { drawn, text: saying.replace(/\{(\w+)\}/g, (_, slot: string) => drawn.get(slot)?.said ?? "") };
}

const INSTRUCTIONS = [
  "You are the assistant of a {domain} service.",
  "You help people with {domain}. Be brief.",
  "Assistant for {domain}. Use the tools.",
  "You are a friendly {domain} agent.",
  "Help the user with {domain} by calling the functions you have.",
] as const;

/** The day, what the agent is for, or nothing. */
function drawInstructions({ domain }: CommandService, dated: boolean, random: Random): string {
  const written = random.chance(WRITTEN_SHARE) ? random.pick(INSTRUCTIONS).replace("{domain}", domain) : "";
  if (dated) return random.chance(0.3) && written !== "" ? `${written} ${drawSystem(true, random)}` : drawSystem(true, random);
  return written === "" && random.chance(0.4) ? "You are a helpful assistant." : written;
}
