"""Iteration spaces: how two loops of different shapes run as one.

A loop over (4, 6) and one over (24,) visit the same points in the same order. `refined` cuts both
into pieces that fit one another, and a loop over `ranges` that folds `folded` is visited like one
over `ranges + folded`. Where the orders differ, `permutation` finds the one that fits.
"""

import functools
from dataclasses import dataclass
from functools import cached_property

from ..ir.nodes import Index
from ..symbolic.expr import Expr, as_expr, product, sym
from ..symbolic.ranges import Interval, unflattened, within
from ..symbolic.shapes import row_major

Sizes = tuple[Expr, ...]
Renaming = dict[Expr, Expr]  # the symbols of a space in terms of those of another


@dataclass(frozen=True)
class Space:
    """`ranges` x `folded`; `folded` is empty where no reduction takes part."""

    ranges: Sizes
    folded: Sizes = ()

    @cached_property
    def x(self) -> Index:
        return tuple(sym(f"x{k}") for k in range(len(self.ranges)))

    @cached_property
    def y(self) -> Index:
        return tuple(sym(f"y{k}") for k in range(len(self.folded)))

    @cached_property
    def sizes(self) -> Sizes:
        return (*self.ranges, *self.folded)

    @cached_property
    def symbols(self) -> Index:
        return (*self.x, *self.y)

    @cached_property
    def numel(self) -> Expr:
        return product(self.sizes)

    @cached_property
    def limits(self) -> dict[Expr, Interval]:
        return within(self.symbols, self.sizes)

    def named(self, other: "Space") -> Renaming:
        """The symbols of a space that visits the same points, in terms of these."""
        outer = _renamed(other.x, other.ranges, self.x, self.ranges)
        return outer | _renamed(other.y, other.folded, self.y, self.folded)


def refined(a: Sizes, b: Sizes) -> Sizes | None:
    """The sizes into which both cut; None where no cut fits: then the two do not visit the same
    points in the same order."""
    left, right = list(a), list(b)
    pieces: list[Expr] = []
    while left or right:
        for sizes in (left, right):
            while sizes and sizes[-1] == 1:
                sizes.pop()
        if not left or not right:
            break
        p, q = left[-1], right[-1]
        piece = p if q % p == 0 else q
        if p % piece != 0:
            return None
        pieces.append(piece)
        left[-1], right[-1] = p // piece, q // piece
    return None if left or right else tuple(reversed(pieces))


@functools.lru_cache(1 << 12)
def _renamed(symbols: Index, sizes: Sizes, new: Index, pieces: Sizes) -> Renaming:
    """Each of `symbols`, an index into `sizes`, by the new ones, an index into their `pieces`."""
    return dict(zip(symbols, unflattened(row_major(new, pieces), sizes, within(new, pieces))))


@dataclass(frozen=True, slots=True)
class Joined:
    """`space` for two; what the symbols of each become; `rows`: one runs once a row only."""

    space: Space
    first: Renaming
    second: Renaming
    rows: bool = False


def joined(a: Space, b: Space) -> Joined | None:
    """One space for both, or None.

    A space that folds nothing fits one that does over all of it, or over its ranges (`rows`).
    """
    if a.folded and not b.folded:
        turned = joined(b, a)
        return turned and Joined(turned.space, turned.second, turned.first, turned.rows)
    one = (as_expr(1),)
    if bool(a.folded) == bool(b.folded):
        over, under = refined(a.ranges, b.ranges), refined(a.folded, b.folded)
        if over is None or under is None:
            return None
        space = Space(over, under or (one if a.folded else ()))
        return Joined(space, space.named(a), space.named(b))
    rows = a.numel != b.numel
    pieces = refined(a.ranges, b.ranges if rows else b.sizes)
    if pieces is None:
        return None
    if rows:
        space = Space(pieces, b.folded)
        return Joined(space, _renamed(a.x, a.ranges, space.x, pieces), space.named(b), rows)
    outer = 0  # pieces of the ranges of b
    while product(pieces[:outer]) != product(b.ranges):
        outer += 1
    space = Space(pieces[:outer], pieces[outer:] or one)
    return Joined(space, _renamed(a.x, a.ranges, space.symbols, space.sizes), space.named(b))


def permutation(steps: list[int], target: list[int]) -> list[int]:
    """An order of a loop's dimensions such that memory is visited as another loop visits it.

    `steps` and `target`: the strides, in one buffer, of the loop's dimensions and of the other
    loop's. A dimension belongs to the one of `target` with the largest stride that does not exceed
    its own. Dimensions that do not move through the buffer go last, as they are.
    """

    def key(k: int) -> tuple[int, int]:
        if steps[k] == 0:
            return len(target), k
        below = [t for t in target if 0 < t <= steps[k]]
        return (target.index(max(below)) if below else len(target)), -steps[k]

    return sorted(range(len(steps)), key=key)
