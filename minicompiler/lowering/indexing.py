"""Operators that read or write where other tensors say.

An index read from memory goes through `ops.indirect`, which checks it. Operators that count
negative indices from the end say `wrap`; for the others, as in eager, they are out of range.
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import torch

from ..ir import ops
from ..ir.nodes import Index, Scatter
from ..symbolic.expr import Expr, as_expr, max_, min_, sym
from ..symbolic.ranges import proves_inside
from ..symbolic.shapes import broadcast_shapes
from .lazy import COSTLY, Lazy, Loader, building, each, made, spec, written
from .pointwise import masked_fill
from .promotion import Number, Operand, cast, compute_dtype, number
from .reshaping import axis
from .table import aten, lowering
from .views import Size, View, broadcast_index, points, reshape

Position = Callable[[Index], Expr]
Place = Callable[[Index], Index]  # where in a tensor an element of another comes from, or goes to
Mode = Literal["store", "add"]
Indices = Sequence[Lazy | None]
INTEGERS = (torch.int64, torch.int32)


ARITHMETIC: dict[str, Callable[..., Expr]] = {"minimum": min_, "maximum": max_}
ARITHMETIC |= {name: getattr(operator, name) for name in ("add", "sub", "mul", "neg")}


class Arithmetic:
    """Reads the body of an index tensor as an expression; None where that needs memory, or where
    narrower integers could wrap."""

    def constant(self, value: Any, dtype: torch.dtype) -> Expr | None:
        whole = dtype == torch.int64 and (isinstance(value, Expr) or type(value) is int)
        return as_expr(value) if whole else None

    index_expr = to_dtype = constant

    def indirect(self, value: Any, size: Expr, check: bool = True) -> Expr:
        return sym("unknown")

    def default(self, name: str, *operands: Any) -> Expr | None:
        known = name in ARITHMETIC and all(isinstance(x, Expr) for x in operands)
        return ARITHMETIC[name](*operands) if known else None


def position(x: Lazy, size: Expr, wrap: bool) -> Position:
    """The function from an index of `x` to the place that is named there, in a dimension of `size`.

    What the graph computes from a range is a place by itself: no load and no check.
    """
    load = x.loader()
    symbols, known = points(x.size)
    with ops.handling(Arithmetic()):
        place = load(symbols)
    if place is not None and proves_inside(place, size, known):
        found: Expr = place
        return lambda index: found.subs(dict(zip(symbols, index)))

    def at(index: Index) -> Any:
        value = cast(load(index), x.dtype, torch.int64)
        if wrap:
            negative = ops.lt(value, number(0, torch.int64))
            value = ops.where(negative, ops.add(value, number(size, torch.int64)), value)
        return ops.indirect(value, size, True)

    return at


def taken(x: Lazy, source: Place, *indices: Lazy) -> Lazy:
    """out[i] = x[source(i)]"""
    if x.box.weight >= COSTLY:
        building().realise(x.box)  # an element may be taken any number of times
    load = x.loader()
    return made(lambda index: load(source(index)), x, *indices, weight=2)


def along(x: Lazy, dim: int, index: Lazy) -> Place | None:
    """The place in `x` that each element of `index` names along `dim`."""
    if x.ndim == 0 or index.ndim != x.ndim:  # an empty index may have any rank
        return None
    d = axis(dim, x.ndim)
    at = position(index, x.size[d], wrap=False)
    return lambda i: (*i[:d], at(i), *i[d + 1 :])


@lowering(aten.gather.default)
def gather(x: Lazy, dim: int, index: Lazy, sparse_grad: bool = False) -> Any:
    source = along(x, dim, index)
    return NotImplemented if source is None else taken(x, source, index)


def advanced(size: Size, indices: Indices, wrap: bool = True) -> tuple[Place, Size] | None:
    """x[indices]: from an index of the result to one of x, and its size; None for masks.

    The index tensors broadcast together to dimensions that stand where the first of them was, or in
    front of all others when a slice lies between two of them.
    """
    tensors = {d: x for d, x in enumerate(indices) if x is not None}
    if not tensors or any(x.dtype not in INTEGERS for x in tensors.values()):
        return None
    used = list(tensors)
    shared = broadcast_shapes(*[x.size for x in tensors.values()])
    front = 0 if used[-1] - used[0] + 1 != len(used) else used[0]
    kept = [n for d, n in enumerate(size) if d not in tensors]
    at = {d: (position(x, size[d], wrap), x.size) for d, x in tensors.items()}

    def source(index: Index) -> Index:
        found = index[front : front + len(shared)]
        others = iter((*index[:front], *index[front + len(shared) :]))
        place = []
        for d in range(len(size)):
            find, own = at.get(d, (None, ()))
            place.append(find(broadcast_index(found, own)) if find else next(others))
        return tuple(place)

    return source, (*kept[:front], *shared, *kept[front:])


@lowering(aten.index.Tensor, aten._unsafe_index.Tensor)
def index(x: Lazy, indices: Indices, wrap: bool = True) -> Any:
    found = advanced(x.size, indices, wrap)
    if found is None:
        return NotImplemented
    return taken(x, found[0], *[i for i in indices if i is not None])


def rows(x: Lazy, dim: int, index: Lazy) -> Indices:
    """Of whole slices x[..., index, ...]; none for what ATen takes for a vector."""
    return [None] * axis(dim, x.ndim) + [index] if x.ndim and index.ndim == 1 else []


lowering(aten.index_select.default)(lambda x, d, i: index(x, rows(x, d, i), wrap=False))
lowering(aten.embedding.default)(lambda weight, i, *_: index(weight, [i], wrap=False))

# ------------------------------------------------------------------------------------------ writing


def scattered(
    x: Lazy, ranges: Size, target: Place, value: Operand, mode: Mode, *indices: Lazy
) -> Any:
    """A copy of `x` with `value` (broadcast over `ranges`) written at `target(i)`."""
    out = spec()
    # a sum in half precision is rounded once, not at each addend
    dtype = compute_dtype(out.dtype) if mode == "add" else out.dtype
    if mode == "add" and dtype == torch.bool:
        return NotImplemented
    inputs = list(indices)
    inner: Loader = lambda i: number(value, dtype)
    if isinstance(value, Lazy):
        load, given = value.loader(ranges), value.dtype
        inner = lambda i: cast(cast(load(i), given, out.dtype), out.dtype, dtype)
        inputs.append(value)
    base = each(lambda v: cast(v, x.dtype, dtype), x, like=replace(out, dtype=dtype))
    older = building().realise(base.box)
    base.box.ref = written(Scatter(ranges, target, inner, mode), older.layout, older, inputs)
    return base if dtype == out.dtype else each(lambda v: cast(v, dtype, out.dtype), base)


@lowering(aten.index_put.default, aten._unsafe_index_put.default)
def index_put(
    x: Lazy, indices: Indices, values: Lazy, accumulate: bool = False, wrap: bool = True
) -> Any:
    if values.dtype != x.dtype or values.device != x.device:
        return NotImplemented
    mask = indices[0] if len(indices) == 1 else None
    if mask is not None and mask.dtype == torch.bool and not accumulate and values.ndim == 0:
        # no more than a choice, and no size depends on data
        ones = [as_expr(1)] * (x.ndim - mask.ndim)
        return masked_fill(x, mask.through(reshape(mask.size, (*mask.size, *ones))), values)
    found = advanced(x.size, indices, wrap)
    if found is None:
        return NotImplemented
    source, ranges = found
    tensors = [i for i in indices if i is not None]
    return scattered(x, ranges, source, values, "add" if accumulate else "store", *tensors)


@lowering(aten.index_copy.default)
def index_copy(x: Lazy, dim: int, index: Lazy, source: Lazy, accumulate: bool = False) -> Any:
    if source.ndim != x.ndim:
        return NotImplemented
    return index_put(x, rows(x, dim, index), source, accumulate, wrap=False)


@lowering(aten.index_add.default)
def index_add(x: Lazy, dim: int, index: Lazy, source: Lazy, alpha: Number = 1) -> Any:
    return index_copy(x, dim, index, source, True) if alpha == 1 else NotImplemented


def _put(x: Lazy, dim: int, index: Lazy, value: Operand, mode: Mode) -> Any:
    """x[i][index[i][j]][k] = value[i][j][k], over the elements of `index`."""
    target = along(x, dim, index)
    if target is None:
        return NotImplemented
    if isinstance(value, Lazy):  # only as much of it as there are indices
        value = value.through(View(index.size, lambda i: i))
    return scattered(x, index.size, target, value, mode, index)


lowering(aten.scatter.src, aten.scatter.value)(lambda x, d, i, y: _put(x, d, i, y, "store"))
lowering(aten.scatter_add.default)(lambda x, d, i, y: _put(x, d, i, y, "add"))
