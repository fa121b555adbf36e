/**
 * An export as slime reads it: one rollout and the advantages of its tokens. `--load-debug-rollout-data <folder>/rollout_{rollout_id}.pt`
 * takes dictionaries `{rollout_id, samples}` of `Sample.to_dict()`s in `torch.save` files
 * (https://github.com/THUDM/slime/blob/main/docs/en/developer_guide/debug.md, 4; slime/utils/types.py and
 * slime/observability/rollout_data_utils.py at 624b824a), and the advantages by `Sample.index`, which
 * `--custom-advantage-function-path` hands to the loss. All rows are one rollout and one step: slime leaves out what is over a multiple of
 * `--global-batch-size` (slime/utils/dp_schedule.py). It asks the first sample alone whether log-probs were recorded, so they are there
 * where every row has them.
 */
import type { ExportRow } from "./rows.ts";
import { Float, torchFile, type Plain } from "./torch-file.ts";

export type ExportFile = { readonly name: string; readonly content: Uint8Array<ArrayBuffer> };

export function slimeFiles(rows: readonly ExportRow[], { decode }: { decode: (ids: readonly number[]) => string }): ExportFile[] {
  const groups = new Map<string, number>();
  for (const { group } of rows) if (!groups.has(group)) groups.set(group, groups.size);
  const recorded = allRecorded(rows);
  const samples = rows.map((row, index) => sampleOf(row, { index, groupIndex: groups.get(row.group) ?? 0, recorded, decode }));
  const advantages = Object.fromEntries(rows.map((row, index) => [String(index), row.advantages]));
  return [
    { name: "rollout_0.pt", content: torchFile({ rollout_id: 0, samples }) },
    { name: "advantages.json", content: Uint8Array.from(Buffer.from(JSON.stringify(advantages))) },
  ];
}

/**
 * The command that trains one step on all rows; arguments of model, checkpoints, GPUs and optimizer are to be added.
 * @param folder where the files are, absolute: slime's workers have folders of their own
 */
export function slimeCommand(rows: readonly ExportRow[], { folder }: { folder: string }): string {
  const longest = Math.max(...rows.map(({ prompt, response }) => prompt.length + response.length));
  return [
    "python3 train.py",
    `--load-debug-rollout-data '${folder}/rollout_{rollout_id}.pt' --custom-advantage-function-path nextstate_slime.advantages`,
    `--num-rollout 1 --start-rollout-id 0 --rollout-batch-size ${rows.length} --global-batch-size ${rows.length}`,
    // Micro-batches come in multiples of the data-parallel size. With room for two rows in each there are fewer of them than rows, so
    // that slime can split some; those of a fixed size would have to divide the rows.
    `--use-dynamic-batch-size --max-tokens-per-gpu ${2 * longest}`,
    // slime takes the lengths of a single step's answers from log-probs: recorded ones, or else those of a second copy of the policy.
    ...(allRecorded(rows) ? [] : ["--keep-old-actor"]),
    // What an adapter can hold: norms and embeddings stay as they are.
    String.raw`--only-train-params-name-list 'linear_(qkv|proj|fc1|fc2)\.weight$'`,
    "--save trained/megatron --save-interval 1 --save-hf trained/hf",
  ].join(" \\\n  ");
}

const allRecorded = (rows: readonly ExportRow[]): boolean => rows.every(({ rolloutLogProbs }) => rolloutLogProbs !== null);

function sampleOf(
  row: ExportRow,
  {
    index,
    groupIndex,
    recorded,
    decode,
  }: { index: number; groupIndex: number; recorded: boolean; decode: (ids: readonly number[]) => string },
): Plain {
  const { prompt, response, mask, rolloutLogProbs, reward, truncated, version, eventId, turnId, form } = row;
  return {
    group_index: groupIndex,
    index,
    rollout_id: index,
    prompt: decode(prompt),
    tokens: [...prompt, ...response],
    response: decode(response),
    response_length: response.length,
    label: null,
    reward: new Float(reward),
    loss_mask: [...mask],
    weight_versions: version === null ? [] : [String(version)],
    rollout_log_probs: recorded ? (rolloutLogProbs?.map((value) => new Float(value)) ?? null) : null,
    status: truncated ? "truncated" : "completed",
    metadata: { event_id: eventId, turn_id: turnId, form, temperature: new Float(row.temperature) },
  };
}
