"""What each operation reads and writes, and where: the facts that fusion and ordering rest on."""

from dataclasses import dataclass

import torch

from ..ir import ops
from ..ir.dtypes import DtypeHandler
from ..ir.nodes import (
    Computed,
    Extern,
    Layout,
    Operation,
    Program,
    Reduction,
    Scatter,
    references,
    run_body,
    variables,
)
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


CHEAP = set("add sub mul neg abs where eq ne lt le gt ge minimum maximum relu fma".split())
EXPENSIVE = 8


class Recorder(DtypeHandler):
    """Notes every load of a body, and what it costs."""

    def __init__(self, layouts: dict[str, Layout]) -> None:
        super().__init__(layouts)
        self.loads: dict[tuple[str, Expr], None] = {}
        self.cost = 0

    def random(self, kind: str, seed: torch.dtype, offset: torch.dtype) -> torch.dtype:
        self.cost += EXPENSIVE
        return super().random(kind, seed, offset)

    def default(self, name: str, *operands: torch.dtype) -> torch.dtype:
        self.cost += 1 if name in CHEAP else EXPENSIVE
        return super().default(name, *operands)

    def load(self, buffer: str, index: Expr) -> torch.dtype:
        self.loads[buffer, index] = None
        return super().load(buffer, index)


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
    sizes = (*loop.ranges, *(loop.folded if isinstance(loop, Reduction) else ()))
    known = (*index, *folded)
    limits = {symbol: index_range(size) for symbol, size in zip(known, sizes)}
    outside = frozenset().union(*(size.free for size in sizes))
    recorder = Recorder(layouts)
    with ops.handling(recorder):
        if isinstance(loop, Scatter):
            loop.target(index)
        run_body(loop, index, folded)
    reads = []
    for buffer, at in recorder.loads:
        indirect = any(str(s).startswith("tmp") for s in at.free - set(known) - outside)
        reads.append(MemoryDep(buffer, None if indirect else simplify(at, limits)))
    where = None if isinstance(loop, Scatter) else simplify(operation.layout.index(index), limits)
    into = () if operation.into is None else (operation.into,)
    writes = (MemoryDep(operation.name, where),)
    return Dependencies(position, operation, tuple(reads), writes, into, cost=recorder.cost)


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
    writer: dict[str, int] = {}
    readers: dict[str, list[int]] = {}
    random: int | None = None
    for node in nodes:
        before = {writer[dep.buffer] for dep in node.reads if dep.buffer in writer}
        for older in node.into:  # after all that reads the old contents
            before |= {*readers.get(older, ()), *([writer[older]] if older in writer else [])}
        if node.ordered:
            before |= {random} if random is not None else set()
            random = node.position
        for k in before - {node.position}:
            later[k].add(node.position)
        for dep in node.reads:
            readers.setdefault(dep.buffer, []).append(node.position)
        for dep in node.writes:
            writer[dep.buffer] = node.position
        for older in node.into:
            if node.operation.names != (older,):  # an operator that mutates its argument
                writer[older] = node.position
    return later
