"""Rows of a Nextstate export as verl's DataProto, and how verl trains on it (verl/trainer/ppo/ray_trainer.py at 1dda039b).

verl's workers take what its trainer makes of a DataProto, so its own `RayPPOTrainer` does the steps (`trainer.use_v1=False`; the newer
trainers read a queue). In verl/trainer/main_ppo_v0.py, after `trainer.init_workers()` and in place of `trainer.fit()`:

    from nextstate_verl import load
    rollout, actor = trainer.config.actor_rollout_ref.rollout, trainer.config.actor_rollout_ref.actor
    batch = load("rollouts.parquet", trainer.tokenizer.pad_token_id, rollout.temperature, actor.ppo_mini_batch_size * rollout.n)
    old, _ = trainer._compute_old_log_prob(batch)
    trainer._update_actor(batch.union(old))
    trainer.global_steps = 1
    trainer._save_checkpoint()

`ppo_mini_batch_size * rollout.n` has to be a multiple of the data-parallel size: rows are shared out in equal parts, and each part in whole
mini-batches. `actor_rollout_ref.model.lora_adapter_path=parent` goes on from the parent's adapter where the export has one, `lora_rank` makes
a first; `actor.use_kl_loss` is off; and `python -m verl.model_merger merge` makes the folder lora_adapter of what was saved.
"""

import numpy as np
import pyarrow.parquet as pq
import torch


def tensors(path, pad_token_id, multiple=1):
    """Prompts padded on the left, responses on the right, as verl's rollouts are: ({name: tensor [B, ...]}, {name: array [B]}).

    Rows of one token outside every mask fill B up to a multiple: they add nothing, though a mean over sequences counts them.
    Raises ValueError for a file without rows.
    """
    rows = pq.read_table(path).to_pylist()
    if not rows:
        raise ValueError(f"{path}: rows expected, got none")
    filler = {"prompts": [pad_token_id], "responses": [pad_token_id], "response_mask": [0], "advantages": [0.0]}
    known = rows[0]["rollout_log_probs"] is not None
    rows += [{**rows[0], **filler, "rollout_log_probs": [0.0] if known else None}] * (-len(rows) % multiple)
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


def load(path, pad_token_id, temperature=1.0, multiple=1):
    """The rows as a DataProto. temperature: of the trainer's rollouts, which its log-probs are divided by."""
    from verl import DataProto

    batch, others = tensors(path, pad_token_id, multiple)
    # What fit() says of each batch. Without the numbers of tokens, workers report no `mfu`, which the trainer reads; older ones stop.
    told = {"temperature": temperature, "global_token_num": batch["attention_mask"].sum(dim=-1).tolist()}
    return DataProto.from_dict(tensors=batch, non_tensors=others, meta_info=told)
