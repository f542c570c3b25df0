"""The reading of a body in which every value is its dtype.

Other readings derive from it or hold one beside them: here is the one place that knows the type of
each intermediate value. `Recorder` notes what a body touches, for whoever decides by that.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch

from ..symbolic.expr import Expr, sym
from .nodes import Computed, Index, Layout, Reduction, Scatter, Value
from .ops import handling, result_dtype

Dtype: TypeAlias = torch.dtype


class DtypeHandler:
    """Values are dtypes; `layouts` tells those of the buffers."""

    def __init__(self, layouts: Mapping[str, Layout]) -> None:
        self.layouts = layouts
        self.indirects, self.checks = 0, False  # whether an index is checked

    def load(self, buffer: str, index: Expr) -> Dtype:
        return self.layouts[buffer].dtype

    def constant(self, value: Any, dtype: Dtype) -> Dtype:
        return dtype

    index_expr = to_dtype = bitcast = constant

    def indirect(self, value: Dtype, size: Expr, check: bool = True) -> Expr:
        self.indirects += 1
        self.checks |= check
        return sym(f"tmp{self.indirects - 1}")

    def masked(self, mask: Dtype, body: Callable[[], Value], other: Any, dtype: Dtype) -> Dtype:
        body()
        return dtype

    def random(self, kind: str, seed: Dtype, offset: Dtype) -> Dtype:
        return torch.int64 if kind == "randint" else torch.float32

    def default(self, name: str, *operands: Dtype) -> Dtype:
        return result_dtype(name, *operands)


CHEAP = set("add sub mul neg abs where eq ne lt le gt ge minimum maximum relu fma".split())
EXPENSIVE, RANDOM = 8, 40  # what other ops cost, in additions


class Recorder(DtypeHandler):
    """Notes every load of a body, the indices that it uses as values, and what it costs."""

    def __init__(self, layouts: Mapping[str, Layout]) -> None:
        super().__init__(layouts)
        self.loads: dict[tuple[str, Expr], bool] = {}  # does it happen only where a mask holds?
        self.indices: list[Expr] = []
        self.cost, self.guarded = 0, False

    def load(self, buffer: str, index: Expr) -> Dtype:
        self.loads[buffer, index] = self.guarded
        return super().load(buffer, index)

    def index_expr(self, expr: Expr, dtype: Dtype) -> Dtype:
        self.indices.append(expr)
        return dtype

    def masked(self, mask: Dtype, body: Callable[[], Value], other: Any, dtype: Dtype) -> Dtype:
        outside, self.guarded = self.guarded, True
        result = super().masked(mask, body, other, dtype)
        self.guarded = outside
        return result

    def random(self, kind: str, seed: Dtype, offset: Dtype) -> Dtype:
        self.cost += RANDOM
        return super().random(kind, seed, offset)

    def default(self, name: str, *operands: Dtype) -> Dtype:
        self.cost += 1 if name in CHEAP else EXPENSIVE
        return super().default(name, *operands)


def visit(operation: Computed, index: Index, folded: Index) -> tuple[Value, Expr]:
    """The value at a point, as the current handler sees it, and where it goes. What folds nothing
    may run over `folded` too."""
    loop, layout = operation.loop, operation.layout
    if isinstance(loop, Reduction):
        return loop.inner(index, folded), layout.index(index)
    here = (*index, *folded)[: len(loop.ranges)]
    target = loop.target(here) if isinstance(loop, Scatter) else here
    if isinstance(loop, Scatter) and len(target) != layout.ndim:
        raise ValueError(f"{len(target)} coordinates for {layout.ndim} dimensions")
    return loop.inner(here), layout.index(target)


def recorded(
    operation: Computed, index: Index, folded: Index, layouts: Mapping[str, Layout]
) -> tuple[Recorder, Expr]:
    """What a body touches at a point, and where the value goes."""
    with handling(Recorder(layouts)) as seen:
        _, place = visit(operation, index, folded)
    return seen, place
