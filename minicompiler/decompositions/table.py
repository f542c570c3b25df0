"""The table of rules, and what rules share.

A rule is an ordinary function over tensors, with the operator's signature. It writes functional
PyTorch; operators it calls that have a rule are decomposed in turn. It need not care for the
result's dtype and strides: whoever applies it converts to what the operator promises, once, which
is where eager rounds. `NotImplemented` says that this call stays as it is.
"""

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch._ops import OpOverload

Rule: TypeAlias = Callable[..., Any]

aten = torch.ops.aten

RULES: dict[OpOverload, Rule] = {}

HALF = (torch.bfloat16, torch.float16)


def wide(x: Any) -> Any:
    """Half precision becomes float32, in which eager's kernels compute; all else stays."""
    if isinstance(x, Tensor) and x.dtype in HALF:
        return x.to(torch.float32)
    return x


def in_float32(f: Rule) -> Rule:
    """The rule sees half-precision operands as float32."""

    @functools.wraps(f)
    def widened(*args: Any, **kwargs: Any) -> Any:
        return f(*map(wide, args), **{k: wide(a) for k, a in kwargs.items()})

    return widened


def operators(names: str) -> Iterator[OpOverload]:
    """Those of `"gelu sum.dim_IntList"`, without any that this torch lacks."""
    for name in names.split():
        packet, _, overload = name.partition(".")
        op = getattr(getattr(aten, packet, None), overload or "default", None)
        if op is not None:
            yield op


def rule(names: str, half: bool = True) -> Callable[[Rule], Rule]:
    """Register a rule for operators that read alike; a second rule for one raises. Without `half`
    it sees half-precision operands as float32."""

    def register(f: Rule) -> Rule:
        made = f if half else in_float32(f)
        for op in operators(names):
            if op in RULES:
                raise KeyError(f"{op} already has a rule")
            RULES[op] = made
        return made

    return register


def named_rules(module: dict[str, Any]) -> None:
    """Functions of a module that are named after an operator are its rules, in float32."""
    for name, f in module.items():
        if getattr(f, "__module__", "") == module["__name__"]:
            rule(name, half=False)(f)


def fold(x: Tensor, dims: list[int]) -> Tensor:
    """Sum over `dims`; over none is x itself (`x.sum([])` would fold everything)."""
    return x.sum(dims) if dims else x


def count(x: Tensor, dims: list[int] | None) -> int:
    """How many elements a reduction over `dims` folds (None or []: all)."""
    return math.prod(x.shape[d] for d in dims or range(x.ndim)) if x.ndim else 1
