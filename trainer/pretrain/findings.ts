/**
 * What a tool gives back when it was asked for something, in the shapes that people's own tools have (an object, a list under
 * any name, a line of text, nothing, an error), and a reply that tells what is in it. SGD has one shape; a base that knows
 * no other copies nothing from what it has not seen.
 */
import { spacedJson } from "../../shared/spaced-json.ts";
import type { Random } from "../random.ts";
import type { ErrandParameter, Vocabulary } from "./errand-tools.ts";
import { enumerated, madeUpName, madeUpWord, spokenName } from "./values.ts";
import { NOUNS, REGRETS, SUCCESSES } from "./wordbook.ts";

/** `found` is what can be taken up by name from here on; none where nothing was found, or what was has no name. */
export type Findings = { content: string; reply: string; found: string | undefined };
type Value = string | number | boolean;
type Facts = Record<string, Value>;

export type Search = {
  /** The parameter under which something that was found is named. */
  readonly title: ErrandParameter;
  /** What was asked for, by shown name. */
  readonly asked: Readonly<Record<string, string>>;
  readonly noun: string;
};

const NOTHING_SHARE = 0.1;
const ERROR_SHARE = 0.16;
const TEXT_SHARE = 0.2;
const LISTED_SHARE = 0.55; // of the rest
const REPEATED_SHARE = 0.5; // of answers: they repeat what was asked for
const MOST_ITEMS = 4;

export function drawFindings(search: Search, vocabulary: Vocabulary, random: Random): Findings {
  const draw = random.next();
  if (draw < NOTHING_SHARE) return nothing(search, random);
  if (draw < NOTHING_SHARE + ERROR_SHARE) return failed(random);
  if (draw < NOTHING_SHARE + ERROR_SHARE + TEXT_SHARE) return inWords(search, vocabulary, random);
  return random.chance(LISTED_SHARE) ? listed(search, vocabulary, random) : single(search, vocabulary, random);
}

function nothing({ noun }: Search, random: Random): Findings {
  const content = random.pick([
    "[]",
    "{}",
    '{"count": 0, "results": []}',
    '{"results": []}',
    '{"items": [], "total": 0}',
    `{"${noun}s": []}`,
    "null",
    `No ${noun} found`,
    "No results",
  ]);
  return { content, reply: random.pick(NONE_FOUND).replaceAll("{noun}", noun), found: undefined };
}

function failed(random: Random): Findings {
  const reason = random
    .pick(REASONS)
    .replace("{word}", random.pick(NOUNS))
    .replace("{code}", String(400 + random.below(120)));
  const content = random.pick([
    `Error: ${reason}`,
    `${random.pick(["error", "ERROR", "Error"])}: ${reason}.`,
    `Failed: ${reason}`,
    spacedJson({ error: reason }),
    spacedJson({ status: "error", message: reason }),
    spacedJson({ success: false, reason }),
    spacedJson({ error: { code: 400 + random.below(120), message: reason } }),
    spacedJson({ ok: false, error: reason }),
  ]);
  const reply = random.chance(0.75) ? random.pick(FAILED).replace("{reason}", reason) : random.pick(REGRETS);
  return { content, reply, found: undefined };
}

/** What a tool gives back that has arranged something, and the reply that tells what it says. */
export function drawReceipt(noun: string, vocabulary: Vocabulary, random: Random): Omit<Findings, "found"> {
  const facts = drawFacts(1 + random.below(3), vocabulary, random);
  const content = spacedJson(wrapped(facts, noun, random));
  return { content, reply: `${random.pick(SUCCESSES)} ${tell(facts, random)}` };
}

/** One thing and what is known of it: the reply tells some of that, in the order in which it stands. */
function single(search: Search, vocabulary: Vocabulary, random: Random): Findings {
  const named = random.chance(0.5) ? vocabulary.value(search.title, random) : undefined;
  const facts = drawFacts(1 + random.below(4), vocabulary, random);
  const whole = { ...(named === undefined ? {} : { [search.title.name]: named }), ...repeated(search, random), ...facts };
  const object = random.chance(0.6) ? whole : Object.fromEntries(random.shuffled(Object.entries(whole)));
  const content = spacedJson(wrapped(object, search.noun, random));
  const told = tell(facts, random);
  if (named === undefined) return { content, reply: told, found: undefined };
  const reply = random.chance(0.3)
    ? random.pick(OFFERED).replace("{title}", named)
    : `${random.pick(OFFERED).replace("{title}", named)} ${told}`;
  return { content, reply, found: named };
}

function wrapped(object: Facts, noun: string, random: Random): unknown {
  const under = random.pick(["data", "result", "response", noun, `${noun}_info`, "details"]);
  return random.pick<unknown>([
    object,
    object,
    { [under]: object },
    { status: random.pick(["ok", "success"]), [under]: object },
    { success: true, ...object },
  ]);
}

/** Several things; the reply names one of them, or all. */
function listed(search: Search, vocabulary: Vocabulary, random: Random): Findings {
  const names = [...new Set(Array.from({ length: 1 + random.below(MOST_ITEMS) }, () => vocabulary.value(search.title, random)))];
  const first = names[0] ?? madeUpName(random);
  const heads = Object.keys(drawFacts(random.below(3), vocabulary, random));
  const nameKey = random.chance(0.7) ? search.title.name : random.pick(["name", "title", "label"]);
  const same = repeated(search, random);
  const items = names.map((name): Facts => ({ [nameKey]: name, ...same, ...drawValues(heads, vocabulary, random) }));
  const list = random.chance(0.12) ? names : items;
  const total = random.chance(0.7) ? names.length : names.length + random.below(20);
  const content = spacedJson(
    random.pick<unknown>([
      list,
      list,
      { results: list },
      { results: list, total },
      { count: total, results: list },
      { [`${search.noun}s`]: list },
      { items: list },
      { data: list },
      { data: { items: list, total } },
      { status: "ok", results: list },
      { total, [`${search.noun}s`]: list },
    ]),
  );
  const facts = list === names ? {} : drawn(items[0] ?? {}, heads);
  const told = Object.keys(facts).length > 0 && random.chance(0.5) ? ` ${tell(facts, random)}` : "";
  if (names.length === 1 || random.chance(0.5))
    return { content, reply: `${random.pick(OFFERED).replace("{title}", first)}${told}`, found: first };
  return {
    content,
    reply: random.pick(ALL_FOUND).replace("{all}", enumerated(names)).replace("{count}", String(names.length)),
    found: first,
  };
}

/** A line of text, which the reply passes on. */
function inWords(search: Search, vocabulary: Vocabulary, random: Random): Findings {
  const facts = drawFacts(1 + random.below(3), vocabulary, random);
  const named = vocabulary.value(search.title, random);
  const values = Object.values(facts).map(String);
  const text = random.pick([
    values.join(", "),
    Object.entries(facts)
      .map(([head, value]) => `${spokenName(head)}: ${value}`)
      .join("; "),
    [named, ...values].join(", "),
    `${named} (${values.join(", ")})`,
  ]);
  const sentence = tell(facts, random);
  return random.chance(0.3)
    ? { content: sentence, reply: sentence, found: undefined }
    : { content: text, reply: random.pick(PASSED_ON).replace("{text}", text), found: text.includes(named) ? named : undefined };
}

/** "The price is 20 and the status is open." of up to three facts; what is true or false is not told. */
function tell(facts: Facts, random: Random): string {
  const entries = Object.entries(facts)
    .filter(([, value]) => typeof value !== "boolean")
    .slice(0, 3);
  if (entries.length === 0) return random.pick(NOTHING_TO_TELL);
  const clauses = entries.map(([head, value]) => `${random.pick(["the", "the", "its"])} ${spokenName(head)} is ${value}`);
  const [last, before] = [clauses.at(-1) ?? "", clauses.slice(0, -1).join(", ")];
  const sentence = before === "" ? last : `${before} and ${last}`;
  return `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}.`;
}

function repeated({ asked }: Search, random: Random): Facts {
  return random.chance(REPEATED_SHARE) ? { ...asked } : {};
}

function drawn(item: Facts, heads: readonly string[]): Facts {
  return Object.fromEntries(heads.flatMap((head) => (item[head] === undefined ? [] : [[head, item[head]]])));
}

function drawFacts(count: number, vocabulary: Vocabulary, random: Random): Facts {
  const heads = Array.from({ length: count }, () => random.pick(FACTS).replace("{noun}", random.pick(NOUNS)));
  return drawValues([...new Set(heads)], vocabulary, random);
}

function drawValues(heads: readonly string[], vocabulary: Vocabulary, random: Random): Facts {
  return Object.fromEntries(heads.map((head) => [head, drawValue(head, vocabulary, random)]));
}

function drawValue(head: string, vocabulary: Vocabulary, random: Random): Value {
  if (/^(is|has)_/.test(head)) return random.chance(0.5);
  const draw = random.next();
  if (/date|eta|day|until/.test(head)) return `20${10 + random.below(30)}-${two(1 + random.below(12))}-${two(1 + random.below(28))}`;
  if (/time|hour/.test(head)) return `${two(random.below(24))}:${random.pick(["00", "15", "30", "45"])}`;
  if (/phone/.test(head)) return Array.from({ length: 3 }, () => String(100 + random.below(900))).join("-");
  if (/_id|code|number$/.test(head))
    return draw < 0.5 ? `${madeUpWord(random).slice(0, 3).toUpperCase()}${random.below(10_000)}` : String(random.below(1_000_000));
  if (/address/.test(head)) return `${1 + random.below(999)} ${madeUpName(random)} ${random.pick(["Street", "Road", "Avenue", "Lane"])}`;
  if (/status|condition|state|unit|type|level|color/.test(head)) return draw < 0.6 ? random.pick(WORDS) : random.pick(NOUNS);
  if (/name|city|place|owner|author/.test(head)) return vocabulary.value(vocabulary.drawn("place", "place", random), random);
  if (draw < 0.45) return random.below(200);
  if (draw < 0.7) return random.below(2_000) / 10;
  if (draw < 0.85) return `${random.below(300)} ${random.pick(UNITS)}`;
  return random.pick(WORDS);
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

const list = (text: string): readonly string[] => text.trim().split(/\s*;\s*/);

/** What tools tell of a thing. */
const FACTS = list(`
  temperature; temperature; humidity; wind; condition; forecast; status; status; state; price; price; total; cost; balance; amount; fee; rating; score; distance;
  duration; weight; size; address; phone_number; phone; email_code; order_id; tracking_number; code; reference_code; eta; delivery_date; due_date; date; day;
  departure_time; arrival_time; opening_time; time; until; city; place; owner; author_name; type; level; color; unit; quantity; stock; seats; capacity; population;
  is_open; has_{noun}; {noun}_price; {noun}_count; {noun}_status; number_of_{noun}s; {noun}; {noun}_id
`);
const WORDS = list(`
  sunny; cloudy; rainy; clear; windy; snow; shipped; delivered; pending; open; closed; confirmed; cancelled; in transit; ready; paid; unpaid; available; sold out;
  low; medium; high; small; large; red; green; blue; black; white; active; inactive; new; used; out for delivery; on hold; partly cloudy; light rain; delayed; on time
`);
const UNITS = list("C; F; km; miles; kg; minutes; hours; EUR; USD; dollars; percent; %; m; stars");
const REASONS = list(`
  not found; service unavailable; timeout; permission denied; the {word} is not available; no such {word}; invalid {word}; {word} not found; rate limit exceeded;
  unknown {word}; internal error {code}; could not reach the {word} service; the {word} is closed; missing {word}; the card was declined; try again later; bad request
`);
const NONE_FOUND = list(`
  I'm sorry, I found no {noun}.; I could not find any {noun}.; Sorry, there is nothing like that. Shall I look for something else?; I found nothing, I'm afraid.;
  There were no results. Would you like to change something?; Unfortunately I could not find a {noun}.
`);
const FAILED = list(`
  I'm sorry, that did not work: {reason}.; Sorry, there was an error: {reason}.; That failed: {reason}. Shall I try again?; I could not do that, since it says {reason}.;
  Unfortunately it did not work: {reason}.; I ran into a problem: {reason}.
`);
const OFFERED = list(`
  I found {title}.; I found {title}.; There is {title}.; How about {title}?; I have found {title}.; {title} is one.; What do you think of {title}?
`);
const ALL_FOUND = list(`
  I found {all}.; I found {count}: {all}.; There are {count}: {all}.; I have {all}. Which one would you like?; You can choose from {all}.; I found {count} results: {all}.
`);
const NOTHING_TO_TELL = list("That is all I know.; There is nothing more to tell.");
const PASSED_ON = list("Here is what I found: {text}.; I found this: {text}.; It says: {text}.; {text}.; The answer is {text}.");
