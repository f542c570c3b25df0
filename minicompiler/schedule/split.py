"""Split reductions: a GPU sum over everything needs more than one block to work on it.

A reduction with few results and much to fold becomes two: every result is folded in `parts` pieces
at once, then the pieces are folded. Neither order of a floating point sum is eager's.
"""

from dataclasses import replace

import torch

from ..ir import ops
from ..ir.nodes import Computed, Index, Layout, Operation, Program, Reduction, Value
from ..symbolic.expr import Expr, as_expr, product

FILL = 512  # programs that keep a large GPU busy
LEAST = 4096  # elements that a piece has at least
NEUTRAL = {"sum": 0, "prod": 1, "any": False, "all": True}  # kinds that may be split


def split_reductions(program: Program) -> Program:
    """The same program with reductions on CUDA devices split where that gives more parallel work.

    Sizes must be constants to be looked at; others are left as they are.
    """
    operations: list[Operation] = []
    for operation in program.operations:
        operations += _split(operation) if isinstance(operation, Computed) else [operation]
    return replace(program, operations=operations)


def pieces(loop: Reduction) -> int:
    """In how many pieces to fold; 1: leave it."""
    results, length = product(loop.ranges), product(loop.folded)
    if loop.device.type != "cuda" or loop.kind not in NEUTRAL:
        return 1
    if not (results.is_const and length.is_const) or int(results) == 0:
        return 1
    wanted = min(FILL // int(results), int(length) // LEAST)
    return 1 << (wanted.bit_length() - 1) if wanted > 1 else 1


def _split(operation: Computed) -> list[Operation]:
    loop = operation.loop
    if not isinstance(loop, Reduction) or (parts := pieces(loop)) == 1:
        return [operation]
    length = product(loop.folded)
    each = (length + (parts - 1)) // parts
    size = (*loop.ranges, as_expr(parts))
    strides = tuple(product(size[k + 1 :]) for k in range(len(size)))
    layout = Layout(loop.device, loop.dtype, size, strides)
    name = f"{operation.name}_parts"

    def piece(index: Index, inside: Index) -> Value:
        flat = index[-1] * each + inside[0]

        def body() -> Value:
            return loop.inner(index[:-1], unflattened(flat, loop.folded))

        if length % parts == 0:
            return body()
        position = ops.index_expr(flat, torch.int64)
        within = ops.lt(position, ops.constant(length, torch.int64))
        return ops.masked(within, body, NEUTRAL[loop.kind], loop.dtype)

    def whole(index: Index, inside: Index) -> Value:
        return ops.load(name, layout.index((*index, inside[0])))

    first = Reduction(loop.device, loop.dtype, size, (each,), loop.kind, piece)
    second = Reduction(loop.device, loop.dtype, loop.ranges, (as_expr(parts),), loop.kind, whole)
    return [Computed(name, layout, first), replace(operation, loop=second)]


def unflattened(flat: Expr, sizes: tuple[Expr, ...]) -> Index:
    """The index along each of `sizes` of position `flat`, row-major."""
    rests = [product(sizes[k + 1 :]) for k in range(len(sizes))]
    return tuple(
        flat // rest % size if k else flat // rest
        for k, (rest, size) in enumerate(zip(rests, sizes))
    )
