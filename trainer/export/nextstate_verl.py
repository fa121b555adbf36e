"""Rows of a Nextstate export as verl's DataProto, ready for `compute_log_prob`, which makes `old_log_probs`, and `update_actor`.

    from nextstate_verl import load
    batch = load("rollouts.parquet", pad_token_id=tokenizer.pad_token_id)
    batch = batch.union(actor_rollout_wg.compute_log_prob(batch))
    actor_rollout_wg.update_actor(batch)
"""

import numpy as np
import pyarrow.parquet as pq
import torch


def tensors(path, pad_token_id):
    """Prompts padded on the left, responses on the right, as verl's rollouts are: ({name: tensor [B, ...]}, {name: array [B]})."""
    rows = pq.read_table(path).to_pylist()
    if not rows:
        raise ValueError(f"{path}: rows expected, got none")
    longest = max(len(row["prompts"]) for row in rows)
    width = max(len(row["responses"]) for row in rows)

    def left(values):
        return [pad_token_id] * (longest - len(values)) + list(values)

    def right(values, filler):
        return list(values) + [filler] * (width - len(values))

    prompts = torch.tensor([left(row["prompts"]) for row in rows])
    responses = torch.tensor([right(row["responses"], pad_token_id) for row in rows])
    seen = torch.tensor(
        [[0] * (longest - len(row["prompts"])) + [1] * len(row["prompts"]) + right([1] * len(row["responses"]), 0) for row in rows]
    )
    batch = {
        "prompts": prompts,
        "responses": responses,
        "input_ids": torch.cat([prompts, responses], dim=1),
        "attention_mask": seen,
        "position_ids": (seen.cumsum(dim=1) - 1).clamp(min=0),
        "response_mask": torch.tensor([right(row["response_mask"], 0) for row in rows]),
        "advantages": torch.tensor([right(row["advantages"], 0.0) for row in rows], dtype=torch.float32),
    }
    batch["returns"] = batch["advantages"].clone()
    # Only where every row has them: what was not recorded is not made up.
    if all(row["rollout_log_probs"] is not None for row in rows):
        batch["rollout_log_probs"] = torch.tensor([right(row["rollout_log_probs"], 0.0) for row in rows], dtype=torch.float32)
    others = {
        "uid": np.array([row["extra_info"]["group"] for row in rows], dtype=object),
        "event_id": np.array([row["extra_info"]["event_id"] for row in rows], dtype=object),
        "data_source": np.array([row["data_source"] for row in rows], dtype=object),
    }
    return batch, others


def load(path, pad_token_id, temperature=1.0):
    from verl import DataProto

    batch, others = tensors(path, pad_token_id)
    return DataProto.from_dict(tensors=batch, non_tensors=others, meta_info={"temperature": temperature})
