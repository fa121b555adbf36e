"""Log-probs of each family's checkpoint, bare and under an adapter of ours, by transformers and PEFT against ours: the furthest apart, in nats.

    node test/trainer/model/write-families.ts <folder> && python bench/peers/family_log_probs.py <folder>
"""

import json
import sys
from pathlib import Path

import peft
import torch
import transformers

BAR = 1e-4
ROOT = Path(sys.argv[1])


def log_probs(model, case):
    tokens = torch.tensor(case["tokens"]).view(case["rows"], case["length"])
    with torch.no_grad():
        logits = model(input_ids=tokens).logits
    rows = torch.log_softmax(logits.double(), -1).flatten(0, 1)
    return rows[torch.tensor(case["positions"]), torch.tensor(case["targets"])]


def furthest(got, ours):
    return (got - torch.tensor(ours, dtype=torch.float64)).abs().max().item()


figures = {}
for case in json.loads((ROOT / "cases.json").read_text()):
    folder = ROOT / case["folder"]
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    base = log_probs(model, case)
    adapter = log_probs(peft.PeftModel.from_pretrained(model, folder / "adapter").eval(), case)
    figures[case["name"]] = {
        "type": case["type"], "base": furthest(base, case["base"]), "adapter": furthest(adapter, case["adapter"]),
        "moved": furthest(adapter, case["base"]),
    }  # fmt: skip
worst = max(max(each["base"], each["adapter"]) for each in figures.values())
versions = {each.__name__: each.__version__ for each in (torch, transformers, peft)}
print(json.dumps({"conditions": versions, "figures": figures, "bars": [
    {"name": "log-probs, transformers and PEFT against ours", "value": worst, "unit": "nats", "want": f"<= {BAR}", "holds": worst <= BAR},
]}))  # fmt: skip
