"""Iteration spaces: how two loops of different shapes run as one.

A loop over (4, 6) and one over (24,) visit the same points in the same order. `refined` cuts both
into pieces that fit one another, and a loop over `ranges` that folds `folded` is visited like one
over `ranges + folded`. Where the orders differ, `permutation` finds the one that fits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..ir.nodes import Index
from ..symbolic.expr import Expr, add_all, as_expr, product, sym
from ..symbolic.ranges import Interval, index_range

Sizes = tuple[Expr, ...]


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
        return dict(zip(self.symbols, map(index_range, self.sizes)))


Renaming = dict[Expr, Expr]  # the symbols of a space in terms of those of another


Cut = tuple[list[int], list[int], Sizes]


def refined(a: Sizes, b: Sizes) -> Cut | None:
    """The sizes into which both cut, and into how many each size of a and of b is cut.

    None where no cut fits: then the two do not visit the same points in the same order.
    """
    left, right = list(a), list(b)
    counts = [0] * len(a), [0] * len(b)
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
        counts[0][len(left) - 1] += 1
        counts[1][len(right) - 1] += 1
        left[-1], right[-1] = p // piece, q // piece
    return None if left or right else (*counts, tuple(reversed(pieces)))


def renaming(symbols: Index, counts: Sequence[int], new: Index, sizes: Sizes) -> Renaming:
    """Each of `symbols` as the row-major position within its share of `new`."""
    table, start = {}, 0
    for symbol, count in zip(symbols, counts):
        share = range(start, start + count)
        table[symbol] = add_all(new[k] * product(sizes[k + 1 : start + count]) for k in share)
        start += count
    return table


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
        space = Space(over[2], under[2] or (one if a.folded else ()))
        first, second = (
            renaming(s.x, outer, space.x, space.ranges)
            | renaming(s.y, inner, space.y, space.folded)
            for s, outer, inner in ((a, over[0], under[0]), (b, over[1], under[1]))
        )
        return Joined(space, first, second)
    rows = a.numel != b.numel
    cut = refined(a.ranges, b.ranges if rows else b.sizes)
    if cut is None:
        return None
    mine, theirs, pieces = cut
    outer = sum(theirs[: len(b.ranges)])
    space = Space(pieces[:outer], b.folded if rows else pieces[outer:] or one)
    table = renaming(b.symbols[: len(theirs)], theirs, space.symbols, space.sizes)
    if rows:
        table |= dict(zip(b.y, space.y))
    return Joined(space, renaming(a.x, mine, space.symbols, space.sizes), table, rows)


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
