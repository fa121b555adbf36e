/** `nextstate suite` and `nextstate notes`: what every version must still do, and corrections in force beside the weights. */
import { buildChoiceParser, buildCommand } from "@stricli/core";
import type { Note, NoteStatus } from "../../shared/note.ts";
import { AppError } from "../../shared/errors.ts";
import type { Expectation, SuiteCase } from "../../shared/suite.ts";
import type { EdgeClient, OfLine } from "./edge-client.ts";
import { readJsonFile } from "./input.ts";
import { clip, paint, say, show, table, time } from "./output.ts";
import { PAGE, readAll } from "./paged.ts";
import { AGENT, COMMON, connect, LINE, type Common, type Context } from "./where.ts";

const CASE_ACTIONS = ["list", "add", "delete"] as const;
const NOTE_ACTIONS = ["list", "drop"] as const;
const NOTE_STYLES = {
  inForce: "green",
  absorbed: "dim",
  superseded: "dim",
  rolledBack: "red",
  dropped: "red",
} as const satisfies Record<NoteStatus, string>;
type CaseAction = (typeof CASE_ACTIONS)[number];
type NoteAction = (typeof NOTE_ACTIONS)[number];

export const suite = buildCommand<Common & { file?: string }, [string, CaseAction, string | undefined], Context>({
  docs: { brief: "The agent's suite: list, add --file, delete ID" },
  parameters: {
    flags: {
      ...COMMON,
      file: { kind: "parsed", parse: String, optional: true, placeholder: "file", brief: "the case to add, as JSON; - is stdin" },
    },
    positional: { kind: "tuple", parameters: [AGENT, actionOf(CASE_ACTIONS), idOf("case")] },
  },
  func: async (flags, agent, action, id) => {
    const edge = connect(flags);
    switch (action) {
      case "list":
        return show(flags, { cases: await readCases(edge, agent) }, ({ cases }) => listCases(cases));
      case "add": {
        if (flags.file === undefined) throw new AppError("input/invalid", "--file: a case as JSON expected, got none");
        return show(flags, await edge.addCase(agent, await readJsonFile(flags.file)), ({ caseId }) => say(`Added ${caseId}.`));
      }
      case "delete":
        return show(flags, await edge.deleteCase(agent, required(id, "case")), ({ caseId }) => say(`Deleted ${caseId}.`));
    }
  },
});

export const notes = buildCommand<Common & OfLine & { user?: string; all: boolean }, [string, NoteAction, string | undefined], Context>({
  docs: { brief: "Corrections in force beside the weights: list, drop ID; --all has those that were in force, too" },
  parameters: {
    flags: {
      ...COMMON,
      ...LINE,
      user: { kind: "parsed", parse: String, optional: true, placeholder: "u_…", brief: "of this user only" },
      all: {
        kind: "boolean",
        default: false,
        withNegated: false,
        brief: "those no longer in force, too, each with its status; without it --json has only those in force",
      },
    },
    positional: { kind: "tuple", parameters: [AGENT, actionOf(NOTE_ACTIONS), idOf("note")] },
  },
  func: async (flags, agent, action, id) => {
    const edge = connect(flags);
    if (action === "drop")
      return show(flags, await edge.dropNote(agent, required(id, "note"), { line: flags.line }), ({ noteId, text }) =>
        say(`Dropped ${noteId}: ${clip(text)}`),
      );
    const every = await readNotes(edge, agent, { line: flags.line, user: flags.user });
    const found = flags.all ? every : every.filter(({ status }) => status === "inForce");
    return show(flags, { notes: found }, () => listNotes(found, flags));
  },
});

function actionOf<const Action extends string>(actions: readonly [Action, ...Action[]]) {
  return {
    brief: actions.join(", "),
    placeholder: "action",
    default: actions[0],
    parse: buildChoiceParser(actions),
    proposeCompletions: () => actions,
  };
}

function idOf(what: string) {
  return { brief: `id of a ${what}`, placeholder: "id", optional: true as const, parse: String };
}

function required(id: string | undefined, what: string): string {
  if (id === undefined) throw new AppError("input/invalid", `the id of a ${what} expected, got none; the list has them`);
  return id;
}

function readCases(edge: EdgeClient, agent: string): Promise<SuiteCase[]> {
  return readAll(
    async (after) => (await edge.cases(agent, { limit: PAGE, after })).cases,
    ({ caseId }) => caseId,
  );
}

export function readNotes(edge: EdgeClient, agent: string, of: OfLine & { user?: string | undefined }): Promise<Note[]> {
  return readAll(
    async (before) => (await edge.notes(agent, { limit: PAGE, ...of, before })).notes,
    ({ noteId }) => noteId,
  );
}

function listCases(cases: readonly SuiteCase[]): void {
  const rows = cases.map(({ caseId, source, name, expect }) => [caseId, source, clip(name, 40), clip(expected(expect))]);
  table(["case", "source", "name", "expected"], rows, "No cases.");
}

function expected(expect: Expectation): string {
  if ("tool" in expect) return `${expect.tool}(${JSON.stringify(expect.arguments)})`;
  return expect.reply.contains.length === 0 ? "a reply" : `a reply with ${expect.reply.contains.join(", ")}`;
}

function listNotes(found: readonly Note[], { all }: { all: boolean }): void {
  const rows = found.map(({ noteId, status, absorbedBy, scope, user, uses, createdAt, text, tool }) => [
    noteId,
    ...(all ? [paint(NOTE_STYLES[status], status === "absorbed" ? `absorbed by v${absorbedBy}` : status)] : []),
    scope === "agent" ? "everybody" : user,
    String(uses),
    time(createdAt),
    `${tool}: ${clip(text)}`,
  ]);
  table(["note", ...(all ? ["status"] : []), "for", "uses", "created", "text"], rows, all ? "No notes." : "No notes in force.");
}
