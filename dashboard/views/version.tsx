/** One version: what it learned from whom, what it answers now instead of before, and how it came through its gate. */
import { API } from "../../shared/api-routes.ts";
import type { ListedVersion, ShownVersion } from "../../shared/api.ts";
import type { GateBudgets, GateCheck } from "../../shared/release.ts";
import { eventIdOf } from "../../shared/hint-id.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { addressOf, conversationOf, type Line } from "../address.ts";
import type { AgentView } from "../agent-page.tsx";
import { useBarred } from "../barred.ts";
import { passedOver } from "../../shared/answer-text.ts";
import { count } from "../../shared/count.ts";
import { number, percent, seconds, time } from "../format.ts";
import { CHECKS } from "../gate-words.ts";
import { Answer } from "../parts/answer.tsx";
import { Defaults } from "../parts/defaults.tsx";
import { VersionMoves } from "../parts/moves.tsx";
import { Empty, Loaded, RewardBadge, StatusBadge } from "../parts/shown.tsx";
import { Trial } from "../parts/trial.tsx";
import { Table } from "../parts/table.tsx";
import { User } from "../parts/user.tsx";
import { VersionLinks } from "../parts/version-links.tsx";
import { useResource } from "../resource.ts";
import { EVERY_TURN, sectionOf } from "../turn-filter.ts";

export function Version({ agent, line, live, item, onChanged }: AgentView) {
  const version = Number(item);
  const shown = useResource(API.version.at({ agent, version }, { line }), live.moves);
  const settings = useResource(API.agent.at({ agent }));
  const moved = (said: string): void => {
    shown.reload();
    onChanged(said);
  };
  return (
    <section>
      {shown.error !== undefined && <a href={addressOf({ agent, line }, "versions")}>All versions</a>}
      <Loaded from={shown}>
        {(each) => (
          <>
            <header class="row">
              <h1>
                Version {each.version} <StatusBadge status={each.status} />
              </h1>
              <span class="moves">
                {live.head !== undefined && (
                  <VersionMoves agent={agent} line={line} version={each} stable={live.head.stable} onMoved={moved} />
                )}
              </span>
            </header>
            <p>
              {each.parent === each.version ? (
                "The bare base"
              ) : (
                <>
                  Made from <VersionLinks agent={agent} line={line} versions={[each.parent]} />
                </>
              )}
              {each.over !== null && (
                <>
                  {" "}
                  of this user, over{" "}
                  <a href={addressOf({ agent, line: SHARED_LINE }, `versions/${each.over}`)}>everybody&#39;s {each.over}</a>
                </>
              )}
              , {time(each.createdAt)}. {each.imported !== null && "Trained elsewhere and imported; nobody here can rebuild it. "}
              {each.metrics !== null &&
                `${each.metrics.steps} steps over ${count(each.metrics.contexts, "context")} in ${seconds(each.metrics.seconds)}; loss ${number(each.metrics.lossBefore)} → ${number(each.metrics.loss)}.`}
            </p>
            {each.parent !== each.version && each.status !== "deleted" && each.status !== "refused" && (
              <p>
                <a href={addressOf({ agent, line }, `playground?version=${each.version}&beside=${each.parent}`)}>
                  Ask version {each.version} and version {each.parent} the same
                </a>
                , in the playground.
              </p>
            )}
            <p>
              <a href={addressOf({ agent, line }, sectionOf({ ...EVERY_TURN, version: String(each.version) }, line))}>What it answered</a>,
              in the conversations.
            </p>
            <Answers version={each} />
            <Defaults learned={each.defaults} />
            <Learned version={each} agent={agent} line={line} />
            <Trial agent={agent} line={line} version={each.version} status={each.status} live={live} />
            <Gate report={each.gate?.checks ?? null} budgets={settings.data?.settings.release.gate.budgets} />
            <Files version={each} agent={agent} line={line} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function Answers({ version: { changes, defaults, status } }: { version: ListedVersion }) {
  if (changes.length === 0) return null;
  return (
    <>
      <h2>{status === "rolledBack" || status === "superseded" ? "What it answered" : "What it answers now"}</h2>
      {changes.map(({ prompt, before, after }, index) => (
        <article key={index} class="compared">
          <p class="words">{prompt}</p>
          <div class="sides">
            <div>
              <h3>before</h3>
              <Answer text={before} beside={after} />
            </div>
            <div>
              <h3>after</h3>
              <Answer text={after} beside={before} changed />
            </div>
          </div>
          {passedOver(after, defaults).map(({ parameter, value, used }) => (
            <p key={parameter} class="note">
              Weights alone say {used} for <code>{parameter}</code>; what goes out is held to {value} unless the user says otherwise.
            </p>
          ))}
        </article>
      ))}
    </>
  );
}

function Learned({ version: { events }, agent, line }: Line & { version: ShownVersion }) {
  const barred = useBarred(agent, [line]);
  if (events.length === 0) return null;
  return (
    <>
      <h2>What it learned from</h2>
      <Table label="Events" columns={["hint", "user", "judged", "share", "lift of the teacher"]}>
        {events.map(({ eventId, turnId, user, reward, votes, hint, share, liftNats }) => (
          <tr key={eventId}>
            <td>
              <a href={conversationOf(agent, turnId)}>{hint ?? "no hint"}</a>
              {barred.has(eventIdOf(eventId)) && (
                <small class="block">
                  no version learns it any more: it is in <a href={addressOf({ agent, line }, "audit")}>quarantine</a>
                </small>
              )}
            </td>
            <td>
              <User agent={agent} line={line} user={user} />
            </td>
            <td>
              <RewardBadge reward={reward} votes={votes} />
            </td>
            <td>{share === undefined ? "–" : percent(share)}</td>
            <td>{liftNats === undefined ? "–" : `${number(liftNats)} nats`}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function Gate({ report, budgets }: { report: readonly GateCheck[] | null; budgets: GateBudgets | undefined }) {
  return (
    <>
      <h2>Gate: suite and probes, before and after</h2>
      {report === null ? (
        <Empty>It was not gated: it is the base, or the agent's gate was off.</Empty>
      ) : (
        <Table label="Gate report" columns={["check", "measured", "budget now", "of cases", "right before → after"]}>
          {report.map(({ name, value, asked, right, cases }) => (
            <tr key={name}>
              <td>
                {CHECKS[name]}
                {cases.length > 0 && (
                  <details>
                    <summary>{count(cases.length, "case")}</summary>
                    {cases.map((each, index) => (
                      <div key={index} class="compared">
                        <p class="words">{each.name}</p>
                        <div class="sides">
                          <Answer text={each.before} beside={each.after} />
                          <Answer text={each.after} beside={each.before} changed />
                        </div>
                      </div>
                    ))}
                  </details>
                )}
              </td>
              <td>
                <Meter value={value} most={budgets?.[name]} />
              </td>
              <td>{budgets === undefined ? "–" : number(budgets[name])}</td>
              <td>{asked}</td>
              <td>{right === undefined || right.of === 0 ? "–" : `${right.before} → ${right.after} of ${right.of}`}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

function Meter({ value, most }: { value: number; most: number | undefined }) {
  const over = most !== undefined && value > most;
  return (
    <span class={over ? "over" : ""}>
      {number(value)} {over && <span class="badge bad">over</span>}
      {most !== undefined && <progress aria-label={`${number(value)} of ${number(most)}`} value={Math.min(value, most)} max={most} />}
    </span>
  );
}

function Files({ version: { version, adapter, policyDigest }, agent, line }: Line & { version: ShownVersion }) {
  return (
    <>
      <h2>Files</h2>
      <p>
        Policy <code>{policyDigest}</code>
      </p>
      {adapter !== null && (
        <p>
          A LoRA adapter of rank {adapter.rank} in PEFT's format:{" "}
          <a href={API.versionFile.at({ agent, version, file: "adapter_model.safetensors" }, { line }).path} download>
            adapter_model.safetensors
          </a>
          ,{" "}
          <a href={API.versionFile.at({ agent, version, file: "adapter_config.json" }, { line }).path} download>
            adapter_config.json
          </a>
        </p>
      )}
    </>
  );
}
