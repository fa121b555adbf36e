/** A version with a default, in real workerd: the answer of the version before goes out where that tells what was said, and the log has it so. */
import { beforeAll, describe, expect, it, vi } from "vitest";
import { TurnFinished } from "../../../shared/events.ts";
import type { LearnedDefault } from "../../../shared/learned-defaults.ts";
import type { AdapterFiles } from "../../../shared/policy.ts";
import type { Reach } from "../../../shared/reach.ts";
import { policyOf, publishAdapter, putRandomAdapter } from "../../helpers/adapters.ts";
import { call, manifestOf, putAgent } from "../../helpers/call.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";

const edge = withEdge({ baseFolder: "base" });
const AGENT = "guide";
const LINE = `/trainer/v1/agents/${AGENT}/lines/shared`;
const WAYS = ["north", "south", "east", "west"];
const SILENT = "I want to walk.";
const SAID = "I want to walk west."; // what the base says where nobody does, too
const way = { type: "string", enum: WAYS };
const WALK = { type: "function", function: { name: "Walk", parameters: { type: "object", properties: { way }, required: ["way"] } } };

const pace = { type: "string", enum: ["slow", "steady", "quick", "brisk", "leisurely"] };
const STROLL = {
  ...WALK,
  function: { name: "Stroll", parameters: { type: "object", properties: { way, pace }, required: ["way", "pace"] } },
};
const RIDE = { ...WALK, function: { ...WALK.function, name: "Ride" } };

async function walk(
  asked = SAID,
  tools: readonly (typeof WALK | typeof STROLL)[] = [WALK],
): Promise<{ version: string | null; fingerprint: string; tool: string; way: string; pace?: string | undefined }> {
  const messages = [{ role: "user", content: asked }];
  const body = { model: AGENT, messages, tools, tool_choice: "required", temperature: 0, max_tokens: 160 };
  const response = await fetch(`${edge.url}/v1/chat/completions`, {
    method: "POST",
    headers: bearer(edge.keys.client),
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as {
    system_fingerprint: string;
    choices: { message: { tool_calls: { function: { name: string; arguments: string } }[] } }[];
  };
  const [chosen] = answer.choices[0]?.message.tool_calls ?? [];
  const args = JSON.parse(chosen?.function.arguments ?? "{}") as { way: string; pace?: string };
  return {
    version: response.headers.get("x-policy-version"),
    fingerprint: answer.system_fingerprint,
    tool: chosen?.function.name ?? "",
    ...args,
  };
}

/** Publishes an adapter over the bare base as a version that has learned a default. */
async function publish(adapter: AdapterFiles, learned: LearnedDefault, reach: Reach = null): Promise<number> {
  await call(edge, "admin", `POST /api/agents/${AGENT}/rollback`, { to: 0 });
  const { cursor } = (await call(edge, "trainer", `GET ${LINE}/head`)).body;
  const manifest = { ...manifestOf({ agent: AGENT, baseDigest: edge.baseDigest, adapter, fromSeq: cursor }), defaults: [learned], reach };
  const { body } = await call(edge, "trainer", `POST ${LINE}/versions`, { parent: 0, manifest });
  expect(body.status).toBe("published");
  await untilServed(body.version);
  return body.version;
}

async function untilServed(version: number): Promise<void> {
  await vi.waitUntil(async () => (await walk()).version === String(version), { timeout: 20_000, interval: 200 });
}

async function turnsBy(version: number): Promise<TurnFinished[]> {
  const { events } = (await call(edge, "admin", `GET /api/agents/${AGENT}/events`)).body;
  return events
    .map(({ payload }: { payload: unknown }) => TurnFinished.safeParse(payload).data)
    .filter((payload: TurnFinished | undefined) => payload?.policyVersion === version);
}

describe("a version with a default", { timeout: 120_000 }, () => {
  let own: string;
  let learnt: string;
  let adapter: AdapterFiles;

  beforeAll(async () => {
    await putAgent(edge, AGENT);
    const { config } = await policyOf(edge);
    own = (await walk()).way;
    expect([own, (await walk(SILENT)).way]).toEqual(["west", "west"]);
    // Of the adapters whose weights are drawn, which say whatever the grammar lets them, one of a few goes the other way.
    for (let seed = 1; ; seed += 1) {
      adapter = await putRandomAdapter(edge, config, seed);
      await untilServed(await publishAdapter(edge, AGENT, adapter));
      learnt = (await walk()).way;
      if (learnt !== own && (await walk(SILENT)).way === learnt) break;
    }
    expect(learnt).not.toBe(own);
  }, 300_000);

  it("answers as the version before where that is sure of another value, and is recorded with that version's tokens", async () => {
    const version = await publish(adapter, { tool: "Walk", parameter: "way", value: learnt, corrected: null });
    const answer = await walk();
    expect(answer).toMatchObject({ version: String(version), way: own, fingerprint: expect.stringMatching(`^v${version}-`) });
    await expect.poll(async () => (await turnsBy(version)).length, { timeout: 20_000 }).toBeGreaterThan(0);
    const [[before], [turn]] = [await turnsBy(0), await turnsBy(version)];
    expect([before?.yieldedTo, turn?.yieldedTo]).toEqual([undefined, { line: "shared", version: 0 }]);
    expect(turn?.rollout.responseTokens).toEqual(before?.rollout.responseTokens);
    expect(turn?.rollout.rolloutLogProbs).toEqual(before?.rollout.rolloutLogProbs);
  });

  it("keeps to it where the version before says what was corrected, unless the user asks for that by its name", async () => {
    const version = await publish(adapter, { tool: "Walk", parameter: "way", value: learnt, corrected: own });
    expect(await walk(SILENT)).toMatchObject({ version: String(version), way: learnt });
    expect(await walk()).toMatchObject({ version: String(version), way: own });
    await expect.poll(async () => (await turnsBy(version)).length, { timeout: 20_000 }).toBeGreaterThan(1);
    const yielded = (await turnsBy(version)).map(({ messages, yieldedTo }) => [messages.at(-1)?.content, yieldedTo?.version]);
    expect(yielded).toContainEqual([SILENT, undefined]);
    expect(yielded).toContainEqual([SAID, 0]);
  });

  it("holds its answer to a default that its weights pass over, and says so", async () => {
    const value = WAYS.find((each) => each !== own && each !== learnt) ?? "";
    const version = await publish(adapter, { tool: "Walk", parameter: "way", value, corrected: own });
    expect(await walk(SILENT)).toMatchObject({ version: String(version), way: value });
    expect(await walk(`I want to walk ${learnt}.`)).toMatchObject({ version: String(version), way: learnt });
    await expect.poll(async () => (await turnsBy(version)).length, { timeout: 20_000 }).toBeGreaterThan(1);
    const held = (await turnsBy(version)).map(({ messages, heldTo }) => [messages.at(-1)?.content, heldTo]);
    expect(held).toContainEqual([SILENT, [{ tool: "Walk", parameter: "way", value }]]);
    expect(held).toContainEqual([`I want to walk ${learnt}.`, undefined]);
  });

  it("answers for the tools that it has learned of; others are called as before it", async () => {
    const learned: LearnedDefault = { tool: "Walk", parameter: "way", value: learnt, corrected: own };
    await call(edge, "admin", `POST /api/agents/${AGENT}/rollback`, { to: 0 });
    await untilServed(0);
    const byBase = await walk(SILENT, [RIDE]);
    const everything = await publish(adapter, learned);
    expect((await walk(SILENT, [RIDE])).way).not.toBe(byBase.way);
    const version = await publish(adapter, learned, ["Walk"]);
    expect(await walk(SILENT)).toMatchObject({ version: String(version), way: learnt });
    expect(await walk(SILENT, [RIDE])).toMatchObject({ version: String(version), way: byBase.way });
    await expect.poll(async () => (await turnsBy(version)).length, { timeout: 20_000 }).toBeGreaterThan(1);
    const by = (turns: readonly TurnFinished[]) => turns.map(({ tools, yieldedTo }) => [tools[0]?.function.name, yieldedTo?.version]);
    expect(by(await turnsBy(version))).toEqual(
      expect.arrayContaining([
        ["Walk", undefined],
        ["Ride", 0],
      ]),
    );
    expect(by(await turnsBy(everything))).toContainEqual(["Ride", undefined]);
  });

  it("has of the tool's arguments those that it has learned about, and the others as before it", async () => {
    const learned: LearnedDefault = { tool: "Stroll", parameter: "way", value: learnt, corrected: own };
    await call(edge, "admin", `POST /api/agents/${AGENT}/rollback`, { to: 0 });
    await untilServed(0);
    const byBase = await walk(SILENT, [STROLL]);
    await publish(adapter, learned);
    const byWeights = await walk(SILENT, [STROLL]);
    expect(byWeights.pace).not.toBe(byBase.pace);
    const version = await publish(adapter, learned, ["Stroll"]);
    expect(await walk(SILENT, [STROLL])).toMatchObject({ version: String(version), way: byWeights.way, pace: byBase.pace });
    expect([byBase.way, byWeights.way]).toEqual([own, learnt]);
    await expect.poll(async () => (await turnsBy(version)).map(({ yieldedTo }) => yieldedTo?.version), { timeout: 20_000 }).toContain(0);
    const heldTo = (await turnsBy(version)).map((turn) => turn.heldTo);
    expect(heldTo).toContainEqual([{ tool: "Stroll", parameter: "way", value: learnt }]);
  });

  it("calls the tool that it has learned to call in another's place, and shows no note", async () => {
    const asked = "Take me there.";
    const both = [WALK, RIDE];
    await untilServed(await publishAdapter(edge, AGENT, adapter));
    const instead = (await walk(asked, both)).tool;
    const [value = ""] = both.map(({ function: { name } }) => name).filter((name) => name !== instead);
    const version = await publish(adapter, { tool: instead, parameter: "@tool", value, corrected: null });
    expect((await walk(asked, both)).tool).toBe(value);
    expect((await walk(SILENT, [WALK])).tool).toBe("Walk");
    await expect.poll(async () => (await turnsBy(version)).length, { timeout: 20_000 }).toBeGreaterThan(1);
    const turns = (await turnsBy(version)).map(({ messages, heldTo, notes }) => [messages.at(-1)?.content, heldTo, notes]);
    expect(turns).toContainEqual([asked, [{ tool: instead, parameter: "@tool", value }], undefined]);
    expect(turns).toContainEqual([SILENT, undefined, undefined]);
  });
});
