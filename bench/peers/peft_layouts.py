"""Writes test/fixtures/peft-layouts.json: names and shapes that transformers and PEFT give published models and their adapters.

    python bench/peers/peft_layouts.py test/fixtures/peft-layouts.json
"""

import json
import sys
import tempfile
from pathlib import Path

import peft
import torch
import transformers
from peft import LoraConfig, get_peft_model, get_peft_model_state_dict
from transformers import AutoConfig, AutoModelForCausalLM

TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def qwen3(**sizes):
    return dict(architectures=["Qwen3ForCausalLM"], attention_bias=False, head_dim=128, hidden_act="silu", **sizes,
                max_position_embeddings=40960, model_type="qwen3", num_key_value_heads=8, rms_norm_eps=1e-06, rope_scaling=None,
                rope_theta=1000000, sliding_window=None, tie_word_embeddings=True, use_sliding_window=False, vocab_size=151936)


def llama(factor, **sizes):
    scaling = dict(rope_type="llama3", factor=factor, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=8192)
    return dict(architectures=["LlamaForCausalLM"], attention_bias=False, hidden_act="silu", **sizes, max_position_embeddings=131072,
                mlp_bias=False, model_type="llama", num_attention_heads=32, num_key_value_heads=8, pretraining_tp=1, rms_norm_eps=1e-05,
                rope_scaling=scaling, rope_theta=500000.0, vocab_size=128256)


# The fields of each model's config.json on huggingface.co that decide names and shapes.
PUBLISHED = {
    "Qwen/Qwen3-0.6B": qwen3(hidden_size=1024, intermediate_size=3072, max_window_layers=28, num_attention_heads=16, num_hidden_layers=28),
    "Qwen/Qwen3-4B": qwen3(hidden_size=2560, intermediate_size=9728, max_window_layers=36, num_attention_heads=32, num_hidden_layers=36),
    "Qwen/Qwen2.5-7B-Instruct": dict(
        architectures=["Qwen2ForCausalLM"], hidden_act="silu", hidden_size=3584, intermediate_size=18944, max_position_embeddings=32768,
        max_window_layers=28, model_type="qwen2", num_attention_heads=28, num_hidden_layers=28, num_key_value_heads=4, rms_norm_eps=1e-06,
        rope_theta=1000000.0, sliding_window=131072, tie_word_embeddings=False, use_sliding_window=False, vocab_size=152064),
    "meta-llama/Llama-3.1-8B-Instruct": llama(
        8.0, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, tie_word_embeddings=False),
    "meta-llama/Llama-3.2-1B-Instruct": llama(
        32.0, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, tie_word_embeddings=True, head_dim=64),
}


def layout(name, config):
    fields = {key: value for key, value in config.items() if key != "architectures"}
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**fields))
        adapted = get_peft_model(model, LoraConfig(r=8, lora_alpha=16, target_modules=TARGETS, task_type="CAUSAL_LM"))
        tensors = get_peft_model_state_dict(adapted)
    adapter = adapted.peft_config["default"]
    adapter.inference_mode, adapter.base_model_name_or_path = True, name
    with tempfile.TemporaryDirectory() as folder:
        adapter.save_pretrained(folder)
        adapter_config = json.loads((Path(folder) / "adapter_config.json").read_text())
    adapter_config["target_modules"].sort()
    last = f".layers.{config['num_hidden_layers'] - 1}."
    parameters = {key.replace("base_layer.", ""): list(value.shape) for key, value in model.named_parameters() if "lora_" not in key}
    return dict(
        config=config,
        adapterConfig=adapter_config,
        tensors=len(tensors),
        lastLayer={key: list(value.shape) for key, value in tensors.items() if last in key},
        parameters=sum(torch.Size(shape).numel() for shape in parameters.values()),
        lastParameters={key: shape for key, shape in parameters.items() if last in key or ".layers." not in key},
    )


if __name__ == "__main__":
    origin = f"bench/peers/peft_layouts.py, peft {peft.__version__}, transformers {transformers.__version__}"
    models = {name: layout(name, config) for name, config in PUBLISHED.items()}
    Path(sys.argv[1]).write_text(json.dumps(dict(origin=origin, models=models), indent=1))
