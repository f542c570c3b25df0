"""A tensor of the graph: a node, and the fake that knows its metadata."""

from typing import Any

import torch

from ..source import Source
from .base import ABSENT, Value


class Tensor(Value):
    def __init__(
        self, node: torch.fx.Node, fake: Any, real: Any = ABSENT, source: Source | None = None
    ) -> None:
        self.node, self.fake, self.real, self.source = node, fake, real, source
        self.attributes: Any = None
        self.grad: Value | None = None

    @property
    def cls(self) -> type:
        return torch.Tensor if self.real is ABSENT else type(self.real)
