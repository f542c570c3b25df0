"""Which loops a C++ kernel has: dimensions in the order of memory, joined where they can be.

A kernel's iteration space is `ranges` x `folded`. Here each of the two becomes a list of axes, and
the kernel's own indices become expressions of them. One axis is that of the vectors: neighbours on
it are neighbours in memory for most of what the kernel reads and writes.
"""

import math
from dataclasses import dataclass, replace

from ..ir import ops
from ..ir.dtypes import DtypeHandler, recorded
from ..ir.nodes import Index, Layout, Reduction, Scatter
from ..ir.plan import Kernel
from ..symbolic.expr import Expr, polynomial, product, sym
from ..symbolic.ranges import Interval, index_range, simplify, unflattened

FEW = 16  # folding fewer elements is no work for a vector: take rows side by side


@dataclass(frozen=True, slots=True)
class Axis:
    """One loop."""

    symbol: Expr
    size: Expr

    @property
    def name(self) -> str:
        return str(self.symbol)


@dataclass(frozen=True, slots=True)
class Nest:
    """`outer` loops over the kernel's ranges, `inner` ones over what it folds.

    `index` and `folded` are the kernel's own indices in terms of these. The last axis of `inner`,
    or with `columns` (or nothing to fold) the last of `outer`, is that of the vectors. `across` is
    an axis that lies contiguously in some access in which that of the vectors does not. `cost` is
    the number of additions that an element is worth.
    """

    outer: tuple[Axis, ...] = ()
    inner: tuple[Axis, ...] = ()
    index: Index = ()
    folded: Index = ()
    columns: bool = False
    across: Axis | None = None
    turned: tuple[tuple[str, Expr], ...] = ()
    cost: int = 0


@dataclass(frozen=True, slots=True)
class Access:
    """A position in memory; of weight 0: one that matters little, or an index used as a value.

    `guarded`: it is in range only where a mask holds.
    """

    index: Expr
    weight: int
    buffer: str = ""
    store: bool = False
    guarded: bool = False


def stride(e: Expr, axis: Expr) -> int | None:
    """By how much `e` grows with `axis`, where that is everywhere the same; else None."""
    terms = polynomial(e)
    step = terms.pop((axis,), 0)
    return None if any(axis in atom.free for term in terms for atom in term) else step


def nest(kernel: Kernel, layouts: dict[str, Layout]) -> Nest:
    """The loops of a kernel."""
    xs = [Axis(sym(f"i{d}"), size) for d, size in enumerate(kernel.ranges)]
    rs = [Axis(sym(f"j{d}"), size) for d, size in enumerate(kernel.folded)]
    index, folded = tuple(a.symbol for a in xs), tuple(a.symbol for a in rs)
    accesses, cost = _accesses(kernel, layouts, xs, rs)
    # two steps of these may add to one element: as if folded, they never run in parallel
    clashing = _clashing(kernel, layouts, index)
    rs += [axis for axis in xs if axis.symbol in clashing]
    xs = [axis for axis in xs if axis.symbol not in clashing]
    vector = _vector_axis([] if kernel.down else xs, rs, accesses)
    stores = [a for a in accesses if a.store]
    loads = [a for a in accesses if not a.store and a.weight]
    table: dict[Expr, Expr] = {}
    outer = _joined(_by_stride(xs, stores, vector), "x", accesses, table)
    inner = _joined(_by_stride(rs, loads + stores, vector), "r", accesses, table)
    columns = bool(rs) and vector in xs
    turned: dict[tuple[str, Expr], None] = {}
    across = None
    if len(outer) > 1 and not rs:
        made = {node.name for node in kernel.nodes} | {*kernel.mutated}
        last, limits = outer[-1].symbol, _limits(outer)
        for access in loads:
            at = simplify(access.index.subs(table), limits)
            near = [a for a in outer[:-1] if stride(at, a.symbol) == 1]
            odd = stride(at, last) not in (None, 0, 1) and access.buffer not in made
            if odd and near and across in (None, near[0]) and not access.guarded:
                across = near[0]
                turned[access.buffer, at] = None
    index, folded = (tuple(table[s] for s in symbols) for symbols in (index, folded))
    return Nest(tuple(outer), tuple(inner), index, folded, columns, across, tuple(turned), cost)


def _limits(axes: list[Axis]) -> dict[Expr, Interval]:
    return {a.symbol: index_range(a.size) for a in axes}


def _accesses(
    kernel: Kernel, layouts: dict[str, Layout], xs: list[Axis], rs: list[Axis]
) -> tuple[list[Access], int]:
    """Every access of the kernel, and its cost. What happens once a row weighs nothing."""
    index, folded = tuple(a.symbol for a in xs), tuple(a.symbol for a in rs)
    accesses, cost, limits = list[Access](), 0, _limits([*xs, *rs])
    for node in kernel.nodes:
        point = (folded, index) if node.name in kernel.down else (index, folded)
        seen, place = recorded(node, *point, layouts)
        weight = int(kernel.over_all(node))
        accesses += [Access(at, weight, name, False, g) for (name, at), g in seen.loads.items()]
        accesses += [Access(at, 0) for at in seen.indices]
        folds = isinstance(node.loop, Reduction) and bool(rs)
        accesses.append(Access(place, 0 if folds else 2 * weight, node.name, store=True))
        cost += seen.cost + len(seen.loads)
    return [replace(a, index=simplify(a.index, limits)) for a in accesses], cost


def _clashing(kernel: Kernel, layouts: dict[str, Layout], index: Index) -> set[Expr]:
    """The indices along which a Scatter that adds may meet one element more than once."""
    clashing = set[Expr]()
    for node in kernel.nodes:
        loop = node.loop
        if isinstance(loop, Scatter) and loop.mode == "add":
            with ops.handling(DtypeHandler(layouts)):
                target = loop.target(index)
            for symbol in index:
                moving = [e for e in target if symbol in e.free]
                if len(moving) != 1 or moving[0].free != {symbol} or stride(moving[0], symbol) != 1:
                    clashing.add(symbol)
    return clashing


def _vector_axis(xs: list[Axis], rs: list[Axis], accesses: list[Access]) -> Axis | None:
    """The axis along which most of memory is contiguous."""
    few = int(product(a.size for a in rs))
    candidates = xs if not rs or (xs and few < FEW and few != 8) else [*xs, *rs]
    known = {axis.symbol for axis in (*xs, *rs)}

    def elements(access: Access) -> int:
        """How many are accessed; an index from memory may lead anywhere."""
        free = access.index.free
        return math.prod(int(a.size) for a in (*xs, *rs) if a.symbol in free or free - known)

    weights = [(access.index, access.weight * elements(access)) for access in accesses]
    score = lambda axis: sum(w for index, w in weights if stride(index, axis.symbol) == 1)
    return max(reversed(candidates), key=score, default=None)


def _by_stride(axes: list[Axis], order: list[Access], vector: Axis | None) -> list[Axis]:
    """Far apart in memory first, by the first of `order` that says so; the vectors last."""

    steps = [stride(order[0].index, axis.symbol) if order else None for axis in axes]
    far = {axis: abs(step) for axis, step in zip(axes, steps) if step is not None}
    if len(far) == len(axes):
        axes = sorted(axes, key=lambda axis: -far[axis])
    return sorted(axes, key=lambda axis: axis is vector)


def _joined(
    axes: list[Axis], letter: str, accesses: list[Access], table: dict[Expr, Expr]
) -> list[Axis]:
    """Neighbours that every access steps through as if they were one become one.

    `table` receives each old axis in terms of the new ones: x0, x1... or r0, r1...
    """

    def one(a: Axis, b: Axis) -> bool:
        steps = ((stride(x.index, a.symbol), stride(x.index, b.symbol)) for x in accesses)
        return all(near is not None and far == near * b.size for far, near in steps)

    groups: list[list[Axis]] = []
    for axis in axes:
        if groups and one(groups[-1][-1], axis):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    made = []
    for number, group in enumerate(groups):
        new = Axis(sym(f"{letter}{number}"), product(a.size for a in group))
        made.append(new)
        places = unflattened(new.symbol, [a.size for a in group], _limits([new]))
        table |= zip((a.symbol for a in group), places)
    return made
