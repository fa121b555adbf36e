/** /api/agents/:agent/notes: what is in force beside the weights, and how people take it out. */
import { z } from "zod";
import { SHARED_LINE } from "../../shared/policy.ts";
import { forgetLineHead } from "../agent/head.ts";
import { agentOf } from "../agent/port.ts";
import type { App } from "../env.ts";
import { actorOf, agentParam, found, noteParam, PageLimit, queryOf } from "./params.ts";

export const NotesQuery = z.object({
  user: z.string().min(1).max(100).optional(),
  /** The note after which the page begins: the last of the page before. */
  before: z.string().min(1).max(100).optional(),
  limit: PageLimit,
});

export function mountNotes(app: App): void {
  app.get("/api/agents/:agent/notes", async (context) => {
    const name = agentParam(context);
    const { user, before, limit } = queryOf(context, NotesQuery);
    const notes = found(await agentOf(context.env, name).notes(SHARED_LINE, user), `agent ${name}`);
    const start = before === undefined ? 0 : notes.findIndex(({ noteId }) => noteId === before) + 1;
    return context.json({ notes: notes.slice(start, start + limit) });
  });

  app.delete("/api/agents/:agent/notes/:note", async (context) => {
    const [name, noteId] = [agentParam(context), noteParam(context)];
    const note = await agentOf(context.env, name).dropNote(SHARED_LINE, noteId, actorOf(context));
    forgetLineHead(name, SHARED_LINE);
    return context.json(found(note, `note ${noteId} of agent ${name}`));
  });
}
