"""Matrix products that take the loops behind them into their own kernel."""

from collections.abc import Iterable
from dataclasses import replace

import torch

from ..ir.nodes import BufferRef, Extern, Pointwise, defined
from ..ir.plan import Kernel
from ..settings import config
from ..symbolic.ranges import simplify
from .fusion import Group
from .kernels import kernel
from .spaces import Space, joined

aten = torch.ops.aten
PRODUCTS = (aten.mm.default, aten.addmm.default)
DTYPES = (torch.bfloat16, torch.float16, torch.float32)


def product_of(groups: list[Group], at: int, outputs: set[str]) -> tuple[int, Extern, Group] | None:
    """A matrix product, before `at`, that only `at` reads, element for element.

    With it which group it is, and that of `at` over rows x columns of the product.
    """
    if not config.templates:
        return None
    for k in reversed(range(at)):
        extern = groups[k].nodes[0].operation
        if not isinstance(extern, Extern) or not is_product(extern):
            continue
        readers = [g for g in groups if extern.names[0] in g.reads]
        between = {n for g in groups[k + 1 : at] for node in g.nodes for n in node.into}
        kept = extern.names[0] in outputs or between & {ref.name for ref in extern.reads()}
        if readers == [groups[at]] and not kept and (epilogue := tiled(extern, groups[at])):
            return k, extern, epilogue
    return None


def is_product(extern: Extern) -> bool:
    """A plain product on a CUDA device, of dtypes whose tiles the hardware multiplies."""
    refs = [a.layout for a in extern.args if isinstance(a, BufferRef)]
    tiles = all(x.dtype in DTYPES and x.device.type == "cuda" for x in refs)
    plain = len(refs) == len(extern.args) and not extern.kwargs
    return extern.target in PRODUCTS and plain and tiles


def tiled(extern: Extern, group: Group) -> Group | None:
    """The group over rows x columns of the product; None where it is not a pointwise epilogue."""
    ((name, layout),) = defined(extern).items()
    if not group.loops or not all(isinstance(loop, Pointwise) for loop in group.loops):
        return None
    rows, columns = layout.size
    fit = joined(Space((rows,), (columns,)), group.space)
    if fit is None or fit.rows or (fit.space.ranges, fit.space.folded) != ((rows,), (columns,)):
        return None
    moved = group.moved(fit.space, fit.second)
    own = simplify(layout.index(fit.space.symbols), fit.space.limits)
    return moved if moved.places(name, "reads") == {own} else None


def product_kernel(extern: Extern, group: Group, name: str, needed: Iterable[str]) -> Kernel:
    """The kernel of an epilogue (as `tiled` gives it) with the product in it."""
    made, epilogue = str(extern.names[0]), kernel(group, name, needed)
    reads = dict.fromkeys([*(ref.name for ref in extern.reads()), *epilogue.reads])
    return replace(
        epilogue,
        reads=tuple(r for r in reads if r != made),
        internal=epilogue.internal | {made},
        template=extern,
    )
