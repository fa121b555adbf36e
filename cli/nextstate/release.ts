/** `nextstate rollback` and `nextstate promote`: which version answers. */
import { buildCommand } from "@stricli/core";
import type { Seen } from "../../shared/api.ts";
import { AppError } from "../../shared/errors.ts";
import {
  barredText,
  fateOf,
  fateOfNotes,
  type Left,
  type Moved,
  movedTexts,
  notesOf,
  previewOf,
  whatIsLeft,
} from "../../shared/rollback-preview.ts";
import type { EdgeClient, OfLine } from "./edge-client.ts";
import { canAsk, confirm } from "./input.ts";
import type { Note } from "../../shared/note.ts";
import { clip, remark, say, show } from "./output.ts";
import { PAGE, readAll } from "./paged.ts";
import { AGENT, COMMON, connect, LINE, versionNumber, type Common, type Context } from "./where.ts";
import { readNotes } from "./suite.ts";
import { readVersions } from "./versions.ts";

type Reasoned = Common & { reason?: string };

const REASON = { kind: "parsed", parse: String, optional: true, placeholder: "text", brief: "reason, for the audit" } as const;
const MOVE = {
  kind: "tuple",
  parameters: [AGENT, { brief: "number of a version", placeholder: "version", parse: versionNumber }],
} as const;

export const rollback = buildCommand<Reasoned & OfLine & { quarantine: boolean; yes: boolean }, [string, number], Context>({
  docs: { brief: "Make an earlier version the stable one, and un-learn what is left" },
  parameters: {
    flags: {
      ...COMMON,
      ...LINE,
      quarantine: {
        kind: "boolean",
        default: true,
        brief: "bar what the versions left had learned from; --no-quarantine learns from it again",
      },
      reason: REASON,
      yes: { kind: "boolean", default: false, withNegated: false, brief: "do not ask" },
    },
    positional: MOVE,
    aliases: { y: "yes" },
  },
  func: async (flags, agent, to) => {
    const edge = connect(flags);
    const { quarantine, reason } = flags;
    let seen: Seen | undefined;
    if (!flags.yes) {
      const of: OfLine = { line: flags.line };
      const [{ versions, stable, latest }, barred, notes] = await Promise.all([
        readVersions(edge, agent, of),
        readBarred(edge, agent, of),
        readNotes(edge, agent, of),
      ]);
      for (const line of preview(whatIsLeft(versions, to, barred), { stable, to, quarantine, notes })) remark(line);
      if (!canAsk()) throw new AppError("input/invalid", "--yes expected where nobody can be asked, since stdin or stderr is no terminal");
      if (!(await confirm(`Roll ${agent} back to version ${to}?`)))
        throw new AppError("policy/refused", "not confirmed; nothing was changed");
      seen = { stable, latest };
    }
    const request = { to, quarantine, ...(reason === undefined ? {} : { reason }), ...(seen === undefined ? {} : { seen }) };
    show(flags, await edge.rollback(agent, request, { line: flags.line }), sayMoved);
  },
});

export const promote = buildCommand<Reasoned, [string, number], Context>({
  docs: { brief: "Make a version in flight the stable one" },
  parameters: { flags: { ...COMMON, reason: REASON }, positional: MOVE },
  func: async (flags, agent, version) => {
    const request = { version, ...(flags.reason === undefined ? {} : { reason: flags.reason }) };
    show(flags, await connect(flags).promote(agent, request), sayMoved);
  },
});

type Asked = { stable: number; to: number; quarantine: boolean; notes: readonly Note[] };

function preview(left: Left, { stable, to, quarantine, notes }: Asked): string[] {
  const stays = barredText(left.barred.size);
  const learned = notesOf(left, notes);
  return [
    [previewOf(left, { stable, to }), ...(left.events.size === 0 ? [] : [fateOf(quarantine)])].join(" "),
    ...[...left.hints].map((hint) => `  ${clip(hint, 160)}`),
    ...(learned.length === 0 ? [] : [fateOfNotes(learned.length, quarantine)]),
    ...learned.map(({ text, user }) => `  ${clip(text, 120)} (${user})`),
    ...(stays === undefined ? [] : [stays]),
  ];
}

/** Ids of all that the line may not learn from. */
async function readBarred(edge: EdgeClient, agent: string, { line }: OfLine): Promise<Set<string>> {
  const pageOf = async (after: string | undefined) => (await edge.quarantined(agent, { line, after, limit: PAGE })).events;
  return new Set((await readAll(pageOf, ({ eventId }) => eventId)).map(({ eventId }) => eventId));
}

function sayMoved(moved: Moved): void {
  for (const line of movedTexts(moved)) say(line);
}
