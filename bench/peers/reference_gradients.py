"""Writes test/fixtures/reference-gradients.json: gradients of the shipped size by PyTorch, for weights both sides compute.

    python bench/peers/reference_gradients.py > test/fixtures/reference-gradients.json
"""

import json

import numpy as np
import torch
from torch.nn import functional as F

from decoder import Decoder

CONFIG = {
    "model_type": "qwen3", "vocab_size": 4096, "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 8,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64, "max_position_embeddings": 1024,
    "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "tie_word_embeddings": True,
}  # fmt: skip
ROWS, LENGTH, POSITIONS, RANK, ALPHA, SAMPLES = 8, 256, 1024, 16, 32, 32


def uniform(salt, count):
    """float32 in [0, 1), element i from the hash of (salt, i): the murmur3 finaliser (Appleby, public domain)."""
    with np.errstate(over="ignore"):
        x = np.arange(count, dtype=np.uint32) + np.uint32(salt) * np.uint32(0x9E3779B1)
        x = (x ^ (x >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        x = (x ^ (x >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        x = x ^ (x >> np.uint32(16))
    return (x >> np.uint32(8)).astype(np.float32) * np.float32(2**-24)


def spread(salt, shape, centre, width):
    return torch.from_numpy((uniform(salt, int(np.prod(shape))) - np.float32(0.5)) * np.float32(width) + np.float32(centre)).view(shape)


def integers(salt, count, limit):
    return torch.from_numpy(np.floor(uniform(salt, count) * np.float32(limit)).astype(np.int64))


def summary(salt, gradient):
    flat = gradient.flatten()
    places = integers(10_000 + salt, SAMPLES, flat.numel())
    return {"norm": float(flat.double().norm()), "samples": [float(f"{v:.8g}") for v in flat[places].tolist()]}


def backward(model):
    tokens = integers(1, ROWS * LENGTH, CONFIG["vocab_size"]).view(ROWS, LENGTH)
    positions = torch.arange(POSITIONS) * 2
    targets = integers(2, POSITIONS, CONFIG["vocab_size"])
    log_probs = F.log_softmax(model(tokens, positions), -1).gather(1, targets[:, None])[:, 0]
    loss = -(log_probs * torch.from_numpy(uniform(3, POSITIONS))).sum()
    loss.backward()
    return float(loss.detach())


def main():
    torch.set_num_threads(2)
    model = Decoder(CONFIG)
    names = [name for name, _ in model.named_parameters()]
    with torch.no_grad():
        for salt, (name, parameter) in enumerate(model.named_parameters()):
            parameter.copy_(spread(100 + salt, parameter.shape, *((1.0, 0.5) if "norm" in name else (0.0, 0.2))))
    loss = backward(model)
    full = {name: summary(100 + salt, parameter.grad) for salt, (name, parameter) in enumerate(model.named_parameters())}

    model.add_low_rank(RANK, ALPHA)
    trained = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    with torch.no_grad():
        for salt, (_, parameter) in enumerate(trained):
            parameter.copy_(spread(500 + salt, parameter.shape, 0.0, 0.05))
    adapter_loss = backward(model)
    peft = lambda name: f"base_model.model.{name[:-2]}.lora_{name[-1].upper()}.weight"
    adapter = {peft(name): summary(500 + salt, parameter.grad) for salt, (name, parameter) in enumerate(trained)}

    print(json.dumps({
        "origin": f"bench/peers/reference_gradients.py, torch {torch.__version__}, 2 threads",
        "config": CONFIG, "rows": ROWS, "length": LENGTH, "positions": POSITIONS, "rank": RANK, "alpha": ALPHA, "samples": SAMPLES,
        "order": names, "full": {"loss": loss, "gradients": full}, "adapter": {"loss": adapter_loss, "gradients": adapter},
    }))  # fmt: skip


main()
