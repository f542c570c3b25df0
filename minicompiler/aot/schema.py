"""What an operator's schema says about memory: which operands it writes, and its pure form."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._ops import OpOverload

from ..errors import Unsupported

aten = torch.ops.aten


@dataclass(frozen=True, slots=True)
class Form:
    """The functional form of a mutating operator. Its results are those of the operator that are
    no operands, then one new value for each of `written`, the names of the operands written to.

    `out_names` are operands that are only written, which the functional form lacks; `alike` says
    that new values have the dtype, shape and strides of the old ones."""

    op: OpOverload
    written: tuple[str, ...]
    out_names: frozenset[str]
    alike: bool

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """`args`, with a default that only the in-place form has."""
        missing = self.op is aten.bernoulli.p and len(args) == 1 and "p" not in kwargs
        return (*args, 0.5) if missing else args


# forms whose name does not follow from the operator's, and operators that mutate silently
_STATS = ("running_mean", "running_var")
_batch_norm = aten._native_batch_norm_legit_functional.default
_SPECIAL = {
    aten.bernoulli_.float: (aten.bernoulli.p, ("self",)),
    aten.normal_.default: (aten.normal_functional.default, ("self",)),
    aten._native_batch_norm_legit.default: (_batch_norm, _STATS),
    aten._batch_norm_with_update.default: (aten._batch_norm_with_update_functional.default, _STATS),
    aten.rrelu_with_noise.default: (aten.rrelu_with_noise_functional.default, ("noise",)),
    aten.native_batch_norm.default: (_batch_norm, _STATS),
}


@functools.cache
def view_form(op: OpOverload) -> OpOverload | None:
    """`squeeze` of `squeeze_`: operators that change no value, only how their operand looks at it.
    None for all others; raises Unsupported for those that change the memory behind it."""
    if torch.Tag.inplace_view not in op.tags:
        return None
    for form in _forms(op):
        if form.is_view:
            return form
    raise Unsupported(f"{op} changes its operand's memory", "use the form without _")


def _forms(op: OpOverload) -> Iterator[OpOverload]:
    """Overloads named as `op` is without its underscore that do not write, with its arguments that
    are more than a place for a result."""
    wanted = [(a.name, str(a.type)) for a in op._schema.arguments if not a.is_out]
    namespace, name = op._schema.name.split("::")
    packet = getattr(getattr(torch.ops, namespace), name.removesuffix("_"), None)
    for overload in packet.overloads() if packet is not None else ():
        form = getattr(packet, overload)
        given = [(a.name, str(a.type)) for a in form._schema.arguments]
        if not form._schema.is_mutable and given == wanted:
            yield form


@functools.cache
def functional_form(op: OpOverload) -> Form | None:
    """None where `op` only reads; raises Unsupported where it writes and has no pure form."""
    arguments = op._schema.arguments
    if op in _SPECIAL:
        return Form(*_SPECIAL[op], frozenset(), alike=True)
    written = tuple(a.name for a in arguments if a.alias_info and a.alias_info.is_write)
    if not written:
        return None
    outs = frozenset(a.name for a in arguments if a.is_out)
    for form in _forms(op):
        return Form(form, written, outs, alike=False)
    raise Unsupported(f"{op} writes to its operand and has no functional form")
