/** Schemas whose every token takes long to check: whoever sends one is refused, and nobody waits for it. */
import { describe, expect, it } from "vitest";
import { checkWork, MaskWork } from "../../../edge/policy/mask-work.ts";
import { call, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

describe("the work of an answer's masks", () => {
  it("may be much at first and little for each token after", () => {
    expect(() => checkWork(500_000, 1)).not.toThrow();
    expect(() => checkWork(500_000 + 15_000 * 200, 200)).not.toThrow();
    expect(() => checkWork(900_000, 10)).toThrow(/got 900000 steps for 10 tokens, of at most 650000/);
  });

  it("lets others have their turn as often as it is much", () => {
    const work = new MaskWork();
    expect([10_000, 20_001, 30_000, 40_002, 40_003].map((done) => work.isDueToPause(done))).toEqual([false, true, false, true, false]);
  });
});

describe("the shipped base", () => {
  // The vocabulary decides what a schema costs.
  const edge = withEdge({ baseFolder: "base" });
  const ask = async (fields: object): Promise<{ status: number; message: string; ms: number }> => {
    const begun = Date.now();
    const { status, body } = await call(edge, "client", "POST /v1/chat/completions", {
      ...{ model: "form", messages: [{ role: "user", content: "Hello" }], seed: 1 },
      ...fields,
    });
    return { status, message: body.error?.message ?? "", ms: Date.now() - begun };
  };
  const lists = Array.from({ length: 150 }, (_, place) => ({
    type: "array",
    items: { type: "string", maxLength: 50 + place },
    minItems: 5 + place,
  }));
  const schema = { anyOf: lists };

  it("refuses a schema of many alternatives that begin alike, and answers others meanwhile", async () => {
    await putAgent(edge, "form");
    await ask({ max_tokens: 2 });
    const format = { type: "json_schema", json_schema: { name: "lists", schema } };
    const refused = ask({ temperature: 2, max_tokens: 800, response_format: format });
    const hello = await ask({ max_tokens: 2, messages: [{ role: "user", content: "Hello, too" }] });
    const { status, message, ms } = await refused;
    expect({ status, message }).toMatchObject({ status: 400, message: expect.stringContaining("fewer alternatives that begin alike") });
    expect(hello.status).toBe(200);
    expect(hello.ms).toBeLessThan(ms);
  }, 120_000);
});
