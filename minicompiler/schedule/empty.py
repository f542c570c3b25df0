"""Loops over nothing, so that no later step divides by a size of 0."""

from dataclasses import replace

from ..ir import ops
from ..ir.nodes import Computed, Index, Pointwise, Program, Reduction, Scatter, Value
from ..symbolic.expr import product

NEUTRAL = {"sum": 0, "prod": 1, "any": False, "all": True}


def without_empty_loops(program: Program) -> Program:
    """The same program: a fold of nothing is a constant, and a loop without iterations does not
    say what it would compute."""
    operations = [filled(o) if isinstance(o, Computed) else o for o in program.operations]
    return replace(program, operations=operations)


def filled(operation: Computed) -> Computed:
    loop, layout = operation.loop, operation.layout
    if product((*loop.ranges, *loop.folded)) != 0:
        return operation
    value = NEUTRAL.get(loop.kind, 0) if isinstance(loop, Reduction) else 0
    old = operation.into if isinstance(loop, Scatter) else None

    def inner(index: Index) -> Value:
        return ops.load(old, layout.index(index)) if old else ops.constant(value, loop.dtype)

    return replace(operation, loop=Pointwise(loop.device, loop.dtype, layout.size, inner))
