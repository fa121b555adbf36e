/**
 * What versions say to a turn: the bound one and those before it, with all notes in the prompt or some, free or held to something. The same question
 * has the same answer, so each is asked once; and so many are asked and no more.
 */
import { asksFirst, type Held, type Said } from "../../shared/held-notes.ts";
import type { ServedDefault } from "../../shared/policy.ts";
import type { WrittenAnswer } from "../../shared/yielding.ts";
import { logError } from "../log.ts";
import type { CompletionStep } from "../policy/completion.ts";
import { readSteps } from "./read-steps.ts";
import type { Asked, ForcedForm, YieldingCompletion, YieldingTurn } from "./yielding-turn.ts";

export type Answer = WrittenAnswer &
  Said & {
    readonly completion: YieldingCompletion;
    readonly steps: readonly CompletionStep[];
    /** What its version has learned. */
    readonly defaults: readonly ServedDefault[];
  };

const MOST_ANSWERS = 24; // to one question: a Worker has 30 s of CPU time, and the longest answer takes more than one of them

export class VersionAnswers {
  readonly turn: YieldingTurn;
  readonly #signal: AbortSignal;
  readonly #answers = new Map<string, Answer>();

  constructor(turn: YieldingTurn, signal: AbortSignal) {
    this.turn = turn;
    this.#signal = signal;
  }

  /** The steps of the bound version under all notes, as they come; `keepOwn` takes them once they have come to their end. */
  sampleOwn(): AsyncGenerator<CompletionStep, void, void> {
    return this.#complete(this.turn.completion);
  }

  keepOwn(steps: readonly CompletionStep[]): Answer {
    const { completion, defaults } = this.turn;
    return this.#keep(keyOf({ ...completion, by: completion }), { ...readSteps(steps), completion, steps, defaults });
  }

  /** What the version before a default says, or the bound one where none is named; undefined where that version cannot be asked. */
  async askBefore(learned: ServedDefault | undefined, asked: Omit<Asked, "by">): Promise<Answer | undefined> {
    const { completion, defaults } = this.turn;
    const older = learned === undefined ? defaults : defaults.slice(defaults.indexOf(learned) + 1);
    return this.ask({ ...asked, by: learned?.before ?? completion }, older);
  }

  /** What the base says, which has learned no default. */
  askBase(asked: Omit<Asked, "by">): Promise<Answer | undefined> {
    return this.ask({ ...asked, by: this.turn.base }, []);
  }

  /** Undefined where the version cannot be asked, or enough was. @param defaults what the asked version has learned */
  async ask({ by, notes, agreedTo, hold }: Asked, defaults: readonly ServedDefault[]): Promise<Answer | undefined> {
    const key = keyOf({ by, notes, agreedTo, held: hold?.to ?? [], before: hold?.before.calls, form: hold?.form });
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const mustAsk = hold?.to.some(asksFirst) === true;
    if (this.#answers.size >= MOST_ANSWERS && !mustAsk) return undefined;
    try {
      const { line, version, policyDigest, adapter } = by;
      const completion = this.turn.completionOf({ by: { line, version, policyDigest, adapter }, notes, agreedTo, hold });
      if (completion === undefined) return undefined;
      const steps: CompletionStep[] = [];
      for await (const step of this.#complete(completion)) steps.push(step);
      return this.#keep(key, { ...readSteps(steps), completion, steps, defaults });
    } catch (thrown) {
      // An answer is worth more than a second look at it: a version's files may go while it is asked. But who is to be asked first is asked.
      if (this.#signal.aborted || mustAsk) throw thrown;
      logError("yielding:unasked", thrown, { version: by.version });
      return undefined;
    }
  }

  /** The answer again, from the same prompt and held to more. @param more.agreedTo makes the prompt go on with that question and a yes */
  hold(
    answer: Answer,
    to: readonly Held[],
    { form, agreedTo = answer.completion.agreedTo }: { form?: ForcedForm; agreedTo?: string | undefined } = {},
  ): Promise<Answer | undefined> {
    const { completion: by, defaults } = answer;
    return this.ask({ by, notes: by.notes, agreedTo, hold: { to: [...to, ...by.held], before: answer, form } }, defaults);
  }

  #keep(key: string, answer: Answer): Answer {
    this.#answers.set(key, answer);
    return answer;
  }

  #complete(completion: YieldingCompletion): AsyncGenerator<CompletionStep, void, void> {
    return this.turn.policy.complete({ ...completion, signal: this.#signal });
  }
}

type Keyed = Pick<YieldingCompletion, "notes" | "held" | "agreedTo"> & {
  readonly by: Pick<YieldingCompletion, "policyDigest">;
  /** What is not held stays as it is there. */
  readonly before?: Said["calls"] | undefined;
  readonly form?: ForcedForm | undefined;
};

function keyOf({ by: { policyDigest }, notes, agreedTo, held, before, form }: Keyed): string {
  return JSON.stringify([
    policyDigest,
    notes.map(({ noteId }) => noteId),
    held.map(({ tool, parameter, value }) => [tool, parameter, value]),
    held.length === 0 ? undefined : before,
    form,
    agreedTo,
  ]);
}
