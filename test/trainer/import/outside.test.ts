/** A line that is trained elsewhere: what it would learn goes out, an adapter comes back, and both keep the rules of every update. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { canonicalJson, sha256 } from "../../../shared/digest.ts";
import { linearNames, linearShape, writeAdapter, type LoraPair } from "../../../shared/lora.ts";
import { parseModelConfig } from "../../../shared/model-config.ts";
import { exportCommand } from "../../../trainer/export/command.ts";
import { importCommand } from "../../../trainer/import/command.ts";
import { rebuildCommand } from "../../../trainer/rebuild/command.ts";
import { says, talkTo } from "../../edge/session/talk.ts";
import { uniform } from "../../helpers/adapters.ts";
import { call, putAgent } from "../../helpers/call.ts";
import { startTestEdge, type TestEdge } from "../../helpers/edge.ts";
import { writeRandomBase } from "../../helpers/random-base.ts";
import { tinkerCommand } from "../../../trainer/tinker/command.ts";
import { Replay, tar } from "../tinker/replay.ts";
import { runCommand, type Command, type Ran } from "../run-command.ts";

const PATIENCE_MS = 300_000;
/** Any two tokens of a random base are rewarded; no gate would let the result pass. */
const SETTINGS = { learning: { notes: "off", signals: { rewards: "outcome" } }, release: { gate: { enabled: false } } };

let folder = "";
let base = "";
let edge: TestEdge;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-outside-"));
  base = await writeRandomBase(join(folder, "base"));
  edge = await startTestEdge({ baseFolder: base });
}, PATIENCE_MS);
afterAll(async () => {
  await edge.close();
  await rm(folder, { recursive: true, force: true });
}, PATIENCE_MS);

type Judged = { eventId: string; user: string };

/** A conversation whose first answer was judged so, by a trainer of before. @param said a hint that it gave, and of which tool */
async function converse(agent: string, user: string, reward: -1 | 1, city = "Porto", said: object = {}): Promise<Judged> {
  const { ask, events } = talkTo(edge, agent);
  const opening = says(`A hotel in ${city}, please.`);
  const { message, sessionId } = await ask([opening], { extra: { user, temperature: 1 } });
  await ask([opening, message, says("And now?")], { extra: { user } });
  const find = async () => (await events()).find((event) => event.sessionId === sessionId && event.payload.kind === "nextState:arrived");
  await expect.poll(async () => (await find())?.payload.kind, { timeout: 20_000 }).toBe("nextState:arrived");
  const found = await find();
  if (found === undefined) throw new Error("a next state expected");
  const { seq: _seq, payload: _payload, ...header } = found;
  const payload = {
    kind: "judgement:made",
    subject: header.eventId,
    reward,
    votes: [reward],
    judge: "embedded",
    teaches: "reward",
    ...said,
  };
  const judgement = { ...header, eventId: `${header.eventId}/judged`, payload };
  expect((await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [judgement] })).status).toBe(200);
  return header;
}

const run = (command: Command, ...args: string[]): Promise<Ran> =>
  runCommand(command, ...args, "--url", edge.url, "--key", edge.keys.trainer, "--state", folder);

/** What comes back, as PEFT saves it: float32, and large enough to be seen. */
async function trainedElsewhere(name: string, scale = 0.01, { a = scale } = {}): Promise<string> {
  const config = parseModelConfig(JSON.parse(await readFile(join(base, "config.json"), "utf8")));
  const random = uniform(Buffer.from(name).reduce((sum, byte) => (Math.imul(sum, 31) + byte) >>> 0, 7));
  const pairs: LoraPair[] = linearNames().map((linear) => {
    const { out, in: width } = linearShape(config, linear);
    const values = (count: number, by: number): Float32Array => Float32Array.from({ length: count }, () => by * random());
    return { layer: 1, linear, a: values(2 * width, a), b: values(out * 2, scale) };
  });
  const files = writeAdapter(config, { rank: 2, alpha: 4, pairs }, { baseModel: "elsewhere", type: "F32" });
  const place = await mkdtemp(join(folder, `${name}-`));
  await writeFile(join(place, "adapter_config.json"), files.adapterConfig);
  await writeFile(join(place, "adapter_model.safetensors"), files.adapterModel);
  return place;
}

const versions = async (agent: string) => (await call(edge, "admin", `GET /api/agents/${agent}/versions`)).body.versions;
const exportFrom = (agent: string, out: string, ...more: string[]) =>
  run(exportCommand, "--agent", agent, "--format", "slime", "--out", join(folder, out), ...more);
const importTo = (agent: string, adapter: string, from: string) =>
  run(importCommand, "--agent", agent, "--adapter", adapter, "--from", join(folder, from), "--threads", "1");

describe("export and import", { timeout: PATIENCE_MS }, () => {
  it("publishes what comes back under the events that went out, and says that nobody here can rebuild it", async () => {
    await putAgent(edge, "away", SETTINGS);
    const given = [await converse("away", "ana", 1), await converse("away", "ben", -1)];
    const sent = await exportFrom("away", "first");
    expect([sent.code, sent.err]).toEqual([0, expect.stringContaining("2 events became 2 rows: 0 corrected, 0 supplied, 2 rewarded")]);
    expect(sent.err).toContain("--rollout-batch-size 2 --global-batch-size 2");
    const names = (await readdir(join(folder, "first"))).toSorted();
    expect(names).toEqual(["advantages.json", "export.json", "nextstate_slime.py", "rollout_0.pt"]);
    const manifest = JSON.parse(await readFile(join(folder, "first", "export.json"), "utf8"));
    for (const [name, digest] of Object.entries(manifest.files))
      expect(await sha256(new Uint8Array(await readFile(join(folder, "first", name))))).toBe(digest);
    expect(manifest).toMatchObject({ agent: "away", parent: 0, parentAdapter: null, baseDigest: edge.baseDigest, advantages: "rewards" });
    const digest = await sha256(canonicalJson(manifest));
    expect(JSON.parse(sent.out)).toMatchObject({ digest, rows: 2, withoutLogProbs: 2 });
    // Nothing was consumed: another export has the same rows.
    const again = await exportFrom("away", "again");
    expect(JSON.parse(again.out)).toMatchObject({ digest, rows: 2 });

    const back = await importTo("away", await trainedElsewhere("first"), "first");
    expect([back.err, back.code, JSON.parse(back.out)]).toEqual([
      expect.any(String),
      0,
      { agent: "away", version: 1, release: "stable", faults: [] },
    ]);
    const [version] = await versions("away");
    expect(version).toMatchObject({ version: 1, parent: 0, metrics: null, imported: { export: digest, format: "slime" } });
    expect(version.events.map(({ eventId }: Judged) => eventId)).toEqual(given.map(({ eventId }) => eventId));
    expect(await run(rebuildCommand, "--agent", "away", "--version", "1", "--base", base)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`one that was trained elsewhere, from export ${digest}, and imported`),
    });
    // The same adapter again is of a version that is not the last any more.
    expect(await importTo("away", await trainedElsewhere("late"), "first")).toMatchObject({
      code: 1,
      err: expect.stringContaining("version 0 at cursor 0, which the export was made from expected, got version 1"),
    });
  });

  it("has no more signals than were asked for, and leaves those after them for the next", async () => {
    await putAgent(edge, "some", SETTINGS);
    const given = [await converse("some", "ana8", 1), await converse("some", "ben8", -1), await converse("some", "cem8", 1)];
    const ids = given.map(({ eventId }) => eventId);
    const manifestOf = async (name: string) => JSON.parse(await readFile(join(folder, name, "export.json"), "utf8"));
    expect(JSON.parse((await exportFrom("some", "some", "--most", "2")).out)).toMatchObject({ events: 2, rows: 2 });
    const first = await manifestOf("some");
    expect(first.events.map(({ eventId }: Judged) => eventId)).toEqual(ids.slice(0, 2));
    expect(first.refused).toEqual([]);
    expect(await importTo("some", await trainedElsewhere("none", 0.01, { a: 0 }), "some")).toMatchObject({
      code: 2,
      err: expect.stringContaining("a lora_A and its lora_B that are not zero expected"),
    });
    expect((await importTo("some", await trainedElsewhere("some"), "some")).code).toBe(0);
    expect(JSON.parse((await exportFrom("some", "rest")).out)).toMatchObject({ fromSeq: first.toSeq, events: 1 });
    const rest = await manifestOf("rest");
    expect([rest.events.map(({ eventId }: Judged) => eventId), rest.baseline]).toEqual([ids.slice(2), 1]);
    // Who is in quarantine is not heard in the baseline, either.
    await call(edge, "admin", "POST /api/agents/some/quarantine", { events: [ids[0]] });
    expect((await exportFrom("some", "barring")).code).toBe(0);
    expect((await manifestOf("barring")).baseline).toBe(0);
  });

  it("refuses an adapter whose events were put in quarantine or deleted meanwhile, naming them", async () => {
    await putAgent(edge, "barred", SETTINGS);
    const ana = await converse("barred", "ana2", 1);
    const ben = await converse("barred", "ben2", -1);
    expect((await exportFrom("barred", "barred")).code).toBe(0);
    const adapter = await trainedElsewhere("barred");
    await call(edge, "admin", "POST /api/agents/barred/quarantine", { events: [ana.eventId] });
    expect(await importTo("barred", adapter, "barred")).toMatchObject({
      code: 2,
      err: expect.stringContaining(`${ana.eventId} (in quarantine)`),
    });
    await call(edge, "admin", `DELETE /api/users/${ben.user}`);
    expect(await importTo("barred", adapter, "barred")).toMatchObject({
      code: 2,
      err: expect.stringContaining(`${ben.eventId} (deleted)`),
    });
    expect(await versions("barred")).toHaveLength(1);
  });

  it("refuses an adapter that has learned from a correction whose note was dropped meanwhile, naming it", async () => {
    await putAgent(edge, "dropped", { ...SETTINGS, learning: { signals: SETTINGS.learning.signals } });
    const ana = await converse("dropped", "ana7", -1, "Porto", { hint: "city should be Faro.", tool: "SearchHotel" });
    await converse("dropped", "ben7", 1);
    expect((await exportFrom("dropped", "dropped")).code).toBe(0);
    const { notes } = (await call(edge, "admin", "GET /api/agents/dropped/notes")).body;
    expect(notes).toMatchObject([{ eventId: ana.eventId, status: "inForce" }]);
    expect((await call(edge, "admin", `DELETE /api/agents/dropped/notes/${notes[0].noteId}`)).status).toBe(200);
    expect(await importTo("dropped", await trainedElsewhere("dropped"), "dropped")).toMatchObject({
      code: 2,
      err: expect.stringContaining(`got ${ana.eventId} (its note was dropped);`),
    });
    expect(await versions("dropped")).toHaveLength(1);
  });

  it("takes a version back at once whose user is deleted, and opens what the others had taught", async () => {
    await putAgent(edge, "forgets", SETTINGS);
    const [gone, stays] = [await converse("forgets", "ana3", 1), await converse("forgets", "ben3", -1)];
    expect((await exportFrom("forgets", "forgets")).code).toBe(0);
    expect((await importTo("forgets", await trainedElsewhere("forgets"), "forgets")).code).toBe(0);
    const deleted = await call(edge, "admin", `DELETE /api/users/${gone.user}`);
    expect(deleted.body.agents).toMatchObject([{ agent: "forgets", versions: [1], state: "done" }]);
    const { body: head } = await call(edge, "trainer", "GET /trainer/v1/agents/forgets/lines/shared/head");
    expect(head).toMatchObject({ stable: 0, parent: 0, rebuild: null, reopened: true });
    expect((await versions("forgets")).map(({ status }: { status: string }) => status)).toEqual(["deleted", "stable"]);
    const back = await call(edge, "admin", "POST /api/agents/forgets/rollback", { to: 1 });
    expect(back.status).toBeGreaterThanOrEqual(400);
    const next = await exportFrom("forgets", "forgets2");
    expect(JSON.parse(next.out)).toMatchObject({ events: 1, parent: 0 });
    const manifest = JSON.parse(await readFile(join(folder, "forgets2", "export.json"), "utf8"));
    expect(manifest.events.map(({ eventId }: Judged) => eventId)).toEqual([stays.eventId]);
  });

  it("asks the same gate as every update, and leaves an agent to the trainer that holds it", async () => {
    await putAgent(edge, "gated", { learning: SETTINGS.learning });
    await converse("gated", "ana4", 1);
    await converse("gated", "ben4", -1);
    expect((await exportFrom("gated", "gated")).code).toBe(0);
    const adapter = await trainedElsewhere("gated", 3);
    const { body: lease } = await call(edge, "trainer", "POST /trainer/v1/agents/gated/lease", { holder: "somebody" });
    expect(await importTo("gated", adapter, "gated")).toMatchObject({
      code: 1,
      err: expect.stringContaining("got somebody at work; stop it first"),
    });
    await call(edge, "trainer", "POST /trainer/v1/agents/gated/lease/end", { token: lease.token });
    const refused = await importTo("gated", adapter, "gated");
    expect([refused.code, JSON.parse(refused.out)]).toEqual([
      1,
      { agent: "gated", version: 1, release: "refused", faults: expect.arrayContaining([expect.stringContaining("klToBaseNats")]) },
    ]);
    expect((await call(edge, "trainer", "GET /trainer/v1/agents/gated/lines/shared/head")).body).toMatchObject({ stable: 0 });
  });

  it("has a line trained on Tinker, publishes what comes back, and has it trained on from there", async () => {
    await putAgent(edge, "tinkered", SETTINGS);
    await converse("tinkered", "ana5", 1);
    await converse("tinkered", "ben5", -1);
    const place = await trainedElsewhere("tinkered");
    const names = ["adapter_config.json", "adapter_model.safetensors"];
    const replay = new Replay();
    replay.archive = tar(
      Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(join(place, name))] as const))),
    );
    await replay.start();
    vi.stubEnv("TINKER_API_KEY", "tml-test");
    vi.stubEnv("TINKER_BASE_URL", replay.url);
    const out = join(folder, "tinkered");
    try {
      const trained = await run(tinkerCommand, "--agent", "tinkered", "--model", "Qwen/Qwen3-8B", "--out", out, "--steps", "2");
      expect([trained.code, JSON.parse(trained.out)]).toMatchObject([0, { rows: 2, losses: [expect.any(Number), expect.any(Number)] }]);
      expect(replay.asked.map(({ path }) => path.slice("/api/v1/".length))).toEqual([
        ...["create_session", "create_model", "forward", "forward_backward", "optim_step", "forward_backward", "optim_step"],
        ...["save_weights", "save_weights_for_sampler", "unload_model"],
      ]);
      const state = `tinker://m-1/weights/${replay.asked.find(({ path }) => path === "/api/v1/save_weights")?.body["path"]}`;
      expect(trained.err).toContain(`trained; the service keeps it as ${state}`);
      const back = await importTo("tinkered", join(out, "adapter"), "tinkered");
      expect(JSON.parse(back.out)).toMatchObject({ version: 1, release: "stable" });
      expect((await versions("tinkered"))[0]).toMatchObject({
        imported: { export: JSON.parse(trained.out).digest, format: "tinker", state },
      });
      await converse("tinkered", "ana5", -1, "Faro");
      await converse("tinkered", "ben5", 1, "Faro");
      replay.asked = [];
      const next = await run(tinkerCommand, "--agent", "tinkered", "--model", "Qwen/Qwen3-8B", "--out", join(folder, "tinkered2"));
      expect([next.code, next.err]).toEqual([0, expect.stringContaining(`at rank 2, from ${state}`)]);
      const bodies = replay.asked.map(({ body }) => body);
      expect(bodies[1]).toMatchObject({ type: "create_model", lora_config: { rank: 2 } });
      expect(bodies[2]).toEqual({ type: "load_weights", model_id: "m-1", path: state, optimizer: false, seq_id: 1 });
      expect(JSON.parse((await importTo("tinkered", join(folder, "tinkered2", "adapter"), "tinkered2")).out)).toMatchObject({ version: 2 });
      // What another has trained is from elsewhere for the service.
      await putAgent(edge, "taken", SETTINGS);
      await converse("taken", "ana6", 1);
      await converse("taken", "ben6", -1);
      expect((await run(importCommand, "--agent", "taken", "--adapter", place, "--threads", "1")).code).toBe(0);
      const refused = await run(tinkerCommand, "--agent", "taken", "--model", "Qwen/Qwen3-8B", "--out", join(folder, "taken"));
      expect(refused).toMatchObject({
        code: 1,
        err: expect.stringContaining("or at a version that was trained here expected, got version 1"),
      });
    } finally {
      vi.unstubAllEnvs();
      replay.stop();
    }
  });

  it("says what is missing", async () => {
    expect(await run(exportCommand, "--agent", "away", "--format", "csv")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--format <verl|slime>"),
    });
    expect(await exportFrom("away", "first")).toMatchObject({ code: 2, err: expect.stringContaining("a new folder expected") });
    await putAgent(edge, "silent", SETTINGS);
    expect(await exportFrom("silent", "silent")).toMatchObject({
      code: 2,
      err: expect.stringContaining("signals that an update would learn from expected, got none"),
    });
    const empty = await mkdtemp(join(folder, "empty-"));
    expect(await importTo("away", empty, "first")).toMatchObject({
      code: 2,
      err: expect.stringContaining("a folder with adapter_config.json"),
    });
    expect(await importTo("away", await trainedElsewhere("nothing", 0), "again")).toMatchObject({
      code: expect.any(Number),
      err: expect.stringContaining("expected"),
    });
  });
});
