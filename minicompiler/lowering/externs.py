"""Operators that stay calls: libraries do them best, or no lowering knows them.

A call sees buffers. Where it can write to memory that the program allocates (`out=`), it does, so
the plan can reuse that memory.
"""

import functools
from dataclasses import replace
from typing import Any, cast

import torch
from torch._ops import OpOverload
from torch.utils._pytree import tree_map_only

from ..errors import Unsupported
from ..ir.nodes import BufferRef, Extern
from ..report.record import current as record
from ..symbolic.shapes import contiguous_strides, same_places
from .lazy import Lazy, building, each, in_memory, more, spec
from .promotion import SUPPORTED
from .table import aten

# Library calls that write to a given output, and do not care how their inputs are strided.
OUT_VARIANTS: dict[OpOverload, OpOverload] = {
    packet.default: packet.out for packet in (aten.mm, aten.bmm, aten.addmm, aten.baddbmm)
}
# By name, since not every build of torch has all of them.
CALLS = """convolution _scaled_dot_product_flash_attention
    _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention
    _scaled_dot_product_cudnn_attention""".split()
EXTERNS = {f"aten.{name}{way}.default" for name in CALLS for way in ("", "_backward")}
EXTERNS |= {str(target) for target in OUT_VARIANTS} | {"minicompiler.seeds.default"}


def is_extern(target: Any) -> bool:
    return str(target) in EXTERNS


def stored(x: Lazy) -> Lazy:
    """A copy of `x` in a buffer of its own, in eager's strides."""
    if x.dtype not in SUPPORTED:
        raise Unsupported(f"a view of {x.dtype} would have to be copied")
    copy = each(lambda v: v, x, like=x, weight=0)
    building().realise(copy.box)
    return replace(copy, stride=x.stride)


def reference(x: Lazy, exact: bool) -> BufferRef:
    """`x` in memory; with `exact`, in eager's strides."""
    # of a loop that is seen in part, only that part is computed
    if x.box.ref is None and not (x.views and more(x.box.layout.size, x.size)):
        building().realise(x.box)
    ref, wanted = x.strided(), x.stride
    if ref is not None and wanted and same_places(ref.layout.size, ref.layout.stride, wanted):
        # the strides that are free become eager's: some operators look at them
        return replace(ref, layout=replace(ref.layout, stride=wanted))
    if ref is None or (exact and wanted):
        ref = stored(x).strided()
        assert ref is not None
    return ref


def copying(target: OpOverload) -> OpOverload:
    """The operator whose results live in memory of their own: of a view, the form that copies."""
    schema = target._schema
    if not schema.is_mutable and all(r.alias_info is None for r in schema.returns):
        return target
    copies = getattr(torch.ops.aten, f"{schema.name.removeprefix('aten::')}_copy", None)
    if schema.is_mutable or copies is None or target._overloadname not in copies.overloads():
        raise Unsupported(f"{target} writes to or returns a view of its argument")
    return cast(OpOverload, getattr(copies, target._overloadname))


def call(target: OpOverload, args: Any, kwargs: dict[str, Any]) -> Any:
    """`target` as an Extern; what it returns as Lazy, in the structure that it returns."""
    view, target = target, copying(target)
    out = OUT_VARIANTS.get(target)
    known = is_extern(target)
    if not known:
        record().fallback(str(target))

    stored_as = functools.partial(reference, exact=out is None)
    args, kwargs = tree_map_only(Lazy, stored_as, (tuple(args), kwargs))
    returned: Any = spec()
    specs = list(returned) if isinstance(returned, (list, tuple)) else [returned]
    names = tuple(None if s is None else building().fresh() for s in specs)
    # what copies a view is contiguous
    strides = [s and (s.stride if target is view else contiguous_strides(s.size)) for s in specs]
    layouts = tuple(s and replace(s.layout, stride=n) for s, n in zip(specs, strides))
    kind: Any = "extern" if known else "fallback"
    building().emit(Extern(names, layouts, target, args, kwargs, out, kind))
    made = [
        in_memory(BufferRef(name, layout), layout.stride) if name and layout else None
        for name, layout in zip(names, layouts)
    ]
    return tuple(made) if isinstance(returned, (list, tuple)) else made[0]
