"""Advantages of a Nextstate export for slime: --custom-advantage-function-path nextstate_slime.advantages.

slime's own estimators would make advantages of the rewards; those of the export are per token and hold the users' shares. They are looked
up by `Sample.index` in advantages.json beside this file, which has to be in the PYTHONPATH of slime's workers.
"""

import json
from functools import lru_cache
from pathlib import Path

import torch


@lru_cache(maxsize=1)
def _exported():
    return json.loads((Path(__file__).parent / "advantages.json").read_text())


def advantages(args, rollout_data):
    """Sets rollout_data["advantages"] and ["returns"]: one float tensor [response_length] per sample, sliced as slime slices log-probs.

    Raises ValueError where slime would whiten them, or steps of --global-batch-size leave rows out, before anything is trained.
    """
    from slime.backends.megatron_utils.cp_utils import slice_log_prob_with_cp

    if args.normalize_advantages:
        raise ValueError("--normalize-advantages: off expected, got on, which whitens the users' shares away")
    taken, rows = sum(rollout_data["global_batch_sizes"]), len(_exported())
    if taken != rows:
        raise ValueError(f"--global-batch-size: one step of all {rows} rows expected, got steps of {taken} of them")

    made = []
    for index, total, length, mask in zip(
        rollout_data["sample_indices"],
        rollout_data["total_lengths"],
        rollout_data["response_lengths"],
        rollout_data["loss_masks"],
        strict=True,
    ):
        own = _exported()[str(index)]
        if len(own) != length:
            raise ValueError(f"sample {index}: {length} advantages expected, got {len(own)}")
        whole = torch.tensor(own, dtype=torch.float32, device=mask.device)
        made.append(slice_log_prob_with_cp(whole, total, length))
    rollout_data["advantages"] = made
    rollout_data["returns"] = [each.clone() for each in made]
