/** Rows worked out by hand, and files that pyarrow and torch have read. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { describe, expect, it } from "vitest";
import { rewardRows, type ExportRow } from "../../../trainer/export/rows.ts";
import { slimeCommand, slimeFiles } from "../../../trainer/export/slime.ts";
import { Float, torchFile } from "../../../trainer/export/torch-file.ts";
import { verlFiles } from "../../../trainer/export/verl.ts";
import type { RewardedExchange } from "../../../trainer/learn/update/learner.ts";
import { turn, user } from "../hotel.ts";

const FIXTURES = join(import.meta.dirname, "../../fixtures");
const sampling = { seed: 1, temperature: 1, topP: 1, masked: false };

function exchange(
  eventId: string,
  outcome: -1 | 0 | 1,
  changes: { share?: number; sampling?: object; version?: number; agreedTo?: string; untold?: boolean } = {},
): RewardedExchange {
  const rollout = {
    promptTokens: [1, 2],
    responseTokens: [3, 4, 5],
    rolloutLogProbs: [-0.25, -0.5, -1],
    sampling: { ...sampling, ...changes.sampling },
    ...(changes.untold === true && {
      ...{ promptTokens: [], responseTokens: [], rolloutLogProbs: [] },
      unusable: { reason: "it told none", promptTokens: 2, responseTokens: 3 },
    }),
  };
  const answered = turn(
    [user("Hello.")],
    { role: "assistant", content: "Hi." },
    {
      ...{ rollout, policyVersion: changes.version ?? 2 },
      ...(changes.agreedTo !== undefined && { agreedTo: changes.agreedTo }),
    },
  );
  return { eventId, task: "greeting", outcome, steps: [{ turn: answered, votes: [] }], share: changes.share ?? 0.5 };
}

const asked = { parent: 2, maxStaleness: 8, rewards: "outcome" as const, baseline: 0 };

describe("rewardRows", () => {
  it("gives every token of an answer the reward standardised within its task", () => {
    const { rows, refused } = rewardRows([exchange("a", 1), exchange("b", -1)], asked);
    expect(refused).toEqual([]);
    expect(
      rows.map(({ eventId, mask, rolloutLogProbs, reward, version, group }) => ({
        eventId,
        mask,
        rolloutLogProbs,
        reward,
        version,
        group,
      })),
    ).toEqual(
      (["a", "b"] as const).map((eventId, index) => ({
        ...{ eventId, mask: [1, 1, 1], rolloutLogProbs: [-0.25, -0.5, -1], reward: 1 - 2 * index, version: 2, group: "greeting" },
      })),
    );
    // (1 − 0) / (1 + 1e-6), of the two rewards 1 and −1
    expect(rows.flatMap(({ advantages }) => advantages)).toEqual([1, 1, 1, -1, -1, -1].map((each) => expect.closeTo(each, 5)));
  });

  it("weighs an exchange by its user's share over the mean share", () => {
    const { rows } = rewardRows([exchange("a", 1, { share: 0.75 }), exchange("b", -1, { share: 0.25 })], asked);
    expect(rows.map(({ advantages }) => advantages[0])).toEqual([expect.closeTo(1.5, 5), expect.closeTo(-0.5, 5)]);
  });

  it("tells no log-probs that another trainer could not compare with its own", () => {
    const { rows } = rewardRows([exchange("a", 1, { sampling: { masked: true } }), exchange("b", -1)], asked);
    expect(rows.map(({ rolloutLogProbs }) => rolloutLogProbs)).toEqual([null, [-0.25, -0.5, -1]]);
  });

  it("leaves out what was drawn from a part of the distribution or after a yes that nobody gave, is too old, or has no tokens that anybody told, with the reason", () => {
    const { rows, refused } = rewardRows(
      [
        exchange("part", 1, { sampling: { topP: 0.9 } }),
        exchange("unasked", 1, { agreedTo: "A greeting, is that right?" }),
        exchange("old", 1, { version: 20 }),
        exchange("untold", 1, { untold: true }),
        exchange("a", 1),
        exchange("b", -1),
      ],
      asked,
    );
    expect(refused.map(({ eventId, code }) => [eventId, code])).toEqual([
      ["part", "turn/ratios"],
      ["unasked", "turn/ratios"],
      ["old", "turn/stale"],
      ["untold", "turn/untold"],
    ]);
    expect(new Set(rows.map(({ eventId }) => eventId))).toEqual(new Set(["a", "b"]));
  });
});

const ROW: ExportRow = {
  ...{ eventId: "e0", turnId: "t0", group: "g", form: "reward", messages: [user("hello ü")] },
  ...{ prompt: [1, 2, 3], response: [4, 5], mask: [0, 1], advantages: [0, -0.5], rolloutLogProbs: [-0.125, -0.25] },
  ...{ reward: -1, version: 3, temperature: 1, truncated: false },
};
const ROWS: ExportRow[] = [ROW, { ...ROW, eventId: "e1", turnId: "t1", prompt: [2, 3], rolloutLogProbs: null, version: null }];

// slime's `load_debug_rollout_data` is torch.load(path)["samples"], then Sample.from_dict of each
// (https://github.com/THUDM/slime/blob/main/docs/en/developer_guide/debug.md).
describe("slimeFiles", () => {
  const decode = (ids: readonly number[]): string => ids.join(" ");
  const files = slimeFiles(ROWS, { decode });

  it("writes the bytes that torch 2.13 has read as the samples beside them", () => {
    // test/fixtures/slime-rollout.json is what `torch.load` of slime-rollout.pt gave.
    const read = JSON.parse(readFileSync(join(FIXTURES, "slime-rollout.json"), "utf8"));
    const [own] = slimeFiles([ROW], { decode });
    expect(Buffer.from(own?.content ?? []).equals(readFileSync(join(FIXTURES, "slime-rollout.pt")))).toBe(true);
    expect(read).toMatchObject({ rollout_id: 0, samples: [{ index: 0, tokens: [1, 2, 3, 4, 5], response_length: 2, loss_mask: [0, 1] }] });
    expect(read.samples[0]).toMatchObject({ reward: -1, status: "completed", rollout_log_probs: [-0.125, -0.25], weight_versions: ["3"] });
  });

  it("keeps all rows in one rollout, with log-probs where every row has them", () => {
    expect(files.map(({ name }) => name)).toEqual(["rollout_0.pt", "advantages.json"]);
    expect(JSON.parse(Buffer.from(files[1]?.content ?? []).toString())).toEqual({ "0": [0, -0.5], "1": [0, -0.5] });
    const withOne = (row: ExportRow): Uint8Array => slimeFiles([row], { decode })[0]?.content ?? new Uint8Array();
    // −0.125 as a pickle has it: G, then eight bytes of a double.
    const recorded = Buffer.from([0x47, 0xbf, 0xc0, 0, 0, 0, 0, 0, 0]);
    expect(Buffer.from(withOne(ROW)).includes(recorded)).toBe(true);
    expect(Buffer.from(files[0]?.content ?? []).includes(recorded)).toBe(false);
    // Its pickle holds no class and no reference: nothing in it runs.
    expect(Buffer.from(files[0]?.content ?? []).includes(Buffer.from("cbuiltins"))).toBe(false);
  });

  it("is trained in one step of all rows, whose answers' lengths a second policy tells where nothing was recorded", () => {
    const command = slimeCommand(ROWS, { folder: "/away" });
    expect(command).toContain("--load-debug-rollout-data '/away/rollout_{rollout_id}.pt'");
    expect(command).toContain("--rollout-batch-size 2 --global-batch-size 2");
    expect(command).toContain("--max-tokens-per-gpu 10");
    expect(command).toContain("--keep-old-actor");
    expect(slimeCommand([ROW], { folder: "/away" })).not.toContain("--keep-old-actor");
  });

  it("refuses a number that is none", () => {
    expect(() => torchFile([new Float(Number.NaN)])).toThrow("finite numbers expected, got NaN");
  });
});

// https://verl.readthedocs.io/en/latest/preparation/prepare_data.html
describe("verlFiles", () => {
  it("has the fields of verl's datasets and of its batches", async () => {
    const [file] = verlFiles(ROWS, { agent: "assistant" });
    const content = file?.content ?? new Uint8Array();
    const read = await parquetReadObjects({ file: content.buffer });
    expect(JSON.parse(JSON.stringify(read, (_, value: unknown) => (value === undefined ? null : value)))).toEqual([
      {
        data_source: "nextstate/assistant",
        prompt: [{ role: "user", content: "hello ü" }],
        ability: "reward",
        reward_model: { style: "rule", ground_truth: "-1" },
        extra_info: { index: 0, event_id: "e0", turn_id: "t0", group: "g", version: 3 },
        prompts: [1, 2, 3],
        responses: [4, 5],
        response_mask: [0, 1],
        advantages: [0, -0.5],
        rollout_log_probs: [-0.125, -0.25],
        reward: -1,
        temperature: 1,
      },
      expect.objectContaining({
        prompts: [2, 3],
        rollout_log_probs: null,
        extra_info: { index: 1, event_id: "e1", turn_id: "t1", group: "g", version: null },
      }),
    ]);
  });
});
