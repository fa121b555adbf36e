/**
 * Notes that what was said overrules leave the prompt: the policy is asked without them, and where it tells what somebody has said, it is that
 * which goes out. A note that stands changes its own argument and no other. A call that no note is about goes out as it does without any, and for a
 * note's sake none is made again that was made before, nor any where a call of another tool is due or asked about.
 */
import { confirms } from "../../shared/asking.ts";
import { leavesOut, passesOver } from "../../shared/held-notes.ts";
import type { ServedNote } from "../../shared/note.ts";
import type { ServedDefault } from "../../shared/policy.ts";
import { wasMade } from "../../shared/speech/calls.ts";
import { type Heard, holds, samePlace, tells, yields } from "../../shared/yielding.ts";
import type { Answer, VersionAnswers } from "./version-answers.ts";
import { isRead } from "./yielding-turn.ts";

export type WithoutOverruled = {
  readonly answer: Answer;
  /** The notes that nothing overrules, in its prompt or not. */
  readonly standing: readonly ServedNote[];
  /** Ids of notes about arguments that the policy fills by itself with what was said, whatever words that has. */
  readonly told: ReadonlySet<string>;
  /** Its call where it was asked without notes: what it leaves out there was made up in reading them. */
  readonly unread: Answer["call"];
};

/** The answer without the notes that yield. What the version has learned about their arguments must not speak for the user, so a version before that is asked. */
export async function withoutOverruledNotes(answers: VersionAnswers, under: Answer): Promise<WithoutOverruled> {
  const { notes } = under.completion;
  const { policy, heard } = answers.turn;
  const told = new Set<string>();
  if (!notes.some((note) => isAboutCall(note, under)))
    return { answer: await withoutOtherTools(answers, under), standing: notes, told, unread: undefined };
  const learned = (some: readonly ServedNote[]): ServedDefault | undefined =>
    under.defaults.findLast((each) => some.some((note) => note.tool === under.call?.name && samePlace(each, note)));
  const without = await answers.askBefore(learned(notes), { notes: unread(notes) });
  if (without === undefined) return { answer: under, standing: notes, told, unread: undefined };
  if (without.call?.name !== under.call?.name) {
    const own = await withoutRead(answers, under);
    if (own !== undefined && (await isDueInstead(answers, own, under))) return { answer: own, standing: notes, told, unread: undefined };
  }
  const yielding = notes.filter((note) => {
    const about = { ...note, corrected: note.corrected === null ? [] : [note.corrected] };
    if (tells(policy.tokenizer, about, { without, heard })) told.add(note.noteId);
    return yields(policy.tokenizer, about, { under, without, heard });
  });
  const standing = notes.filter((note) => !yielding.includes(note));
  const left = yielding.length === 0 ? under : await answers.askBefore(learned(yielding), { notes: standing });
  return left === undefined
    ? { answer: under, standing: notes, told, unread: without.call }
    : { answer: await ownBeside(answers, left, { without, told }), standing, told, unread: without.call };
}

/**
 * The policy's own call with what the notes say: a small policy that reads notes fills more arguments than they are about, or writes there what it takes for
 * another's without them.
 * @param own.without what it says that reads none @param own.told ids of notes about arguments that it tells by itself
 */
async function ownBeside(
  answers: VersionAnswers,
  under: Answer,
  { without, told }: { without: Answer; told: ReadonlySet<string> },
): Promise<Answer> {
  const { notes, policyDigest } = under.completion;
  const said = { calls: under.calls, text: under.text, heard: answers.turn.heard, unread: without.call };
  const isMissed = (note: ServedNote): boolean => !told.has(note.noteId) && leavesOut(note, without) && passesOver(note, said);
  if (without.call?.name !== under.call?.name || without.completion.policyDigest !== policyDigest) return under;
  const noted = notes.filter((note) => isAboutCall(note, under));
  const about = noted.filter((note) => holds(note, under) || isMissed(note));
  const isOwn = (name: string): boolean => about.some(({ parameter }) => parameter === name) || sameArgument(name, under, without);
  if (Object.keys({ ...under.call?.arguments, ...without.call?.arguments }).every(isOwn)) return under;
  // Where they change nothing of what they are about, and nothing is to be held, they change nothing.
  if (about.length === 0)
    return noted.every((note) => sameArgument(note.parameter, under, without) && !passesOver(note, said)) ? without : under;
  const after = await answers.ask({ by: under.completion, notes: unread(notes), hold: { to: about, before: without } }, under.defaults);
  if (after === undefined || after.call?.name !== under.call?.name) return under;
  return about.every((note) => holds(note, after)) ? after : under;
}

/** A call that no note in the prompt is about goes out as it does without them, unless a call is due then that one is about. */
async function withoutOtherTools(answers: VersionAnswers, under: Answer): Promise<Answer> {
  const { notes } = under.completion;
  if (under.call === undefined || !notes.some(isRead)) return under;
  const without = await withoutRead(answers, under);
  return without === undefined || notes.some((note) => isAboutCall(note, without)) ? under : without;
}

/** What the same version says that reads none of the notes. */
function withoutRead(answers: VersionAnswers, { completion, defaults }: Answer): Promise<Answer | undefined> {
  return answers.ask({ by: completion, notes: unread(completion.notes) }, defaults);
}

function unread(notes: readonly ServedNote[]): ServedNote[] {
  return notes.filter((note) => !isRead(note));
}

/**
 * Whether an answer without the call goes out in its place: where that was made before, or where another tool's is due. Of words the call is asked for
 * that would come next; after a question whether all is right, as if that had been agreed to.
 */
async function isDueInstead(answers: VersionAnswers, own: Answer, under: Answer): Promise<boolean> {
  if (own.call?.name === under.call?.name) return false;
  if (isMadeAgain(under, answers.turn.heard)) return true;
  const agreedTo = confirms(own.text) ? own.text : undefined;
  const call = own.call ?? (await answers.hold(own, [], { form: { toolChoice: "required" }, agreedTo }))?.call;
  return call !== undefined && call.name !== under.call?.name;
}

/** Whether the call is one of the conversation's, but for arguments that notes are about. */
function isMadeAgain({ call, completion: { notes } }: Answer, { messages }: Heard): boolean {
  const isNoted = (name: string): boolean => notes.some((note) => note.tool === call?.name && note.parameter === name);
  return call !== undefined && wasMade(messages, call, isNoted);
}

function sameArgument(name: string, left: Answer, right: Answer): boolean {
  return JSON.stringify(left.call?.arguments[name]) === JSON.stringify(right.call?.arguments[name]);
}

/** Whether a note in the prompt is about the tool that the answer calls first. */
function isAboutCall(note: ServedNote, { call }: Answer): boolean {
  return note.tool === call?.name && isRead(note);
}
