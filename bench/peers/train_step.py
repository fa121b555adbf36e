"""Times training steps of the decoder in PyTorch: one JSON object on stdout. Options come as one JSON argument."""

import json
import resource
import sys
import time

import torch
from torch.nn import functional as F

from decoder import Decoder


def main():
    o = json.loads(sys.argv[1])
    torch.set_num_threads(o["threads"])
    torch.manual_seed(o["seed"])
    model = Decoder(o["config"])
    for p in model.parameters():
        if p.dim() > 1:
            torch.nn.init.normal_(p, std=0.02)
    if o["kind"] == "adapter":
        model.add_low_rank(o["rank"], 2 * o["rank"])
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3, betas=(0.9, 0.95), fused=True)
    tokens = torch.randint(o["config"]["vocab_size"], (o["rows"], o["length"]))
    positions = torch.arange(o["rows"] * o["length"])
    targets = torch.randint(o["config"]["vocab_size"], (o["rows"] * o["length"],))

    def step():
        loss = F.cross_entropy(model(tokens, positions), targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    for _ in range(o["warmup"]):
        step()
    seconds = []
    for _ in range(o["steps"]):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "peakRssBytes": peak}))


main()
