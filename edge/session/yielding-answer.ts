/**
 * An answer of a policy that may be under defaults: notes in its prompt, and what its version has learned. Before a call that one is
 * about goes out, the policy is asked without it, and where what was said overrules it, the answer without it goes out; a call that none is
 * about goes out as it does without. A default that stands and is passed over is held, in a call and in a question. Text goes out as it comes, but
 * for what may be such a question.
 */
import { isAspect } from "../../shared/aspects.ts";
import { heldQuestion } from "../../shared/held-question.ts";
import { asksFirst, type Held, mayHold, passedFor, passesOver, type Said, standsIn, wordsReply } from "../../shared/held-notes.ts";
import type { ServedNote } from "../../shared/note.ts";
import type { ServedDefault } from "../../shared/policy.ts";
import { heldElsewhere } from "../../shared/speech/calls.ts";
import { madeUpWords } from "../../shared/speech/strange-words.ts";
import { isReplyAspect } from "../../shared/wording.ts";
import { yieldOrHold } from "../../shared/yield-or-hold.ts";
import { type Heard, holds, samePlace, tells, type WrittenAnswer, yields } from "../../shared/yielding.ts";
import { logError } from "../log.ts";
import type { CompletionStep } from "../policy/completion.ts";
import { readSteps } from "./read-steps.ts";
import type { Asked, ForcedForm, YieldingCompletion, YieldingTurn } from "./yielding-turn.ts";

type Answer = WrittenAnswer &
  Said & {
    readonly completion: YieldingCompletion;
    readonly steps: readonly CompletionStep[];
    /** What its version has learned. */
    readonly defaults: readonly ServedDefault[];
  };

const LONGEST_QUESTION = 96; // tokens
const MOST_ANSWERS = 24; // to one question: a Worker has 30 s of CPU time, and the longest answer takes more than one of them

export class YieldingAnswer {
  readonly #turn: YieldingTurn;
  readonly #signal: AbortSignal;
  /** By version and notes: the same question has the same answer. */
  readonly #known = new Map<string, Answer>();
  /** Notes about arguments that the policy fills by itself with what was said, whatever words that has. */
  readonly #told = new Set<string>();
  /** Defaults that have yielded or were held: each is settled once. */
  readonly #settled = new Set<ServedDefault>();
  /** Defaults that the version before was asked about, and over which value: what it said goes for the answer that was then held to others. */
  readonly #asked = new Set<string>();
  #completion: YieldingCompletion;

  constructor(turn: YieldingTurn, signal: AbortSignal) {
    this.#turn = turn;
    this.#signal = signal;
    this.#completion = turn.completion;
  }

  /** What the steps answer, once they have come to their end. */
  get completion(): YieldingCompletion {
    return this.#completion;
  }

  async *steps(): AsyncGenerator<CompletionStep, void, void> {
    const { completion, defaults, heard } = this.#turn;
    const guided = new Set([...completion.notes, ...defaults].map(({ tool }) => tool));
    const reads = completion.notes.some(isRead);
    // Whether somebody is asked first is known once the whole answer is: words may go before a call, and other calls. So is how a reply is worded.
    const waits = completion.notes.some((note) => mayHold(note, completion) && (note.parameter === "@ask" || wordsReply(note, heard)));
    const held: CompletionStep[] = [];
    // A question may have to be another one; it is short, and what is longer is none.
    const mayAsk = this.#mayHoldQuestion() ? LONGEST_QUESTION : 0;
    // What a client has seen stays, so how the answer begins decides; undefined until it does.
    let shown = guided.size === 0 ? true : undefined;
    for await (const step of this.#complete(completion)) {
      const [first] = step.deltas;
      held.push(step);
      if (first?.kind === "call:opened" && !waits) shown ??= !(reads || guided.has(first.name));
      else if (first !== undefined && !waits && held.length > mayAsk) shown ??= true;
      if (shown === true) yield* held.splice(0);
    }
    if (shown !== true) yield* await this.#settle(held);
  }

  /** The answer that goes out for one that begins with a call, where notes stand in the prompt or something is a default for it. */
  async #settle(steps: readonly CompletionStep[]): Promise<readonly CompletionStep[]> {
    const { completion, defaults } = this.#turn;
    const own = await this.#ungarbled(this.#keep({ ...readSteps(steps), completion, steps, defaults }));
    const held = await this.#holdNotes(await this.#settleNotes(own));
    const settled = await this.#holdQuestion(held);
    this.#completion = settled.completion;
    return settled.steps;
  }

  /** A reply in whose wording the version has made words up is, worded so, that of the version which had not learned any, if that makes up fewer. */
  async #ungarbled(under: Answer): Promise<Answer> {
    const { policy, heard } = this.#turn;
    const wordings = under.defaults.filter((each) => wordsReply(each, heard));
    const said = { tokenizer: policy.tokenizer, heard, others: wordings.map(({ value }) => value) };
    const madeUp = madeUpWords(under.text, said).length;
    if (under.calls.length > 0 || madeUp === 0 || wordings.length === 0) return under;
    const before = await this.#askBefore(wordings.at(-1), { notes: under.completion.notes });
    return before?.calls.length === 0 && before.text !== "" && madeUpWords(before.text, said).length < madeUp ? before : under;
  }

  /** Takes the notes out of the prompt that yield. What the version has learned about their arguments must not speak for the user. */
  async #settleNotes(under: Answer): Promise<Answer> {
    const { notes } = under.completion;
    if (!notes.some((note) => note.tool === under.call?.name && isRead(note))) return this.#settleOthers(under);
    const learned = (some: readonly ServedNote[]): ServedDefault | undefined =>
      under.defaults.findLast((each) => some.some((note) => note.tool === under.call?.name && samePlace(each, note)));
    const without = await this.#askBefore(learned(notes), { notes: [] });
    if (without === undefined) return under;
    const { policy, heard } = this.#turn;
    const yielding = notes.filter((note) => {
      const about = { ...note, corrected: note.corrected === null ? [] : [note.corrected] };
      if (tells(policy.tokenizer, about, { without, heard })) this.#told.add(note.noteId);
      return yields(policy.tokenizer, about, { under, without, heard });
    });
    if (yielding.length === 0) return this.#ownBeside(under, without);
    const left = await this.#askBefore(learned(yielding), { notes: notes.filter((note) => !yielding.includes(note)) });
    return left === undefined ? under : this.#ownBeside(left, without);
  }

  /**
   * The policy's own call with what the notes say: a small policy that reads notes fills more arguments than they are about.
   * @param without what it says that reads none
   */
  async #ownBeside(under: Answer, without: Answer): Promise<Answer> {
    const { notes, policyDigest } = under.completion;
    const about = notes.filter((note) => isRead(note) && note.tool === under.call?.name && holds(note, under));
    if (about.length === 0 || without.call?.name !== under.call?.name || without.completion.policyDigest !== policyDigest) return under;
    const isOwn = (name: string): boolean => about.some(({ parameter }) => parameter === name) || sameArgument(name, under, without);
    if (Object.keys({ ...under.call?.arguments, ...without.call?.arguments }).every(isOwn)) return under;
    const unread = notes.filter((note) => !isRead(note));
    const after = await this.#ask({ by: under.completion, notes: unread, hold: { to: about, before: without } }, under.defaults);
    if (after?.call?.name !== under.call?.name || after === undefined) return under;
    return about.every((note) => holds(note, after)) ? after : under;
  }

  /** A call that no note in the prompt is about goes out as it does without them, unless a call is due then that one is about. */
  async #settleOthers(under: Answer): Promise<Answer> {
    const { notes } = under.completion;
    if (under.call === undefined || !notes.some(isRead)) return under;
    const without = await this.#ask({ by: under.completion, notes: notes.filter((note) => !isRead(note)) }, under.defaults);
    return without === undefined || notes.some((note) => note.tool === without.call?.name && isRead(note)) ? under : without;
  }

  /**
   * Holds the answer to the notes that stand and that it passes over, and settles what the version has learned; a call of the tool in its place
   * may pass over others. What the user is asked about is the call as it would be made, so that comes last.
   */
  async #holdNotes(under: Answer): Promise<Answer> {
    const { completion, heard } = this.#turn;
    const tried = new Set<ServedNote>();
    let answer = under;
    for (;;) {
      const { calls, text, completion: by, defaults } = answer;
      const open = by.notes.filter((note) => !tried.has(note) && mayHold(note, completion));
      const stands = (note: ServedNote): boolean => !this.#told.has(note.noteId) && !isSaidOfAnother(note, { calls, heard });
      const next = heldNext(open.filter((note) => stands(note) && passesOver(note, { calls, text, heard })));
      if (next.every(asksFirst)) {
        const settled = await this.#settleLearned(answer);
        if (settled !== answer) {
          answer = settled;
          continue;
        }
      }
      if (next.length === 0) return answer;
      for (const note of next) tried.add(note);
      const hold = { to: [...next, ...by.held], before: answer };
      const after = await this.#ask({ by, notes: by.notes, hold }, defaults);
      if (after === undefined || !standsIn(next, { before: answer, after, heard, cut: true })) continue;
      answer = after;
      // No other note is about the question, nor about the call that the user has agreed to.
      if (next.every(asksFirst)) return answer;
    }
  }

  /** Lets what the version has learned yield to what was said, and holds the answer to what it passes over, but for what notes are about. */
  async #settleLearned(under: Answer): Promise<Answer> {
    const { policy, heard } = this.#turn;
    const open = (some: readonly ServedDefault[]): ServedDefault[] =>
      some.filter((each) => !this.#settled.has(each) && !this.#asked.has(askedOver(each, under)));
    const { answer, yielded, held } = await yieldOrHold(policy.tokenizer, under, {
      defaults: open(under.defaults),
      standing: open(this.#standing).filter((each) => !isSaidOfAnother(each, { calls: under.calls, heard })),
      heard,
      ask: (learned, { completion: by, ...before }) => {
        this.#asked.add(askedOver(learned, before));
        const others = <Some extends Held>(some: readonly Some[]): Some[] => some.filter((each) => !samePlace(each, learned));
        return this.#askBefore(learned, { notes: others(by.notes), hold: { to: others(by.held), before } });
      },
      hold: (passed, { completion: by, defaults: learned, ...before }) =>
        this.#ask({ by, notes: by.notes, hold: { to: [...by.held, ...passed], before } }, learned),
    });
    for (const each of [...yielded, ...held]) this.#settled.add(each);
    return answer;
  }

  /** What the bound version is held to: notes about the same argument come first, whether they stand or have yielded. */
  get #standing(): ServedDefault[] {
    const { completion, defaults } = this.#turn;
    return defaults.filter((each) => !completion.notes.some((note) => samePlace(note, each)));
  }

  /** Whether an answer may ask the user, in its own words, what something is a default for; of what tools have found it asks as it is. */
  #mayHoldQuestion(): boolean {
    const { completion, heard } = this.#turn;
    const isFree = completion.toolChoice === "auto" && completion.responseFormat.type === "text";
    return isFree && heard.messages.at(-1)?.role === "user" && this.#standing.some(isRead);
  }

  /** A question that names another value than what the version has learned, although nobody did, asks for that; if the call that it is about has it so. */
  async #holdQuestion(under: Answer): Promise<Answer> {
    if (under.calls.length > 0 || !this.#mayHoldQuestion()) return under;
    let answer = under;
    for (const learned of this.#standing) {
      const { text, completion: by, defaults } = answer;
      const question = heldQuestion(learned, { text, heard: this.#turn.heard });
      if (question === undefined) continue;
      const held = (form: ForcedForm): Promise<Answer | undefined> =>
        this.#ask({ by, notes: by.notes, hold: { to: [...by.held, learned], before: answer, form } }, defaults);
      const made = (await held({ toolChoice: "required" }))?.call;
      const isAbout =
        made?.name === learned.tool && !heldElsewhere(made.arguments, { parameter: learned.parameter, value: question.madeUp });
      const after = isAbout ? await held({ toolChoice: "none", responseFormat: { type: "exact", text: question.text } }) : undefined;
      if (after?.text === question.text) answer = after;
    }
    return answer;
  }

  /** What the version before a default says, or the bound one where none is named; undefined where that version cannot be asked. */
  async #askBefore(learned: ServedDefault | undefined, { notes, hold }: Pick<Asked, "notes" | "hold">): Promise<Answer | undefined> {
    const { completion, defaults } = this.#turn;
    const older = learned === undefined ? defaults : defaults.slice(defaults.indexOf(learned) + 1);
    return this.#ask({ by: learned?.before ?? completion, notes, hold }, older);
  }

  /** @param defaults what the asked version has learned */
  async #ask({ by, notes, hold }: Asked, defaults: readonly ServedDefault[]): Promise<Answer | undefined> {
    const key = keyOf({ by, notes, held: hold?.to ?? [], form: hold?.form });
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const mustAsk = hold?.to.some(asksFirst) === true;
    if (this.#known.size >= MOST_ANSWERS && !mustAsk) return undefined;
    try {
      const { line, version, policyDigest, adapter } = by;
      const asked = this.#turn.completionOf({ by: { line, version, policyDigest, adapter }, notes, hold });
      const steps: CompletionStep[] = [];
      for await (const step of this.#complete(asked)) steps.push(step);
      return this.#keep({ ...readSteps(steps), completion: asked, steps, defaults }, key);
    } catch (thrown) {
      // An answer is worth more than a second look at it: a version's files may go while it is asked. But who is to be asked first is asked.
      if (this.#signal.aborted || mustAsk) throw thrown;
      logError("yielding:unasked", thrown, { version: by.version });
      return undefined;
    }
  }

  #keep(answer: Answer, key = keyOf({ ...answer.completion, by: answer.completion })): Answer {
    this.#known.set(key, answer);
    return answer;
  }

  #complete(completion: YieldingCompletion): AsyncGenerator<CompletionStep, void, void> {
    return this.#turn.policy.complete({ ...completion, signal: this.#signal });
  }
}

/** Whether the policy reads it in its prompt. */
function isRead({ parameter }: Pick<ServedNote, "parameter">): boolean {
  return !isAspect(parameter);
}

/** Arguments together, then of what is about the whole answer one after the other, since each wants another one; one question about all calls, and one reply. */
function heldNext(passed: readonly ServedNote[]): readonly ServedNote[] {
  const values = passed.filter(isRead);
  if (values.length > 0) return values;
  const worded = passed.filter(({ parameter }) => isReplyAspect(parameter));
  if (worded.length > 0) return worded;
  const first = passed.filter((note) => !asksFirst(note)).slice(0, 1);
  return first.length > 0 ? first : passed;
}

/** Whether another call of the answer has what was said in the place of a default or a note: what is held is held in all calls of a tool. */
function isSaidOfAnother(held: Held, { calls: [, ...others], heard }: Pick<Said, "calls"> & { heard: Heard }): boolean {
  return others.some(
    (call) => isRead(held) && call.name === held.tool && !holds(held, { call }) && passedFor(held, { call, heard }) === undefined,
  );
}

function sameArgument(name: string, left: WrittenAnswer, right: WrittenAnswer): boolean {
  return JSON.stringify(left.call?.arguments[name]) === JSON.stringify(right.call?.arguments[name]);
}

function askedOver({ tool, parameter, before: { policyDigest } }: ServedDefault, { call }: Pick<WrittenAnswer, "call">): string {
  return JSON.stringify([tool, parameter, policyDigest, call?.name === tool ? call.arguments[parameter] : undefined]);
}

type Keyed = Pick<YieldingCompletion, "notes" | "held"> & {
  readonly by: Pick<YieldingCompletion, "policyDigest">;
  readonly form?: ForcedForm | undefined;
};

function keyOf({ by: { policyDigest }, notes, held, form }: Keyed): string {
  return JSON.stringify([
    policyDigest,
    notes.map(({ noteId }) => noteId),
    held.map(({ tool, parameter, value }) => [tool, parameter, value]),
    form,
  ]);
}
