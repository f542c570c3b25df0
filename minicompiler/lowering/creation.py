"""Tensors from nothing: constants, ranges, random numbers."""

from typing import Any

import torch

from ..ir import ops
from ..ir.nodes import Index, Value
from ..symbolic.expr import as_expr
from ..symbolic.shapes import row_major
from .lazy import Lazy, made, spec
from .pointwise import identity
from .promotion import Number, cast, number
from .table import BY_NAME, aten, lowering


def constant(value: Number) -> Lazy:
    dtype = spec().dtype
    return made(lambda index: number(value, dtype), weight=0)


@lowering("full", "new_full", "full_like")
def full(first: Any, second: Any, third: Any = None, **_: Any) -> Lazy:
    """full(size, value), full_like(x, value), new_full(x, size, value)"""
    return constant(second if third is None else third)


@lowering("zeros", "zeros_like", "new_zeros")
@lowering("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided")
@lowering("empty_permuted", aten.empty.memory_format)
def zeros(*_: Any, **__: Any) -> Lazy:
    """Memory whose content nobody may rely on costs nothing to define: it is inlined as 0."""
    return constant(0)


lowering("ones", "ones_like", "new_ones")(lambda *_, **__: constant(1))
lowering("scalar_tensor")(lambda value, **_: constant(value))


@lowering("fill")
def fill(x: Lazy, value: Number | Lazy) -> Any:
    return identity(value) if isinstance(value, Lazy) else constant(value)


@lowering("arange")
def arange(*bounds: Number, **_: Any) -> Any:
    start, step = (bounds[0] if len(bounds) > 1 else 0), (bounds[2] if len(bounds) > 2 else 1)
    return sequence(start, step)


def sequence(start: Number, step: Number) -> Any:
    """start + i * step, in integers where both are; else in float64, as eager on the CPU."""
    out = spec()
    if not out.dtype.is_floating_point:
        if isinstance(start, float) or isinstance(step, float):
            return NotImplemented
        return made(lambda i: ops.index_expr(i[0] * step + start, out.dtype))
    double = torch.float64 if out.device.type == "cpu" else torch.float32

    def inner(index: Index) -> Value:
        steps = ops.mul(ops.index_expr(index[0], double), number(step, double))
        return cast(ops.add(number(start, double), steps), double, out.dtype)

    return made(inner, weight=2)


def random(size: Any, seeds: Lazy, k: int, kind: str, *, dtype: torch.dtype, **_: Any) -> Lazy:
    """Element i draws from seed k with its row-major position as offset."""
    load, out = seeds.loader(), spec()
    drawn = torch.int64 if kind == "randint" else torch.float32

    def inner(index: Index) -> Value:
        position = ops.index_expr(row_major(index, out.size), torch.int64)
        return cast(ops.random(kind, load((as_expr(k),)), position), drawn, dtype)

    return made(inner, seeds, weight=20)


BY_NAME["minicompiler.random.default"] = random
BY_NAME["prims.iota.default"] = lambda length, *, start, step, **_: sequence(start, step)
