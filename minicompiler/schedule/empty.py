"""Loops over nothing, of which no later step knows."""

from dataclasses import replace

import torch

from ..ir import ops
from ..ir.nodes import NEUTRAL, Computed, Extern, Operation, Pointwise, Program, Reduction
from ..symbolic.expr import product


def without_empty_loops(program: Program) -> Program:
    """The same program: a fold of nothing is a constant, and what has no elements is only made."""
    operations = [filled(o) if isinstance(o, Computed) else o for o in program.operations]
    return replace(program, operations=operations)


def filled(operation: Computed) -> Operation:
    loop, layout = operation.loop, operation.layout
    if product((*loop.ranges, *loop.folded)) != 0:
        return operation
    if layout.numel == 0:
        target, where = torch.ops.aten.empty_strided.default, (layout.size, layout.stride)
        return Extern((operation.name,), (layout,), target, where, layout.options)
    if isinstance(loop, Reduction):
        inner = lambda index: ops.constant(NEUTRAL[loop.kind], layout.dtype)
    else:  # a scatter of nothing
        inner = lambda index: ops.load(operation.into, layout.index(index))
    return replace(operation, loop=Pointwise(layout.size, inner))
