/** How an agent learns, in fields: when, from which signals, and who judges. */
import type { ComponentChildren } from "preact";
import type { LearningSettings } from "../../shared/agent.ts";
import type { JudgeSettings } from "../../shared/judge.ts";
import type { SignalSettings } from "../../shared/signal-settings.ts";
import { AudienceFields } from "./audience-fields.tsx";
import { ChoiceField, NumberField, Switch, TextField } from "./fields.tsx";

const NOTES = { user: "the same user's", agent: "everybody's", off: "nobody's" } as const;
const OBJECTIVES = {
  distillation: "notes and hindsight, distilled",
  hybrid: "the same, and the reward of what was corrected",
  paper: "as published: all tokens, no notes",
} as const;
const JUDGES = { embedded: "the base", llm: "a model behind a server" } as const;
const ANSWERS = {
  demonstration: "itself",
  preference: "itself rather than the one given",
  both: "both",
  off: "nothing",
} as const;
const REFERENCES = { answered: "the version that answered", base: "the base" } as const;
const REWARDS = { off: "nothing", outcome: "the outcome to all answers of a conversation", steps: "each answer by its own step" } as const;
const CREDIT = { exchange: "those of its exchange", conversation: "earlier ones of the conversation, too" } as const;
const REPLAY = { recent: "the last ones", approved: "those approved of first" } as const;
const CANDIDATES = { "1": "one wording", "2": "two wordings", "3": "three wordings" } as const;
const CHOICE = { sequence: "for an answer", token: "for each of its tokens" } as const;

const SECRET = [/^[A-Z][A-Z0-9_]{0,63}$/, "capital letters, digits and _: the name of a key in the trainer's environment"] as const;
const ADDRESS = [/^https?:\/\/[^?#@]+$/, "http:// or https://, without user, query and fragment"] as const;

const MS = 1_000;

type Fields<Settings> = { settings: Settings; onChange: (settings: Settings) => void };

export function LearningFields({ settings, onChange, children }: Fields<LearningSettings> & { children?: ComponentChildren }) {
  const set = (change: Partial<LearningSettings>): void => onChange({ ...settings, ...change });
  return (
    <fieldset>
      <legend>Learning</legend>
      <Switch checked={settings.enabled} onChange={(enabled) => set({ enabled })}>
        learn from corrections
      </Switch>
      {children}
      <div class="grid">
        <NumberField
          label="Corrected turns before an update"
          path="learning.minSignals"
          min={1}
          value={settings.minSignals}
          onInput={(minSignals) => set({ minSignals })}
        />
        <NumberField
          label="or seconds that one has waited"
          path="learning.maxWaitMs"
          min={0}
          step="any"
          value={settings.maxWaitMs / MS}
          onInput={(seconds) => set({ maxWaitMs: Math.round(seconds * MS) })}
        />
      </div>
      <div class="grid">
        <ChoiceField
          label="Whose notes"
          path="learning.notes"
          value={settings.notes}
          choices={NOTES}
          onChange={(notes) => set({ notes })}
        />
        <ChoiceField
          label="Objective"
          path="learning.objective"
          value={settings.objective}
          choices={OBJECTIVES}
          onChange={(objective) => set({ objective })}
        />
      </div>
      <AudienceFields settings={settings} onChange={set} />
      <JudgeFields
        settings={settings.judge}
        votes={settings.votes}
        onVotes={(votes) => set({ votes })}
        onChange={(judge) => set({ judge })}
      />
      <SignalFields settings={settings.signals} onChange={(signals) => set({ signals })} />
    </fieldset>
  );
}

function JudgeFields({ settings, votes, onVotes, onChange }: Fields<JudgeSettings> & { votes: number; onVotes: (votes: number) => void }) {
  const set = (change: Partial<JudgeSettings>): void => onChange({ ...settings, ...change });
  const orNull = (text: string): string | null => (text === "" ? null : text);
  return (
    <>
      <div class="grid">
        <ChoiceField
          label="Answers are judged by"
          path="learning.judge.kind"
          value={settings.kind}
          choices={JUDGES}
          onChange={(kind) => set({ kind })}
        />
        <NumberField label="Votes of the judge" path="learning.votes" min={1} max={9} value={votes} onInput={onVotes} />
      </div>
      {settings.kind === "llm" && (
        <>
          <div class="grid">
            <TextField
              label="Its address, with /v1; empty: the agent's own engine"
              path="learning.judge.url"
              pattern={ADDRESS}
              placeholder="https://judge.example/v1"
              value={settings.url ?? ""}
              onInput={(url) => set({ url: orNull(url) })}
            />
            <TextField
              label="Its model; empty: the engine's"
              path="learning.judge.model"
              required={settings.url !== null}
              value={settings.model ?? ""}
              onInput={(model) => set({ model: orNull(model) })}
            />
          </div>
          <TextField
            label="Name of its key; empty: none is sent"
            path="learning.judge.secret"
            pattern={SECRET}
            value={settings.secret ?? ""}
            onInput={(secret) => set({ secret: orNull(secret) })}
          />
          <p class="note">
            The key stays with the trainer, in NEXTSTATE_JUDGE_{settings.secret ?? "…"}_KEY, and is sent to NEXTSTATE_JUDGE_
            {settings.secret ?? "…"}_URL alone.
          </p>
        </>
      )}
    </>
  );
}

function SignalFields({ settings, onChange }: Fields<SignalSettings>) {
  const set = (change: Partial<SignalSettings>): void => onChange({ ...settings, ...change });
  const { preference, hints } = settings;
  return (
    // The browser shows what is wrong in a field that can be seen, and says nothing of others.
    <details onInvalidCapture={({ currentTarget }) => (currentTarget.open = true)}>
      <summary>What each signal teaches</summary>
      <div class="grid">
        <ChoiceField
          label="A supplied answer teaches"
          path="learning.signals.answers"
          value={settings.answers}
          choices={ANSWERS}
          onChange={(answers) => set({ answers })}
        />
        <ChoiceField
          label="A reward without words teaches"
          path="learning.signals.rewards"
          value={settings.rewards}
          choices={REWARDS}
          onChange={(rewards) => set({ rewards })}
        />
      </div>
      <div class="grid">
        <NumberField
          label="β of a preference"
          path="learning.signals.preference.beta"
          min={0.001}
          max={10}
          step="any"
          value={preference.beta}
          onInput={(beta) => set({ preference: { ...preference, beta } })}
        />
        <ChoiceField
          label="Preferences are measured from"
          path="learning.signals.preference.reference"
          value={preference.reference}
          choices={REFERENCES}
          onChange={(reference) => set({ preference: { ...preference, reference } })}
        />
      </div>
      <div class="grid">
        <NumberField
          label="β of KL to the base, beside rewards"
          path="learning.signals.klToBase"
          min={0}
          max={10}
          step="any"
          value={settings.klToBase}
          onInput={(klToBase) => set({ klToBase })}
        />
        <NumberField
          label="Versions that a rewarded turn may lie behind"
          path="learning.signals.maxStaleness"
          min={0}
          value={settings.maxStaleness}
          onInput={(maxStaleness) => set({ maxStaleness })}
        />
      </div>
      <div class="grid">
        <ChoiceField
          label="The teacher is given a hint in"
          path="learning.signals.hints.candidates"
          value={candidatesOf(hints.candidates)}
          choices={CANDIDATES}
          onChange={(candidates) => set({ hints: { ...hints, candidates: Number(candidates) } })}
        />
        <ChoiceField
          label="The wording is chosen"
          path="learning.signals.hints.choice"
          value={hints.choice}
          choices={CHOICE}
          onChange={(choice) => set({ hints: { ...hints, choice } })}
        />
      </div>
      <div class="grid">
        <ChoiceField
          label="A correction is credited to turns:"
          path="learning.signals.credit"
          value={settings.credit}
          choices={CREDIT}
          onChange={(credit) => set({ credit })}
        />
        <ChoiceField
          label="Turns are replayed:"
          path="learning.signals.replay"
          value={settings.replay}
          choices={REPLAY}
          onChange={(replay) => set({ replay })}
        />
      </div>
    </details>
  );
}

function candidatesOf(candidates: number): keyof typeof CANDIDATES {
  return candidates === 3 ? "3" : candidates === 2 ? "2" : "1";
}
