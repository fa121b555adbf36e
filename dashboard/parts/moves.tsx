/** Promote and roll back, each with what it will do before it does it. */
import { useEffect, useState } from "preact/hooks";
import { API } from "../../shared/api-routes.ts";
import type { ListedVersion } from "../../shared/api.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import type { Line } from "../address.ts";
import { get, send } from "../api.ts";
import { count } from "../../shared/count.ts";
import { useAction } from "../resource.ts";
import { whatIsLeft } from "../../shared/rollback-preview.ts";
import { Dialog } from "./dialog.tsx";
import { Problem } from "./shown.tsx";

type Moving = Line & { version: number; onMoved: () => void; onClose: () => void };

/** A line may have more versions than a page: what is left is worked out from all of them. */
async function readVersions({ agent, line }: Line): Promise<ListedVersion[]> {
  const all: ListedVersion[] = [];
  for (let oldest: number | undefined; oldest !== 0;) {
    const { versions } = await get(API.versions.at({ agent }, { line, before: oldest }));
    all.push(...versions);
    oldest = versions.at(-1)?.version ?? 0;
  }
  return all;
}

export function RollbackDialog({ agent, line, version, onMoved, onClose }: Moving) {
  const [versions, setVersions] = useState<readonly ListedVersion[]>();
  const { run, error } = useAction();
  useEffect(() => run(async () => setVersions(await readVersions({ agent, line }))), [agent, line]);
  const [quarantine, setQuarantine] = useState(true);
  const [reason, setReason] = useState("");
  const left = whatIsLeft(versions ?? [], version);
  const move = async (): Promise<void> => {
    await send(API.rollback.at({ agent }, { line }), {
      to: version,
      quarantine,
      ...(reason === "" ? {} : { reason }),
    });
    onMoved();
  };
  return (
    <Dialog
      title={`Roll back to version ${version}`}
      verb="Roll back"
      danger
      disabled={versions === undefined}
      onConfirm={move}
      onClose={onClose}
    >
      <Problem error={error} />
      <p aria-busy={versions === undefined}>
        {versions === undefined
          ? "Working out what is left"
          : left.versions.length === 0
            ? "No version in use is left."
            : `Left: ${left.versions.map((each) => `version ${each.version}`).join(", ")}, with ${count(left.events.size, "event")} that nothing else has learned from.`}
      </p>
      {line !== SHARED_LINE && (
        <p>
          It is the line of <code>{line}</code>: nobody else&#39;s answers change.
          {version === 0 && " Version 0 of it never answers; what everybody gets does."}
        </p>
      )}
      {left.hints.size > 0 && (
        <ul>
          {[...left.hints].map((hint) => (
            <li key={hint}>{hint}</li>
          ))}
        </ul>
      )}
      <label>
        <input type="checkbox" checked={quarantine} onChange={({ currentTarget }) => setQuarantine(currentTarget.checked)} />
        Quarantine what they learned from
      </label>
      <small>
        {quarantine
          ? "No version learns from it until you let it back in."
          : "The trainer learns from it again at once, starting at the version you go back to."}
      </small>
      <Reason value={reason} onInput={setReason} />
    </Dialog>
  );
}

export function PromoteDialog({ agent, line, version, onMoved, onClose }: Moving) {
  const [reason, setReason] = useState("");
  const move = async (): Promise<void> => {
    await send(API.promote.at({ agent }, { line }), { version, ...(reason === "" ? {} : { reason }) });
    onMoved();
  };
  return (
    <Dialog title={`Promote version ${version}`} verb="Promote" onConfirm={move} onClose={onClose}>
      <p>It becomes what answers everybody. The trial ends without a verdict.</p>
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
