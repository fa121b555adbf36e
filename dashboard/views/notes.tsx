/** Corrections that are in force as words, until the weights have them: each with its source, and how it is taken out. */
import { API } from "../../shared/api-routes.ts";
import { isAspect } from "../../shared/aspects.ts";
import type { Note, NoteStatus } from "../../shared/note.ts";
import { conversationOf } from "../address.ts";
import type { AgentView } from "../agent-page.tsx";
import { send } from "../api.ts";
import { count } from "../../shared/count.ts";
import { time } from "../format.ts";
import { OfTool } from "../parts/hints.tsx";
import { Empty, Loaded, Problem } from "../parts/shown.tsx";
import { More, Table } from "../parts/table.tsx";
import { type Paging, usePages } from "../pages.ts";
import { useAction } from "../resource.ts";

const BECAME: Readonly<Record<NoteStatus, string>> = {
  inForce: "in force",
  absorbed: "absorbed",
  superseded: "superseded",
  rolledBack: "rolled back",
  dropped: "dropped",
};

const PAGING: Paging<{ notes: Note[] }, Note> = {
  itemsOf: ({ notes }) => notes,
  idOf: ({ noteId }) => noteId,
  after: ({ noteId }) => ({ before: noteId }),
  size: 100,
};

export function Notes({ agent, line, live }: AgentView) {
  const notes = usePages(API.notes.at({ agent }, { line }), PAGING, live.ticks);
  const { run, busy, error } = useAction();
  const drop = (noteId: string): void =>
    run(async () => {
      await send(API.dropNote.at({ agent, note: noteId }, { line }));
      notes.reload();
    });
  return (
    <section>
      <h1>Notes</h1>
      <p>A correction stands before the next turns of whoever gave it within seconds, and goes once a version does the same without it.</p>
      <Problem error={error} />
      <Loaded from={notes}>
        {() =>
          notes.items.length === 0 ? (
            <Empty>No note. Correct an answer in plain words, and it appears here.</Empty>
          ) : (
            <Table label="Notes, newest first" columns={["note", "status", "for", "used", "given", "moves"]}>
              {notes.items.map((note) => (
                <tr key={note.noteId}>
                  <td>
                    <a href={conversationOf(agent, note.turnId)}>{note.text}</a>
                    {!isAspect(note.parameter) && <OfTool tool={note.tool} />}
                  </td>
                  <td>
                    <span class={`badge ${note.status}`}>{BECAME[note.status]}</span>
                    {note.absorbedBy !== null && <small> by version {note.absorbedBy}</small>}
                  </td>
                  <td>{note.scope === "agent" ? "everybody" : <code>{note.user}</code>}</td>
                  <td>{count(note.uses, "turn")}</td>
                  <td>
                    <time dateTime={note.createdAt}>{time(note.createdAt)}</time>
                  </td>
                  <td>
                    {note.status === "inForce" && (
                      <button type="button" class="small secondary" disabled={busy} onClick={() => drop(note.noteId)}>
                        Take out
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
      <More what="notes" pages={notes} />
    </section>
  );
}
