"""Matrix products that take the loops behind them into their own kernel."""

from collections.abc import Iterable
from dataclasses import replace

import torch

from ..ir.nodes import BufferRef, Computed, Extern, Operation, Pointwise
from ..settings import config
from ..symbolic.ranges import simplify
from .fusion import Group
from .kernels import kernel
from .plan import Kernel
from .spaces import Space, joined

aten = torch.ops.aten
PRODUCTS = (aten.mm.default, aten.addmm.default)
DTYPES = (torch.bfloat16, torch.float16, torch.float32)


def product_of(groups: list[Group], at: int, outputs: set[str]) -> int | None:
    """The group, before `at`, of a matrix product that only `at` reads, element for element."""
    if not config.templates or groups[at].space is None:
        return None
    for k in range(at - 1, -1, -1):
        operation = groups[k].nodes[0].about.operation
        if not isinstance(operation, Extern) or not is_product(operation):
            continue
        (name,) = operation.names
        if name in outputs:
            continue
        readers = [g for g in groups if name in g.reads]
        between = {n for g in groups[k + 1 : at] for node in g.nodes for n in node.about.into}
        if readers == [groups[at]] and not between & {ref.name for ref in operation.reads()}:
            return None if tiled(operation, groups[at]) is None else k
    return None


def is_product(extern: Extern) -> bool:
    """A plain product on a CUDA device, of dtypes whose tiles the hardware multiplies."""
    layout = extern.layouts[0]
    assert layout is not None
    refs = all(isinstance(a, BufferRef) and a.layout.dtype in DTYPES for a in extern.args)
    return extern.target in PRODUCTS and not extern.kwargs and refs and layout.device.type == "cuda"


def tiled(extern: Extern, group: Group) -> Group | None:
    """The group over rows x columns of the product; None where it is not a pointwise epilogue."""
    layout = extern.layouts[0]
    assert layout is not None and group.space is not None
    loops = [n.about.operation.loop for n in group.nodes if isinstance(n.about.operation, Computed)]
    if len(loops) < len(group.nodes) or not all(isinstance(loop, Pointwise) for loop in loops):
        return None
    rows, columns = layout.size
    fit = joined(Space((rows,), (columns,)), group.space)
    if fit is None or fit.rows or (fit.space.ranges, fit.space.folded) != ((rows,), (columns,)):
        return None
    moved = group.moved(fit.space, fit.second)
    reads = moved.places(str(extern.names[0]), moved.reads)
    own = simplify(layout.index(fit.space.symbols), fit.space.limits)
    return moved if reads == {own} else None


def product_kernel(extern: Operation, group: Group, name: str, needed: Iterable[str]) -> Kernel:
    """The epilogue's kernel with the product in it."""
    assert isinstance(extern, Extern)
    moved = tiled(extern, group)
    assert moved is not None
    (made,) = extern.names
    assert made is not None
    epilogue = kernel(moved, name, needed)
    reads = [*(ref.name for ref in extern.reads()), *epilogue.reads]
    return replace(
        epilogue,
        reads=tuple(dict.fromkeys(r for r in reads if r != made)),
        internal=epilogue.internal | {made},
        template=extern,
    )
