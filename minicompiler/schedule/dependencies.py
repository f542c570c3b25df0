"""What each operation reads and writes, and where: the facts that fusion and ordering rest on."""

from dataclasses import dataclass

import torch

from ..ir import ops
from ..ir.dtypes import Recorder, visit
from ..ir.nodes import Computed, Extern, Layout, Operation, Program, Scatter, references, variables
from ..symbolic.expr import Expr
from ..symbolic.ranges import index_range, simplify


@dataclass(frozen=True, slots=True)
class MemoryDep:
    """An access to `buffer` at `index`, in the loop's variables; None: anywhere in it."""

    buffer: str
    index: Expr | None


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Of one operation at `position` in the program. `into`: the older names of what it writes."""

    position: int
    operation: Operation
    reads: tuple[MemoryDep, ...]
    writes: tuple[MemoryDep, ...]
    into: tuple[str, ...] = ()
    ordered: bool = False  # draws from a random generator: keeps its place among others that do
    cost: int = 0  # operations that are not free, an expensive one counted several times

    @property
    def name(self) -> str:
        return next((n for n in self.operation.names if n is not None), "_")

    @property
    def inputs(self) -> set[str]:
        return {dep.buffer for dep in self.reads}


def dependencies(program: Program) -> list[Dependencies]:
    """Of every operation, in program order."""
    layouts = program.layouts()
    return [
        _computed(position, operation, layouts)
        if isinstance(operation, Computed)
        else _extern(position, operation)
        for position, operation in enumerate(program.operations)
    ]


def _computed(position: int, operation: Computed, layouts: dict[str, Layout]) -> Dependencies:
    loop = operation.loop
    index, folded = variables(loop)
    sizes, known = (*loop.ranges, *loop.folded), (*index, *folded)
    limits = dict(zip(known, map(index_range, sizes)))
    outside = frozenset().union(*(size.free for size in sizes))
    with ops.handling(Recorder(layouts)) as recorder:
        _, place = visit(operation, index, folded)
    reads = []
    for buffer, at in recorder.loads:
        indirect = any(str(s).startswith("tmp") for s in at.free - set(known) - outside)
        reads.append(MemoryDep(buffer, None if indirect else simplify(at, limits)))
    where = None if isinstance(loop, Scatter) else simplify(place, limits)
    into, writes = filter(None, (operation.into,)), (MemoryDep(operation.name, where),)
    return Dependencies(position, operation, tuple(reads), writes, (*into,), cost=recorder.cost)


def _extern(position: int, operation: Extern) -> Dependencies:
    target = operation.target
    arguments = target._schema.arguments
    given = dict(zip((a.name for a in arguments), operation.args)) | operation.kwargs
    written = tuple(
        ref.name
        for a in arguments
        if a.name in given and a.alias_info is not None and a.alias_info.is_write
        for ref in references(given[a.name])
    )
    return Dependencies(
        position,
        operation,
        tuple(MemoryDep(ref.name, None) for ref in operation.reads()),
        tuple(MemoryDep(name, None) for name in operation.names if name is not None),
        written,
        torch.Tag.nondeterministic_seeded in target.tags or "random" in str(target),
    )


def successors(nodes: list[Dependencies]) -> list[set[int]]:
    """For each operation those that must come later: what reads or overwrites its results."""
    later: list[set[int]] = [set() for _ in nodes]
    writer: dict[str, int] = {}  # of a buffer; of "", the last that drew random numbers
    readers: dict[str, list[int]] = {}
    for node in nodes:
        needs = node.inputs | {*node.into}
        makes = {dep.buffer for dep in node.writes} | {*node.into}
        if node.ordered:
            needs, makes = needs | {""}, makes | {""}
        before = {writer[name] for name in needs if name in writer}
        for older in node.into:  # after all that reads the old contents
            before.update(readers.get(older, ()))
        for k in before - {node.position}:
            later[k].add(node.position)
        for name in node.inputs:
            readers.setdefault(name, []).append(node.position)
        writer |= dict.fromkeys(makes, node.position)
    return later
