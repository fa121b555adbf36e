/** /trainer/v1: files by digest, publishing by compare-and-set, the cursor. */
import { beforeAll, describe, expect, it } from "vitest";
import { sha256 } from "../../../shared/digest.ts";
import { putAdapter } from "../../helpers/adapters.ts";
import {
  call,
  fillLog,
  judgement,
  lineage,
  manifestOf,
  putAgent,
  putFile,
  utf8,
  type Answer,
  type ManifestOptions,
} from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
beforeAll(() => fillLog(edge));
const line = (agent: string): string => `/trainer/v1/agents/${agent}/lines/shared`;
const head = async (agent: string) => (await call(edge, "trainer", `GET ${line(agent)}/head`)).body;
const advance = (agent: string, body: unknown) => call(edge, "trainer", `POST ${line(agent)}/cursor`, body);

const statusesOf = (answers: readonly Answer[]): string[] => answers.map(({ body }) => String(body.status)).toSorted();

async function publish(agent: string, options: Partial<ManifestOptions> = {}) {
  const manifest = manifestOf({ agent, baseDigest: edge.baseDigest, ...options });
  return call(edge, "trainer", `POST ${line(agent)}/versions`, { parent: manifest.parent, manifest });
}

describe("files", () => {
  it("come back byte for byte under their digest", async () => {
    const content = crypto.getRandomValues(new Uint8Array(60_000));
    const { status, digest } = await putFile(edge, content);
    expect(status).toBe(200);
    const response = await fetch(`${edge.url}/trainer/v1/files/${digest}`, { headers: { authorization: `Bearer ${edge.keys.trainer}` } });
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(content);
  });

  it("are not stored under a digest that is not theirs", async () => {
    const wrong = await sha256("something else");
    const { status, body } = await putFile(edge, utf8("content"), wrong);
    expect([status, body.error.code]).toEqual([422, "policy/digest"]);
    expect((await call(edge, "trainer", `GET /trainer/v1/files/${wrong}`)).status).toBe(404);
  });

  it("are refused where what R2 holds is not what the digest says", async () => {
    const digest = await sha256("original");
    await (await edge.getR2()).put(`files/${digest}`, "damaged");
    const { status, body } = await call(edge, "trainer", `GET /trainer/v1/files/${digest}`);
    expect([status, body.error.code]).toEqual([502, "upstream/invalid"]);
  });

  it("may be larger than a JSON body, up to 32 MB", async () => {
    expect((await putFile(edge, new Uint8Array(3_000_000))).status).toBe(200);
    expect((await putFile(edge, new Uint8Array(33_554_433))).status).toBe(413);
  });

  it("are named by a digest and nothing else", async () => {
    expect((await putFile(edge, utf8("content"), "latest")).status).toBe(400);
  });
});

describe("publish", () => {
  it("lets exactly one of two versions with one parent win", async () => {
    await putAgent(edge, "race");
    const adapters = await Promise.all(["a", "b", "c", "d"].map((content) => putAdapter(edge, content)));
    const answers = await Promise.all(adapters.map((adapter) => publish("race", { adapter })));
    const statuses = statusesOf(answers);
    expect(statuses).toEqual(["published", "stale", "stale", "stale"]);
    expect(answers.find(({ body }) => body.status === "stale")?.body).toEqual({ status: "stale", latest: 1, cursor: 0 });
    const winner = answers.findIndex(({ body }) => body.status === "published");
    expect(await head("race")).toMatchObject({ stable: 1, latest: 1, adapter: adapters[winner] });
  });

  it("answers a repeated publish with the version it made, not with another one", async () => {
    await putAgent(edge, "repeat");
    const adapter = await putAdapter(edge, "repeat");
    const first = await publish("repeat", { adapter, toSeq: 3 });
    const second = await publish("repeat", { adapter, toSeq: 3 });
    expect([first.body, second.body]).toEqual([
      { status: "published", version: 1, release: "stable" },
      { status: "published", version: 1, release: "stable" },
    ]);
    expect(await head("repeat")).toMatchObject({ latest: 1, cursor: 3 });
  });

  it("hands on what versions have learned, each with the version before it, and takes it back with them", async () => {
    await putAgent(edge, "defaults");
    const learned = (parameter: string, value: string) => ({ tool: "SearchHotel", parameter, value, corrected: null });
    const publishWith = async (parent: number, defaults: object[]) => {
      const adapter = await putAdapter(edge, `defaults ${parent}`);
      const manifest = { ...manifestOf({ agent: "defaults", baseDigest: edge.baseDigest, parent, adapter }), defaults };
      expect((await call(edge, "trainer", `POST ${line("defaults")}/versions`, { parent, manifest })).body.status).toBe("published");
      return adapter;
    };
    const served = async (): Promise<unknown[]> =>
      (await head("defaults")).defaults.map((each: { parameter: string; value: string; before: { version: number; adapter: unknown } }) => {
        const { parameter, value, before } = each;
        return [parameter, value, before.version, before.adapter];
      });
    const first = await publishWith(0, [learned("rooms", "2")]);
    expect(await served()).toEqual([["rooms", "2", 0, null]]);
    await publishWith(1, [learned("stars", "4"), learned("rooms", "3")]);
    expect(await served()).toEqual([
      ["stars", "4", 1, first],
      ["rooms", "3", 0, null],
    ]);
    expect((await call(edge, "admin", "GET /api/agents/defaults/versions/2")).body.defaults).toHaveLength(2);
    await call(edge, "admin", "POST /api/agents/defaults/rollback", { to: 1 });
    expect(await served()).toEqual([["rooms", "2", 0, null]]);
  });

  it("takes no events that another version has consumed, also after that version was rolled back", async () => {
    await putAgent(edge, "once");
    const [first, second] = await Promise.all([putAdapter(edge, "once 1"), putAdapter(edge, "once 2")]);
    await publish("once", { adapter: first, toSeq: 5, events: [lineage("e5", 5)] });
    await call(edge, "admin", "POST /api/agents/once/rollback", { to: 0 });
    const again = await publish("once", { adapter: second, toSeq: 5, events: [lineage("e5", 5)] });
    expect(again.body).toEqual({ status: "stale", latest: 1, cursor: 5 });
    const repacked = await publish("once", { adapter: second, fromSeq: 5, toSeq: 6, events: [lineage("e5", 5)] });
    expect(repacked.body).toEqual({ status: "stale", latest: 1, cursor: 5 });
  });

  it("names the files that are missing, and publishes nothing", async () => {
    await putAgent(edge, "missing");
    const { configDigest, ...rest } = await putAdapter(edge, "missing");
    const weightsDigest = "f".repeat(64);
    const { body } = await publish("missing", { adapter: { ...rest, configDigest, weightsDigest } });
    expect(body).toEqual({ status: "missing", digests: [weightsDigest] });
    expect(await head("missing")).toMatchObject({ stable: 0, latest: 0 });
  });

  it.each([
    { name: "another agent", manifest: { agent: "somebody" }, message: /^manifest\.agent: strict expected, got somebody$/ },
    { name: "another base", manifest: { baseDigest: "a".repeat(64) }, message: /^manifest\.baseDigest: / },
    { name: "another parent", manifest: { parent: 3 }, message: /^manifest\.parent: 0 expected, got 3$/ },
    { name: "a range that runs back", manifest: { toSeq: -1 }, message: /^toSeq: at least fromSeq 0 expected, got -1$/ },
  ])("refuses a manifest of $name", async ({ manifest, message }) => {
    await putAgent(edge, "strict");
    const whole = { ...manifestOf({ agent: "strict", baseDigest: edge.baseDigest }), ...manifest };
    const { status, body } = await call(edge, "trainer", `POST ${line("strict")}/versions`, { parent: 0, manifest: whole });
    expect([status, body.error.code]).toEqual([422, "policy/refused"]);
    expect(body.error.message).toMatch(message);
  });

  it("refuses an adapter that would fail every answer: not one, of another shape, of another rank", async () => {
    await putAgent(edge, "misfit");
    const [good, config, weights] = await Promise.all([
      putAdapter(edge, "misfit"),
      putFile(edge, utf8('{"peft_type": "LORA", "r": 2, "lora_alpha": 2}')),
      putFile(edge, utf8("not tensors")),
    ]);
    const misfits = [
      { ...good, weightsDigest: weights.digest },
      { ...good, configDigest: weights.digest },
      { ...good, configDigest: config.digest, rank: 2 },
      { ...good, rank: 2 },
    ];
    for (const adapter of misfits) {
      const { status, body } = await publish("misfit", { adapter });
      expect([status, body.error.code]).toEqual([422, "policy/refused"]);
    }
    const boundless = await putFile(edge, utf8('{"peft_type": "LORA", "r": 1, "lora_alpha": 1e300}'));
    const scaled = await publish("misfit", { adapter: { ...good, configDigest: boundless.digest, alpha: 1e300 } });
    expect([scaled.status, scaled.body.error.message]).toEqual([422, "adapter: a finite alpha/rank expected, got 1e+300/1"]);
    const overflowing = await publish("misfit", { adapter: await putAdapter(edge, "overflows", { scale: 1e30 }) });
    expect([overflowing.status, overflowing.body.error.message]).toEqual([
      422,
      expect.stringMatching(
        /^adapter: layer 0 q_proj: alpha\/rank · ‖lora_A‖ · ‖lora_B‖ of at most 100000 expected, got 2 · \S+e\+30 · \S+e\+30 = \S+e\+6\d$/,
      ),
    ]);
    const waiting = await putFile(edge, utf8('{"peft_type": "LORA", "r": 1, "lora_alpha": 2, "alora_invocation_tokens": [7, 8]}'));
    const deaf = await publish("misfit", { adapter: { ...good, configDigest: waiting.digest } });
    expect([deaf.status, deaf.body.error.message]).toEqual([
      422,
      expect.stringMatching(/^adapter_config\.json: alora_invocation_tokens \[[\d, ]+\] as the base's chat template .*, got \[7, 8\]$/),
    ]);
    const rank = await publish("misfit", { adapter: { ...good, rank: 2 } });
    expect(rank.body.error.message).toBe("manifest.adapter: rank 1 and alpha 2 as in its files expected, got 2 and 2");
    expect(await head("misfit")).toMatchObject({ stable: 0, latest: 0 });
  });

  it("keeps beside a version why other events of its batch taught nothing", async () => {
    await putAgent(edge, "reasons");
    const refused = [{ eventId: "e3", code: "hint/superseded", detail: "rooms = 2 was corrected to 3 later in the batch" }];
    const manifest = manifestOf({ agent: "reasons", baseDigest: edge.baseDigest, adapter: await putAdapter(edge, "reasons"), toSeq: 4 });
    await call(edge, "trainer", `POST ${line("reasons")}/versions`, { parent: 0, manifest, refused });
    const { body } = await call(edge, "admin", "GET /api/agents/reasons/audit?limit=1");
    expect(body.audit).toMatchObject([{ move: "publish", to: 1, refused }]);
  });

  it("knows no line but those that exist", async () => {
    await putAgent(edge, "lines");
    const manifest = { ...manifestOf({ agent: "lines", baseDigest: edge.baseDigest }), line: "user-1" };
    const { status, body } = await call(edge, "trainer", "POST /trainer/v1/agents/lines/lines/user-1/versions", { parent: 0, manifest });
    expect([status, body.error.message]).toEqual([404, "line user-1 of agent lines: not found"]);
  });

  it("shows a version to trainers as it was published", async () => {
    await putAgent(edge, "shown");
    const adapter = await putAdapter(edge, "shown");
    await publish("shown", { adapter, toSeq: 4, events: [lineage("e4", 4)] });
    const { body } = await call(edge, "trainer", `GET ${line("shown")}/versions/1`);
    expect(body).toMatchObject({ version: 1, status: "stable", adapter, toSeq: 4, events: [lineage("e4", 4)] });
  });
});

describe("the cursor", () => {
  it("moves over events that were not trained on, and keeps why", async () => {
    await putAgent(edge, "skip");
    const refused = [{ eventId: "e2", code: "train/lengths", detail: "41 response tokens but 40 rollout log-probs" }];
    expect((await advance("skip", { from: 0, to: 7, refused })).body).toEqual({ status: "advanced", cursor: 7 });
    expect(await head("skip")).toMatchObject({ stable: 0, cursor: 7 });
    const { body } = await call(edge, "admin", "GET /api/agents/skip/audit?limit=1");
    expect(body.audit).toMatchObject([{ move: "advance", cursor: 7, refused }]);
  });

  it("does not move beyond the log, where what is yet to come would be passed over", async () => {
    await putAgent(edge, "beyond");
    const { status, body } = await advance("beyond", { from: 0, to: 9_007_199_254_740_991, refused: [] });
    expect([status, body.error.param]).toEqual([400, "to"]);
    const published = await publish("beyond", { adapter: await putAdapter(edge, "beyond"), toSeq: 1_000_000 });
    expect([published.status, published.body.error.message]).toEqual([
      400,
      expect.stringMatching(/^manifest.toSeq: at most \d+, the last event/),
    ]);
    expect(await head("beyond")).toMatchObject({ latest: 0, cursor: 0 });
  });

  it("moves once for two trainers that saw the same events, and never back", async () => {
    await putAgent(edge, "two");
    const answers = await Promise.all([advance("two", { from: 0, to: 7, refused: [] }), advance("two", { from: 0, to: 9, refused: [] })]);
    expect(statusesOf(answers)).toEqual(["advanced", "stale"]);
    const { cursor } = await head("two");
    expect((await advance("two", { from: cursor, to: cursor - 1, refused: [] })).status).toBe(400);
    expect((await head("two")).cursor).toBe(cursor);
  });

  it("ahead of a log that was restored is refused by name, until the log's numbers go on from where they were", async () => {
    await putAgent(edge, "restored");
    const db = await edge.getD1();
    const raise = (to: number) => db.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'events'").bind(to).run();
    const { body: told } = await call(edge, "trainer", "POST /trainer/v1/judgements", {
      judgements: [judgement("restored", "restored-1")],
    });
    await advance("restored", { from: 0, to: told.seq, refused: [] });
    // What Time Travel leaves.
    await db.prepare("DELETE FROM events WHERE seq = ?").bind(told.seq).run();
    await raise(told.seq - 1);
    const { status, body } = await call(edge, "trainer", `GET ${line("restored")}/head`);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(`at most ${told.seq - 1}, `)]);
    expect(body.error.message).toContain(`got ${told.seq}; the log was restored`);
    await raise(told.seq);
    expect((await head("restored")).cursor).toBe(told.seq);
    await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [judgement("restored", "restored-2")] });
    const { body: fed } = await call(edge, "trainer", `GET /trainer/v1/feed?agent=restored&line=shared&cursor=${told.seq}`);
    expect(fed.events).toMatchObject([{ turnId: "restored-2", seq: told.seq + 1 }]);
  });

  it("and a publish exclude each other", async () => {
    await putAgent(edge, "either");
    const adapter = await putAdapter(edge, "either");
    const [published, advanced] = await Promise.all([
      publish("either", { adapter, toSeq: 5 }),
      advance("either", { from: 0, to: 5, refused: [] }),
    ]);
    expect(statusesOf([published, advanced]).filter((status) => status === "stale")).toHaveLength(1);
    expect(await head("either")).toMatchObject({ cursor: 5, latest: published.body.status === "published" ? 1 : 0 });
  });
});
