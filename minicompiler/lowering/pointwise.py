"""Operators that compute each element from the elements at the same place.

Most are rows of a table: `rows(mode, "aten_name=ir_op ...")`. The mode says in which dtype:

    same       the promoted dtype; a half-precision result is computed in float32, then rounded
    float      as same, but integers become the default float dtype
    bool       operands become bool first
    compare    operands promote, the result is bool
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..ir import ops
from ..ir.nodes import Value
from ..ir.ops import HALF
from ..symbolic.expr import Expr, as_expr
from .lazy import Lazy, each, spec
from .promotion import Number, Operand, cast, compute_dtype, number, result_type
from .table import aten, lowering

Body = Callable[..., Value]

# The price of an op in plain arithmetic operations, where it is not 1.
FUNCTIONS = """exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh
acosh atanh erf erfc lgamma sigmoid pow atan2""".split()
WEIGHTS = dict.fromkeys(FUNCTIONS, 10)
# Arithmetic on bool is logic.
ON_BOOL = {"add": "logical_or", "mul": "logical_and", "maximum": "logical_or"}
ON_BOOL |= {"minimum": "logical_and", "bitwise_and": "logical_and", "bitwise_or": "logical_or"}
ON_BOOL |= {"bitwise_xor": "logical_xor", "bitwise_not": "logical_not"}


def elementwise(
    body: Body, *operands: Operand, mode: str = "same", weight: int = 1, exact: bool = False
) -> Lazy:
    """`body` on the operands, promoted as `mode` says, and eager's rounding of what it gives.

    With `exact` a scalar last operand of a half-precision operation stays in float32, as in eager's
    mul, div and addcmul.
    """
    stored = spec().dtype
    common = torch.bool if mode == "bool" else result_type(operands)
    if mode == "float" and not common.is_floating_point:
        common = torch.get_default_dtype()
    math = compute_dtype(common)
    dtypes = [common] * len(operands)
    if exact and is_scalar(operands[-1]):
        dtypes[-1] = math

    def inner(*given: Value) -> Value:
        made = body(*[cast(value, dtype, math) for value, dtype in zip(given, dtypes)])
        return made if stored == torch.bool else cast(cast(made, math, common), common, stored)

    return converted(inner, operands, dtypes, weight)


def converted(
    body: Body, operands: Sequence[Operand], dtypes: Sequence[torch.dtype], weight: int = 1
) -> Lazy:
    """`body` on the operands, each as the dtype beside it."""

    def inner(*loaded: Value) -> Value:
        values = iter(loaded)
        one = lambda x, t: cast(next(values), x.dtype, t) if isinstance(x, Lazy) else number(x, t)
        return body(*map(one, operands, dtypes))

    return each(inner, *[x for x in operands if isinstance(x, Lazy)], weight=weight)


def is_scalar(x: Operand) -> bool:
    """A number, or a 0-d tensor that eager's CPU kernels read as one."""
    return not isinstance(x, Lazy) or (x.ndim == 0 and x.device.type == "cpu")


def identity(x: Lazy) -> Lazy:
    """A copy of `x`, broadcast to what the node returns."""
    dtype = spec().dtype
    return each(lambda value: cast(value, x.dtype, dtype), x, weight=0)


def named(called: str) -> Body:
    return lambda *values: ops.call(called, *values)


def row(called: str, mode: str = "same", exact: bool = False) -> Callable[..., Any]:
    """The lowering that is nothing but the op `called`."""

    def rule(*operands: Operand) -> Any:
        on_bool = mode == "same" and result_type(operands) == torch.bool
        if on_bool and called not in ON_BOOL:
            return NotImplemented
        body = named(ON_BOOL[called] if on_bool else called)
        return elementwise(body, *operands, mode=mode, weight=WEIGHTS.get(called, 1), exact=exact)

    return rule


def rows(mode: str, names: str) -> None:
    for entry in names.split():
        name, _, called = entry.partition("=")
        lowering(name)(row(called or name, mode))


rows("float", "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh")
rows("float", "tanh asinh acosh atanh erf erfc lgamma sigmoid reciprocal isnan isinf atan2")
rows("float", "copysign signbit")
rows("same", "neg abs sign sgn=sign maximum minimum bitwise_and bitwise_or bitwise_xor bitwise_not")
rows("same", "bitwise_left_shift=left_shift bitwise_right_shift=right_shift")
rows("same", "__lshift__=left_shift __rshift__=right_shift")
rows("bool", "logical_and logical_or logical_xor logical_not")
rows("compare", "eq ne lt le gt ge")


# --------------------------------------------------------------------------------------- arithmetic


def _plus_product() -> Body:
    """x + a * b, of floats rounded once as eager's kernels do."""
    real = spec().dtype.is_floating_point
    return lambda x, a, b: ops.fma(a, b, x) if real else ops.add(x, ops.mul(a, b))


@lowering("add")
def add(x: Operand, other: Operand, alpha: Number = 1) -> Any:
    if alpha == 1 or result_type((x, other)) == torch.bool:
        return row("add")(x, other)
    return elementwise(_plus_product(), x, other, alpha, weight=2)


@lowering("sub")
def sub(x: Operand, other: Operand, alpha: Number = 1) -> Any:
    return row("sub")(x, other) if alpha == 1 else add(x, other, -alpha)


lowering("rsub")(lambda x, other, alpha=1: sub(other, x, alpha))
lowering("mul")(row("mul", exact=True))


@lowering("div")
def div(x: Operand, other: Operand, *, rounding_mode: str | None = None) -> Any:
    if rounding_mode is None:
        return row("truediv", "float", exact=True)(x, other)
    common = result_type((x, other))
    if common not in HALF:
        return _dividing("floordiv" if rounding_mode == "floor" else "truncdiv", x, other)
    if rounding_mode == "floor":
        # eager rounds every step of the division of two half-precision tensors
        body = named("floordiv")
        return elementwise(body, x, other, exact=True) if is_scalar(other) else NotImplemented

    def quotient(a: Value, b: Value) -> Value:
        return ops.trunc(_through(ops.truediv(a, b), common))

    return elementwise(quotient, x, other, exact=True)


def _through(value: Value, half: torch.dtype) -> Value:
    """float32 rounded to what `half` holds."""
    return ops.to_dtype(ops.to_dtype(value, half), torch.float32)


def _dividing(called: str, x: Operand, other: Operand) -> Any:
    """A division, where an integer divided by zero is an error as in eager."""
    common = result_type((x, other))
    whole = not common.is_floating_point and common != torch.bool
    if whole and not isinstance(other, Lazy) and (isinstance(other, Expr) or other == 0):
        return NotImplemented
    if not whole or not isinstance(other, Lazy) or other.device.type != "cpu":
        return row(called)(x, other)  # CUDA kernels do not look

    def checked(a: Value, b: Value) -> Value:
        # an index that is in range only where b is not 0; adding it, 0, orders the two. Whatever
        # a check does, the loop runs on, and must not divide by 0: that ends the process
        zero = ops.eq(b, number(0, common))
        b = ops.where(zero, number(1, common), b)
        wrong = ops.where(zero, number(1, torch.int64), number(0, torch.int64))
        index = ops.indirect(wrong, as_expr(1), True)
        return ops.call(called, a, ops.add(b, ops.index_expr(index, common)))

    return elementwise(checked, x, other)


lowering("floor_divide")(lambda x, other: div(x, other, rounding_mode="floor"))
lowering("remainder")(lambda x, other: _dividing("remainder", x, other))
lowering("fmod")(lambda x, other: _dividing("fmod", x, other))


def _rounding(called: str) -> Callable[[Lazy], Lazy]:
    """Of floats; integers stay."""
    return lambda x: row(called)(x) if x.dtype.is_floating_point else identity(x)


for _name in ("floor", "ceil", "trunc", "round"):
    lowering(_name)(_rounding(_name))


lowering("relu")(lambda x: elementwise(named("maximum"), x, 0))


def power_by_products(x: Value, n: int, math: torch.dtype, store: torch.dtype) -> Value:
    """x**n for n >= 0, by squaring; half precision is rounded at each product as in eager."""
    if n < 2:
        return x if n else number(1, math)
    root = power_by_products(x, n // 2, math, store)
    square = _product(root, root, store)
    return _product(x, square, store) if n % 2 else square


def _product(a: Value, b: Value, store: torch.dtype) -> Value:
    made = ops.mul(a, b)
    return _through(made, store) if store in HALF else made


@lowering("pow")
def power(x: Operand, exponent: Operand) -> Any:
    common = result_type((x, exponent))
    math, real = compute_dtype(common), common.is_floating_point
    if not real and (type(exponent) is not int or exponent < 0 or common == torch.bool):
        return NotImplemented
    if isinstance(exponent, (Lazy, Expr)):
        return row("pow")(x, exponent)
    if not real or exponent in (0, 1, 2, 3):
        n = int(exponent)
        return elementwise(lambda a, _: power_by_products(a, n, math, common), x, exponent)
    special: dict[float, Body] = {
        0.5: lambda a, _: ops.sqrt(a),
        -0.5: lambda a, _: ops.rsqrt(a),
        -1.0: lambda a, _: ops.truediv(number(1, math), a),
        -2.0: lambda a, _: ops.truediv(number(1, math), _product(a, a, common)),
    }
    if common == torch.float16 and spec().device.type == "cpu":
        special = {}  # eager has no such kernels there
    body = special.get(float(exponent), named("pow"))
    return elementwise(body, x, exponent, weight=3 if float(exponent) in special else 10)


# ----------------------------------------------------------------------------- several operands


@lowering(aten.where.self, aten.where.ScalarSelf, aten.where.ScalarOther, aten.where.Scalar)
def where(condition: Lazy, x: Operand, other: Operand) -> Lazy:
    common = result_type((x, other))
    return converted(ops.where, (condition, x, other), (torch.bool, common, common))


@lowering("masked_fill")
def masked_fill(x: Lazy, mask: Lazy, value: Operand) -> Lazy:
    return converted(ops.where, (mask, value, x), (torch.bool, x.dtype, x.dtype))


@lowering("clamp")
def clamp(x: Lazy, min: Operand | None = None, max: Operand | None = None) -> Any:
    limits = [limit for limit in (min, max) if limit is not None]

    def body(a: Value, *given: Value) -> Value:
        bounds = iter(given)
        a = a if min is None else ops.maximum(a, next(bounds))
        return a if max is None else ops.minimum(a, next(bounds))

    if spec().dtype == torch.bool:
        return NotImplemented
    return elementwise(body, x, *limits, weight=2)


lowering("clamp_min")(row("maximum"))
lowering("clamp_max")(row("minimum"))


def _ignoring_nan(called: str) -> Callable[..., Any]:
    def body(a: Value, b: Value) -> Value:
        return ops.where(ops.isnan(a), b, ops.where(ops.isnan(b), a, ops.call(called, a, b)))

    return lambda x, y: (
        elementwise(body, x, y) if spec().dtype.is_floating_point else row(called)(x, y)
    )


lowering("fmax")(_ignoring_nan("maximum"))
lowering("fmin")(_ignoring_nan("minimum"))


@lowering("addcmul")
def addcmul(x: Lazy, a: Lazy, b: Lazy, *, value: Number = 1) -> Any:
    plus, whole = _plus_product(), not spec().dtype.is_floating_point
    body = lambda x, a, b, v: plus(x, ops.mul(v, a), b)
    return elementwise(body, x, a, b, int(value) if whole else value, weight=4, exact=True)


@lowering("addcdiv")
def addcdiv(x: Lazy, a: Lazy, b: Lazy, *, value: Number = 1) -> Any:
    body = lambda x, a, b, v: ops.add(x, ops.truediv(ops.mul(v, a), b))
    return elementwise(body, x, a, b, value, weight=4, exact=True)


@lowering("lerp")
def lerp(start: Lazy, end: Lazy, weight: Operand) -> Any:
    def body(a: Value, b: Value, w: Value) -> Value:
        # from the nearer end, which is then met exactly
        math = compute_dtype(start.dtype)
        step, one = ops.sub(b, a), number(1, math)
        low = ops.lt(ops.abs(w), number(0.5, math))
        near = ops.where(low, w, ops.sub(w, one))
        return ops.fma(step, near, ops.where(low, a, b))

    return elementwise(body, start, end, weight, weight=4, exact=True)


# ----------------------------------------------------------------------------------------- copies


@lowering("clone", "lift_fresh_copy", "_to_copy")
def copied(x: Lazy, **_: Any) -> Any:
    return identity(x) if x.device == spec().device else NotImplemented


lowering(aten.copy.default)(lambda x, source, non_blocking=False: copied(source))
