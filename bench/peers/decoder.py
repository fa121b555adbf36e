"""The same decoder in PyTorch, written as one would for speed on a CPU: fused attention, F.rms_norm, no gradients for what is frozen."""

import torch
from torch import nn
from torch.nn import functional as F


class LowRank(nn.Module):
    """A frozen linear layer with a trained low-rank one beside it."""

    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base
        self.scale = alpha / rank
        self.a = nn.Parameter(torch.empty(rank, base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.a, a=5**0.5)

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.a), self.b) * self.scale


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        d, k = c["hidden_size"], c["head_dim"]
        self.heads, self.groups, self.k = c["num_attention_heads"], c["num_key_value_heads"], k
        self.eps = c["rms_norm_eps"]
        self.self_attn = nn.Module()
        self.self_attn.q_proj = nn.Linear(d, self.heads * k, bias=False)
        self.self_attn.k_proj = nn.Linear(d, self.groups * k, bias=False)
        self.self_attn.v_proj = nn.Linear(d, self.groups * k, bias=False)
        self.self_attn.o_proj = nn.Linear(self.heads * k, d, bias=False)
        self.self_attn.q_norm = nn.RMSNorm(k, eps=self.eps)
        self.self_attn.k_norm = nn.RMSNorm(k, eps=self.eps)
        self.mlp = nn.Module()
        self.mlp.gate_proj = nn.Linear(d, c["intermediate_size"], bias=False)
        self.mlp.up_proj = nn.Linear(d, c["intermediate_size"], bias=False)
        self.mlp.down_proj = nn.Linear(c["intermediate_size"], d, bias=False)
        self.input_layernorm = nn.RMSNorm(d, eps=self.eps)
        self.post_attention_layernorm = nn.RMSNorm(d, eps=self.eps)

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        attn, h = self.self_attn, self.input_layernorm(x)
        q = rotate(attn.q_norm(attn.q_proj(h).view(b, t, self.heads, self.k)).transpose(1, 2), cos, sin)
        k = rotate(attn.k_norm(attn.k_proj(h).view(b, t, self.groups, self.k)).transpose(1, 2), cos, sin)
        v = attn.v_proj(h).view(b, t, self.groups, self.k).transpose(1, 2)
        # On CPU the fused kernel wants as many key heads as query heads; expanding them is faster than its grouped fallback.
        k, v = (y.repeat_interleave(self.heads // self.groups, 1) for y in (k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + attn.o_proj(mixed.transpose(1, 2).reshape(b, t, -1))
        h = self.post_attention_layernorm(x)
        return x + self.mlp.down_proj(F.silu(self.mlp.gate_proj(h)) * self.mlp.up_proj(h))


class Decoder(nn.Module):
    """Parameters carry the Hugging Face names below `model.`; the head is tied."""

    def __init__(self, c):
        super().__init__()
        self.c = c
        self.model = nn.Module()
        self.model.embed_tokens = nn.Embedding(c["vocab_size"], c["hidden_size"])
        self.model.layers = nn.ModuleList(Block(c) for _ in range(c["num_hidden_layers"]))
        self.model.norm = nn.RMSNorm(c["hidden_size"], eps=c["rms_norm_eps"])

    def angles(self, length):
        k = self.c["head_dim"]
        inverse = self.c["rope_theta"] ** (-torch.arange(0, k, 2, dtype=torch.float64) / k)
        angle = torch.arange(length, dtype=torch.float64)[:, None] * inverse[None]
        return torch.cat([angle.cos()] * 2, -1).float(), torch.cat([angle.sin()] * 2, -1).float()

    def forward(self, tokens, positions):
        """Logits [N, V] at flat positions of tokens [B, T]."""
        x = self.model.embed_tokens(tokens)
        cos, sin = self.angles(tokens.shape[1])
        for block in self.model.layers:
            x = block(x, cos, sin)
        hidden = self.model.norm(x).flatten(0, 1)[positions]
        return F.linear(hidden, self.model.embed_tokens.weight)

    def add_low_rank(self, rank, alpha):
        """Freezes everything and puts an adapter beside every linear layer of the blocks."""
        self.requires_grad_(False)
        for block in self.model.layers:
            for part in (block.self_attn, block.mlp):
                for name, layer in list(part.named_children()):
                    if isinstance(layer, nn.Linear):
                        setattr(part, name, LowRank(layer, rank, alpha))
