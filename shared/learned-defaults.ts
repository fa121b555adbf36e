/** What a version has learned to use where the user names nothing: its own defaults, and those that it has from the versions before. */
import { z } from "zod";
import { topicsOf } from "./aspects.ts";
import { type Answering, inheritAnswering, type Reach, type Standing, versionFor } from "./reach.ts";
import { samePlace } from "./yielding.ts";

const MOST_BY_BASE = 16; // values
const MOST_CHARS = 200; // of a name or a value: what is longer is no default

/** A default as an update teaches it. */
export const LearnedDefault = z.object({
  tool: z.string().max(MOST_CHARS),
  parameter: z.string().max(MOST_CHARS),
  /** As text. */
  value: z.string().max(MOST_CHARS),
  /** What the call that was corrected had in its place; null where nothing. */
  corrected: z.string().max(MOST_CHARS).nullable(),
  /**
   * What the base's calls have there in the corrected conversations, since no update has led it astray; none where they leave it out. Absent where the base
   * makes no such call, or was not asked.
   */
  byBase: z.array(z.string().max(MOST_CHARS)).max(MOST_BY_BASE).optional(),
  /** False where somebody supplied an answer with this value, which is no default: calls are no longer held to the one that was learned before. */
  held: z.literal(false).optional(),
  /** Of a supplied answer, where it is known: the event that holds it, so that it goes with whoever supplied it and with nobody else. */
  eventId: z.string().max(MOST_CHARS).optional(),
});
export type LearnedDefault = z.infer<typeof LearnedDefault>;

/** One that an answer was held to, or what was said in its place, which may be as long as what users say. */
export const HeldDefault = z.object({ tool: z.string(), parameter: z.string(), value: z.string() });
export type HeldDefault = z.infer<typeof HeldDefault>;

/** A default that a version has, with what the policy had made up in its place and the version that answered for its tool before it was learned. */
export type InheritedDefault<Before> = Pick<LearnedDefault, "tool" | "parameter" | "value" | "held"> & {
  readonly corrected: readonly string[];
  /** What the base makes up in its place; absent where that is not known of every correction. */
  readonly byBase?: readonly string[] | undefined;
  readonly before: Before;
};

/** That a version has; of more the oldest are no longer asked about. */
export const MOST_DEFAULTS = 128;

/** What a version has learned with all that it descends from, newest first, and who answers beside it; null where it answers for everything. */
export type Kept<Version> = { readonly defaults: readonly InheritedDefault<Version>[]; readonly answering: Answering<Version> | null };

/**
 * What a version has once it has learned this over another. One with as many defaults as are kept answers for everything, since nobody knows what more
 * there were.
 * @param options.by the version itself
 */
export function inheritKept<Version>(
  { bound, defaults: known, answering }: Kept<Version> & Standing<Version>,
  { by, learned, reach }: { by: Version; learned: readonly LearnedDefault[]; reach: Reach },
): Kept<Version> {
  const defaults = inheritDefaults(known, learned, (tool) => versionFor(tool, { bound, answering }));
  return { defaults, answering: defaults.length < MOST_DEFAULTS ? inheritAnswering({ bound, answering }, { by, reach }) : null };
}

/**
 * The defaults of a version, newest first: its parent's with what it has learned itself. Learned again, a default has its latest value and
 * stays where it was: the version before the first time is the last that knows nothing of it. A value that was itself a default when
 * it was corrected was not made up. One that somebody supplied another value for is no longer held, and yields as before.
 * @param parent the parent's, newest first
 * @param learned in the order in which they were learned, one for each argument
 * @param before the version that has answered for a tool so far
 */
export function inheritDefaults<Before>(
  parent: readonly InheritedDefault<Before>[],
  learned: readonly LearnedDefault[],
  before: (tool: string) => Before,
): InheritedDefault<Before>[] {
  const kept = parent.flatMap((known) => {
    // A supplied answer that has the default is for it.
    const again = learned.find((each) => samePlace(each, known) && (each.held !== false || each.value !== known.value));
    if (again === undefined) return learned.some((each) => each.held !== false && displaces(each, known)) ? [] : [known];
    if (again.held === false) return [{ ...known, held: again.held }];
    const madeUp = again.corrected === null || again.corrected === known.value ? [] : [again.corrected];
    const { tool, parameter, before: unlearned } = known;
    const corrected = [...new Set([...known.corrected, ...madeUp])];
    return [{ tool, parameter, value: again.value, before: unlearned, corrected, ...bothByBase(known, again) }];
  });
  const fresh = learned.filter((each) => each.held !== false && !parent.some((known) => samePlace(each, known)));
  const added = fresh.map(({ tool, parameter, value, corrected, byBase }) => ({
    ...{ tool, parameter, value, before: before(tool) },
    corrected: corrected === null ? [] : [corrected],
    ...(byBase && { byBase }),
  }));
  return [...added.toReversed(), ...kept].slice(0, MOST_DEFAULTS);
}

function bothByBase(
  { byBase: known }: Pick<InheritedDefault<unknown>, "byBase">,
  { byBase: more }: Pick<LearnedDefault, "byBase">,
): Pick<InheritedDefault<unknown>, "byBase"> {
  return known === undefined || more === undefined ? {} : { byBase: [...new Set([...known, ...more])] };
}

/** Whether what was learned is the other way round of what is known: of two tools, which is called in the place of which. */
function displaces(learned: LearnedDefault, known: HeldDefault): boolean {
  return topicsOf(learned).some((topic) => topicsOf(known).includes(topic));
}
