/** Who judges an agent is one of its settings: what nobody could judge by is refused when it is set. */
import { describe, expect, it } from "vitest";
import { call, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
const JUDGE = { kind: "llm", url: "https://api.openai.com/v1", model: "judge-1", secret: "OPENAI" };
const patch = (judge: unknown) => call(edge, "admin", "PATCH /api/agents/judged", { learning: { judge } });

describe("learning.judge", () => {
  it("is the base unless it says otherwise, and reaches the trainer without any key", async () => {
    await putAgent(edge, "judged");
    const head = async () => (await call(edge, "trainer", "GET /trainer/v1/agents/judged/lines/shared/head")).body.settings.learning.judge;
    expect(await head()).toEqual({ kind: "embedded", url: null, model: null, secret: null });
    expect((await patch(JUDGE)).status).toBe(200);
    expect(await head()).toEqual(JUDGE);
    expect((await patch({ kind: "embedded" })).status).toBe(200);
    expect(await head()).toEqual({ ...JUDGE, kind: "embedded" });
  });

  it.each([
    { name: "no server, of an agent whose engine is none", judge: { kind: "llm" }, param: "learning.judge.url" },
    { name: "a server without a model", judge: { ...JUDGE, model: null }, param: "learning.judge.model" },
    { name: "a URL of another kind", judge: { ...JUDGE, url: "file:///etc/passwd" }, param: "learning.judge.url" },
    { name: "a key in the URL", judge: { ...JUDGE, url: "https://sk-1@api.openai.com/v1" }, param: "learning.judge.url" },
    { name: "a key in a query", judge: { ...JUDGE, url: "https://api.openai.com/v1?key=sk-1" }, param: "learning.judge.url" },
    { name: "a key in place of its name", judge: { ...JUDGE, secret: "sk-abc" }, param: "learning.judge.secret" },
    { name: "a setting that is misspelt", judge: { ...JUDGE, modle: "x" }, param: "learning.judge.modle" },
  ])("refuses $name", async ({ judge, param }) => {
    const { status, body } = await call(edge, "admin", "PUT /api/agents/refused", { learning: { judge } });
    expect([status, body.error.param]).toEqual([400, param]);
    expect((await call(edge, "admin", "GET /api/agents/refused")).status).toBe(404);
  });
});
