/** A version is published whatever goes with it: what is told beside it is cut to what the edge takes, and the edge takes that. */
import { beforeAll, expect, it } from "vitest";
import { MOST_CREDITS, type TurnCredit } from "../../../shared/credit.ts";
import type { LearnedCase } from "../../../shared/suite.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { publishVersion } from "../../../trainer/policy/publish.ts";
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
