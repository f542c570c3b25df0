"""Operators that fold dimensions.

Half precision is accumulated in float32 and rounded once; bool and narrow integers sum in int64.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..ir import ops
from ..ir.nodes import ReduceKind, Value
from ..symbolic.expr import product
from ..symbolic.shapes import TensorSpec
from . import views
from .lazy import Lazy, folding, pointwise
from .promotion import cast, compute_dtype, number
from .reshaping import axis
from .table import aten, lowering, spec

Dims = int | Sequence[int] | None


def dimensions(dim: Dims, ndim: int) -> list[int]:
    """The dimensions to fold, in order; None and [] mean all."""
    given = [dim] if isinstance(dim, int) else list(dim or [])
    return sorted(axis(d, ndim) for d in given) if ndim and given else list(range(ndim))


def reduce(
    kind: ReduceKind,
    x: Lazy,
    dim: Dims,
    accumulate: torch.dtype,
    out: Any,
    convert: Callable[[Value], Value],
) -> Lazy:
    """`x` folded over `dim`: each element `convert`ed to `accumulate`, in the size of `out`."""
    dims, load = dimensions(dim, x.ndim), x.loader()
    read = lambda index: convert(load(index))
    if not dims:  # a 0-d tensor is its own fold, at position 0
        found = (lambda v: number(0, accumulate)) if kind in ("argmin", "argmax") else convert
        return pointwise(found, x, like=TensorSpec(accumulate, x.device, (), ()))
    folded = folding(kind, x, dims, accumulate, read)
    if len(folded.size) == len(out.size):
        folded.box.stride = out.stride
    else:
        folded.box.stride = tuple(s for d, s in enumerate(out.stride) if d not in dims)
    return folded.through(views.reshape(folded.size, out.size))


def rounded(x: Lazy, out: Any, body: Callable[[Value], Value] = lambda value: value) -> Lazy:
    """`body` on each element of `x`, stored as the dtype of `out`; x itself where that is it."""
    made = lambda value: cast(body(value), x.dtype, out.dtype)
    return pointwise(made, x, like=out)


def _sum_like(kind: ReduceKind) -> Callable[..., Any]:
    def rule(
        x: Lazy, dim: Dims = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
    ) -> Lazy:
        out = spec()
        math = compute_dtype(out.dtype)
        # an explicit dtype converts first; half precision asked for rounds each element
        convert = lambda v: cast(cast(v, x.dtype, out.dtype), out.dtype, math)
        folded = reduce(kind, x, dim, math, out, convert)
        return folded if math == out.dtype else rounded(folded, out)

    return rule


lowering(aten.sum.default, aten.sum.dim_IntList)(_sum_like("sum"))
lowering(aten.prod.default, aten.prod.dim_int)(_sum_like("prod"))


@lowering(aten.mean.default, aten.mean.dim)
def mean(
    x: Lazy, dim: Dims = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Lazy:
    out = spec()
    math = compute_dtype(out.dtype)
    convert = lambda v: cast(cast(v, x.dtype, out.dtype), out.dtype, math)
    total = reduce("sum", x, dim, math, out, convert)
    count = product(x.size[d] for d in dimensions(dim, x.ndim))
    return rounded(total, out, lambda v: ops.truediv(v, number(count, math)))


def _extreme(kind: ReduceKind, on_bool: ReduceKind) -> Callable[..., Any]:
    def rule(x: Lazy, dim: Dims = None, keepdim: bool = False) -> Lazy:
        out = spec()
        if x.dtype == torch.bool:
            return reduce(on_bool, x, dim, torch.bool, out, lambda v: v)
        math = compute_dtype(x.dtype)
        folded = reduce(kind, x, dim, math, out, lambda v: cast(v, x.dtype, math))
        return folded if math == out.dtype else rounded(folded, out)

    return rule


lowering(aten.amax.default, aten.max.default)(_extreme("max", "any"))
lowering(aten.amin.default, aten.min.default)(_extreme("min", "all"))


def _position(kind: ReduceKind) -> Callable[..., Any]:
    def rule(x: Lazy, dim: int | None = None, keepdim: bool = False) -> Lazy:
        math = compute_dtype(x.dtype)
        convert = lambda v: cast(v, x.dtype, math)
        return reduce(kind, x, dim, torch.int64, spec(), convert)

    return rule


lowering(aten.argmax.default)(_position("argmax"))
lowering(aten.argmin.default)(_position("argmin"))


def _logical(kind: ReduceKind) -> Callable[..., Any]:
    def rule(x: Lazy, dim: Dims = None, keepdim: bool = False) -> Lazy:
        out = spec()
        folded = reduce(kind, x, dim, torch.bool, out, lambda v: cast(v, x.dtype, torch.bool))
        return folded if out.dtype == torch.bool else rounded(folded, out)  # uint8 stays uint8

    return rule


lowering(aten.any.default, aten.any.dim, aten.any.dims)(_logical("any"))
lowering(aten.all.default, aten.all.dim, aten.all.dims)(_logical("all"))
