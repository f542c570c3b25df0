"""Views as index functions: a view says where in its source each of its elements lies."""

import functools
from collections.abc import Callable
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


def broadcast_index(index: Index, size: Size) -> Index:
    """Where element `index` of a broadcast tensor lies in its source of `size`."""
    own = index[len(index) - len(size) :]
    return tuple(ZERO if n == 1 else i for i, n in zip(own, size))


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
