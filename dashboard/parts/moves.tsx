/** Promote and roll back, each with what it will do before it does it. */
import { useEffect, useState } from "preact/hooks";
import { isAspect } from "../../shared/aspects.ts";
import { API } from "../../shared/api-routes.ts";
import type { ListedVersion } from "../../shared/api.ts";
import type { Note } from "../../shared/note.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import type { Line } from "../address.ts";
import { ApiError, get, send } from "../api.ts";
import { BARRED_PAGING, NOTE_PAGING, readAll } from "../pages.ts";
import { useAction } from "../resource.ts";
import { barredText, fateOf, fateOfNotes, movedTexts, notesOf, previewOf, whatIsLeft } from "../../shared/rollback-preview.ts";
import { Dialog } from "./dialog.tsx";
import { OfTool } from "./hints.tsx";
import { Problem } from "./shown.tsx";

type Known = {
  readonly stable: number;
  readonly latest: number;
  readonly versions: readonly ListedVersion[];
  readonly barred: ReadonlySet<string>;
  readonly notes: readonly Note[];
  /** Versions of the shared line that users' own were learned over, of the lines that are listed first. */
  readonly grounds: ReadonlySet<number>;
};

/** A line may have more versions than a page, and more events barred: what is left is worked out from all of them. */
async function readLine({ agent, line }: Line): Promise<Known> {
  const [known, barred, notes, { lines }] = await Promise.all([
    readVersions({ agent, line }),
    readAll(API.quarantined.at({ agent }, { line }), BARRED_PAGING),
    readAll(API.notes.at({ agent }, { line }), NOTE_PAGING),
    get(API.lines.at({ agent })),
  ]);
  const grounds = new Set(lines.flatMap(({ over }) => over ?? []));
  return { ...known, notes, grounds, barred: new Set(barred.map(({ eventId }) => eventId)) };
}

async function readVersions({ agent, line }: Line): Promise<Pick<Known, "stable" | "latest" | "versions">> {
  const versions: ListedVersion[] = [];
  let [stable, latest] = [0, 0];
  for (let oldest: number | undefined; oldest !== 0;) {
    const page = await get(API.versions.at({ agent }, { line, before: oldest }));
    // The newest page is the first one: what comes while the others are read is found out by the edge.
    if (oldest === undefined) ({ stable, latest } = page);
    versions.push(...page.versions);
    oldest = page.versions.at(-1)?.version ?? 0;
  }
  return { stable, latest, versions };
}

/** A rollback as it is asked for, `to` a version. */
type Back = {
  readonly to: number;
  readonly button: string;
  /** What the dialog's button does; the button itself where it is left out. */
  readonly verb?: string;
  readonly title?: string;
  /** Whether it takes something back. */
  readonly danger: boolean;
};

type Listed = Pick<ListedVersion, "version" | "parent" | "status">;

/** From the stable version to its parent, or to one that answered before; undefined where there is none, or nothing to go back from. */
function backFrom({ version, parent, status }: Listed, stable: number): Back | undefined {
  if (status === "stable") return version === 0 ? undefined : { to: parent, button: `Take version ${version} back`, danger: true };
  if (status !== "superseded" && status !== "rolledBack") return undefined;
  if (version > stable) return { to: version, button: `Let version ${version} answer again`, danger: false };
  return { to: version, button: `Roll back to ${version}`, verb: `Roll back to version ${version}`, danger: true };
}

/** `onMoved` is told what was done, for people. */
type Moved = Line & { onMoved: (said: string) => void };

/** All that can be done with a version, each as a button. */
export function VersionMoves({ version: each, stable, ...of }: Moved & { version: Listed; stable: number }) {
  const { version, status } = each;
  return (
    <>
      {(status === "canary" || status === "candidate") && <Promote {...of} version={version} />}
      {status === "canary" && <EndTrial {...of} canary={version} stable={stable} />}
      <TakeBack {...of} version={each} stable={stable} />
    </>
  );
}

/** Where a version is on trial: the stable one goes on, which is a rollback to itself. */
export function EndTrial({ canary, stable, ...of }: Moved & { canary: number; stable: number }) {
  return <RollBack {...of} back={{ to: stable, button: "End the trial", title: `End the trial of version ${canary}?`, danger: true }} />;
}

/** Nothing where there is nothing to go back to. */
export function TakeBack({ version, stable, ...of }: Moved & { version: Listed; stable: number }) {
  const back = backFrom(version, stable);
  return back === undefined ? null : <RollBack {...of} back={back} />;
}

function RollBack({ back, ...of }: Moved & { back: Back }) {
  // What was asked for stays, whatever happens to the line meanwhile.
  const [asked, setAsked] = useState<Back>();
  return (
    <>
      <button type="button" class="small secondary" onClick={() => setAsked(back)}>
        {back.button}
      </button>
      {asked !== undefined && <RollbackDialog {...of} back={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

function Promote({ version, ...of }: Moved & { version: number }) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <button type="button" class="small" onClick={() => setAsking(true)}>
        Promote
      </button>
      {asking && <PromoteDialog {...of} version={version} onClose={() => setAsking(false)} />}
    </>
  );
}

type RollingBack = Moved & { back: Back; onClose: () => void };

function RollbackDialog({ agent, line, back: { to: version, button, verb = button, title, danger }, onMoved, onClose }: RollingBack) {
  const [known, setKnown] = useState<Known>();
  const { run, error } = useAction();
  const look = (): void => run(async () => setKnown(await readLine({ agent, line })));
  useEffect(look, [agent, line]);
  const [quarantine, setQuarantine] = useState(true);
  const [reason, setReason] = useState("");
  const left = whatIsLeft(known?.versions ?? [], version, known?.barred);
  const gone = new Set(left.versions.map((each) => each.version));
  const notes = notesOf(left, known?.notes ?? []);
  const stays = barredText(left.barred.size);
  const move = async (): Promise<void> => {
    if (known === undefined) return;
    const seen = { stable: known.stable, latest: known.latest };
    const asked = { to: version, quarantine, seen, ...(reason === "" ? {} : { reason }) };
    try {
      onMoved(movedTexts(await send(API.rollback.at({ agent }, { line }), asked)).join(" "));
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || thrown.status !== 409 || thrown.param !== "seen") throw thrown;
      setKnown(undefined);
      look();
      throw new Error("Nothing was changed: another version came meanwhile. What would be taken back now is said above; look again.");
    }
  };
  return (
    <Dialog
      title={title ?? `${verb}?`}
      verb={verb}
      keep="Change nothing"
      danger={danger}
      disabled={known === undefined}
      onConfirm={move}
      onClose={onClose}
    >
      <Problem error={error} />
      <p aria-busy={known === undefined}>
        {known === undefined ? "Working out what would be taken back" : previewOf(left, { stable: known.stable, to: version })}
      </p>
      {line !== SHARED_LINE && (
        <p>
          It is the line of <code>{line}</code>: nobody else&#39;s answers change.
          {version === 0 && " Version 0 of it never answers; what everybody gets does."}
        </p>
      )}
      {left.hints.size > 0 && (
        <>
          <p>What {gone.size === 1 ? "it" : "they"} had learned will go:</p>
          <ul>
            {[...left.hints].map((hint) => (
              <li key={hint}>{hint}</li>
            ))}
          </ul>
        </>
      )}
      {notes.length > 0 && <NotesToo notes={notes} go={quarantine} />}
      {line === SHARED_LINE && [...gone].some((each) => known?.grounds.has(each)) && (
        <p>
          Users&#39; own versions that were learned over {gone.size === 1 ? "it" : "these"} go in the same step. What those users had taught
          is in force as notes again until it is learned anew.
        </p>
      )}
      {stays !== undefined && <p>{stays}</p>}
      {left.events.size > 0 && (
        <>
          <label>
            <input type="checkbox" checked={quarantine} onChange={({ currentTarget }) => setQuarantine(currentTarget.checked)} />
            Do not learn it again (it waits in Audit → Quarantine)
          </label>
          <small>{fateOf(quarantine)}</small>
        </>
      )}
      <Reason value={reason} onInput={setReason} />
    </Dialog>
  );
}

/** What becomes of the users' own notes that versions had learned from. */
function NotesToo({ notes, go }: { notes: readonly Note[]; go: boolean }) {
  return (
    <>
      <p>{fateOfNotes(notes.length, go)}</p>
      <ul>
        {notes.map(({ noteId, text, tool, parameter, user }) => (
          <li key={noteId}>
            {text}
            {!isAspect(parameter) && <OfTool tool={tool} />}{" "}
            <small>
              of <code>{user}</code>
            </small>
          </li>
        ))}
      </ul>
    </>
  );
}

function PromoteDialog({ agent, line, version, onMoved, onClose }: Moved & { version: number; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const move = async (): Promise<void> => {
    const moved = await send(API.promote.at({ agent }, { line }), { version, ...(reason === "" ? {} : { reason }) });
    onMoved(movedTexts(moved).join(" "));
  };
  return (
    <Dialog
      title={`Promote version ${version}?`}
      verb={`Promote version ${version}`}
      keep="Change nothing"
      onConfirm={move}
      onClose={onClose}
    >
      <p>It will answer everybody, and the trial will end without a verdict.</p>
      <Reason value={reason} onInput={setReason} />
    </Dialog>
  );
}

function Reason({ value, onInput }: { value: string; onInput: (value: string) => void }) {
  return (
    <label>
      Reason, for the audit
      <input name="reason" maxLength={1000} value={value} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
    </label>
  );
}
