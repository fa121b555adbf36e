/**
 * An export as slime reads it: rollouts and the advantages of their tokens. `--load-debug-rollout-data <folder>/rollout_{rollout_id}.pt`
 * takes dictionaries `{rollout_id, samples}` of `Sample.to_dict()`s in `torch.save` files
 * (https://github.com/THUDM/slime/blob/main/docs/en/developer_guide/debug.md, 4; slime/utils/types.py and
 * slime/observability/rollout_data_utils.py at 624b824a), and the advantages by `Sample.index`, which
 * `--custom-advantage-function-path` hands to the loss. slime looks at the first sample of a rollout to see whether log-probs were
 * recorded, so answers that have them are in one rollout and answers that have none in another.
 */
import type { ExportRow } from "./rows.ts";
import { Float, torchFile, type Plain } from "./torch-file.ts";

export type ExportFile = { readonly name: string; readonly content: Uint8Array<ArrayBuffer> };

export function slimeFiles(rows: readonly ExportRow[], { decode }: { decode: (ids: readonly number[]) => string }): ExportFile[] {
  const recorded = rows.filter(({ rolloutLogProbs }) => rolloutLogProbs !== null);
  const others = rows.filter(({ rolloutLogProbs }) => rolloutLogProbs === null);
  const rollouts = [recorded, others].filter((each) => each.length > 0);
  const order = rollouts.flat();
  const groups = new Map<string, number>();
  for (const { group } of order) if (!groups.has(group)) groups.set(group, groups.size);
  let index = 0;
  const files = rollouts.map((own, rollout) => {
    const samples = own.map((row) => sampleOf(row, { index: index++, groupIndex: groups.get(row.group) ?? 0, decode }));
    return { name: `rollout_${rollout}.pt`, content: torchFile({ rollout_id: rollout, samples }) };
  });
  const advantages = Object.fromEntries(order.map((row, place) => [String(place), row.advantages]));
  return [...files, { name: "advantages.json", content: Uint8Array.from(Buffer.from(JSON.stringify(advantages))) }];
}

function sampleOf(
  row: ExportRow,
  { index, groupIndex, decode }: { index: number; groupIndex: number; decode: (ids: readonly number[]) => string },
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
    rollout_log_probs: rolloutLogProbs === null ? null : rolloutLogProbs.map((value) => new Float(value)),
    status: truncated ? "truncated" : "completed",
    metadata: { event_id: eventId, turn_id: turnId, form, temperature: new Float(row.temperature) },
  };
}
