/** How much feedback one answer takes, in real workerd. */
import { describe, expect, it } from "vitest";
import { call, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { says, talkTo } from "./talk.ts";

const edge = withEdge();

describe("feedback on one answer", () => {
  it("is taken a hundred times at most, but for whoever looks after the agent", async () => {
    await putAgent(edge, "undecided");
    const { ask } = talkTo(edge, "undecided");
    const { id } = await ask([says("one")]);
    const give = (comment: string) => call(edge, "client", "POST /v1/feedback", { completion_id: id, comment });
    for (let given = 0; given < 99; given++) await give(`${given}`);
    const last = await give("99");
    expect(last.status).toBe(200);
    const refused = await give("100");
    expect(refused).toMatchObject({ status: 409, body: { error: { param: "completion_id", code: "session/conflict" } } });
    expect(refused.body.error.message).toContain("at most 100 pieces of feedback on one answer expected");
    expect((await give("99")).body).toEqual(last.body);
    const review = { completion_id: id, comment: "Enough." };
    expect((await call(edge, "admin", "POST /api/agents/undecided/feedback", review)).status).toBe(200);
    expect((await give("100")).status).toBe(409);
  });

  it("says something, and not two things at once", async () => {
    await putAgent(edge, "undecided");
    const { id } = await talkTo(edge, "undecided").ask([says("two")]);
    const give = async (given: object): Promise<unknown> => {
      const { status, body } = await call(edge, "client", "POST /v1/feedback", { completion_id: id, ...given });
      return [status, body.error?.param];
    };
    expect(await give({ correction: "  \n" })).toEqual([400, "correction"]);
    expect(await give({ comment: " " })).toEqual([400, "comment"]);
    expect(await give({})).toEqual([400, null]);
    expect(await give({ correction: "Shorter.", answer: { role: "assistant", content: "Yes." } })).toEqual([400, "answer"]);
    expect(await give({ scor: 1 })).toEqual([400, "scor"]);
    expect(await give({ comment: "fine" })).toEqual([200, undefined]);
  });
});
