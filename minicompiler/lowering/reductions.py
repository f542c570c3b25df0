"""Operators that fold dimensions.

Half precision is accumulated in float32 and rounded once; bool and narrow integers sum in int64.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from ..ir import ops
from ..ir.nodes import POSITIONS, Index, ReduceKind, Reduction, Value
from ..symbolic.expr import product
from ..symbolic.shapes import Layout
from .lazy import Lazy, each, loop_box, spec
from .promotion import cast, compute_dtype, number
from .reshaping import axis
from .table import aten, lowering
from .views import reshape

Dims = int | Sequence[int] | None
Convert = Callable[[Value], Value]


def dimensions(dim: Dims, ndim: int) -> list[int]:
    """The dimensions to fold, in order; None and [] mean all."""
    given = [dim] if isinstance(dim, int) else list(dim or [])
    return sorted(axis(d, ndim) for d in given) if ndim and given else list(range(ndim))


def reduce(kind: ReduceKind, x: Lazy, dim: Dims, accumulate: torch.dtype, convert: Convert) -> Lazy:
    """`x` folded over `dim`, each element `convert`ed to `accumulate`; as large as the result."""
    dims, load, out = dimensions(dim, x.ndim), x.loader(), spec()
    if not dims:  # a 0-d tensor is its own fold, at position 0
        found = (lambda v: number(0, accumulate)) if kind in POSITIONS else convert
        return each(found, x, like=Layout(x.device, accumulate, (), ()))
    kept = [d for d in range(x.ndim) if d not in dims]

    def inner(index: Index, folded: Index) -> Value:
        at = dict(zip(kept, index)) | dict(zip(dims, folded))
        return convert(load(tuple(at[d] for d in range(x.ndim))))

    size, folded = (tuple(x.size[d] for d in part) for part in (kept, dims))
    dropped = dims if len(size) < len(out.size) else ()  # those that the result keeps at size 1
    stride = tuple(s for d, s in enumerate(out.stride) if d not in dropped)
    layout = Layout(x.device, accumulate, size, stride)
    box = loop_box(Reduction(size, folded, kind, inner), layout, [x], 1)
    return Lazy(box, size).through(reshape(size, out.size))


def rounded(x: Lazy, body: Convert = lambda value: value) -> Lazy:
    """`body` on each element of `x`, stored as the dtype of the result."""
    dtype = spec().dtype
    return each(lambda value: cast(body(value), x.dtype, dtype), x)


ON_BOOL: dict[ReduceKind, ReduceKind] = {"max": "any", "min": "all"}


def fold(kind: ReduceKind, x: Lazy, dim: Dims = None, keepdim: bool = False, **_: Any) -> Any:
    """The lowering that is nothing but this reduction."""
    out, called = spec(), kind
    if kind in ("max", "min", "argmax", "argmin") and 0 in x.size:
        return NotImplemented  # eager raises, or there is nothing to compute
    if x.dtype == torch.bool:
        called = ON_BOOL.get(kind, kind)
    if called in ("any", "all"):
        if dim is not None and dim == [] and x.ndim:
            return NotImplemented  # here [] means none, not all
        first = torch.bool
    else:  # sums are of the result's dtype, so that a dtype asked for rounds each element
        first = out.dtype if kind in ("sum", "prod") else x.dtype
    math = compute_dtype(first)
    accumulate = torch.int64 if kind in POSITIONS else math
    convert = lambda v: cast(cast(v, x.dtype, first), first, math)
    folded = reduce(called, x, dim, accumulate, convert)
    return folded if accumulate == out.dtype else rounded(folded)


lowering(aten.sum.default, aten.sum.dim_IntList)(partial(fold, "sum"))
lowering(aten.prod.default, aten.prod.dim_int)(partial(fold, "prod"))
lowering(aten.amax.default, aten.max.default)(partial(fold, "max"))
lowering(aten.amin.default, aten.min.default)(partial(fold, "min"))
lowering(aten.argmax.default)(partial(fold, "argmax"))
lowering(aten.argmin.default)(partial(fold, "argmin"))
lowering(aten.any.default, aten.any.dim, aten.any.dims)(partial(fold, "any"))
lowering(aten.all.default, aten.all.dim, aten.all.dims)(partial(fold, "all"))


@lowering(aten.mean.default, aten.mean.dim)
def mean(x: Lazy, dim: Dims = None, keepdim: bool = False, **_: Any) -> Lazy:
    out = spec()
    math = compute_dtype(out.dtype)
    convert = lambda v: cast(cast(v, x.dtype, out.dtype), out.dtype, math)
    total = reduce("sum", x, dim, math, convert)
    count = product(x.size[d] for d in dimensions(dim, x.ndim))
    return rounded(total, lambda v: ops.truediv(v, number(count, math)))
