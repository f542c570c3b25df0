"""The last form of a program: steps in order, each an allocation, a launch, a call or an end of
life; and the text of each kernel.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import torch

from ..symbolic.expr import Expr
from .nodes import Computed, Extern, Layout, Program, Reduction, references


@dataclass(frozen=True, slots=True)
class Kernel:
    """`nodes`, in this order, over one iteration space: one launch.

    Every node's loop is written for that space, whatever shape it had in the program:
        Pointwise   over `ranges`, or over `ranges + folded`
        Reduction   over `ranges`, folding `folded`
        Scatter     over `ranges`, where nothing is folded
        `down`      a Reduction the other way: over `folded`, folding `ranges` (columns of the rows)
    and its layout is a view of the buffer in the same shape (what the program's layout says is in
    `Plan.program.layouts()`). `folded` is empty where nothing is reduced.

    A node may read what an earlier one wrote only at the element of the same iteration; what a
    reduction yields may be read by all later nodes, what one of `down` yields by none.

    `internal` buffers are read by nobody outside: they need no memory. `rows` are those among
    them that one reduction separates from a reader, so a loop over `folded` cannot keep them in
    registers: they need memory for `folded` elements (of one iteration of `ranges`) at a time.
    A node over `ranges` alone has the pass after which its operands are known, -1: before any.
    """

    name: str
    device: torch.device
    nodes: tuple[Computed, ...]
    ranges: tuple[Expr, ...]
    folded: tuple[Expr, ...]
    reads: tuple[str, ...]  # loaded from memory, in order of first use
    writes: tuple[str, ...]  # stored to memory, without those written in place
    mutated: tuple[str, ...] = ()  # written in place, by the names before the write
    internal: frozenset[str] = frozenset()
    rows: frozenset[str] = frozenset()
    down: frozenset[str] = frozenset()
    again: frozenset[str] = frozenset()  # of `internal`: computed again in a later pass
    passes: tuple[int, ...] = ()  # of each node: the loop over `folded` that it is in, or follows
    template: Extern | None = None  # a matrix product that `nodes` follow within one launch

    @property
    def args(self) -> tuple[str, ...]:
        """The buffers that a launch passes, in order: in place, read, written."""
        return (*self.mutated, *(r for r in self.reads if r not in self.mutated), *self.writes)

    def over_all(self, node: Computed) -> bool:
        """Does the node run over `folded` too?"""
        if not self.folded or isinstance(node.loop, Reduction):
            return True
        return len(node.loop.ranges) > len(self.ranges)

    def in_passes(self) -> Iterator[tuple[list[Computed], list[Computed]]]:
        """Pass by pass the nodes of a loop over `folded`, and those that follow it once a row."""
        when = self.passes or (0,) * len(self.nodes)
        for number in range(-1, max(when) + 1):
            here = [node for node, its in zip(self.nodes, when) if its == number]
            full = [node for node in here if self.over_all(node)]
            yield full, [node for node in here if node not in full]

    def memory(self, name: str) -> str:
        """Which of `args` is the memory of `name`: what is written in place has an older name."""
        into = {node.name: node.into for node in self.nodes}
        while (older := into.get(name)) is not None:
            name = older
        return name


@dataclass(frozen=True, slots=True)
class Alloc:
    """Fresh memory for `name`."""

    name: str
    layout: Layout


@dataclass(frozen=True, slots=True)
class Reuse:
    """From here on `name` (with `layout`) is the memory of `old`, and `old` is no more.

    Of the same bytes in total: a dead buffer, or one that the next launch writes in place.
    """

    name: str
    old: str
    layout: Layout


@dataclass(frozen=True, slots=True)
class Launch:
    """`kernel` on these buffers, in the order of `kernel.args`.

    Equal kernels (the layers of a model) are one Kernel object, so the names differ from launch to
    launch.
    """

    kernel: Kernel
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """An ATen call; with an `out_variant` its buffers were allocated before."""

    extern: Extern


@dataclass(frozen=True, slots=True)
class Free:
    """Nothing reads `name` any more."""

    name: str


Step: TypeAlias = Alloc | Reuse | Launch | Call | Free


@dataclass
class Plan:
    """A program in execution order."""

    program: Program
    steps: list[Step] = field(default_factory=list)
    peak_bytes: int = 0  # of what the plan allocates, inputs and constants apart

    @property
    def kernels(self) -> list[Kernel]:
        """Each kernel once, in order of first launch."""
        launched = {s.kernel.name: s.kernel for s in self.steps if isinstance(s, Launch)}
        return list(launched.values())

    def relied_on(self) -> set[str]:
        """Names whose layouts kernels, views, later memory or the outputs take as they were
        foreseen. What only passes whole from call to call may be as the operator made it, and so
        may what a library keeps for its own backward: foreseen as bytes of unknown number."""
        layouts = self.program.layouts()
        found = {ref.name for ref in references(self.program.outputs)}
        for step in self.steps:
            if isinstance(step, Launch):
                found.update(step.args)
            elif isinstance(step, Reuse):
                found.add(step.old)
            elif isinstance(step, Call):
                reads = step.extern.reads()
                found.update(ref.name for ref in reads if ref.layout != layouts.get(ref.name))
        return {name for name in found if name in layouts and not _is_reserve(layouts[name])}


def _is_reserve(layout: Layout) -> bool:
    return layout.dtype == torch.uint8 and layout.ndim == 1 and layout.numel == 0


@dataclass(frozen=True, slots=True)
class KernelSource:
    """The text of one kernel, complete and readable, and how to call it.

    `args`: the buffers in the order of the kernel's parameters, by the names that the text was
    written for; a launch passes its own buffers in this order (`Launch.args`), as equal kernels
    share one text. `checks[k - 1]` is the message of the IndexError for return value k.

    C++:  extern "C" int64_t NAME(void** buffers)
    Base pointers are data pointers; a layout's offset is part of the index expressions, as sizes
    are: numbers in the text.
    """

    name: str
    text: str
    args: tuple[str, ...]
    checks: tuple[str, ...] = ()
