/** A trainer's first call, against a real edge and against what is none. */
import { describe, expect, it } from "vitest";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { connect } from "../../../trainer/feed/connect.ts";
import { Random } from "../../../trainer/random.ts";
import { withEdge } from "../../helpers/edge.ts";

async function connectTo(url: string, key: string): Promise<number> {
  const stop = new AbortController();
  let retries = 0;
  const onRetry = (): void => void (retries += 1);
  const edge = createEdgeClient({ edge: url, key, signal: stop.signal });
  await connect(edge, { url, random: new Random(1), signal: stop.signal, onRetry, attempts: 3 });
  return retries;
}

describe("connect", () => {
  const edge = withEdge();

  it("returns where the edge takes the key", async () => {
    expect(await connectTo(edge.url, edge.keys.trainer)).toBe(0);
  });

  it.for(["nsk_trainer_unknown", "client"])("says at once that a key is none of a trainer: %s", async (key) => {
    const presented = key === "client" ? edge.keys.client : key;
    const expected = {
      code: "auth/forbidden",
      message: expect.stringContaining(`${edge.url} does not take this key: a trainer key expected`),
    };
    await expect(connectTo(edge.url, presented)).rejects.toMatchObject(expected);
  });

  it("says that something else answers there", async () => {
    const message = expect.stringContaining("the address of a Nextstate edge expected, without /v1");
    await expect(connectTo(`${edge.url}/elsewhere`, edge.keys.trainer)).rejects.toMatchObject({ code: "input/invalid", message });
  });

  it("gives up after so many attempts", async () => {
    const message = expect.stringContaining("an answer within 3 attempts expected");
    await expect(connectTo("http://127.0.0.1:9", edge.keys.trainer)).rejects.toMatchObject({ code: "upstream/unreachable", message });
  });
});
