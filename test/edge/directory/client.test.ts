/** Digests spread over the shards, and one digest stays on one. */
import { describe, expect, it } from "vitest";
import { shardName } from "../../../edge/directory/client.ts";
import { sha256 } from "../../../shared/digest.ts";

describe("the directory", () => {
  it("puts a digest on the same shard always and uses all of them", async () => {
    const digests = await Promise.all(Array.from({ length: 1_000 }, (_, index) => sha256(`${index}`)));
    expect(digests.map(shardName)).toEqual(digests.map(shardName));
    expect(new Set(digests.map(shardName)).size).toBe(64);
  });
});
