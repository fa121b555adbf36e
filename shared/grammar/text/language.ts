/**
 * Texts that fit patterns, letter by letter: the derivative of a language by a letter is what may follow it (Brzozowski 1964, J. ACM 11:4;
 * what a look ahead says is a language that meets the one behind it). Languages that are written alike are one object, so that there are
 * finitely many of them.
 */
import { Alphabet } from "./alphabet.ts";
import { ANY_POINT, type CodePoints, WORD } from "./code-points.ts";
import { refused } from "./pattern.ts";
import { isAnchored, type Node } from "./pattern-node.ts";

/** Of a node that is one object with those written alike. */
type Part = {
  readonly id: number;
  readonly own: Own;
  /** Whether it can be nothing at all: never, always, or where what is around it has it so. */
  readonly empty: "never" | "always" | "by place";
};
type Own =
  | { readonly kind: "set"; readonly members: Uint8Array }
  | { readonly kind: "nothing" }
  | { readonly kind: "pair"; readonly first: Part; readonly rest: Part }
  | { readonly kind: "either"; readonly options: readonly Part[] }
  | { readonly kind: "repeat"; readonly body: Part; readonly least: number; readonly most: number }
  | { readonly kind: "look"; readonly of: Language; readonly negative: boolean }
  | { readonly kind: "start" }
  | { readonly kind: "end" }
  | { readonly kind: "boundary"; readonly negative: boolean };

/** `none`: no text. `end`: the empty one. `all`: any. */
export type Language = { readonly id: number; readonly kind: "none" | "end" | "all" } | Compound;
type Compound =
  | { readonly id: number; readonly kind: "then"; readonly part: Part; readonly rest: Language }
  | { readonly id: number; readonly kind: "or" | "and"; readonly of: readonly Language[] }
  | { readonly id: number; readonly kind: "not"; readonly of: Language };

/** What stands before the place that is read: nothing at all, a character of a word, or another. */
export type Before = "nothing" | "word" | "other";

export class Languages {
  readonly alphabet: Alphabet;
  readonly start: Language;
  /** Whether what stands before a place counts. */
  readonly seesStart: boolean;
  readonly seesWords: boolean;
  readonly #spend: (steps: number) => void;
  readonly #word: Uint8Array;
  readonly #parts = new Map<string, Part>();
  readonly #languages = new Map<string, Language>();
  readonly #derivatives = new Map<Language, (Language | undefined)[]>();
  readonly #none: Language = { id: 0, kind: "none" };
  readonly #end: Language = { id: 1, kind: "end" };
  readonly #all: Language = { id: 2, kind: "all" };
  readonly #nothing: Part;

  /** Texts that fit all of `nodes`. `spend` is told of steps, and throws where they are too many. */
  constructor(nodes: readonly Node[], spend: (steps: number) => void) {
    const kinds = new Set<Node["kind"]>();
    const sets = new Map<string, CodePoints>();
    for (const node of nodes) collect(node, kinds, sets);
    this.seesStart = kinds.has("start");
    this.seesWords = kinds.has("boundary");
    if (this.seesWords) sets.set(JSON.stringify(WORD), WORD);
    const ranges = [...sets.values()].reduce((sum, { length }) => sum + length, 0);
    spend((ranges * sets.size) / INTERVALS_PER_STEP);
    this.#spend = spend;
    this.alphabet = new Alphabet([...sets.values()]);
    this.#word = this.alphabet.membersOf(WORD);
    this.#nothing = this.#part("", { kind: "nothing" }, "always");
    const anything = this.#partOf({ kind: "repeat", body: { kind: "set", points: ANY_POINT }, least: 0, most: Infinity });
    this.start = this.#and(nodes.map((node) => (isAnchored(node) ? this.#from(node) : this.#then(anything, this.#from(node)))));
  }

  /** Whether a text may end here. */
  mayEnd(language: Language, before: Before): boolean {
    switch (language.kind) {
      case "none":
        return false;
      case "end":
      case "all":
        return true;
      case "then":
        return this.#mayBeNothing(language.part, before) && this.mayEnd(language.rest, before);
      case "or":
        return language.of.some((each) => this.mayEnd(each, before));
      case "and":
        return language.of.every((each) => this.mayEnd(each, before));
      case "not":
        return !this.mayEnd(language.of, before);
    }
  }

  /** What may follow a letter. */
  after(language: Language, letter: number, before: Before): Language {
    if (!isCompound(language)) return language.kind === "all" ? language : this.#none;
    const known = this.#derivatives.get(language) ?? [];
    this.#derivatives.set(language, known);
    const key = letter * BEFORES.length + BEFORES.indexOf(before);
    const found = known[key] ?? this.#derive(language, letter, before);
    known[key] = found;
    return found;
  }

  #derive(language: Compound, letter: number, before: Before): Language {
    this.#spend(1);
    switch (language.kind) {
      case "then": {
        const skipped = this.#whereNothing(language.part, letter, before);
        const read = this.#read(language.part, language.rest, { letter, before });
        return skipped.kind === "none" ? read : this.#or([read, this.#and([skipped, this.after(language.rest, letter, before)])]);
      }
      case "or":
      case "and": {
        this.#spend(language.of.length / MEMBERS_PER_STEP);
        const of = language.of.map((each) => this.after(each, letter, before));
        return language.kind === "or" ? this.#or(of) : this.#and(of);
      }
      case "not":
        return this.#not(this.after(language.of, letter, before));
    }
  }

  /** What may follow a letter that `part` reads, with `rest` behind it. */
  #read(part: Part, rest: Language, at: { readonly letter: number; readonly before: Before }): Language {
    this.#spend(1);
    const { own } = part;
    switch (own.kind) {
      case "set":
        return own.members[at.letter] === 1 ? rest : this.#none;
      case "pair":
        return this.#readPairs(part, rest, at);
      case "either":
        return this.#or(own.options.map((option) => this.#read(option, rest, at)));
      case "repeat": {
        const { body, least, most } = own;
        // A time that has to come may be nothing at all, as far as what is around it has it so.
        if (least > 0 && body.empty === "by place") return this.#read(this.#pair(body, this.#repeat(body, least - 1, most - 1)), rest, at);
        return this.#read(body, this.#then(this.#repeat(body, Math.max(0, least - 1), most - 1), rest), at);
      }
      case "nothing":
      case "look":
      case "start":
      case "end":
      case "boundary":
        return this.#none;
    }
  }

  /** One part after the other, in a loop: there may be thousands that can be nothing. */
  #readPairs(pairs: Part, rest: Language, at: { readonly letter: number; readonly before: Before }): Language {
    const found: Language[] = [];
    let skipped: Language = this.#all;
    let part = pairs;
    while (part.own.kind === "pair") {
      this.#spend(1);
      const { first, rest: others } = part.own;
      const read = this.#read(first, this.#then(others, rest), at);
      found.push(this.#and([skipped, read]));
      skipped = this.#and([skipped, this.#whereNothing(first, at.letter, at.before)]);
      if (skipped.kind === "none") return this.#or(found);
      part = others;
    }
    return this.#or([...found, this.#and([skipped, this.#read(part, rest, at)])]);
  }

  /** What may follow the letter where the part is nothing at all before it. */
  #whereNothing(part: Part, letter: number, before: Before): Language {
    if (part.empty !== "by place") return part.empty === "always" ? this.#all : this.#none;
    this.#spend(1);
    const { own } = part;
    switch (own.kind) {
      case "pair":
        return this.#whereAll(part, letter, before);
      case "either":
        return this.#or(own.options.map((option) => this.#whereNothing(option, letter, before)));
      case "repeat":
        return this.#whereNothing(own.body, letter, before);
      case "look": {
        const after = this.after(own.of, letter, before);
        return own.negative ? this.#not(after) : after;
      }
      case "start":
        return before === "nothing" ? this.#all : this.#none;
      case "boundary":
        return ((before === "word") !== (this.#word[letter] === 1)) !== own.negative ? this.#all : this.#none;
      case "set":
      case "nothing":
      case "end":
        return this.#none;
    }
  }

  #whereAll(pairs: Part, letter: number, before: Before): Language {
    const met: Language[] = [];
    let part = pairs;
    for (; part.own.kind === "pair"; part = part.own.rest) met.push(this.#whereNothing(part.own.first, letter, before));
    return this.#and([...met, this.#whereNothing(part, letter, before)]);
  }

  #mayBeNothing(part: Part, before: Before): boolean {
    if (part.empty !== "by place") return part.empty === "always";
    this.#spend(1);
    const { own } = part;
    switch (own.kind) {
      case "pair": {
        let each = part;
        for (; each.own.kind === "pair"; each = each.own.rest) if (!this.#mayBeNothing(each.own.first, before)) return false;
        return this.#mayBeNothing(each, before);
      }
      case "either":
        return own.options.some((option) => this.#mayBeNothing(option, before));
      case "repeat":
        return this.#mayBeNothing(own.body, before);
      case "look":
        return this.mayEnd(own.of, before) !== own.negative;
      case "start":
        return before === "nothing";
      case "boundary":
        return (before === "word") !== own.negative;
      case "set":
      case "nothing":
      case "end":
        return true;
    }
  }

  /** Texts that begin with what the node matches. */
  #from(node: Node): Language {
    return this.#then(this.#partOf(node), this.#all);
  }

  #partOf(node: Node): Part {
    switch (node.kind) {
      case "set": {
        const key = `s${JSON.stringify(node.points)}`;
        return this.#parts.get(key) ?? this.#part(key, { kind: "set", members: this.alphabet.membersOf(node.points) }, "never");
      }
      case "sequence":
        return node.parts.map((part) => this.#partOf(part)).reduceRight((rest, part) => this.#pair(part, rest), this.#nothing);
      case "either":
        return this.#either(node.options.map((option) => this.#partOf(option)));
      case "repeat": {
        const body = this.#partOf(node.body);
        if (body.empty === "by place" && node.least > MOST_PLACES)
          throw refused(
            `a pattern in which what may be nothing but a place is repeated ${MOST_PLACES} times at most expected, got ${node.least}`,
          );
        return this.#repeat(body, node.least, node.most);
      }
      case "look": {
        const of = this.#from(node.body);
        return this.#part(`l${of.id}:${node.negative}`, { kind: "look", of, negative: node.negative }, "by place");
      }
      case "boundary":
        return this.#part(`b${node.negative}`, node, "by place");
      case "start":
      case "end":
        return this.#part(node.kind, node, "by place");
    }
  }

  /** Options that begin alike as one that does, so that each letter of a long list of words leaves few of them. */
  #either(all: readonly Part[], depth = 0): Part {
    const rests = new Map<Part, Part[]>();
    for (const option of new Set(all)) {
      const [first, rest] =
        option.own.kind === "pair" && depth < MOST_ALIKE ? [option.own.first, option.own.rest] : [option, this.#nothing];
      const others = rests.get(first);
      if (others === undefined) rests.set(first, [rest]);
      else others.push(rest);
    }
    const grouped = [...rests].map(([first, own]) =>
      this.#pair(first, own.length === 1 ? (own[0] ?? this.#nothing) : this.#either(own, depth + 1)),
    );
    const options = [...new Set(grouped)];
    const [only = this.#nothing] = options;
    if (options.length <= 1) return only;
    const empty = options.some((each) => each.empty === "always") ? "always" : options.some((each) => each.empty === "by place") ? "by place" : "never"; // prettier-ignore
    return this.#part(`e${options.map(({ id }) => id).join()}`, { kind: "either", options }, empty);
  }

  #part(key: string, own: Own, empty: Part["empty"]): Part {
    const part = this.#parts.get(key) ?? { id: this.#parts.size, own, empty };
    this.#parts.set(key, part);
    return part;
  }

  #pair(first: Part, rest: Part): Part {
    if (rest === this.#nothing) return first;
    if (first === this.#nothing) return rest;
    const both = [first.empty, rest.empty];
    const empty = both.includes("never") ? "never" : both.includes("by place") ? "by place" : "always";
    return this.#part(`p${first.id},${rest.id}`, { kind: "pair", first, rest }, empty);
  }

  #repeat(body: Part, least: number, most: number): Part {
    if (most === 0) return this.#nothing;
    const needed = body.empty === "always" ? 0 : least;
    const empty = needed === 0 ? "always" : body.empty;
    return this.#part(`r${body.id}:${needed}:${most}`, { kind: "repeat", body, least: needed, most }, empty);
  }

  #language(key: string, make: (id: number) => Language): Language {
    const language = this.#languages.get(key) ?? make(this.#languages.size + 3);
    this.#languages.set(key, language);
    return language;
  }

  #then(part: Part, rest: Language): Language {
    if (part === this.#nothing || rest.kind === "none") return rest;
    if (part.own.kind === "end" && (rest.kind === "all" || rest.kind === "end")) return this.#end;
    return this.#language(`t${part.id},${rest.id}`, (id) => ({ id, kind: "then", part, rest }));
  }

  #or(languages: readonly Language[]): Language {
    return this.#several("or", languages, { without: this.#none, whole: this.#all });
  }

  #and(languages: readonly Language[]): Language {
    return this.#several("and", languages, { without: this.#all, whole: this.#none });
  }

  #several(kind: "or" | "and", languages: readonly Language[], { without, whole }: { without: Language; whole: Language }): Language {
    const found = new Set<Language>();
    for (const each of languages) {
      this.#spend((each.kind === kind ? each.of.length : 1) / MEMBERS_PER_STEP);
      for (const language of each.kind === kind ? each.of : [each]) found.add(language);
    }
    found.delete(without);
    if (found.has(whole)) return whole;
    const [only = without] = found;
    if (found.size <= 1) return only;
    const of = [...found].sort((a, b) => a.id - b.id);
    return this.#language(`${kind}${of.map(({ id }) => id).join()}`, (id) => ({ id, kind, of }));
  }

  #not(language: Language): Language {
    if (language.kind === "none") return this.#all;
    if (language.kind === "all") return this.#none;
    if (language.kind === "not") return language.of;
    return this.#language(`n${language.id}`, (id) => ({ id, kind: "not", of: language }));
  }
}

const BEFORES: readonly Before[] = ["nothing", "word", "other"];
// Looked at in the time of one step; powers of two, so that steps add up alike in whatever order.
const INTERVALS_PER_STEP = 16;
const MEMBERS_PER_STEP = 4;
const MOST_ALIKE = 64; // parts that options begin with
const MOST_PLACES = 50; // each is looked at within the one before

function isCompound(language: Language): language is Compound {
  return language.kind !== "none" && language.kind !== "end" && language.kind !== "all";
}

function collect(node: Node, kinds: Set<Node["kind"]>, sets: Map<string, CodePoints>): void {
  kinds.add(node.kind);
  if (node.kind === "set") sets.set(JSON.stringify(node.points), node.points);
  const below = node.kind === "sequence" ? node.parts : node.kind === "either" ? node.options : "body" in node ? [node.body] : [];
  for (const each of below) collect(each, kinds, sets);
}
