/** Which notes of a line are in force, and which of them a request gets. Pure. */
import type { LearningSettings } from "../../shared/agent.ts";
import { appliesTo, isAspect, topicsOf } from "../../shared/aspects.ts";
import type { ToolDefinition } from "../../shared/chat.ts";
import type { Note, NoteStatus, ServedNote } from "../../shared/note.ts";
import { isOfOneUser } from "../../shared/wording.ts";

/** A note as it is kept; what has become of it depends on the version that is stable. */
export type StoredNote = Omit<Note, "status"> & { readonly dropped: boolean };

/** The stable version and those it descends from, and the same with those in flight behind it. */
export type Ancestry = {
  readonly serving: ReadonlySet<number>;
  readonly inFlight: ReadonlySet<number>;
  /** What the stable version has learned, of others too. */
  readonly learned: readonly Pick<Note, "tool" | "parameter" | "value">[];
};

/** Most notes in force that one user gave for a scope: beyond it the least used goes. */
export const MOST_IN_FORCE = 50;
const MOST_IN_PROMPT = 4; // a small policy reads a few
const NEWEST_IN_PROMPT = 2; // of them: what has just been said is in force, however much else is used

/**
 * Every note with what has become of it, newest first.
 * @param notes oldest first
 */
export function judgeNotes(notes: readonly StoredNote[], ancestry: Ancestry): Note[] {
  const taken = new Set<string>();
  return notes.toReversed().map(({ dropped, ...note }) => {
    const status = dropped ? "dropped" : standing(note, ancestry);
    if (status === "dropped" || status === "rolledBack") return { ...note, status };
    const places = placesOf(note);
    if (places.some((place) => taken.has(place))) return { ...note, status: "superseded" };
    for (const place of places) taken.add(place);
    return { ...note, status };
  });
}

function standing(note: Omit<StoredNote, "dropped">, { serving, inFlight, learned }: Ancestry): NoteStatus {
  const { learnedBy, absorbedBy } = note;
  if (learnedBy !== null && !inFlight.has(learnedBy)) return "rolledBack";
  // Where others have taught it otherwise since, the policy does not do it by itself any more.
  const isOverruled = learned.some((each) => each.value !== note.value && sharesTopic(each, note));
  return absorbedBy !== null && serving.has(absorbedBy) && !isOverruled ? "absorbed" : "inForce";
}

function sharesTopic(one: Pick<Note, "tool" | "parameter" | "value">, other: Pick<Note, "tool" | "parameter" | "value">): boolean {
  const topics = topicsOf(other);
  return topicsOf(one).some((topic) => topics.includes(topic));
}

/** Of notes that share a place one counts: one user's, or everybody's, of one topic. */
export function placesOf({ user, scope, ...about }: Pick<Note, "user" | "scope" | "tool" | "parameter" | "value">): string[] {
  return topicsOf(about).map((topic) => JSON.stringify([scope === "agent" ? null : user, topic]));
}

/**
 * Those in force for the user, one for each topic, newest first: the newest that the user gave, else everybody's.
 * What others gave for everybody counts while the agent's setting is `agent`, and no longer.
 * @param notes newest first
 */
export function notesFor(notes: readonly Note[], user: string, { notes: scope }: Pick<LearningSettings, "notes">): Note[] {
  const own = notes.filter((note) => note.user === user);
  const isForAll = (note: Note): boolean => note.scope === "agent" && !isOfOneUser(note.parameter);
  const others = scope === "agent" ? notes.filter((note) => note.user !== user && isForAll(note)) : [];
  const [chosen, taken] = [new Set<Note>(), new Set<string>()];
  for (const note of [...own, ...others]) {
    const topics = topicsOf(note);
    const counts = note.status === "inForce" || note.status === "absorbed";
    if (!counts || topics.some((topic) => taken.has(topic))) continue;
    chosen.add(note);
    for (const topic of topics) taken.add(topic);
  }
  return notes.filter((note) => note.status === "inForce" && chosen.has(note));
}

/**
 * What goes so that what a user gave stays within bounds: the least used, of equals the oldest, and never the newest.
 * @param notes newest first
 */
export function overflowing(notes: readonly Note[], given: Pick<Note, "user" | "scope">): Note[] {
  const [, ...older] = notes.filter(({ status, user, scope }) => status === "inForce" && user === given.user && scope === given.scope);
  return older
    .toReversed()
    .sort((a, b) => a.uses - b.uses)
    .slice(0, Math.max(0, older.length + 1 - MOST_IN_FORCE));
}

/**
 * The notes about the tools at hand, as the prompt has them: the two newest, then the most used; of arguments and of whole calls each so many.
 * @param notes newest first
 */
export function promptNotes(notes: readonly Note[], tools: readonly ToolDefinition[]): ServedNote[] {
  const relevant = notes.filter((note) => isAbout(tools, note));
  const ofCalls = relevant.filter(({ parameter }) => isAspect(parameter));
  const given = [...mostTelling(relevant.filter((note) => !ofCalls.includes(note))), ...mostTelling(ofCalls)];
  return given.map(({ noteId, text, tool, parameter, value, corrected }) => ({ noteId, text, tool, parameter, value, corrected }));
}

function mostTelling(relevant: readonly Note[]): Note[] {
  const used = relevant.slice(NEWEST_IN_PROMPT).sort((a, b) => b.uses - a.uses);
  return [...relevant.slice(0, NEWEST_IN_PROMPT), ...used].slice(0, MOST_IN_PROMPT);
}

function isAbout(tools: readonly ToolDefinition[], note: Note): boolean {
  return isAspect(note.parameter) ? appliesTo(note, tools) : tools.some((tool) => hasParameter(tool, note));
}

function hasParameter({ function: { name, parameters } }: ToolDefinition, note: Note): boolean {
  const properties = parameters?.["properties"];
  return name === note.tool && typeof properties === "object" && properties !== null && Object.hasOwn(properties, note.parameter);
}
