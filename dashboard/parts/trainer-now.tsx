/** What the trainer is doing, as it says itself, and what is missing until it learns again. */
import { API } from "../../shared/api-routes.ts";
import type { NextUpdate, TrainerReport, TrainerView } from "../../shared/api.ts";
import { aspectText, isAspect } from "../../shared/aspects.ts";
import { count } from "../../shared/count.ts";
import { addressOf, type Line } from "../address.ts";
import { time } from "../format.ts";
import type { Live } from "../live.ts";
import { useResource } from "../resource.ts";
import { Loaded, Tile } from "./shown.tsx";

/** A trainer that watches speaks every half minute at least; one at work more often. */
const SILENT_MS = 90_000;

export function TrainerNow({ agent, line, live }: Line & { live: Live }) {
  // Of settings, and of what others have said, the stream tells nothing by itself.
  const trainer = useResource(API.trainer.at({ agent }, { line }), `${live.ticks}/${live.trainer?.phase ?? ""}`);
  return (
    <Loaded from={trainer}>
      {(view) => (
        <Shown of={{ agent, line }} view={live.trainer === undefined ? view : { ...view, trainer: live.trainer }} at={Date.now()} />
      )}
    </Loaded>
  );
}

function Shown({ of, view: { trainer, next }, at }: { of: Line; view: TrainerView; at: number }) {
  const heard = trainer !== null && at - Date.parse(trainer.seenAt) < SILENT_MS ? trainer : null;
  return (
    <section class="trainer" aria-label="Trainer">
      <Tile label="The trainer now" note={noteOf(trainer, heard)}>
        {heard === null ? "not there" : PHASES[heard.phase].what}
        {heard !== null && heard.of > 0 && (
          <progress aria-label={`${heard.done} of ${heard.of}`} value={Math.min(heard.done, heard.of)} max={heard.of} />
        )}
      </Tile>
      <Tile label="Next update" note={missingOf(next, heard)}>
        {nextOf(next, heard)}
      </Tile>
      {next.unheard.length > 0 && (
        <article class="tile">
          <h2>Waiting for others to say the same</h2>
          <ul class="note">
            {next.unheard.map((said) => (
              <li key={`${said.tool}/${said.parameter}/${said.value}`}>
                <strong>{unheardText(said)}</strong> {said.detail}
              </li>
            ))}
          </ul>
          <p class="note">
            They stand under <a href={addressOf(of, "notes")}>Notes</a>. Whose word is heard without others is set under{" "}
            <a href={addressOf(of, "settings")}>Settings</a>, Client keys of people who are trusted.
          </p>
        </article>
      )}
    </section>
  );
}

/** Answers that were supplied stand where a tool has no parameter, or a parameter no tool. */
function unheardText(said: NextUpdate["unheard"][number]): string {
  const { tool, parameter, value } = said;
  if (tool === "") return "Answers in words, as they were supplied:";
  if (parameter === "") return `Calls of ${tool}, as they were supplied:`;
  return isAspect(parameter) ? aspectText(said) : `${tool}: ${parameter} = ${value},`;
}

type Words = { readonly what: string; readonly note: (report: TrainerReport) => string };

const PHASES: Readonly<Record<TrainerReport["phase"], Words>> = {
  watching: { what: "watching", note: () => "for what comes after the next answer" },
  judging: { what: "judging", note: ({ done, of }) => `${done} of ${count(of, "signal")} judged` },
  waiting: { what: "waiting", note: ({ corrections }) => `${count(corrections, "corrected turn")} collected` },
  queued: { what: "next in turn", note: () => "another agent's update, or the reading of what is to be learned, comes first" },
  updating: {
    what: "updating",
    note: ({ done, of }) => (done === 0 ? "asks the teacher what it would have said" : `step ${done} of ${of} at most`),
  },
  gating: { what: "testing", note: () => "the candidate and its parent answer the same questions" },
  publishing: { what: "publishing", note: () => "the candidate goes to the edge" },
  rebuilding: { what: "learning again", note: () => "without a user who was deleted" },
};

function noteOf(trainer: TrainerReport | null, heard: TrainerReport | null): string {
  if (heard !== null) return PHASES[heard.phase].note(heard);
  if (trainer === null) return "none has reported yet; `npm start` runs one";
  return `last heard of ${time(trainer.seenAt)}; corrections are kept until one is back`;
}

const BUSY: ReadonlySet<TrainerReport["phase"]> = new Set(["queued", "updating", "gating", "publishing", "rebuilding"]);

function nextOf({ learning, minSignals }: NextUpdate, trainer: TrainerReport | null): string {
  if (!learning) return "paused";
  if (trainer !== null && BUSY.has(trainer.phase)) return "under way";
  const corrections = trainer?.corrections ?? 0;
  return `${Math.min(corrections, minSignals)} of ${minSignals}`;
}

function missingOf({ learning, minSignals, maxWaitMs }: NextUpdate, trainer: TrainerReport | null): string {
  if (!learning) return "what is corrected now is passed over; resume learning in the settings";
  const { corrections = 0, waitingSince = null } = trainer ?? {};
  if (trainer !== null && BUSY.has(trainer.phase)) return "what is corrected meanwhile is judged at once, and learned next";
  if (corrections === 0) return `${count(minSignals, "corrected turn")} missing: say what should have been different`;
  if (corrections >= minSignals) return "enough: it begins now";
  const atLatest = waitingSince === null ? "" : `, or at ${time(new Date(Date.parse(waitingSince) + maxWaitMs).toISOString())}`;
  return `it begins with ${count(minSignals - corrections, "more corrected turn")}${atLatest}`;
}
