"""The reading of a body in which every value is its dtype.

Code generators derive from it or hold one beside them: a C++ or Triton text needs the type of each
intermediate value, and here is the one place that knows it.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from ..symbolic.expr import Expr, sym
from .nodes import Layout, Value
from .ops import result_dtype


class DtypeHandler:
    """Values are dtypes; `layouts` tells those of the buffers."""

    def __init__(self, layouts: Mapping[str, Layout]) -> None:
        self.layouts = layouts
        self.indirects = 0

    def load(self, buffer: str, index: Expr) -> torch.dtype:
        return self.layouts[buffer].dtype

    def constant(self, value: Any, dtype: torch.dtype) -> torch.dtype:
        return dtype

    index_expr = to_dtype = bitcast = constant

    def indirect(self, value: torch.dtype, size: Expr, check: bool = True) -> Expr:
        self.indirects += 1
        return sym(f"tmp{self.indirects - 1}")

    def masked(
        self, mask: torch.dtype, body: Callable[[], Value], other: Any, dtype: torch.dtype
    ) -> torch.dtype:
        body()
        return dtype

    def random(self, kind: str, seed: torch.dtype, offset: torch.dtype) -> torch.dtype:
        return torch.int64 if kind == "randint" else torch.float32

    def default(self, name: str, *operands: torch.dtype) -> torch.dtype:
        return result_dtype(name, *operands)
