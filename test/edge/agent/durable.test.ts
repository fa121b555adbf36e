/** What an AgentObject has acknowledged survives the death of its process. */
import { beforeAll, describe, expect, it } from "vitest";
import { putAdapter } from "../../helpers/adapters.ts";
import { call, fillLog, lineage, manifestOf, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
beforeAll(() => fillLog(edge));
const LINE = "/trainer/v1/agents/durable/lines/shared";

/** Kills workerd as a power cut would; Miniflare starts another one on the same port. */
function killWorkerd(): void {
  const pid = edge.workerdPid();
  if (pid === undefined) throw new Error("a running workerd expected, got none");
  process.kill(pid, "SIGKILL");
}

const tryCall = (route: string) => call(edge, "trainer", route).catch(() => undefined);

describe("an agent", () => {
  it("keeps its settings, versions, release, cursor and trail over kill -9", async () => {
    await putAgent(edge, "durable", { instructions: "Remember." });
    const adapter = await putAdapter(edge, "durable");
    const published = { agent: "durable", baseDigest: edge.baseDigest, adapter, toSeq: 5, events: [lineage("e5", 5)] };
    await call(edge, "trainer", `POST ${LINE}/versions`, { parent: 0, manifest: manifestOf(published) });
    await call(edge, "admin", "POST /api/agents/durable/rollback", { to: 0, reason: "before the cut" });
    await call(edge, "trainer", `POST ${LINE}/cursor`, { from: 5, to: 9, refused: [] });
    const before = await call(edge, "trainer", `GET ${LINE}/head`);
    expect(before.body).toMatchObject({ stable: 0, latest: 1, cursor: 9, settings: { instructions: "Remember." } });

    killWorkerd();
    await expect.poll(async () => (await tryCall(`GET ${LINE}/head`))?.status, { timeout: 20_000 }).toBe(200);
    expect((await call(edge, "trainer", `GET ${LINE}/head`)).body).toEqual(before.body);
    expect((await call(edge, "trainer", `GET ${LINE}/versions/1`)).body).toMatchObject({ adapter, events: [lineage("e5", 5)] });
    const { body } = await call(edge, "admin", "GET /api/agents/durable/audit");
    expect(body.audit.map(({ move }: { move: string }) => move)).toEqual(["advance", "rollback", "publish", "create"]);
  });
});
