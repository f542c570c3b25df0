"""Split reductions: a sum over everything needs more than one worker.

A reduction with few results and much to fold becomes two: every result is folded in `parts` pieces
at once, then the pieces are folded. Neither order of a floating point sum is eager's. How many
pieces does not depend on the number of threads, so the result does not either.
"""

from dataclasses import replace

import torch

from ..ir import nodes, ops
from ..ir.nodes import Computed, Index, Operation, Program, Reduction, Value
from ..symbolic.expr import as_expr, product
from ..symbolic.shapes import contiguous_strides

FILL = {"cuda": 512, "cpu": 64}  # workers that keep a large GPU, or a processor, busy
LEAST = {"cuda": 4096, "cpu": 16384}  # elements that a piece has at least
FEW = {"cuda": 256, "cpu": 8}  # with more results than this there are workers enough


def split_reductions(program: Program) -> Program:
    """The same program with reductions split where that gives more parallel work."""
    operations = [part for operation in program.operations for part in _split(operation)]
    return replace(program, operations=operations)


def pieces(loop: Reduction, kind: str) -> tuple[int, int]:
    """Which dimension of `folded` to cut on that kind of device, in how many pieces; 1: leave it.

    A number that divides the size is best; else the last piece is masked where it is too long.
    """
    results, length = int(product(loop.ranges)), int(product(loop.folded))
    if loop.kind in nodes.POSITIONS or kind not in FILL or results > FEW[kind]:
        return 0, 1
    wanted = min(FILL[kind] // results, length // LEAST[kind])
    if wanted < 2:
        return 0, 1
    dim, size = max(enumerate(map(int, loop.folded)), key=lambda pair: pair[1])
    wanted = min(wanted, size)
    exact = next(parts for parts in range(wanted, 0, -1) if size % parts == 0)
    return dim, wanted if exact * 4 <= wanted and loop.kind in nodes.NEUTRAL else exact


def _split(operation: Operation) -> list[Operation]:
    if not isinstance(operation, Computed) or not isinstance(loop := operation.loop, Reduction):
        return [operation]
    dim, parts = pieces(loop, operation.layout.device.type)
    if parts == 1:
        return [operation]
    length = loop.folded[dim]
    each = (length + (parts - 1)) // parts
    folded = (*loop.folded[:dim], each, *loop.folded[dim + 1 :])
    size = (*loop.ranges, as_expr(parts))
    layout = replace(operation.layout, size=size, stride=contiguous_strides(size))
    name = f"{operation.name}_parts"

    def piece(index: Index, inside: Index) -> Value:
        place = index[-1] * each + inside[dim]

        def body() -> Value:
            return loop.inner(index[:-1], (*inside[:dim], place, *inside[dim + 1 :]))

        if length % parts == 0:
            return body()
        within = ops.lt(ops.index_expr(place, torch.int64), ops.constant(length, torch.int64))
        return ops.masked(within, body, nodes.NEUTRAL[loop.kind], layout.dtype)

    def whole(index: Index, inside: Index) -> Value:
        return ops.load(name, layout.index((*index, inside[0])))

    first = Reduction(size, folded, loop.kind, piece)
    second = Reduction(loop.ranges, (as_expr(parts),), loop.kind, whole)
    return [Computed(name, layout, first), replace(operation, loop=second)]
