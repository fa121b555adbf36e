/**
 * Errands: conversations of several turns with services that nobody has built. A person asks in passing, is asked for what
 * is missing, is offered something, changes their mind, takes it. What SGD's 26 training services teach about reading
 * a schema they teach of those names only; here every conversation has other names.
 */
import type { Random } from "../random.ts";
import { drawCasing, drawSystem } from "./augment.ts";
import { type Conversation, type ServiceView, type Step, toolDefinition, type ToolView } from "./conversation.ts";
import { drawErrandService, type ErrandParameter, type ErrandService, type ErrandTool, type Vocabulary } from "./errand-tools.ts";
import { drawFindings, drawReceipt, type Findings } from "./findings.ts";
import type { Lexicon, ValuePool } from "./lexicon.ts";
import type { Act } from "./sgd.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import { madeUpName, madeUpWord, spokenName, spokenValue } from "./values.ts";
import {
  AGREEMENTS,
  ALTERNATIVES,
  CHANGES,
  CONFIRMATIONS,
  COUNTED,
  FAILURES,
  NO_SAYINGS,
  OFFERS,
  OPENERS,
  QUESTIONS,
  RECEIPTS,
  REGRETS,
  SAYINGS,
  SUCCESSES,
  TAKEN,
  YES_SAYINGS,
} from "./wordbook.ts";

/** The conversation, and other values that its parameters might take. */
export type Errand = { conversation: Conversation; values: ValuePool };

const POOL_SIZE = 6;
const ASKED_SHARE = 0.1; // of optional wishes
const IN_ORDER_SHARE = 0.85;
const MAX_REDRAWS = 6;
const FAILURE_SHARE = 0.12; // of arrangements
const SHAPED_SHARE = 0.7; // of what is found: in another shape than SGD's own
const JOINERS = [" ", " ", ", ", " and ", ". "] as const;

export function drawErrand(vocabulary: Vocabulary, forms: Lexicon["forms"], random: Random): Errand {
  const service = drawErrandService(vocabulary, random);
  const others = Array.from({ length: random.below(3) }, () => drawErrandService(vocabulary, random));
  const tools = random.shuffled([service, ...others].flatMap(({ finding, arranging }) => [finding.tool, arranging.tool]));
  const distinct = [...new Map(tools.map((tool) => [tool.name, tool])).values()];
  const steps = drawCasing(new Talk(service, vocabulary, forms, random).steps(), random);
  const dated = steps.some((step) => step.kind === "call" && Object.values(step.values).some((value) => /^\d{4}-/.test(value)));
  const view: ServiceView = {
    service: { service_name: "Errand", description: "", slots: [], intents: [] },
    tools: new Map(distinct.map((tool): [string, ToolView] => [tool.name, tool])),
  };
  const parameters = [service, ...others].flatMap(({ finding, arranging }) => [...finding.parameters, ...arranging.parameters]);
  const values = new Map(
    parameters.map((parameter) => [parameter.slot, Array.from({ length: POOL_SIZE }, () => vocabulary.value(parameter, random))]),
  );
  return {
    conversation: { system: drawSystem(dated, random), tools: distinct.map(toolDefinition), views: new Map([["Errand", view]]), steps },
    values,
  };
}

/** What the two say to each other. */
class Talk {
  readonly #service: ErrandService;
  readonly #vocabulary: Vocabulary;
  readonly #forms: Lexicon["forms"];
  readonly #random: Random;
  readonly #steps: Step[] = [];
  readonly #values = new Map<string, string>();

  constructor(service: ErrandService, vocabulary: Vocabulary, forms: Lexicon["forms"], random: Random) {
    this.#service = service;
    this.#vocabulary = vocabulary;
    this.#forms = forms;
    this.#random = random;
  }

  steps(): Step[] {
    const random = this.#random;
    const { finding, arranging, title } = this.#service;
    const draw = random.next();
    if (draw < 0.75) this.#find(finding);
    // What was not found cannot be arranged.
    if (draw >= 0.75 || (draw > 0.35 && this.#values.has(title.slot))) {
      if (draw >= 0.75) this.#values.set(title.slot, this.#vocabulary.value(title, random));
      this.#arrange(arranging, draw >= 0.75);
    }
    return this.#steps;
  }

  #find(tool: ErrandTool): void {
    const random = this.#random;
    this.#ask(tool.parameters, this.#opened(tool));
    this.#call(tool);
    while (this.#values.has(this.#service.title.slot) && random.chance(0.25)) {
      this.#user(random.pick(ALTERNATIVES), []);
      this.#offer();
    }
    const changeable = tool.parameters.filter(({ slot }) => this.#values.has(slot));
    if (changeable.length > 0 && random.chance(0.3)) {
      const changed = random.pick(changeable);
      const saying = this.#say(changed, false);
      this.#user(
        random.pick(["What about {saying}?", "And {saying}?", "Try {saying} instead.", "Do the same {saying}"]).replace("{saying}", saying),
        [changed],
      );
      this.#call(tool);
    }
  }

  /** @param named whether the user says which one; else it is the one on offer. */
  #arrange(tool: ErrandTool, named: boolean): void {
    const random = this.#random;
    const { title } = this.#service;
    const opened = `${named ? "" : random.pick(TAKEN)}${this.#opened(tool)}`;
    const open = tool.parameters.filter(({ slot }) => slot !== title.slot && !this.#values.has(slot));
    if (named) this.#ask(open, `${opened} ${random.pick(["called", "named", "at"])} ${this.#values.get(title.slot)}`, [title]);
    else this.#ask(open, opened);
    if (random.chance(0.6)) this.#confirm(tool);
    this.#call(tool);
  }

  /** A request that says some of its values; questions and answers for the rest of the required ones. */
  #ask(parameters: readonly ErrandParameter[], opened: string, named: readonly ErrandParameter[] = []): void {
    const random = this.#random;
    const eager = random.next();
    const wanted = parameters.filter(({ required }) => required || random.chance(0.35));
    const now = random.shuffled(wanted.filter(() => random.chance(eager)));
    const joiner = random.pick(JOINERS);
    this.#user(
      [opened, ...now.map((parameter) => this.#say(parameter, crowded(parameter, parameters)))].join(joiner),
      [...named, ...now],
      true,
    );
    let missing = wanted.filter((parameter) => !now.includes(parameter));
    // Whoever asks for what the tool does not need keeps people waiting: optional wishes that were not said are mostly kept to oneself.
    while (missing.some(({ required }) => required) || (missing.length > 0 && random.chance(ASKED_SHARE))) {
      const asked = missing.find(({ required }) => required) ?? missing[0];
      if (asked === undefined) break;
      this.#reply(random.pick(QUESTIONS).replace("{unit}", asked.unit), [["REQUEST", asked.slot, []]]);
      const more = missing.filter((parameter) => parameter !== asked && random.chance(0.3)).slice(0, 2);
      const told = [asked, ...more];
      const bare = random.chance(0.4) && asked.kind !== "flag";
      const first = bare ? this.#spoken(asked, this.#drawValue(asked)) : this.#say(asked, false);
      const answer = [first, ...more.map((parameter) => this.#say(parameter, true))].join(joiner === " " ? ", " : joiner);
      this.#user(answer, told);
      missing = missing.filter((parameter) => !told.includes(parameter));
    }
  }

  /** The details read back; now and then the user changes one first. */
  #confirm({ parameters }: ErrandTool): void {
    const random = this.#random;
    const readBack = (): void => {
      const known = parameters.filter(({ slot }) => this.#values.has(slot));
      const details = known.map((parameter) => `${parameter.unit} ${this.#spoken(parameter, this.#values.get(parameter.slot) ?? "")}`);
      const acts = known.map(({ slot }): Act => ["CONFIRM", slot, [this.#values.get(slot) ?? ""]]);
      this.#reply(random.pick(CONFIRMATIONS).replace("{details}", details.join(", ")), acts);
    };
    readBack();
    const changeable = parameters.filter(({ slot }) => this.#values.has(slot) && slot !== this.#service.title.slot);
    if (changeable.length > 0 && random.chance(0.25)) {
      const changed = random.pick(changeable);
      this.#user(random.pick(CHANGES).replace("{saying}", this.#say(changed, true)), [changed]);
      readBack();
    }
    this.#user(random.pick(AGREEMENTS), []);
  }

  #call({ tool, parameters }: ErrandTool): void {
    const random = this.#random;
    const known = parameters.filter(({ slot }) => this.#values.has(slot));
    const values = Object.fromEntries(known.map(({ slot }) => [slot, this.#values.get(slot) ?? ""]));
    const named = Object.fromEntries(known.map(({ slot, name }) => [name, values[slot] ?? ""]));
    this.#steps.push({ kind: "call", service: "Errand", tool, values });
    const { title, arranging } = this.#service;
    const filled = (text: string): string =>
      text.replace("{values}", spacedJson(named)).replace("{code}", madeUpWord(random).toUpperCase());
    if (tool === arranging.tool) {
      if (random.chance(SHAPED_SHARE / 2)) {
        const { content, reply } = drawReceipt(this.#service.noun, this.#vocabulary, random);
        this.#steps.push({ kind: "result", content });
        this.#reply(reply, [], true);
        return;
      }
      const failed = random.chance(FAILURE_SHARE);
      this.#steps.push({ kind: "result", content: filled(random.pick(failed ? FAILURES : RECEIPTS)) });
      this.#reply(random.pick(failed ? REGRETS : SUCCESSES), []);
      return;
    }
    const { content, reply, found } = random.chance(SHAPED_SHARE)
      ? drawFindings({ title, asked: named, noun: this.#service.noun }, this.#vocabulary, random)
      : this.#counted(named);
    this.#steps.push({ kind: "result", content });
    if (found !== undefined) this.#values.set(title.slot, found);
    this.#reply(reply, found === undefined ? [] : [["OFFER", title.slot, [found]]], true);
  }

  /** What was found as SGD's own tools give it. */
  #counted(named: Readonly<Record<string, string>>): Findings {
    const random = this.#random;
    const found = madeUpName(random);
    const count = 1 + random.below(8);
    const content = `{"count": ${count}, "results": [${spacedJson({ [this.#service.title.name]: found, ...named })}]}`;
    return { content, reply: random.pick(OFFERS).replace("{title}", found).replace("{count}", String(count)), found };
  }

  #offer(): void {
    const found = this.#vocabulary.value(this.#service.title, this.#random);
    this.#values.set(this.#service.title.slot, found);
    this.#reply(this.#random.pick(OFFERS).replace("{title}", found).replace("{count}", "3"), [
      ["OFFER", this.#service.title.slot, [found]],
    ]);
  }

  #opened({ spoken }: ErrandTool): string {
    return this.#random.pick(OPENERS).replace("{tool}", spoken);
  }

  #drawValue(parameter: ErrandParameter): string {
    const random = this.#random;
    let value = this.#vocabulary.value(parameter, random);
    // Nobody comes back before leaving; now and then only the words tell which is which.
    if (random.chance(IN_ORDER_SHARE))
      for (let redraws = 0; redraws < MAX_REDRAWS && !this.#inOrder(parameter, value); redraws++)
        value = this.#vocabulary.value(parameter, random);
    this.#values.set(parameter.slot, value);
    return value;
  }

  #inOrder({ kind, pair }: ErrandParameter, value: string): boolean {
    const other = pair === undefined || (kind !== "date" && kind !== "time") ? undefined : this.#values.get(pair.other);
    return other === undefined || (pair?.comesFirst ? value < other : value > other);
  }

  /** Draws a value for the parameter and says it: by its own words where another could be meant. */
  #say(parameter: ErrandParameter, outright: boolean): string {
    const random = this.#random;
    const value = this.#drawValue(parameter);
    const { kind, pair } = parameter;
    const unit = random.chance(0.85) ? parameter.unit : spokenName(parameter.name);
    if (kind === "flag") return random.pick(value === "True" ? YES_SAYINGS : NO_SAYINGS).replace("{unit}", unit);
    const spoken = this.#spoken(parameter, value);
    if (pair !== undefined)
      return random.chance(0.8) ? `${random.pick(pair.words)} ${spoken}` : `the ${spokenName(parameter.name)} is ${spoken}`;
    const counted = COUNTED.find(({ names }) => names.includes(parameter.name));
    if (counted !== undefined && random.chance(0.8)) return random.pick(counted.sayings).replace("{value}", spoken);
    const sayings = SAYINGS[kind].filter((saying) => !outright || saying.includes("{unit}"));
    return (sayings.length > 0 ? random.pick(sayings) : "the {unit} is {value}").replace("{value}", spoken).replace("{unit}", unit);
  }

  #spoken({ kind }: ErrandParameter, value: string): string {
    const random = this.#random;
    const forms = kind === "date" || kind === "time" || kind === "place" ? this.#forms.get(value) : undefined;
    if (forms !== undefined && forms.length > 0 && random.chance(0.7)) return random.pick(forms);
    if (kind === "amount") return random.chance(0.3) ? `$${value}` : value;
    if (kind === "choice") return random.chance(0.4) ? value.toLowerCase() : value;
    return kind === "count" || kind === "date" || kind === "time" ? spokenValue(value, random) : value;
  }

  #user(text: string, told: readonly ErrandParameter[], opens = false): void {
    const random = this.#random;
    const said = told.map(({ slot }): Act => ["INFORM", slot, [this.#values.get(slot) ?? ""]]);
    const acts: Act[] = opens ? [["INFORM_INTENT", "intent", ["Errand"]], ...said] : said;
    const ended = /[.?!]$/.test(text) || random.chance(0.3) ? text : `${text}.`;
    this.#steps.push({ kind: "user", text: random.chance(0.75) ? ended.slice(0, 1).toUpperCase() + ended.slice(1) : ended, acts });
  }

  #reply(text: string, acts: readonly Act[], tells = false): void {
    this.#steps.push({ kind: "reply", text, acts, ...(tells ? { tells } : {}) });
  }
}

/** Whether another parameter could be meant by a value of this kind. */
function crowded({ kind, slot }: ErrandParameter, parameters: readonly ErrandParameter[]): boolean {
  return parameters.some((other) => other.slot !== slot && other.kind === kind);
}
