/** `nextstate turns`: conversations turn by turn, with what followed each answer and what was made of it. */
import { buildCommand } from "@stricli/core";
import type { ListedTurn } from "../../shared/api.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import { aspectText, isAspect } from "../../shared/aspects.ts";
import { hintsOf } from "../../shared/events.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import type { EdgeClient } from "./edge-client.ts";
import { clip, paint, say, show, time } from "./output.ts";
import { Progress } from "./progress.ts";
import { AGENT, amount, COMMON, connect, versionNumber, type Common, type Context } from "./where.ts";

type Reward = (typeof REWARDS)[number];
type Filters = { words?: string; reward?: Reward; version?: number; user?: string; session?: string };
type Flags = Common & Filters & { limit: number };

const REWARDS = ["-1", "0", "1", "none"] as const;

const PAGE = 50; // the most that the API gives at once
const WIDTH = 160; // of a message; --json has all of it

export const turns = buildCommand<Flags, [string], Context>({
  docs: { brief: "Turns, newest first, with what followed, judgements and hints" },
  parameters: {
    flags: {
      ...COMMON,
      words: { kind: "parsed", parse: String, optional: true, placeholder: "words", brief: "of which a message, feedback or hint has all" },
      reward: {
        kind: "enum",
        values: REWARDS,
        optional: true,
        brief: "judged so; none: not judged yet",
      },
      version: { kind: "parsed", parse: versionNumber, optional: true, placeholder: "n", brief: "answered by this version" },
      user: { kind: "parsed", parse: String, optional: true, placeholder: "u_…", brief: "of this user only" },
      session: { kind: "parsed", parse: String, optional: true, placeholder: "s_…", brief: "of this session only" },
      limit: { kind: "parsed", parse: amount, default: "20", placeholder: "n", brief: "how many" },
    },
    positional: { kind: "tuple", parameters: [AGENT] },
  },
  func: async (flags, agent) =>
    show(flags, { turns: await newest(connect(flags), agent, flags) }, ({ turns: found }) => {
      if (found.length === 0) say("No turns.");
      for (const turn of found) describe(turn);
    }),
});

async function newest(
  edge: EdgeClient,
  agent: string,
  { words, reward, version, user, session, limit }: Filters & { limit: number },
): Promise<ListedTurn[]> {
  const found: ListedTurn[] = [];
  const progress = new Progress("turns");
  while (found.length < limit) {
    const last = found.at(-1);
    const page = await edge.turns(agent, {
      ...{ words, reward, version, user, session },
      limit: Math.min(PAGE, limit - found.length),
      before: last?.seq,
    });
    if (page.turns.length === 0) break;
    found.push(...page.turns);
    progress.update(found.length / limit, `${found.length} of ${limit}`);
  }
  progress.end();
  return found;
}

function describe({ createdAt, policyLine, policyVersion, yieldedTo, user, sessionId, seq, ...turn }: ListedTurn): void {
  say(
    `${paint("bold", `#${seq}`)}  ${time(createdAt)}  ${paint("cyan", named(policyLine, policyVersion))}  ${paint("dim", `${user}  ${sessionId}`)}`,
  );
  if (turn.prompt !== null) part(turn.prompt.role, messageText(turn.prompt));
  part("assistant", turn.answer === null ? turn.finishReason : messageText(turn.answer));
  if (yieldedTo !== null)
    part(
      "yielded",
      `what it has learned is about other tools or arguments, or gave way to what was said: ${named(yieldedTo.line, yieldedTo.version)} answered`,
    );
  for (const each of turn.heldTo)
    part("held to", isAspect(each.parameter) ? aspectText(each) : `${each.tool}: ${each.parameter} ${each.value}`);
  for (const { text, held } of turn.notes) part("note", held === true ? `${text} The policy passed it over, and was held to it.` : text);
  for (const { messages } of turn.next) for (const message of messages) part(`→ ${message.role}`, messageText(message));
  if (turn.more) part("feedback", "older feedback is not shown");
  for (const { score, correction, comment, answer } of turn.feedback) {
    const said = [score, correction, comment].filter((each) => each !== undefined).join("  ");
    if (said !== "") part("feedback", said);
    if (answer !== undefined) part("should be", messageText(answer));
  }
  for (const judgement of turn.judgements) {
    const { reward, judge, votes, refused } = judgement;
    part("judged", `${rewardText(reward)} by ${judge}, votes ${votes.join(" ")}`);
    for (const { hint } of hintsOf(judgement)) part("hint", hint);
    if (refused !== undefined) part("no hint", `${refused.code}: ${refused.detail}`);
  }
  say();
}

function named(line: string, version: number): string {
  return line === SHARED_LINE ? `v${version}` : `v${version} of their own`;
}

function part(who: string, text: string): void {
  say(`  ${paint("dim", who.padEnd(11))} ${clip(text, WIDTH)}`);
}

function messageText(message: ChatMessage): string {
  if (message.role !== "assistant") return message.content;
  const calls = (message.tool_calls ?? []).map(({ function: { name, arguments: given } }) => `${name}(${given})`);
  return [...(message.content ? [message.content] : []), ...calls].join(" ");
}

function rewardText(reward: number): string {
  return reward > 0 ? `+${reward}` : String(reward);
}
