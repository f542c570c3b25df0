"""Expressions as Python, C and Triton text.

All round division down, as Python does. C and Triton divide toward zero, so a bare `/` or `%` is
printed only where the signs are proven; elsewhere the correction is written out.
"""

import math
from collections.abc import Callable
from typing import ClassVar

from ..errors import Unsupported
from .expr import (
    Add,
    And,
    Ceil,
    Const,
    Eq,
    Expr,
    Floor,
    FloorDiv,
    Le,
    Lt,
    Max,
    Min,
    Mul,
    Ne,
    Not,
    Or,
    Pow,
    Sqrt,
    Symbol,
    ToFloat,
    TrueDiv,
    split,
)
from .ranges import Ranges, proves_nonneg, proves_positive

# how tightly the outermost operator of a text binds
OR, AND, NOT, COMPARE, SUM, TERM, SIGN, ATOM = range(8)


class Printer:
    """Python. The dialects below say only what is different in them."""

    INFIX: ClassVar[dict[type[Expr], tuple[str, int]]] = {
        Or: (" or ", OR),
        And: (" and ", AND),
        Eq: (" == ", COMPARE),
        Ne: (" != ", COMPARE),
        Le: (" <= ", COMPARE),
        Lt: (" < ", COMPARE),
        TrueDiv: (" / ", TERM),
    }
    CALLS: ClassVar[dict[type[Expr], str]] = {
        ToFloat: "float",
        Floor: "math.floor",
        Ceil: "math.ceil",
        Sqrt: "math.sqrt",
        Pow: "pow",
    }
    NOT_TEXT = "not "

    def __init__(self, ranges: Ranges | None = None) -> None:
        self.ranges: Ranges = ranges or {}

    def text(self, e: Expr, level: int = OR) -> str:
        """`e` with parentheses when it binds less tightly than `level`."""
        text, own = self.parts(e)
        return f"({text})" if own < level else text

    def parts(self, e: Expr) -> tuple[str, int]:
        kind = type(e)
        if isinstance(e, Const):
            return self.constant(e)
        if isinstance(e, Symbol):
            return e.name, ATOM
        if kind is Add:
            return self.sum(e), SUM
        if kind is Mul:
            return self.mul(e), TERM
        if kind in self.INFIX:
            operator, level = self.INFIX[kind]
            return operator.join(self.text(a, level + 1) for a in e.args), level
        if kind is Not:
            return self.NOT_TEXT + self.text(e.args[0], ATOM), NOT
        if kind in self.CALLS:
            return f"{self.CALLS[kind]}({', '.join(map(self.text, e.args))})", ATOM
        special: Callable[[Expr], tuple[str, int]]
        special = self.extreme if kind in (Min, Max) else self.divide
        return special(e)

    def constant(self, e: Const) -> tuple[str, int]:
        if isinstance(e.value, float) and not math.isfinite(e.value):
            return f'float("{e.value}")', ATOM
        return repr(e.value), ATOM if math.copysign(1, e.value) > 0 else SIGN

    def sum(self, e: Expr) -> str:
        text = ""
        for term in e.args:
            negative = e.sort == "int" and split(term)[1] < 0
            if text:
                text += " - " if negative else " + "
                # a float keeps its operands in order: a + (b + c) is not (a + b) + c
                text += self.text(-term if negative else term, TERM)
            else:
                text = self.text(term, SUM)
        return text

    def mul(self, e: Expr) -> str:
        first, rest = e.args[0], e.args[1:]
        if e.sort == "int" and first == -1:
            return "-" + "*".join(self.text(a, SIGN) for a in rest)
        if e.sort == "int" and isinstance(first, Const):  # i0*64, as indices are written
            rest = (*rest, first)
            first, rest = rest[0], rest[1:]
        return "*".join([self.text(first, TERM), *(self.text(a, SIGN) for a in rest)])

    def divide(self, e: Expr) -> tuple[str, int]:
        a, b = e.args
        operator = "//" if type(e) is FloorDiv else " % "
        return f"{self.text(a, TERM)}{operator}{self.text(b, SIGN)}", TERM

    def extreme(self, e: Expr) -> tuple[str, int]:
        name = "min" if type(e) is Min else "max"
        return f"{name}({', '.join(map(self.text, e.args))})", ATOM


class _Truncating(Printer):
    """Languages whose integer division drops the fraction."""

    SLASH = "/"

    def choose(self, condition: str, yes: str, no: str) -> str:
        raise NotImplementedError

    def both(self, a: str, b: str) -> str:
        return f"{a} && {b}"

    def divide(self, e: Expr) -> tuple[str, int]:
        a, b = e.args
        x, y = self.text(a, SIGN), self.text(b, SIGN)
        quotient, remainder = f"{x} {self.SLASH} {y}", f"{x} % {y}"
        positive = proves_positive(b, self.ranges)
        whole = type(e) is FloorDiv
        if positive and proves_nonneg(a, self.ranges):
            return quotient if whole else remainder, TERM
        # the remainder has the sign of `a`: where it is not that of `b`, one step down
        if positive:
            wrong = f"({remainder}) < 0"
        else:
            wrong = self.both(f"(({remainder}) != 0)", f"((({remainder}) < 0) != ({y} < 0))")
        if whole:
            return f"({quotient} - {self.choose(wrong, '1', '0')})", ATOM
        return f"({remainder} + {self.choose(wrong, y, '0')})", ATOM


class _C(_Truncating):
    INFIX = Printer.INFIX | {Or: (" || ", OR), And: (" && ", AND)}
    CALLS: ClassVar[dict[type[Expr], str]] = {
        ToFloat: "(double)",
        Floor: "(int64_t)__builtin_floor",
        Ceil: "(int64_t)__builtin_ceil",
        Sqrt: "__builtin_sqrt",
        Pow: "__builtin_pow",
    }
    NOT_TEXT = "!"

    def constant(self, e: Const) -> tuple[str, int]:
        v = e.value
        if isinstance(v, bool):
            return str(int(v)), ATOM
        if isinstance(v, float) and not math.isfinite(v):
            name = '__builtin_nan("")' if math.isnan(v) else "__builtin_inf()"
            return (f"-{name}", SIGN) if v < 0 else (name, ATOM)
        if isinstance(v, int) and not -(2**31) < v < 2**31:
            if v == -(2**63):  # no literal: the minus sign is applied to 2**63
                return f"({v + 1}LL - 1)", ATOM
            return f"{v}LL", ATOM if v >= 0 else SIGN
        return super().constant(e)

    def choose(self, condition: str, yes: str, no: str) -> str:
        return f"({condition} ? {yes} : {no})"

    def extreme(self, e: Expr) -> tuple[str, int]:
        sign = "<" if type(e) is Min else ">"
        texts = [self.text(a, SUM) for a in e.args]
        best = texts[0]
        for t in texts[1:]:
            best = f"({best} {sign} {t} ? {best} : {t})"
        return best, ATOM


class _Triton(_Truncating):
    # & and | bind tighter than comparisons in Python
    INFIX = Printer.INFIX | {Or: (" | ", ATOM - 1), And: (" & ", ATOM - 1)}
    CALLS: ClassVar[dict[type[Expr], str]] = {Sqrt: "tl.sqrt"}
    NOT_TEXT = "~"
    SLASH = "//"

    def choose(self, condition: str, yes: str, no: str) -> str:
        return f"tl.where({condition}, {yes}, {no})"

    def both(self, a: str, b: str) -> str:
        return f"{a} & {b}"

    def extreme(self, e: Expr) -> tuple[str, int]:
        name = "tl.minimum" if type(e) is Min else "tl.maximum"
        best = self.text(e.args[0])
        for a in e.args[1:]:
            best = f"{name}({best}, {self.text(a)})"
        return best, ATOM

    def parts(self, e: Expr) -> tuple[str, int]:
        if type(e) is ToFloat:
            return f"tl.cast({self.text(e.args[0])}, tl.float64)", ATOM
        if type(e) in (Floor, Ceil):
            name = "floor" if type(e) is Floor else "ceil"
            return f"tl.cast(tl.{name}({self.text(e.args[0])}), tl.int64)", ATOM
        if type(e) is Pow:
            raise Unsupported(f"{e}: no power inside a Triton kernel")
        return super().parts(e)


_PYTHON = Printer()


def to_python(e: Expr) -> str:
    """Python text, which `eval` takes with `math` and the symbols in scope."""
    return _PYTHON.text(e)


def to_c(e: Expr, ranges: Ranges | None = None) -> str:
    """A C expression of type int64_t (double, int for the other sorts); needs no header."""
    return _C(ranges).text(e)


def to_triton(e: Expr, ranges: Ranges | None = None) -> str:
    """A Triton expression over scalars or blocks of ints."""
    return _Triton(ranges).text(e)
