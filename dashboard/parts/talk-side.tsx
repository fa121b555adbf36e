/** Who answers on each side of the playground, and what was said there. */
import type { ComponentChildren } from "preact";
import type { ListedVersion } from "../../shared/api.ts";
import type { Said } from "../chat.ts";
import type { Side, Who } from "../talk.ts";
import { isOwed, openCalls, whoOf } from "../talk.ts";
import { Message } from "./messages.tsx";
import { STATUS_WORDS } from "./shown.tsx";
import { type Canned, Results } from "./tool-results.tsx";

const OLDER = "older";
const NOTHING_YET: Said = { role: "assistant", content: null };
const SIDE_NAMES = ["Answers", "Beside it"] as const;

/** One list for each side. @param onMore loads older versions; undefined where all are there */
export function SideChooser({
  sides,
  versions,
  onMore,
  onChoose,
}: {
  sides: readonly Side[];
  versions: readonly ListedVersion[];
  onMore: (() => void) | undefined;
  onChoose: (whos: readonly Who[]) => void;
}) {
  const choose = (place: number, value: string): void => {
    if (value === OLDER) {
      onMore?.();
      return;
    }
    const others = sides.map(({ who }) => who).filter((_, at) => at !== place);
    const who = whoOf(value);
    onChoose(place === 0 ? [who ?? "now", ...others] : [...others, ...(who === undefined ? [] : [who])]);
  };
  return (
    <div class="grid compare">
      {SIDE_NAMES.map((name, place) => (
        <label key={name}>
          {name}
          <select value={String(sides[place]?.who ?? "")} onChange={({ currentTarget }) => choose(place, currentTarget.value)}>
            {place === 1 && <option value="">nothing</option>}
            <option value="now" disabled={sides[1 - place]?.who === "now"}>
              what answers users
            </option>
            {versions.map(({ version, status }) => (
              <option key={version} value={version} disabled={sides[1 - place]?.who === version}>
                version {version}, {STATUS_WORDS[status]}
              </option>
            ))}
            {unlisted(sides[place]?.who, versions) && <option value={String(sides[place]?.who)}>version {sides[place]?.who}</option>}
            {onMore && <option value={OLDER}>older versions …</option>}
          </select>
        </label>
      ))}
    </div>
  );
}

/** Somebody came here with the number of a version that is further back. */
function unlisted(who: Who | undefined, listed: readonly ListedVersion[]): boolean {
  return typeof who === "number" && listed.every(({ version }) => version !== who);
}

/** @param children what stands there before anything is said */
export function TalkSide({
  side: { who, messages, answered },
  busy,
  canned,
  onGiven,
  children,
}: {
  side: Side;
  busy: boolean;
  canned: Canned;
  onGiven: (results: readonly Said[]) => void;
  children: ComponentChildren;
}) {
  const calls = openCalls(messages);
  return (
    <div class="talk" role="log" aria-label={who === "now" ? "what answers users" : `version ${who}`}>
      <h2>{who === "now" ? `What answers users${answered === undefined ? "" : `: version ${answered.version}`}` : `Version ${who}`}</h2>
      {messages.length === 0 && children}
      {messages.map((message, at) => (
        <Message key={at} message={message} busy={busy && at === messages.length - 1} />
      ))}
      {busy && isOwed(messages) && <Message message={NOTHING_YET} busy />}
      {calls.length > 0 && !busy && <Results calls={calls} canned={canned} onGiven={onGiven} />}
    </div>
  );
}
