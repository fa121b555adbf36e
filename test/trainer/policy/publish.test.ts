/** A version is published whatever goes with it: what is told beside it is cut to what the edge takes, and the edge takes that; and however it is answered. */
import { beforeAll, expect, it } from "vitest";
import { MOST_CREDITS, type TurnCredit } from "../../../shared/credit.ts";
import type { LearnedCase } from "../../../shared/suite.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { patiently, publishVersion } from "../../../trainer/policy/publish.ts";
import { putAdapter, readStored } from "../../helpers/adapters.ts";
import { call, fillLog, lineage, manifestOf, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

const TURNS = 450;

const edge = withEdge();
beforeAll(() => fillLog(edge));

it("of more cases and tokens than an edge takes the last are told, and the version is there", { timeout: 60_000 }, async () => {
  await putAgent(edge, "talkative");
  const adapter = await putAdapter(edge, "talkative");
  const [configBytes, weightBytes] = [await readStored(edge, adapter.configDigest), await readStored(edge, adapter.weightsDigest)];
  const parameters = { type: "object", properties: { text: { description: "x".repeat(60_000) } } };
  const cases = Array.from({ length: 100 }, (_, index): LearnedCase => {
    const name = `case ${index}`;
    const tools = [{ type: "function" as const, function: { name: "Say", parameters } }];
    return {
      name,
      messages: [{ role: "user", content: name }],
      tools,
      expect: { tool: "Say", arguments: { [`a${index}`]: 1 } },
      user: "u1",
      eventId: "e/next",
    };
  });
  const credits = Array.from({ length: TURNS }, (_, index): TurnCredit => {
    const pieces = Array.from({ length: index === TURNS - 1 ? 2_001 : 400 }, (__, place): [string, number] => [`token${place}`, -0.123]);
    return { eventId: "e/next", turnId: `t${index}`, pieces };
  });
  const published = await publishVersion(
    createEdgeClient({ edge: edge.url, key: edge.keys.trainer }),
    { configBytes, weightBytes, rank: adapter.rank, alpha: adapter.alpha },
    {
      manifest: manifestOf({ agent: "talkative", baseDigest: edge.baseDigest, toSeq: 1, events: [lineage("e/next", 1)] }),
      ...{ refused: [], rebuild: false, cases, credits },
    },
  );
  expect(published).toMatchObject({ status: "published", version: 1 });
  const { body } = await call(edge, "admin", "GET /api/agents/talkative/suite");
  const names = body.cases.map(({ name }: { name: string }) => name);
  expect([names.length > 50, names.length < 100, names.at(-1)]).toEqual([true, true, "case 99"]);
  expect(MOST_CREDITS).toBeLessThan(TURNS);
});

it("is published once where uploads and the answer to the publish itself got lost", async () => {
  await putAgent(edge, "lossy");
  const adapter = await putAdapter(edge, "lossy");
  const [configBytes, weightBytes] = [await readStored(edge, adapter.configDigest), await readStored(edge, adapter.weightsDigest)];
  const retried: string[] = [];
  const lost = new Set<string>();
  const client = createEdgeClient({
    edge: edge.url,
    key: edge.keys.trainer,
    // Each is taken by the edge, and the first time answered by what stands before it.
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      const what = `${init?.method} ${new Request(url).url}`;
      if (lost.has(what)) return response;
      lost.add(what);
      await response.arrayBuffer();
      return new Response("upstream gone", { status: 503 });
    },
  });
  const onRetry = (error: unknown): void => void retried.push(String(error));
  const published = await publishVersion(
    patiently(client, { random: { next: () => 0 }, signal: new AbortController().signal, onRetry }),
    { configBytes, weightBytes, rank: adapter.rank, alpha: adapter.alpha },
    {
      manifest: manifestOf({ agent: "lossy", baseDigest: edge.baseDigest, toSeq: 1, events: [lineage("e/next", 1)] }),
      ...{ refused: [], rebuild: false, cases: [] },
    },
  );
  expect(published).toMatchObject({ status: "published", version: 1 });
  expect(retried).toEqual(Array(3).fill(expect.stringContaining("2xx expected, got 503 upstream gone")));
  expect((await call(edge, "admin", "GET /api/agents/lossy/versions")).body.versions).toHaveLength(2);
});
