/** /api/agents/:agent/notes: what is in force beside the weights, and how people take it out. */
import { z } from "zod";
import { forgetLineHead } from "../agent/head.ts";
import { agentOf } from "../agent/port.ts";
import type { App } from "../env.ts";
import { actorOf, agentParam, found, lineQuery, LineQuery, noteParam, pageAfterItem, PageLimit, queryOf, titleOf } from "./params.ts";

export const NotesQuery = LineQuery.extend({
  user: z.string().min(1).max(100).optional(),
  /** The note after which the page begins: the last of the page before. */
  before: z.string().min(1).max(100).optional(),
  limit: PageLimit,
});

export function mountNotes(app: App): void {
  app.get("/api/agents/:agent/notes", async (context) => {
    const name = agentParam(context);
    const { line, user, before, limit } = queryOf(context, NotesQuery);
    const notes = found(await agentOf(context.env, name).notes(line, user), titleOf(name, line));
    return context.json({ notes: pageAfterItem(notes, { idOf: ({ noteId }) => noteId, param: "before", from: before, limit }) });
  });

  app.delete("/api/agents/:agent/notes/:note", async (context) => {
    const [name, line, noteId] = [agentParam(context), lineQuery(context), noteParam(context)];
    const note = await agentOf(context.env, name).dropNote(line, noteId, actorOf(context));
    forgetLineHead(name, line);
    return context.json(found(note, `note ${noteId} of ${titleOf(name, line)}`));
  });
}
