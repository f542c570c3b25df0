"""View operators, and copies that only move elements: both are index functions."""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..ir import ops
from ..ir.nodes import BufferRef, Index, Layout, Scatter, Value
from ..symbolic.expr import Expr, as_expr
from . import views
from .lazy import Lazy, building, each, in_memory, made, spec, written
from .promotion import cast, number, plain
from .table import aten, lowering
from .views import View, broadcast_index

Int = int | Expr
Ints = Sequence[Int]

# Up to so many parts of a `cat`, each element looks for its own: a GPU masks loads at no cost, a
# CPU loop keeps its vectors only where the choice is of two, or the same for a whole row.
FEW_PARTS = {"cuda": 16, "row": 4, "element": 2}


def axis(dim: int, ndim: int) -> int:
    """A dimension counted from the front."""
    return dim + ndim if dim < 0 else dim


lowering("alias", "detach", "lift", "lift_fresh", view=True)(lambda x: x)


@lowering("_unsafe_view", "reshape", "_reshape_alias", "squeeze", "unsqueeze", view=True)
@lowering(aten.view.default, view=True)
def reshape(x: Lazy, *_: Any) -> Lazy:
    return x.through(views.reshape(x.size, spec().size))


def seen(x: Lazy, at: Callable[[Index], Index]) -> Lazy:
    """What the node returns, a view: its element `i` is element `at(i)` of `x`."""
    return x.through(View(spec().size, at))


@lowering(aten.permute.default, view=True)
def permute(x: Lazy, dims: Sequence[int]) -> Lazy:
    place = {axis(d, x.ndim): k for k, d in enumerate(dims)}
    return seen(x, lambda i: tuple(i[place[d]] for d in range(x.ndim)))


@lowering(aten.transpose.int, view=True)
def transpose(x: Lazy, dim0: int, dim1: int) -> Lazy:
    a, b = axis(dim0, x.ndim), axis(dim1, x.ndim)
    other = {a: b, b: a}
    return seen(x, lambda i: tuple(i[other.get(d, d)] for d in range(x.ndim)))


lowering(aten.t.default, view=True)(lambda x: seen(x, lambda i: i[::-1]))


@lowering(aten.expand.default, view=True)
def expand(x: Lazy, size: Ints, *, implicit: bool = False) -> Lazy:
    return seen(x, lambda i: broadcast_index(i, x.size))


@lowering(aten.slice.Tensor, view=True)
def slice_(x: Lazy, dim: int = 0, start: Any = None, end: Any = None, step: Int = 1) -> Any:
    d = axis(dim, x.ndim)
    first = beginning(start, x.size[d])
    if first is None:
        return NotImplemented
    return seen(x, lambda i: (*i[:d], first + i[d] * step, *i[d + 1 :]))


def beginning(start: Int | None, size: Expr) -> Expr | None:
    """Where a slice begins; None where symbols leave that open."""
    if not start:
        return as_expr(0)
    if not isinstance(start, int) or not size.is_const:
        return None
    return as_expr(min(max(start + int(size) if start < 0 else start, 0), int(size)))


@lowering(aten.select.int, view=True)
def select(x: Lazy, dim: int, index: Int) -> Any:
    d = axis(dim, x.ndim)
    if not isinstance(index, int):
        return NotImplemented
    at = as_expr(index) if index >= 0 else x.size[d] + index
    return seen(x, lambda i: (*i[:d], at, *i[d:]))


@lowering(aten.diagonal.default, view=True)
def diagonal(x: Lazy, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Lazy:
    """It becomes the last dimension; `offset` counts columns to the right, or rows down where it is
    negative."""
    first = {axis(dim1, x.ndim): max(-offset, 0), axis(dim2, x.ndim): max(offset, 0)}

    def at(index: Index) -> Index:
        others = iter(index)
        return tuple(index[-1] + first[d] if d in first else next(others) for d in range(x.ndim))

    return seen(x, at)


@lowering(aten.unfold.default, view=True)
def unfold(x: Lazy, dimension: int, size: Int, step: Int) -> Lazy:
    d = axis(dimension, max(x.ndim, 1))  # a 0-d tensor counts as a vector
    return seen(x, lambda i: (*i[:d], i[d] * step + i[-1], *i[d + 1 : -1])[: x.ndim])


@lowering(aten.as_strided.default, view=True)
def as_strided(x: Lazy, size: Ints, stride: Ints, storage_offset: Int | None = None) -> Any:
    """Of memory with eager's layout: a fresh buffer, which begins where its storage does.

    Of an input, what lies before and behind it is known only when it is there: ATen reads that.
    """
    ref, seen = building().realise(x.box), x.strided()
    sizes, strides = tuple(map(as_expr, size)), tuple(map(as_expr, stride))
    given = ref.name in building().program.inputs
    if seen is None or (given and storage_offset is not None):
        return NotImplemented
    offset = seen.layout.offset if storage_offset is None else as_expr(storage_offset)
    layout = Layout(x.device, x.dtype, sizes, strides, offset)
    own, reach = ref.layout.span, layout.span
    within = own is not None and reach is not None and reach <= own
    return in_memory(BufferRef(ref.name, layout)) if within else NotImplemented


@lowering(aten.view.dtype)
def bitcast(x: Lazy, dtype: torch.dtype) -> Any:
    if x.dtype.itemsize != dtype.itemsize or torch.bool in (x.dtype, dtype):
        return NotImplemented
    return each(lambda v: ops.bitcast(v, dtype) if x.dtype != dtype else v, x, weight=0)


@lowering(aten.flip.default)
def flip(x: Lazy, dims: Sequence[int]) -> Lazy:
    turned, load = {axis(d, x.ndim) for d in dims}, x.loader()

    def inner(index: Index) -> Value:
        last = ((i, n - 1 - i) for i, n in zip(index, x.size))
        return load(tuple(pair[d in turned] for d, pair in enumerate(last)))

    return made(inner, x)


# ------------------------------------------------------------------------------------ several parts


def inside(index: Expr, start: Expr, end: Expr) -> Value:
    """Whether start <= index < end, as a value."""
    at, low, high = (ops.index_expr(e, torch.int64) for e in (index, start, end))
    return ops.logical_and(ops.ge(at, low), ops.lt(at, high))


@lowering(aten.cat.default)
def cat(tensors: Sequence[Lazy], dim: int = 0) -> Lazy:
    """Each element comes from the part it lies in: the first that ends behind it."""
    out = spec()
    # eager skips empty vectors, whatever the number of dimensions of the others
    parts = [x for x in tensors if not (x.ndim == 1 and x.size[0] == 0)] or list(tensors[:1])
    at, loaders = axis(dim, parts[0].ndim), [x.loader() for x in parts]
    starts = list(itertools.accumulate((x.size[at] for x in parts), initial=as_expr(0)))

    def part(k: int, index: Index) -> Value:
        shifted = (*index[:at], index[at] - starts[k], *index[at + 1 :])
        return cast(loaders[k](shifted), parts[k].dtype, out.dtype)

    def choose(k: int, index: Index) -> Value:
        if k == len(parts) - 1:
            return part(k, index)
        place, end = (ops.index_expr(e, torch.int64) for e in (index[at], starts[k + 1]))
        mine = ops.lt(place, end)
        first = ops.masked(mine, lambda: part(k, index), 0, out.dtype)
        rest = ops.masked(ops.logical_not(mine), lambda: choose(k + 1, index), 0, out.dtype)
        return ops.where(mine, first, rest)

    within = "element" if out.stride[at] == 1 else "row"
    if len(parts) > FEW_PARTS.get(out.device.type, FEW_PARTS[within]):
        return _written_in_turn(parts, at, starts)
    return made(lambda index: choose(0, index), *parts, weight=2 * len(parts))


def _written_in_turn(parts: Sequence[Lazy], at: int, starts: Sequence[Expr]) -> Lazy:
    """Each part written to its place in one buffer."""
    out, ref = spec(), None
    for x, start in zip(parts, starts):
        load, dtype = x.loader(), x.dtype
        target = lambda i, start=start: (*i[:at], i[at] + start, *i[at + 1 :])
        inner = lambda i, load=load, dtype=dtype: cast(load(i), dtype, out.dtype)
        ref = written(Scatter(x.size, target, inner), out.layout, ref, [x])
    assert ref is not None
    return in_memory(ref)


@lowering(aten.constant_pad_nd.default)
def constant_pad_nd(x: Lazy, pad: Ints, value: Any = 0) -> Lazy:
    """`pad`: (before, after) of the last dimension, then of the one before it..."""
    load = x.loader()
    before = {x.ndim - 1 - k: as_expr(pad[2 * k]) for k in range(len(pad) // 2)}

    def inner(index: Index) -> Value:
        source = tuple(i - before[d] if d in before else i for d, i in enumerate(index))
        checks = [inside(source[d], as_expr(0), x.size[d]) for d in sorted(before)]
        mask = functools.reduce(lambda a, b: ops.logical_and(a, b), checks)
        return ops.masked(mask, lambda: load(source), plain(value, x.dtype), x.dtype)

    return made(inner if before else load, x, weight=2)


@lowering(aten.slice_scatter.default)
def slice_scatter(
    x: Lazy, source: Lazy, dim: int = 0, start: Any = None, end: Any = None, step: Int = 1
) -> Any:
    at = axis(dim, x.ndim)
    first, length, by = beginning(start, x.size[at]), source.size[at], as_expr(step)
    if first is None:
        return NotImplemented
    load, old = source.loader(), x.loader()

    def inner(index: Index) -> Value:
        place = index[at] - first
        mask = inside(index[at], first, first + (length - 1) * by + 1)
        if by != 1:
            aligned = ops.index_expr(place % by, torch.int64)
            mask = ops.logical_and(mask, ops.eq(aligned, number(0, torch.int64)))
        shifted = (*index[:at], place // by, *index[at + 1 :])
        read = lambda: cast(load(shifted), source.dtype, x.dtype)
        return ops.where(mask, ops.masked(mask, read, 0, x.dtype), old(index))

    return made(old if length == 0 else inner, x, source, weight=3)


@lowering(aten.select_scatter.default)
def select_scatter(x: Lazy, source: Lazy, dim: int, index: Int) -> Any:
    if not isinstance(index, int):
        return NotImplemented
    at = axis(dim, x.ndim)
    row = (*x.size[:at], as_expr(1), *x.size[at + 1 :])
    return slice_scatter(x, source.through(views.reshape(source.size, row)), at, index)
