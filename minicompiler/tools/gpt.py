"""A character-level GPT in plain PyTorch: what the tour trains. Nothing here knows a compiler.

Shapes in comments: B batch, T characters, C channels, H heads, D = C / H.
"""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class Shape:
    vocabulary: int
    context: int
    layers: int = 4
    heads: int = 4
    channels: int = 128


class Attention(nn.Module):
    """Every character looks back at the ones before it."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.qkv = nn.Linear(shape.channels, 3 * shape.channels)
        self.out = nn.Linear(shape.channels, shape.channels)
        future = torch.ones(shape.context, shape.context).triu(1).bool()
        self.future: Tensor
        self.register_buffer("future", future, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)  # B H T D
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5  # B H T T
        weights = scores.masked_fill(self.future[:T, :T], float("-inf")).softmax(-1)
        mixed: Tensor = self.out((weights @ v).transpose(1, 2).reshape(B, T, C))
        return mixed


class Block(nn.Module):
    """Attention mixes characters, the MLP mixes channels; both add to the stream."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(shape.channels), nn.LayerNorm(shape.channels)
        self.attention = Attention(shape)
        self.up = nn.Linear(shape.channels, 4 * shape.channels)
        self.down = nn.Linear(4 * shape.channels, shape.channels)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        x = x + self.down(F.gelu(self.up(self.norm2(x))))
        return x


class GPT(nn.Module):
    seen: list[int]

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.characters = nn.Embedding(shape.vocabulary, shape.channels)
        self.positions = nn.Embedding(shape.context, shape.channels)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.channels)
        self.head = nn.Linear(shape.channels, shape.vocabulary, bias=False)
        for weight in self.parameters():
            if weight.ndim == 2:
                nn.init.normal_(weight, std=0.06)  # learns to add several times sooner than 0.02

    def forward(self, text: Tensor) -> Tensor:
        """Character numbers (B, T) to scores of the next character (B, T, vocabulary)."""
        x = self.characters(text) + self.positions(torch.arange(text.shape[1], device=text.device))
        for block in self.blocks:
            x = block(x)
        scores: Tensor = self.head(self.norm(x))
        return scores
