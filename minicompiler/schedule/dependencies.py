"""What each operation reads and writes, and where: the facts that fusion and ordering rest on."""

from dataclasses import dataclass, field, replace

import torch

from ..ir.dtypes import recorded
from ..ir.nodes import Computed, Extern, Layout, Operation, Program, Scatter, references, variables
from ..symbolic.expr import Expr
from ..symbolic.ranges import index_range, simplify
from .spaces import Renaming

# where each buffer is accessed, in the loop's variables; None: anywhere in it
Places = dict[str, set[Expr | None]]


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """The operation at `position` of those that run. `writes`: by the new names, and by those of
    `into`, the older names of what is overwritten. Within a group `renaming` has its loop's symbols
    in terms of those of the group's space."""

    operation: Operation
    reads: Places
    writes: Places
    into: tuple[str, ...] = ()
    ordered: bool = False  # draws from a random generator: keeps its place among others that do
    fails: bool = False  # may raise: by an index that it checks, or as a call of any operator
    commits: bool = False  # writes to an input, once nothing can raise any more
    cost: int = 0  # operations that are not free, an expensive one counted several times
    position: int = 0
    renaming: Renaming = field(default_factory=dict)
    over_all: bool = True  # at every point of the group's space; else once a row
    down: bool = False  # a sum over the rows of the group's space

    @property
    def name(self) -> str:
        return next(iter(self.makes), "_")

    @property
    def makes(self) -> list[str]:
        return [name for name in self.operation.names if name is not None]


def dependencies(program: Program) -> list[Node]:
    """Of all operations in program order, without loops that nobody reads and that write to
    memory of the program's own."""
    layouts, lasting = program.layouts(), {*program.inputs, *program.constants}
    for operation in program.operations:
        if isinstance(operation, Computed) and operation.into in lasting:
            lasting.add(operation.name)  # a new name for memory that is not ours
    wanted = lasting.union(ref.name for ref in references(program.outputs))
    nodes = []
    for operation in reversed(program.operations):
        if isinstance(operation, Extern):
            node = _extern(operation)
        elif operation.name in wanted:
            node = _computed(operation, layouts, operation.into in lasting)
        else:
            continue
        nodes.append(node)
        wanted.update(node.reads, node.into)
    return [replace(node, position=k) for k, node in enumerate(reversed(nodes))]


def _computed(operation: Computed, layouts: dict[str, Layout], commits: bool) -> Node:
    loop = operation.loop
    index, folded = variables(loop)
    limits = dict(zip((*index, *folded), map(index_range, (*loop.ranges, *loop.folded))))
    recorder, place = recorded(operation, index, folded, layouts)
    reads: Places = {}
    for buffer, at in recorder.loads:
        direct = at.free <= limits.keys()
        reads.setdefault(buffer, set()).add(simplify(at, limits) if direct else None)
    where = None if isinstance(loop, Scatter) else simplify(place, limits)
    into = () if operation.into is None else (operation.into,)
    writes: Places = {name: {where} for name in (operation.name, *into)}
    return Node(operation, reads, writes, into, False, recorder.checks, commits, recorder.cost)


def _extern(operation: Extern) -> Node:
    target = operation.target
    return Node(
        operation,
        {ref.name: {None} for ref in operation.reads()},
        {name: {None} for name in operation.names if name is not None},
        ordered=torch.Tag.nondeterministic_seeded in target.tags or "random" in str(target),
        fails=operation.kind == "fallback",
    )


def successors(nodes: list[Node]) -> list[set[int]]:
    """For each operation those that must come later: what reads or overwrites its results."""
    later: list[set[int]] = [set() for _ in nodes]
    writer: dict[str, int] = {}  # of a buffer; of "", the last that drew random numbers
    readers: dict[str, list[int]] = {}
    for node in nodes:
        drawn = {""} if node.ordered else set[str]()
        needs, makes = {*node.reads, *node.into} | drawn, {*node.writes} | drawn
        before = {writer[name] for name in needs if name in writer}
        for older in node.into:  # after all that reads the old contents
            before.update(readers.get(older, ()))
        if node.commits:
            before.update(other.position for other in nodes[: node.position] if other.fails)
        for k in before - {node.position}:
            later[k].add(node.position)
        for name in node.reads:
            readers.setdefault(name, []).append(node.position)
        writer |= dict.fromkeys(makes, node.position)
    return later
