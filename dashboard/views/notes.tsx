/** Corrections that are in force as words, until the weights have them: each with its source, and how it is taken out. */
import type { Note, NoteStatus } from "../../shared/note.ts";
import type { AgentView } from "../agent-page.tsx";
import { send } from "../api.ts";
import { count, time } from "../format.ts";
import { Empty, Loaded, Problem, Scroll } from "../parts/shown.tsx";
import { useAction, useResource } from "../resource.ts";

const BECAME: Readonly<Record<NoteStatus, string>> = {
  inForce: "in force",
  absorbed: "absorbed",
  superseded: "superseded",
  rolledBack: "rolled back",
  dropped: "dropped",
};

export function Notes({ agent, live }: AgentView) {
  const notes = useResource<{ notes: Note[] }>(`/api/agents/${agent}/notes`, live.ticks);
  const { run, busy, error } = useAction();
  const drop = (noteId: string): void =>
    run(async () => {
      await send("DELETE", `/api/agents/${agent}/notes/${encodeURIComponent(noteId)}`);
      notes.reload();
    });
  return (
    <section>
      <h1>Notes</h1>
      <p>A correction stands before the next turns of whoever gave it within seconds, and goes once a version does the same without it.</p>
      <Problem error={error} />
      <Loaded from={notes}>
        {({ notes: listed }) =>
          listed.length === 0 ? (
            <Empty>No note. Correct an answer in plain words, and it appears here.</Empty>
          ) : (
            <Scroll label="Notes, newest first">
              <table>
                <thead>
                  <tr>
                    <th scope="col">note</th>
                    <th scope="col">status</th>
                    <th scope="col">for</th>
                    <th scope="col">used</th>
                    <th scope="col">given</th>
                    <th scope="col">moves</th>
                  </tr>
                </thead>
                <tbody>
                  {listed.map((note) => (
                    <tr key={note.noteId}>
                      <td>
                        <a href={`/agents/${agent}/conversations/${note.turnId.split("/")[0] ?? ""}`}>{note.text}</a>
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
                </tbody>
              </table>
            </Scroll>
          )
        }
      </Loaded>
    </section>
  );
}
