/** Corrections that are in force as words, until the weights have them: each with its source, and how it is taken out. */
import { useState } from "preact/hooks";
import { API } from "../../shared/api-routes.ts";
import { isAspect } from "../../shared/aspects.ts";
import type { Note, NoteStatus } from "../../shared/note.ts";
import { addressOf, conversationOf, type Line } from "../address.ts";
import type { AgentView } from "../agent-page.tsx";
import { send } from "../api.ts";
import { count } from "../../shared/count.ts";
import { time } from "../format.ts";
import { Dialog } from "../parts/dialog.tsx";
import { OfTool } from "../parts/hints.tsx";
import { Empty, Loaded } from "../parts/shown.tsx";
import { More, Table } from "../parts/table.tsx";
import { User } from "../parts/user.tsx";
import { VersionLinks } from "../parts/version-links.tsx";
import { NOTE_PAGING, usePages } from "../pages.ts";

const BECAME: Readonly<Record<NoteStatus, string>> = {
  inForce: "in force",
  absorbed: "absorbed",
  superseded: "superseded",
  rolledBack: "rolled back",
  dropped: "dropped",
};

export function Notes({ agent, line, live }: AgentView) {
  const notes = usePages(API.notes.at({ agent }, { line }), NOTE_PAGING, live.ticks);
  const [asked, setAsked] = useState<Note>();
  return (
    <section>
      <h1>Notes</h1>
      <p>A correction stands before the next turns of whoever gave it within seconds, and goes once a version does the same without it.</p>
      <Loaded from={notes}>
        {() =>
          notes.items.length === 0 ? (
            <Empty>
              No note. Correct an answer in plain words, in the <a href={addressOf({ agent, line }, "playground")}>playground</a> or with
              any client, and it appears here.
            </Empty>
          ) : (
            <Table label="Notes, newest first" columns={["note", "status", "learned by", "for", "used", "given", "moves"]}>
              {notes.items.map((note) => (
                <tr key={note.noteId}>
                  <td>
                    <a href={conversationOf(agent, note.turnId)}>{note.text}</a>
                    {!isAspect(note.parameter) && <OfTool tool={note.tool} />}
                  </td>
                  <td>
                    <span class={`badge ${note.status}`}>{BECAME[note.status]}</span>
                    {note.absorbedBy !== null && note.status === "absorbed" && (
                      <small>
                        {" "}
                        by <VersionLinks agent={agent} line={line} versions={[note.absorbedBy]} />
                      </small>
                    )}
                  </td>
                  <td>
                    {note.learnedBy === null ? (
                      "–"
                    ) : (
                      <a href={addressOf({ agent, line }, `versions/${note.learnedBy}`)}>version {note.learnedBy}</a>
                    )}
                  </td>
                  <td>{note.scope === "agent" ? "everybody" : <User agent={agent} line={line} user={note.user} />}</td>
                  <td>{count(note.uses, "turn")}</td>
                  <td>
                    <time dateTime={note.createdAt}>{time(note.createdAt)}</time>
                  </td>
                  <td>
                    {note.status === "inForce" && (
                      <button type="button" class="small secondary" onClick={() => setAsked(note)}>
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
      {asked !== undefined && <TakeOut agent={agent} line={line} note={asked} onGone={notes.reload} onClose={() => setAsked(undefined)} />}
    </section>
  );
}

type Going = Line & { note: Note; onGone: () => void; onClose: () => void };

function TakeOut({ agent, line, note: { noteId, text, scope, user, learnedBy }, onGone, onClose }: Going) {
  const drop = async (): Promise<void> => {
    await send(API.dropNote.at({ agent, note: noteId }, { line }));
    onGone();
  };
  return (
    <Dialog title="Take this note out?" verb="Take it out" keep="Change nothing" danger onConfirm={drop} onClose={onClose}>
      <p>
        <strong>{text}</strong> From the next turn on no answer to {scope === "agent" ? "anybody" : <code>{user}</code>} heeds it, and no
        version will learn it any more. What it had taken the place of does not come back, and neither does it: only saying it again gives a
        new note.
      </p>
      {learnedBy !== null && <p>Version {learnedBy} has learned it already and goes on doing it; a rollback takes that back.</p>}
    </Dialog>
  );
}
