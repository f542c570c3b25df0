"""The loop IR: what a graph is once its operators have become loops over memory.

    Program   = inputs, constants, Operation*, outputs
    Operation = Computed(name, layout, Loop, into)         one loop that fills one buffer
              | Extern(names, layouts, target, ...)        one call of an ATen operator
    Loop      = Pointwise | Reduction | Scatter            bodies are callables (define by run)
    Layout    = device, dtype, size, stride, offset        where an element of a buffer lies, from
                                                           the data pointer
    BufferRef = a buffer's name and a layout over its memory: a view without a copy

A body is run, not inspected: `inner(index)` calls `ops.load`, `ops.add`... which go to whichever
handler is current (see ops.py). Printer, verifier, evaluator, dependency recorder and both code
generators are handlers of the same body.

Names. Every operation defines new names. An operation that writes in place (`into`) defines a new
name for the memory of an older one: from there on only the new name may be read.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import torch
from torch.utils._pytree import tree_leaves

from ..symbolic.expr import Expr, sym
from ..symbolic.shapes import Layout as Layout, spec_of

Index: TypeAlias = tuple[Expr, ...]
Value: TypeAlias = Any  # whatever the current handler makes of a value; bodies only pass it on
ReduceKind: TypeAlias = Literal["sum", "prod", "min", "max", "any", "all", "argmin", "argmax"]
POSITIONS = ("argmin", "argmax")  # the kinds whose result is a position
NEUTRAL = {"sum": 0, "prod": 1, "any": False, "all": True}  # what a fold of nothing gives


@dataclass(frozen=True, slots=True)
class BufferRef:
    """The memory of buffer `name` seen through `layout` (which need not be the buffer's own)."""

    name: str
    layout: Layout


# ------------------------------------------------------------------------------------------- loops


@dataclass(frozen=True, slots=True)
class Pointwise:
    """out[i] = inner(i) for i in ranges."""

    folded: ClassVar[Index] = ()
    ranges: tuple[Expr, ...]
    inner: Callable[[Index], Value]


@dataclass(frozen=True, slots=True)
class Reduction:
    """out[i] = fold(kind, inner(i, r) for r in folded).

    Accumulated in the dtype of the buffer; argmin and argmax give int64, the row-major position
    within `folded`, whatever they compare. Nothing to fold (a range of 0) yields the neutral
    element: 0 for sum, 1 for prod, False for any, True for all; min, max, argmin and argmax always
    have something to fold. min and max propagate NaN; argmin and argmax: NaN wins, then the first
    position wins.
    sum and prod of integers wrap. The order of a floating point sum is free.
    """

    ranges: tuple[Expr, ...]
    folded: tuple[Expr, ...]
    kind: ReduceKind
    inner: Callable[[Index, Index], Value]


@dataclass(frozen=True, slots=True)
class Scatter:
    """out[target(i)] = inner(i) (mode "store") or += inner(i) (mode "add") for i in ranges.

    `target` yields one coordinate for each dimension of the buffer's layout and may call
    `ops.indirect`; `inner` is run with the same handler right after `target`. Two equal targets:
    "add" adds both (integers wrap, floating point in any order), "store" keeps either.
    Elements that are no target keep what the memory held (see `Computed.into`).
    """

    folded: ClassVar[Index] = ()
    ranges: tuple[Expr, ...]
    target: Callable[[Index], Index]
    inner: Callable[[Index], Value]
    mode: Literal["store", "add"] = "store"


Loop: TypeAlias = Pointwise | Reduction | Scatter


def variables(loop: Loop) -> tuple[Index, Index]:
    """The symbols that a body is usually run with: i0, i1... over ranges, r0... over folded."""
    index = tuple(sym(f"i{d}") for d in range(len(loop.ranges)))
    return index, tuple(sym(f"r{d}") for d in range(len(loop.folded)))


# -------------------------------------------------------------------------------------- operations


@dataclass(frozen=True, slots=True)
class Computed:
    """Buffer `name` of `layout` filled by `loop`, whose values have its dtype.

    Pointwise, Reduction: `loop.ranges` is `layout.size`, every element is written.
    `into`: writes into the memory of that older buffer or input, with the same layout, and
    allocates nothing. None allocates; a Scatter then starts from undefined memory, and Scatters
    that follow with `into` write the rest (how a long `cat` is built, slice by slice).
    A loop may read the buffer that it writes `into` only at the element it is writing.
    """

    name: str
    layout: Layout
    loop: Loop
    into: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def layouts(self) -> tuple[Layout, ...]:
        return (self.layout,)


@dataclass(frozen=True, slots=True)
class Extern:
    """A call of `target` through ATen; defines one name for each tensor that it returns.

    `args` and `kwargs` hold BufferRef, Expr, plain Python values and (nested) lists and tuples of
    these. With `out_variant` the caller allocates `layouts` and passes the buffers as the keyword
    arguments that the schema of `out_variant` marks as written, in order. Without, `target`
    returns fresh tensors. Their strides are a prediction: the caller copies a tensor that comes in
    others into its layout, and raises where a size is not as predicted.
    A name is None where the operator returns an undefined tensor (a gradient nobody asked for).
    kind "extern": the operator is meant to be a library call (mm, convolution, attention);
    "fallback": it has no lowering (counted and named in stats).
    """

    names: tuple[str | None, ...]
    layouts: tuple[Layout | None, ...]
    target: torch._ops.OpOverload
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    out_variant: torch._ops.OpOverload | None = None
    kind: Literal["extern", "fallback"] = "extern"

    def reads(self) -> list[BufferRef]:
        """Every buffer among the arguments, in order."""
        return references((self.args, self.kwargs))


Operation: TypeAlias = Computed | Extern


def defined(operation: Operation) -> dict[str, Layout]:
    """The buffers that are new with it."""
    pairs = zip(operation.names, operation.layouts)
    return {n: layout for n, layout in pairs if n is not None and layout is not None}


@dataclass
class Program:
    """One graph as loops and calls, in an order that runs.

    `inputs` keeps the order of the placeholders: a Layout for a tensor, the Expr (a symbol, or a
    constant it was specialised to) for a size, another number as it is. `constants` are tensors
    found in the graph. `outputs` in the order of the graph's output: BufferRef, Expr, Python value
    or None.
    `origins[buffer]`: names of the ATen nodes computed there, then the user's lines.
    """

    name: str
    inputs: dict[str, Layout | Expr | float]
    constants: dict[str, torch.Tensor] = field(default_factory=dict)
    operations: list[Operation] = field(default_factory=list)
    outputs: tuple[Any, ...] = ()
    origins: dict[str, list[str]] = field(default_factory=dict)

    def layouts(self) -> dict[str, Layout]:
        """Every buffer with its layout: inputs, constants, then what the operations define."""
        known = {name: layout for name, layout in self.inputs.items() if isinstance(layout, Layout)}
        known |= {name: spec_of(tensor).layout for name, tensor in self.constants.items()}
        for operation in self.operations:
            known |= defined(operation)
        return known

    def __repr__(self) -> str:
        from .printer import program_text  # the printer needs the nodes above

        return program_text(self)


def references(arguments: Any) -> list[BufferRef]:
    """The BufferRefs in nested arguments of an Extern, in order."""
    return [x for x in tree_leaves(arguments) if isinstance(x, BufferRef)]
