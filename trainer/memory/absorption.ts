/**
 * Which notes the policy no longer needs. On the last turns whose value only a note can have told, the served answer is
 * the teacher's; the student is the version that answers for the note's tool, without any note, greedily. Where it gives the same argument every
 * time, its weights have taken the note up.
 */
import { isAspect } from "../../shared/aspects.ts";
import { zipStrict } from "../../shared/assert.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import type { Note } from "../../shared/note.ts";
import type { LineHead, VersionFiles } from "../../shared/policy.ts";
import { versionOf } from "../../shared/own-arguments.ts";
import { argumentText, findTool, readableCalls, sameText, type Call } from "../../shared/speech/calls.ts";
import { untrainable, type LoggedTurn } from "../data/exchange.ts";
import { wasOffered, wasSaid } from "../../shared/speech/mention.ts";
import { findParameter } from "../../shared/speech/parameters.ts";
import type { EngineCalls } from "../engine/protocol.ts";
import { ANSWER_TOKENS } from "../learn/lesson/lessons.ts";
import { askGreedily } from "../learn/update/candidate.ts";
import { fits } from "../learn/lesson/rows.ts";
import type { AdapterTensors } from "../policy/adapter.ts";
import type { Base } from "../policy/base.ts";
import { type ReadAnswer, readAnswer } from "../teacher/answer-text.ts";
import { doesSo } from "../teacher/aspect-answer.ts";
import type { AskPolicy } from "../teacher/lead.ts";

/** Turns that must agree; fewer say little. */
export const TURNS_PER_NOTE = 3;

export type Reviewed = { readonly notes: readonly Note[]; readonly turns: readonly LoggedTurn[] };
/** Those of the notes that what the head serves does not need. */
export type ReviewNotes = (head: LineHead, reviewed: Reviewed) => Promise<Note[]>;

type ReviewDependencies = {
  readonly engine: Pick<EngineCalls, "generate" | "score" | "loadAdapter" | "dropAdapter">;
  readonly base: Pick<Base, "tokenizer" | "rowTokens">;
  readonly loadAdapter: (version: Pick<LineHead, "adapter" | "baseDigest">) => Promise<AdapterTensors | null>;
};

type Weights = Pick<VersionFiles, "policyDigest" | "adapter">;

/** Asks the policy only where something is new: another version, or other turns. Serves all lines, each with what was asked of it. */
export function createNoteReview({ engine, base: { tokenizer, rowTokens }, loadAdapter }: ReviewDependencies): ReviewNotes {
  const neededOf = new Map<string, ReadonlySet<string>>();
  return async (head, { notes, turns }) => {
    const name = `notes.${head.agent}.${head.line}`;
    const known = neededOf.get(name);
    const open = notes.flatMap((note) => {
      const shown = turnsUnder(note, turns);
      const by = answererOf(note, head);
      const key = JSON.stringify([note.noteId, by.policyDigest, shown.map(({ turnId }) => turnId)]);
      return note.status === "inForce" && shown.length === TURNS_PER_NOTE ? [{ note, shown, by, key }] : [];
    });
    // Of notes that are gone nothing is kept.
    const needed = new Set(open.flatMap(({ key }) => (known?.has(key) === true ? [key] : [])));
    if (open.length === 0) neededOf.delete(name);
    else neededOf.set(name, needed);
    const asked = open.filter(({ key }) => !needed.has(key));
    const needless: Note[] = [];
    for (const by of new Map(asked.map((each) => [each.by.policyDigest, each.by])).values()) {
      const adapter = await loadAdapter({ baseDigest: head.baseDigest, adapter: by.adapter });
      if (adapter !== null) await engine.loadAdapter(name, adapter);
      try {
        const ask = askGreedily(engine, { adapter: adapter === null ? undefined : name, endIds: tokenizer.endIds, seed: 0 });
        for (const { note, shown, key } of asked.filter((each) => each.by.policyDigest === by.policyDigest))
          if (await isNeedless(note, shown, { tokenizer, rowTokens, ask })) needless.push(note);
          else needed.add(key);
      } finally {
        if (adapter !== null) await engine.dropAdapter(name);
      }
    }
    return needless;
  };
}

/** The version whose weights are to have taken the note up; engines elsewhere have one answer for all. */
function answererOf(note: Note, { onEngine, stablePolicyDigest, adapter, answering, defaults }: LineHead): Weights {
  const bound = { policyDigest: stablePolicyDigest, adapter };
  return onEngine ? bound : versionOf<Weights>(note, { bound, answering }, defaults);
}

/** The last turns that had the note in their prompt and called its tool with its value, one of a session, where nothing else told the value. */
export function turnsUnder(note: Note, turns: readonly LoggedTurn[]): LoggedTurn[] {
  const sessions = new Map<string, LoggedTurn>();
  for (const turn of turns) if (showsNote(turn, note)) sessions.set(turn.sessionId, turn);
  return [...sessions.values()].sort((a, b) => a.seq - b.seq).slice(-TURNS_PER_NOTE);
}

/** What the user, an offer or an earlier call tells is no work of the note; its own conversation holds the correction. */
function showsNote({ sessionId, payload }: LoggedTurn, note: Note): boolean {
  const { messages, tools, answer, notes = [] } = payload;
  if (isAspect(note.parameter))
    return (
      untrainable(payload) === undefined &&
      !note.turnId.startsWith(`${sessionId}/`) &&
      notes.some(({ noteId, held }) => noteId === note.noteId && held === true)
    );
  const call = readableCalls(answer).find((each) => follows(each, note));
  const tool = findTool(tools, note.tool);
  const parameter = tool === undefined ? undefined : findParameter(tool, note.parameter);
  if (call === undefined || parameter === undefined || untrainable(payload) !== undefined) return false;
  const value = { parameter, value: note.value, args: call.arguments };
  return (
    notes.some(({ noteId }) => noteId === note.noteId) &&
    !note.turnId.startsWith(`${sessionId}/`) &&
    !messages.flatMap(readableCalls).some((each) => follows(each, note)) &&
    !wasSaid(messages, value) &&
    !wasOffered(messages, value)
  );
}

/** Whether the policy gives the note's value in every one of the turns without the note. */
export async function isNeedless(
  note: Note,
  turns: readonly LoggedTurn[],
  { tokenizer, rowTokens, ask }: { tokenizer: Tokenizer; rowTokens: number; ask: AskPolicy },
): Promise<boolean> {
  const asked = turns.map(({ payload: { messages, tools } }) => ({
    prompt: tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true }),
    tools,
  }));
  if (asked.some(({ prompt }) => !fits({ rowTokens }, prompt.length, ANSWER_TOKENS))) return false;
  const answers = await ask(asked);
  const said = answers.map((answer) => readAnswer(tokenizer, answer));
  if (isAspect(note.parameter)) return zipStrict(said, turns).every(([each, { payload }]) => doesAsHeld(note, each, payload));
  return said.every(({ calls }) => calls.some((call) => follows(call, note)));
}

/** Whether an answer is what the aspect asks for where the policy was held to it, and a reply as good as the one that went out. */
function doesAsHeld(note: Note, said: ReadAnswer, { answer, ...heard }: LoggedTurn["payload"]): boolean {
  return doesSo(note, said, { before: answer.content ?? "", heard });
}

function follows({ name, arguments: args }: Pick<Call, "name" | "arguments">, { tool, parameter, value }: Note): boolean {
  const held = args[parameter];
  return name === tool && held !== undefined && sameText(argumentText(held), value);
}
