/** Small things that several views show: states, problems, what is not there yet. */
import type { ComponentChildren } from "preact";
import type { VersionStatus } from "../../shared/release.ts";
import { Unreachable } from "../api.ts";
import type { Resource } from "../resource.ts";

export const STATUS_WORDS: Readonly<Record<VersionStatus, string>> = {
  stable: "stable",
  canary: "on trial",
  candidate: "waiting",
  superseded: "superseded",
  rolledBack: "rolled back",
  refused: "refused",
  deleted: "deleted",
};

export function StatusBadge({ status }: { status: VersionStatus }) {
  return <span class={`badge ${status}`}>{STATUS_WORDS[status]}</span>;
}

/** What a reward of −1, 0 or +1 says of the answer, in words and a colour, never in colour alone. */
export function RewardBadge({ reward, votes }: { reward: number; votes?: readonly number[] }) {
  const word = reward > 0 ? "answer right" : reward < 0 ? "answer wrong" : "no verdict";
  const name = reward > 0 ? "good" : reward < 0 ? "bad" : "plain";
  const title = votes === undefined ? undefined : `votes: ${votes.map((vote) => (vote > 0 ? "+1" : String(vote))).join(", ")}`;
  return (
    <span class={`badge ${name}`} title={title}>
      {word}
    </span>
  );
}

export function Problem({ error }: { error: Error | string | undefined }) {
  if (error === undefined) return null;
  return (
    <p class="problem" role="alert">
      {typeof error === "string" ? error : error.message}
    </p>
  );
}

/** What was loaded, or what went wrong, or that it is on its way. That nothing answers is told once, above all views. */
export function Loaded<Answer>({ from, children }: { from: Resource<Answer>; children: (data: Answer) => ComponentChildren }) {
  return (
    <>
      <Problem error={from.error instanceof Unreachable ? undefined : from.error} />
      {from.data !== undefined && children(from.data)}
      {from.data === undefined && (from.error === undefined || from.error instanceof Unreachable) && <p aria-busy="true">Loading</p>}
    </>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

type Told = { label: string; children: ComponentChildren; note?: ComponentChildren; moves?: ComponentChildren };

export function Tile({ label, children, note, moves }: Told) {
  return (
    <article class="tile">
      <h2>{label}</h2>
      <p class="figure">{children}</p>
      {note !== undefined && <p class="note">{note}</p>}
      {moves}
    </article>
  );
}

/** What may be wider than the page; it takes the focus, so that it can be scrolled by keyboard. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
