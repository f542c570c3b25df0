"""The table of lowerings: which function lowers which ATen operator.

A lowering gets the operator's arguments, tensors as `Lazy`, and returns a Lazy, or a tuple of them.
`spec()` tells what the operator returns, so shape rules are written once, where graphs are traced.
`NotImplemented` says that this call is not lowered: it runs through ATen, counted as a fallback.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch._ops import OpOverload

Rule: TypeAlias = Callable[..., Any]

aten = torch.ops.aten

LOWERINGS: dict[OpOverload, Rule] = {}
# operators whose result shares memory with an argument; reading through them costs nothing
VIEWS: set[OpOverload] = set()
# operators by name that another stage registers, such as "minicompiler.random.default"
BY_NAME: dict[str, Rule] = {}

# Overloads that are no operators over tensors, or that write to `out`.
FORMS = """default Tensor Scalar Tensor_Tensor Tensor_Scalar Scalar_Tensor self ScalarSelf
ScalarOther Scalar_Self Scalar_Other Tensor_mode Scalar_mode dim dims int dim_IntList start
start_step dim_int correction value src source""".split()


def forms(name: str) -> list[OpOverload]:
    """The overloads of an ATen operator that are functions of tensors and give tensors."""
    packet = getattr(aten, name, None)
    overloads = packet.overloads() if packet else ()
    found = [getattr(packet, form) for form in FORMS if form in overloads]
    return [op for op in found if any("Tensor" in str(r.type) for r in op._schema.returns)]


def lowering(*ops: OpOverload | str, view: bool = False) -> Callable[[Rule], Rule]:
    """Register a function for these overloads; "add" names all forms of aten.add."""

    def register(rule: Rule) -> Rule:
        for named in ops:
            for op in forms(named) if isinstance(named, str) else [named]:
                if op in LOWERINGS:
                    raise KeyError(f"{op} already has a lowering")
                LOWERINGS[op] = rule
                if view:
                    VIEWS.add(op)
        return rule

    return register
