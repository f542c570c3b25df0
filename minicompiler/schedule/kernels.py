"""A group of fused loops as a Kernel: bodies rewritten for one iteration space."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..ir.nodes import Computed, Index, Reduction, Scatter, variables
from ..ir.plan import Kernel
from ..symbolic.expr import product
from .dependencies import Node
from .fusion import Group
from .spaces import Space

AGAIN = 4  # what costs no more is computed again in a later pass, rather than kept
ROW_BYTES = 1 << 15  # of values that one kernel keeps from one pass over a row to the next


def kernel(group: Group, name: str, needed: Iterable[str]) -> Kernel:
    """The kernel of a group; `needed` are the buffers that others read."""
    space, kept = group.space, set(needed)
    nodes = tuple(_rewritten(node, space) for node in group.nodes)
    passes = dict(zip((node.name for node in nodes), _passes(group)))
    by = {node.name: node for node in group.nodes}
    # what costs a loop over `folded` to have
    looped = {n for n, node in by.items() if node.over_all and not _folds(node)}
    internal, rows, again, budget = set[str](), set[str](), set[str](), ROW_BYTES
    taken = {node.into for node in nodes}
    for of, node in zip(group.nodes, nodes):
        if node.name in kept or node.into or node.name in taken or isinstance(node.loop, Scatter):
            continue
        assert not of.down, "nothing within the kernel can read it"
        readers = [n.name for n in group.nodes if node.name in n.reads]
        later = any(passes[reader] > passes[node.name] for reader in readers)
        if later and node.name in looped:
            size = int(product(space.folded)) * node.layout.dtype.itemsize
            gone = looped & internal - rows  # what a later loop does not find in memory
            if of.cost <= AGAIN and not of.reads.keys() & (taken | gone):
                again.add(node.name)  # cheaper than memory
            elif group.device.type == "cpu" and size > budget:
                continue
            else:
                # memory for a row of it; on a GPU registers, or it is made again
                budget -= size
                rows.add(node.name)
        internal.add(node.name)
    made = {node.name for node in nodes}
    mutated = [n.into for n in nodes if n.into is not None and n.into not in made]
    reads = [name for n in group.nodes for name in n.reads if name not in made]
    return Kernel(
        name,
        group.device,
        nodes,
        space.ranges,
        space.folded,
        reads=tuple(dict.fromkeys(reads)),
        writes=tuple(n.name for n in nodes if n.name not in internal and n.into is None),
        mutated=tuple(dict.fromkeys(mutated)),
        internal=frozenset(internal),
        rows=frozenset(rows),
        down=frozenset(node.name for node in group.nodes if node.down),
        again=frozenset(again),
        passes=tuple(passes.values()) if space.folded else (),
    )


def overwriting(kernel: Kernel, name: str, old: str) -> Kernel:
    """The kernel with `name` written into the memory of `old`."""
    return replace(
        kernel,
        nodes=tuple(replace(n, into=old) if n.name == name else n for n in kernel.nodes),
        writes=tuple(w for w in kernel.writes if w != name),
        mutated=(*kernel.mutated, old),
    )


def _passes(group: Group) -> list[int]:
    """In which loop over `folded` each node runs, or after which if it runs once a row.

    What a reduction or a once-a-row node makes is known after its loop; what is made at every point
    is known to the rest of the same iteration. Overwriting waits for reading in the same way.
    """
    when: list[int] = []
    for node in group.nodes:
        reads = {*node.reads, *node.into}
        first = 0 if node.over_all else -1
        for its, other in zip(when, group.nodes):
            flows = other.name in reads
            overwrites = other.reads.keys() & {*node.into}
            if flows or overwrites:
                late = not other.over_all or (flows and _folds(other))
                first = max(first, its + int(late and node.over_all))
        when.append(first)
    return when


def _folds(node: Node) -> bool:
    operation = node.operation
    return isinstance(operation, Computed) and isinstance(operation.loop, Reduction)


def _rewritten(node: Node, space: Space) -> Computed:
    """The operation with its loop over `space`, and its layout in the same shape."""
    operation = node.operation
    assert isinstance(operation, Computed)
    loop, layout = operation.loop, operation.layout
    old = [[node.renaming[s] for s in symbols] for symbols in variables(loop)]
    x, ranges, y, folded = space.x, space.ranges, space.y, space.folded
    if node.over_all and not isinstance(loop, Reduction):
        x, ranges = space.symbols, space.sizes
    if node.down:
        x, ranges, y, folded = y, folded, x, ranges

    def at(*new: Index) -> list[Index]:
        """The old indices at a point of the space."""
        values = dict(zip((*x, *y), (i for index in new for i in index)))
        return [tuple(e.subs(values) for e in places) for places in old[: len(new)]]

    fields: dict[str, Any] = {"ranges": ranges, "inner": lambda *new: loop.inner(*at(*new))}
    if isinstance(loop, Scatter):
        fields["target"] = lambda new: loop.target(*at(new))
        return replace(operation, loop=replace(loop, **fields))
    if isinstance(loop, Reduction):
        fields["folded"] = folded
    place = layout.index(tuple(old[0]))
    strides = tuple(place.subs({symbol: symbol + 1}) - place for symbol in x)
    view = replace(layout, size=ranges, stride=strides)
    return replace(operation, layout=view, loop=replace(loop, **fields))
