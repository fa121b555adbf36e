/** What a trainer writes is refused by member where it is too long to be stored or read again; what it cuts for people is taken. */
import { beforeAll, describe, expect, it } from "vitest";
import { MOST_DETAIL_CHARS, MOST_HINT_CHARS, MOST_ROW_BYTES, MOST_SAMPLE_CHARS } from "../../../shared/wire-limits.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { publishVersion } from "../../../trainer/policy/publish.ts";
import { putAdapter, readStored } from "../../helpers/adapters.ts";
import { call, fillLog, judgement, lineage, manifestOf, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
beforeAll(() => fillLog(edge));
const line = (agent: string): string => `/trainer/v1/agents/${agent}/lines/shared`;
const long = (characters: number): string => "x".repeat(characters);

describe("a manifest", () => {
  it.each([
    { member: "manifest.hints.0", fields: { hints: [long(MOST_HINT_CHARS + 1)] } },
    { member: "manifest.changes.0.after", fields: { changes: [{ prompt: "", before: "", after: long(MOST_SAMPLE_CHARS + 1) }] } },
    { member: "manifest.events.0.eventId", fields: { events: [lineage(long(257), 1)] } },
    { member: "manifest.events.0.hint", fields: { events: [{ ...lineage("e1", 1), hint: long(MOST_HINT_CHARS + 1) }] } },
    { member: "manifest", fields: { runtime: { node: long(MOST_ROW_BYTES) } } },
    { member: "manifest", fields: { hints: Array.from({ length: 2_000 }, () => long(MOST_HINT_CHARS)) } },
  ])("is refused by $member where that is too long", async ({ member, fields }) => {
    await putAgent(edge, "long");
    const manifest = { ...manifestOf({ agent: "long", baseDigest: edge.baseDigest, toSeq: 1 }), ...fields };
    const { status, body } = await call(edge, "trainer", `POST ${line("long")}/versions`, { parent: 0, manifest });
    expect([status, body.error]).toEqual([400, expect.objectContaining({ code: "input/invalid", param: member })]);
    expect((await call(edge, "admin", "GET /api/agents/long/versions")).status).toBe(200);
  });

  it("of a trainer whose users write novels is cut and published", async () => {
    await putAgent(edge, "novels");
    const adapter = await putAdapter(edge, "novels");
    const [configBytes, weightBytes] = [await readStored(edge, adapter.configDigest), await readStored(edge, adapter.weightsDigest)];
    const hint = long(20_000);
    const told = {
      ...manifestOf({ agent: "novels", baseDigest: edge.baseDigest, toSeq: 1, events: [{ ...lineage("e/next", 1), hint }] }),
      ...{ hints: [hint], changes: Array.from({ length: 200 }, () => ({ prompt: hint, before: hint, after: hint })) },
    };
    const refused = [{ eventId: "e/2", code: "hint/none", detail: hint }];
    const published = await publishVersion(
      createEdgeClient({ edge: edge.url, key: edge.keys.trainer }),
      { configBytes, weightBytes, rank: adapter.rank, alpha: adapter.alpha },
      { manifest: told, refused, cases: [], rebuild: false },
    );
    expect(published).toMatchObject({ status: "published", version: 1 });
    const { versions } = (await call(edge, "admin", "GET /api/agents/novels/versions")).body;
    expect(versions[0].hints[0]).toBe(`${long(MOST_HINT_CHARS - 1)}…`);
    expect(versions[0].changes.length).toBeGreaterThan(1);
    const { audit } = (await call(edge, "admin", "GET /api/agents/novels/audit?only=refused")).body;
    expect(audit[0].refused[0].detail).toBe(`${long(MOST_DETAIL_CHARS - 1)}…`);
  });
});

describe("reasons of what was not learned", () => {
  const entry = { eventId: "e1", code: "hint/none", detail: "" };
  it.each([
    { member: "refused.0.detail", refused: [{ ...entry, detail: long(MOST_DETAIL_CHARS + 1) }] },
    { member: "refused.0.eventId", refused: [{ ...entry, eventId: long(257) }] },
    { member: "refused", refused: Array.from({ length: 495 }, () => ({ ...entry, detail: long(MOST_DETAIL_CHARS) })) },
  ])("are refused by $member where that is too long", async ({ member, refused }) => {
    await putAgent(edge, "wordy");
    for (const path of ["cursor", "rebuild/finish"]) {
      const { status, body } = await call(edge, "trainer", `POST ${line("wordy")}/${path}`, { from: 0, to: 1, refused });
      expect([path, status, body.error]).toEqual([path, 400, expect.objectContaining({ code: "input/invalid", param: member })]);
    }
    expect((await call(edge, "trainer", `GET ${line("wordy")}/head`)).body.cursor).toBe(0);
  });
});

describe("a judgement", () => {
  it.each([
    { member: "eventId", change: (each: ReturnType<typeof judgement>) => ({ ...each, eventId: long(5_000) }) },
    { member: "turnId", change: (each: ReturnType<typeof judgement>) => ({ ...each, turnId: long(5_000) }) },
    { member: "sessionId", change: (each: ReturnType<typeof judgement>) => ({ ...each, sessionId: long(5_000) }) },
    { member: "user", change: (each: ReturnType<typeof judgement>) => ({ ...each, user: long(5_000) }) },
    {
      member: "payload.subject",
      change: (each: ReturnType<typeof judgement>) => ({ ...each, payload: { ...each.payload, subject: long(5_000) } }),
    },
  ])("is refused by its $member where that could name no row or file", async ({ member, change }) => {
    await putAgent(edge, "judged");
    const judgements = [change(judgement("judged", "t1"))];
    const { status, body } = await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements });
    expect([status, body.error]).toEqual([400, expect.objectContaining({ code: "input/invalid", param: `judgements.0.${member}` })]);
  });

  it("with as long an id as there may be, of letters of three bytes, and a payload that is a file of its own, is taken", async () => {
    await putAgent(edge, "judged");
    const { payload, ...header } = judgement("judged", "t1");
    const subject = "漢".repeat(249);
    const large = { ...payload, subject, hint: long(600_000) };
    const judgements = [{ ...header, eventId: `${subject}/judged`, payload: large }];
    expect((await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements })).status).toBe(200);
  });
});
