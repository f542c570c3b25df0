"""The vocabulary of loop bodies, and how one body gets many readings.

A body calls `ops.add(a, b)`; the call goes to the handler that is current in this thread:

    with ops.handling(Printer()):
        print(body(index))            # add(load(x, i0), load(w, i0))

A handler is any object: a method named as the op serves that op, `default(name, *args)` serves the
rest. Values are whatever the handler returns; a body only passes them on.

Leaf ops, which carry more than values:

    load(buffer: str, index: Expr)            element of a buffer, `index` in elements from its
                                              data pointer; result: the buffer's dtype
    constant(value, dtype)                    a Python number (or Expr of a runtime scalar)
    index_expr(expr: Expr, dtype)             an index as a value (dtype is an integer, or float)
    indirect(value, size: Expr, check=True)   an integer value as an index: returns an Expr, a fresh
                                              Symbol, for use in later index expressions. With
                                              `check`, a value outside 0 <= v < size raises
                                              IndexError before anything is written from it.
    masked(mask, body, other, dtype)          body() where mask (bool) holds, else the Python number
                                              `other`; loads and checks in body() happen only
                                              where mask holds
    to_dtype(x, dtype)                        conversion as `Tensor.to`: float to integer truncates
                                              (to uint8 by way of int64), to bool is x != 0
    bitcast(x, dtype)                         the same bits; both dtypes of one width
    random(kind, seed, offset)                a pure function of two int64 values, see below

Arguments are positional. All other ops are in `OPS`. Operands of one op have one dtype, save
`where`, whose first is bool. bfloat16 and float16 appear only in load, constant, to_dtype, bitcast,
where, masked and what is stored: arithmetic on them is written out, as in
to_dtype(op(to_dtype(x, float32)), bfloat16). Such conversions are eager's roundings, so they stay.
Integer arithmetic wraps, in narrow types too: int8 100 + 100 is -56. Arithmetic on bool does not
occur: lowering says logical_and and so on.

`random` is Philox4x32-10 with the words of seed as key and (offset low, offset high, 0, 0) as
counter. With u(w) = float32(w >> 8) * 2**-24 and the words w0, w1... of the result, kind
    "rand"     float32  u(w0)
    "randn"    float32  sqrt(-2 * log(1 - u(w0))) * cos(2*pi * u(w1))
    "randint"  int64    w0, so 0 <= value < 2**32
"""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import torch

Result: TypeAlias = Literal["same", "bool", "given"]
Operands: TypeAlias = Literal["float", "integer", "number", "bool", "any"]


@dataclass(frozen=True, slots=True)
class OpInfo:
    """`arity` counts values. `result`: "same" as the last operand, "bool", or "given" (by an
    argument, or by what the op says). `operands`: the dtypes allowed ("number": float or integer;
    "any": bool too)."""

    arity: int
    result: Result
    operands: Operands


LEAVES: dict[str, OpInfo] = {
    **dict.fromkeys(("load", "constant", "index_expr"), OpInfo(0, "given", "any")),
    **dict.fromkeys(("to_dtype", "bitcast"), OpInfo(1, "given", "any")),
    "indirect": OpInfo(1, "given", "integer"),
    "masked": OpInfo(1, "given", "bool"),
    "random": OpInfo(2, "given", "integer"),
}

_ROWS: list[tuple[int, Result, Operands, str]] = [
    (1, "same", "float", "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt erf erfc lgamma"),
    (1, "same", "float", "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh"),
    (1, "same", "float", "sigmoid reciprocal floor ceil trunc"),
    (1, "same", "float", "round"),  # half to even; -0.0 stays
    (1, "same", "number", "neg abs"),
    (1, "same", "number", "sign"),  # -1, 0 or 1; 0 for NaN and for -0.0
    (1, "bool", "float", "isnan isinf signbit"),
    (2, "same", "number", "add sub mul"),
    (2, "same", "float", "truediv pow atan2 copysign"),
    # Division. An integer divisor is never 0.
    (2, "same", "number", "floordiv"),  # rounds down; floats: from fmod, as torch.floor_divide
    (2, "same", "number", "truncdiv"),  # rounds toward 0; floats: trunc(a / b)
    (2, "same", "number", "remainder"),  # sign of the divisor; floats: fmod, + b if signs differ
    (2, "same", "number", "fmod"),  # sign of the dividend, as C
    (2, "same", "number", "minimum maximum"),  # NaN if either is NaN
    (3, "same", "float", "fma"),  # a*b + c rounded once, as eager's add with alpha is
    (2, "bool", "any", "eq ne lt le gt ge"),
    (2, "bool", "bool", "logical_and logical_or logical_xor"),
    (1, "bool", "bool", "logical_not"),
    (2, "same", "integer", "bitwise_and bitwise_or bitwise_xor"),
    (1, "same", "integer", "bitwise_not"),
    # By a negative count or one of at least the width: 0, and -1 for a negative shifted right.
    (2, "same", "integer", "left_shift right_shift"),  # right: arithmetic for signed
    (3, "same", "any", "where"),  # where(condition, a, b), condition bool
]

OPS: dict[str, OpInfo] = LEAVES | {
    name: OpInfo(arity, result, operands)
    for arity, result, operands, names in _ROWS
    for name in names.split()
}

HALF = (torch.bfloat16, torch.float16)
# the only ops that may see a value of a HALF dtype
HALF_OPS = LEAVES.keys() | {"where"}


def allows(operands: Operands, dtype: torch.dtype) -> bool:
    """Whether an op declared with `operands` takes values of `dtype` (HALF aside)."""
    if operands == "any":
        return True
    if operands == "bool" or dtype == torch.bool:
        return operands == "bool" and dtype == torch.bool
    return operands == "number" or (operands == "float") == dtype.is_floating_point


def result_dtype(name: str, *operands: torch.dtype) -> torch.dtype:
    """The dtype of op `name` (no leaf) on values of these dtypes: the rule every handler uses."""
    rule = OPS[name].result
    assert rule != "given", name
    return torch.bool if rule == "bool" else operands[-1]


# ---------------------------------------------------------------------------------------- handlers


_handler: ContextVar[Any] = ContextVar("minicompiler_handler", default=None)
current = _handler.get  # the handler in force; None outside of any `handling`


@contextlib.contextmanager
def during(variable: ContextVar[Any], value: Any) -> Iterator[Any]:
    """Within the block, in this thread, the variable has this value."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


def handling(handler: Any) -> contextlib.AbstractContextManager[Any]:
    """Within the block, in this thread, ops go to `handler`."""
    return during(_handler, handler)


def call(name: str, *args: Any) -> Any:
    """Op `name` by its name: `call("add", a, b)` is `add(a, b)`."""
    handler = current()
    method = getattr(handler, name, None)
    return handler.default(name, *args) if method is None else method(*args)


def __getattr__(name: str) -> Callable[..., Any]:
    """`ops.add` for every op of the table; made at first use, then an ordinary attribute."""
    if name not in OPS:
        raise AttributeError(f"no op named {name!r}")

    def forward(*args: Any) -> Any:
        return call(name, *args)

    forward.__name__ = forward.__qualname__ = name
    globals()[name] = forward
    return forward
