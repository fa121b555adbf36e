/**
 * An answer of a policy that may be under defaults: notes in its prompt, and what its version has learned. A call is made by the version that answers for
 * its tool (reach.ts), which begins anew where another one has begun. What no default can change goes out as it comes: text that is no question, and calls
 * of tools that nothing is a default for. Everything else goes out once it is whole, and is decided on in this order:
 *
 *   1. a reply with made-up words becomes that of the version before it learned how replies are worded
 *   2. notes that the user overrules leave the prompt (overruled-notes.ts)
 *   3. notes and learned defaults that stand and are passed over are held (hold-answer.ts)
 *   4. arguments are settled, also of a call that is asked about first: others than the learned ones are as without anything learned, and what the user has
 *      just put right is as they said it (settled-call.ts)
 *   5. a question that names a made-up value asks for the learned one (hold-question.ts)
 *   6. a call that is done, and that nobody has asked for again, becomes words
 *
 * Each may ask the policy again, or a version before it (version-answers.ts).
 */
import { invariant } from "../../shared/assert.ts";
import { mayHold, wordsReply } from "../../shared/held-notes.ts";
import type { VersionFiles } from "../../shared/policy.ts";
import { isSameVersion, versionFor } from "../../shared/reach.ts";
import { isDone } from "../../shared/speech/done-calls.ts";
import { madeUpWords } from "../../shared/speech/strange-words.ts";
import { logError } from "../log.ts";
import type { CompletionStep } from "../policy/completion.ts";
import { holdAnswer } from "./hold-answer.ts";
import { holdQuestion, mayHoldQuestion } from "./hold-question.ts";
import { withoutOverruledNotes } from "./overruled-notes.ts";
import { withSettledArguments } from "./settled-call.ts";
import { type Answer, VersionAnswers } from "./version-answers.ts";
import { isRead, type YieldingCompletion, type YieldingTurn } from "./yielding-turn.ts";

const LONGEST_QUESTION = 96; // tokens

export class YieldingAnswer {
  readonly #signal: AbortSignal;
  #turn: YieldingTurn;
  #answers: VersionAnswers;
  #completion: YieldingCompletion;
  #isShown = false;

  constructor(turn: YieldingTurn, signal: AbortSignal) {
    this.#signal = signal;
    this.#turn = turn;
    this.#answers = new VersionAnswers(turn, signal);
    this.#completion = turn.completion;
  }

  /** What the steps answer, once they have come to their end. */
  get completion(): YieldingCompletion {
    return this.#completion;
  }

  async *steps(): AsyncGenerator<CompletionStep, void, void> {
    const { standing, heard } = this.#turn;
    const begins = this.#completion;
    const passesOn = heard.tools.some(({ function: { name } }) => !isSameVersion(versionFor(name, standing), begins));
    try {
      const by = yield* this.#answer({ passesOn });
      if (by === undefined) return;
      this.#passTo(by);
      yield* this.#answer();
    } catch (thrown) {
      // A version's files may go while it is asked; the bound one's are those that a conversation is promised.
      if (this.#isShown || this.#signal.aborted || isSameVersion(this.#completion, standing.bound)) throw thrown;
      logError("yielding:unasked", thrown, { version: this.#completion.version });
      this.#passTo(standing.bound);
      yield* this.#answer();
    }
  }

  #passTo(by: VersionFiles): void {
    const completion = this.#turn.completionOf({ by, notes: this.#turn.completion.notes });
    invariant(completion !== undefined, "a prompt without a question has room");
    this.#completion = completion;
    this.#turn = { ...this.#turn, completion };
    this.#answers = new VersionAnswers(this.#turn, this.#signal);
  }

  /** @returns the version that has to answer instead, of which nothing has been shown; undefined once the answer has come to its end */
  async *#answer({ passesOn = false } = {}): AsyncGenerator<CompletionStep, VersionFiles | undefined, void> {
    const { completion, defaults, heard, standing, corrected, done } = this.#turn;
    const guided = new Set([...completion.notes, ...defaults, ...corrected].map(({ tool }) => tool));
    for (const { name } of done) guided.add(name);
    const reads = completion.notes.some(isRead);
    // Whether somebody is asked first is known once the whole answer is: words may go before a call, and other calls. So is how a reply is worded.
    const waits = completion.notes.some((note) => mayHold(note, completion) && (note.parameter === "@ask" || wordsReply(note, heard)));
    const held: CompletionStep[] = [];
    // A question may have to be another one; it is short, and what is longer is none.
    const mayAsk = mayHoldQuestion(this.#turn) ? LONGEST_QUESTION : 0;
    // What a client has seen stays, so how the answer begins decides; undefined until it does.
    let shown = guided.size === 0 && !passesOn ? true : undefined;
    let isFirstCall = passesOn;
    for await (const step of this.#answers.sampleOwn()) {
      const [first] = step.deltas;
      held.push(step);
      if (isFirstCall && first?.kind === "call:opened" && shown !== true) {
        const by = versionFor(first.name, standing);
        if (!isSameVersion(by, completion)) return by;
        isFirstCall = false;
      }
      if (first?.kind === "call:opened" && !waits) shown ??= !(reads || guided.has(first.name));
      else if (first !== undefined && !waits && held.length > mayAsk) shown ??= true;
      if (shown !== true) continue;
      this.#isShown = true;
      yield* held.splice(0);
    }
    if (shown === true) return undefined;
    const decided = await this.#decide(held);
    this.#isShown = true;
    yield* decided;
    return undefined;
  }

  /** What goes out for an answer of which nothing has been shown. */
  async #decide(steps: readonly CompletionStep[]): Promise<readonly CompletionStep[]> {
    const ungarbled = await withoutMadeUpWords(this.#answers, this.#answers.keepOwn(steps));
    const held = await holdAnswer(this.#answers, await withoutOverruledNotes(this.#answers, ungarbled));
    const asked = await holdQuestion(this.#answers, await withSettledArguments(this.#answers, held));
    const decided = await withoutDoneCalls(this.#answers, asked);
    this.#completion = decided.completion;
    return decided.steps;
  }
}

/** What nothing holds to a call that is done is said in words. */
async function withoutDoneCalls(answers: VersionAnswers, answer: Answer): Promise<Answer> {
  if (answer.completion.held.length > 0 || !isDone(answer.calls, answers.turn.done)) return answer;
  return (await answers.hold(answer, [], { form: { toolChoice: "none" } })) ?? answer;
}

/**
 * Where a reply holds made-up words and the version has learned how replies are worded: the reply of the version before it learned that, worded so,
 * if it has fewer of them.
 */
async function withoutMadeUpWords(answers: VersionAnswers, under: Answer): Promise<Answer> {
  const { policy, heard } = answers.turn;
  const wordings = under.defaults.filter((each) => wordsReply(each, heard));
  if (under.calls.length > 0 || wordings.length === 0) return under;
  const said = { tokenizer: policy.tokenizer, heard, others: wordings.map(({ value }) => value) };
  const madeUp = madeUpWords(under.text, said).length;
  if (madeUp === 0) return under;
  const before = await answers.askBefore(wordings.at(-1), { notes: under.completion.notes });
  return before?.calls.length === 0 && before.text !== "" && madeUpWords(before.text, said).length < madeUp ? before : under;
}
