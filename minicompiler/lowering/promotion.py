"""Which dtype an operator computes in: eager's type promotion, written out.

Three categories take part: tensors with dimensions, 0-d tensors, Python numbers. A lower category
changes the result only by being of a higher kind (bool < integer < float), never by its width:
int8 tensor + 2**40 stays int8, int8 tensor + 0.5 is of the default float dtype.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

import torch

from ..ir import ops
from ..ir.nodes import Value
from ..ir.ops import HALF
from ..symbolic.expr import Expr
from .lazy import Lazy

Number: TypeAlias = int | float | bool | Expr
Operand: TypeAlias = Lazy | Number

SUPPORTED = frozenset(
    {torch.float32, torch.float64, *HALF, torch.bool, torch.uint8}
    | {torch.int8, torch.int16, torch.int32, torch.int64}
)


def kind(dtype: torch.dtype) -> int:
    """bool, integer, float: 0, 1, 2."""
    return 2 if dtype.is_floating_point else 0 if dtype == torch.bool else 1


def result_type(operands: Iterable[Operand]) -> torch.dtype:
    """The dtype to which these operands promote together."""
    categories: dict[int, torch.dtype] = {}
    for x in operands:
        at = 2 if not isinstance(x, Lazy) else 1 if x.ndim == 0 else 0
        dtype = torch.int64  # of a size
        if not isinstance(x, Expr):
            dtype = x.dtype if isinstance(x, Lazy) else torch.result_type(x, x)
        categories[at] = torch.promote_types(categories.get(at, dtype), dtype)
    # the first of the highest kind
    return max((categories[at] for at in sorted(categories)), key=kind)


def compute_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which values of `dtype` are calculated with."""
    return torch.float32 if dtype in HALF else dtype


def cast(value: Value, source: torch.dtype, target: torch.dtype) -> Value:
    return value if source == target else ops.to_dtype(value, target)


def plain(x: Any, dtype: torch.dtype) -> int | float | bool:
    """`x` as a Python number of the kind of `dtype`."""
    if dtype == torch.bool:
        return bool(x)
    return float(x) if dtype.is_floating_point else int(x)


def number(x: Any, dtype: torch.dtype) -> Value:
    """A Python number as a value of `dtype`; a size known only at run time is an index."""
    if isinstance(x, Expr) and not x.is_const:
        return ops.index_expr(x, dtype)
    return ops.constant(plain(x, dtype), dtype)
