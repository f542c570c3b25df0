"""Loop IR ops as C++ expressions: tables of types, templates, reductions and constants."""

import math
import re
from typing import Any

import torch

from .writer import SHARED_OPS

TYPES = {
    torch.float64: "double",
    torch.float32: "float",
    torch.bfloat16: "uint16_t",  # as bits; so is float16
    torch.float16: "uint16_t",
    torch.bool: "bool",
} | {getattr(torch, f"{u}int{n}"): f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64)}
# in memory a bool is a byte, as vectors have it
MEMORY = TYPES | {torch.bool: "uint8_t"}
HALVES = {torch.bfloat16: "bfloat16", torch.float16: "float16"}

# functions of math.cpp, for every type that the op allows
OURS = """exp exp2 expm1 log log2 log10 log1p sin cos tanh erf sigmoid minimum maximum sign fma
copysign floordiv truncdiv remainder fmod pow left_shift right_shift""".split()
# the compiler's own: an instruction, or a call of the C library
BUILTIN = """sqrt tan asin acos atan sinh cosh asinh acosh atanh atan2 erfc lgamma floor ceil
trunc""".split()
OPS = {
    **SHARED_OPS,
    "truediv": "{0} / {1}",
    **{name: f"{name}({{all}})" for name in OURS},
    **{name: f"__builtin_{name}{{f}}({{all}})" for name in BUILTIN},
    "round": "__builtin_rint{f}({0})",
    "rsqrt": "1 / __builtin_sqrt{f}({0})",
    "reciprocal": "1 / {0}",
    "abs": "__builtin_fabs{f}({0})",
    "isinf": "__builtin_fabs{f}({0}) == {inf}",
    "signbit": "bits({0}) >> (8 * sizeof({T}) - 1) != 0",
    "logical_not": "!{0}",
    "where": "{0} ? {1} : {2}",
}
# a divisor of 0 traps even where a mask discards the result
DIVISIONS = {"floordiv", "truncdiv", "remainder", "fmod"}


def expression(name: str, args: list[str], dtype: torch.dtype) -> str:
    """Op `name` on texts whose (last) operand has `dtype`."""
    kind, real = TYPES[dtype], dtype.is_floating_point
    text = OPS[name] if real or name != "abs" else "{0} < 0 ? -{0} : {0}"
    f = "f" if dtype == torch.float32 else ""
    text = text.format(*args, all=", ".join(args), f=f, T=kind, inf=f"__builtin_inf{f}()")
    # C computes narrow integers as int
    narrow = not real and dtype.itemsize < 4 and dtype != torch.bool and name not in COMPARISONS
    return f"{kind}({text})" if narrow else text


COMPARISONS = "eq ne lt le gt ge logical_and logical_or logical_xor logical_not".split()


def conversion(text: str, old: torch.dtype, new: torch.dtype) -> str:
    """As `Tensor.to`: half precision by way of float, to bool by comparison with 0."""
    if old == new:
        return text
    if old in HALVES:
        return conversion(f"from_{HALVES[old]}({text})", torch.float32, new)
    if new in HALVES:
        return f"to_{HALVES[new]}({conversion(text, old, torch.float32)})"
    if new == torch.bool:
        return f"{text} != 0"
    if old == torch.bool:  # a select, which vectors have, not a conversion, which they lack
        return f"{text} ? {literal(1, new)} : {literal(0, new)}"
    if old.is_floating_point and not new.is_floating_point:
        wide = "int64_t" if new in (torch.uint8, torch.int64) else "int32_t"
        return f"{TYPES[new]}(truncated<{wide}>({text}))"  # what does not fit a byte wraps
    return f"{TYPES[new]}({text})"


def literal(value: Any, dtype: torch.dtype) -> str:
    """A Python number as a C++ constant of `dtype`."""
    if dtype in HALVES:
        bits = torch.tensor(value, dtype=dtype).view(torch.int16).item()
        return f"uint16_t({int(bits) & 0xFFFF:#x})"
    if dtype.is_floating_point:
        f = "f" if dtype == torch.float32 else ""
        value = float(torch.tensor(float(value), dtype=dtype))
        if math.isnan(value):
            return f'__builtin_nan{f}("")'
        if math.isinf(value):
            return f"{'-' if value < 0 else ''}__builtin_inf{f}()"
        text = f"{value:.9g}" if f and float(f"{value:.9g}") else repr(value)
        return text + ("" if re.search("[.e]", text) else ".0") + f
    if dtype == torch.bool:
        return "true" if value else "false"
    info = torch.iinfo(dtype)
    value = (int(value) - info.min) % (info.max - info.min + 1) + info.min
    if dtype == torch.int64:
        return f"{value}LL" if value > info.min else f"(-{info.max}LL - 1)"
    return f"{value}ULL" if dtype == torch.uint64 else f"{TYPES[dtype]}({value})"
