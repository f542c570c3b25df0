"""Views as index functions: a view says where in its source each of its elements lies."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..ir.nodes import Index
from ..symbolic.expr import Expr, as_expr, sym
from ..symbolic.ranges import Interval, unflattened, within
from ..symbolic.shapes import row_major

ZERO = as_expr(0)
Size = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class View:
    """Element `i` of the view is element `at(i)` of the source. `old`: of a reshape, the size of
    the source; two in a row are one."""

    size: Size
    at: Callable[[Index], Index]
    old: Size | None = None


def permute(size: Size, order: Sequence[int]) -> View:
    place = [order.index(d) for d in range(len(order))]
    return View(tuple(size[d] for d in order), lambda i: tuple(i[p] for p in place))


def expand(size: Size, target: Size) -> View:
    return View(target, lambda i: broadcast_index(i, size))


def broadcast_index(index: Index, size: Size) -> Index:
    """Where element `index` of a broadcast tensor lies in its source of `size`."""
    own = index[len(index) - len(size) :]
    return tuple(ZERO if n == 1 else i for i, n in zip(own, size))


def slice_(size: Size, dim: int, start: Expr, step: Expr, length: Expr) -> View:
    return View(
        (*size[:dim], length, *size[dim + 1 :]),
        lambda i: (*i[:dim], start + i[dim] * step, *i[dim + 1 :]),
    )


def select(size: Size, dim: int, at: Expr) -> View:
    return View((*size[:dim], *size[dim + 1 :]), lambda i: (*i[:dim], at, *i[dim:]))


def diagonal(size: Size, dim1: int, dim2: int, offset: Expr, length: Expr) -> View:
    """The diagonal becomes the last dimension; `offset` counts columns to the right, or rows down
    where it is negative."""
    down, right = (-offset, ZERO) if int(offset) < 0 else (ZERO, offset)
    kept = [d for d in range(len(size)) if d not in (dim1, dim2)]

    def source(i: Index) -> Index:
        full = dict(zip(kept, i)) | {dim1: i[-1] + down, dim2: i[-1] + right}
        return tuple(full[d] for d in range(len(size)))

    return View((*(size[d] for d in kept), length), source)


def unfold(size: Size, dim: int, window: Expr, step: Expr, length: Expr) -> View:
    return View(
        (*size[:dim], length, *size[dim + 1 :], window),
        lambda i: (*i[:dim], i[dim] * step + i[-1], *i[dim + 1 : -1]),
    )


@functools.lru_cache(1 << 12)
def reshape(old: Size, new: Size) -> View:
    """The same elements in the same row-major order, as another size."""
    if old == new:
        return View(new, lambda i: i)
    symbols, known = points(new)
    places = (ZERO,) * len(old)  # nobody asks for an element where there is none
    if 0 not in old:
        places = unflattened(row_major(symbols, new), old, known)
    return View(new, lambda i: tuple(e.subs(dict(zip(symbols, i))) for e in places), old)


def points(size: Size) -> tuple[Index, dict[Expr, Interval]]:
    """Symbols for an index into `size`, and what is known of them."""
    symbols = tuple(sym(f"v{d}") for d in range(len(size)))
    return symbols, within(symbols, size)
