"""Expressions as Python, C and Triton text.

All round division down, as Python does. C and Triton divide toward zero, so a bare `/` or `%` is
printed only where the signs are proven; elsewhere the correction is written out.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from . import expr as ex
from .expr import Const, Expr, Symbol
from .ranges import Ranges, proves_nonneg, proves_positive

# how tightly the outermost operator of a text binds
WEAK, COMPARE, SUM, TERM, SIGN, ATOM = range(6)
COMPARISONS = {ex.Eq: "==", ex.Ne: "!=", ex.Le: "<=", ex.Lt: "<"}


@dataclass(frozen=True)
class Language:
    """Templates for what the languages write differently."""

    divide: str
    both: str
    either: str
    negate: str
    smaller: str
    larger: str
    calls: Mapping[type[Expr], str]
    choose: str = ""  # condition, then, otherwise; only where division drops the fraction
    wide: str = ""  # suffix of constants beyond 32 bits


PYTHON = Language(
    divide="//",
    both=" and ",
    either=" or ",
    negate="not ",
    smaller="min({}, {})",
    larger="max({}, {})",
    calls={
        ex.ToFloat: "float({})",
        ex.Floor: "math.floor({})",
        ex.Ceil: "math.ceil({})",
        ex.Sqrt: "math.sqrt({})",
        ex.Pow: "pow({}, {})",
    },
)
C = Language(
    divide=" / ",
    both=" && ",
    either=" || ",
    negate="!",
    smaller="({0} < {1} ? {0} : {1})",
    larger="({0} > {1} ? {0} : {1})",
    calls={
        ex.ToFloat: "(double)({})",
        ex.Floor: "(int64_t)__builtin_floor({})",
        ex.Ceil: "(int64_t)__builtin_ceil({})",
        ex.Sqrt: "__builtin_sqrt({})",
        ex.Pow: "__builtin_pow({}, {})",
    },
    choose="({} ? {} : {})",
    wide="LL",
)
TRITON = Language(
    divide=" // ",
    both=" & ",
    either=" | ",
    negate="~",
    smaller="tl.minimum({}, {})",
    larger="tl.maximum({}, {})",
    calls={
        ex.ToFloat: "tl.cast({}, tl.float64)",
        ex.Floor: "tl.cast(tl.floor({}), tl.int64)",
        ex.Ceil: "tl.cast(tl.ceil({}), tl.int64)",
        ex.Sqrt: "tl.sqrt({})",
        ex.Pow: "libdevice.pow({}, {})",
    },
    choose="tl.where({}, {}, {})",
)


@dataclass(frozen=True)
class Printer:
    language: Language
    ranges: Ranges

    def text(self, e: Expr, level: int = WEAK) -> str:
        """`e`, in parentheses when it binds less tightly than `level`."""
        text, own = self.parts(e)
        return f"({text})" if own < level else text

    def parts(self, e: Expr) -> tuple[str, int]:
        kind, words = type(e), self.language
        if isinstance(e, Const):
            return self.constant(e)
        if isinstance(e, Symbol):
            return e.name, ATOM
        if kind is ex.Add:
            return self.sum(e), SUM
        if kind is ex.Mul:
            return self.mul(e), TERM
        if kind in (ex.FloorDiv, ex.Mod):
            return self.divide(e)
        if kind in (ex.Min, ex.Max):
            template = words.smaller if kind is ex.Min else words.larger
            return functools.reduce(template.format, [self.text(a, SUM) for a in e.args]), ATOM
        if kind in words.calls:
            return words.calls[kind].format(*map(self.text, e.args)), ATOM
        if kind is ex.TrueDiv:
            return " / ".join([self.text(e.args[0], TERM), self.text(e.args[1], SIGN)]), TERM
        if kind in COMPARISONS:
            return f" {COMPARISONS[kind]} ".join(self.text(a, SUM) for a in e.args), COMPARE
        # Triton's & and | bind more tightly than comparisons
        operands = [self.text(a, ATOM) for a in e.args]
        if kind is ex.Not:
            return words.negate + operands[0], WEAK
        return (words.both if kind is ex.And else words.either).join(operands), WEAK

    def constant(self, e: Const) -> tuple[str, int]:
        wide = isinstance(e.value, int) and abs(e.value) >= 2**31
        text = repr(int(e.value) if self.language is C and e.sort == "bool" else e.value)
        return text + wide * self.language.wide, SIGN if text[0] == "-" else ATOM

    def sum(self, e: Expr) -> str:
        text = self.text(e.args[0], SUM)
        for term in e.args[1:]:
            negative = e.sort == "int" and ex.split(term)[1] < 0
            text += f" - {self.text(-term, TERM)}" if negative else f" + {self.text(term, TERM)}"
        return text

    def mul(self, e: Expr) -> str:
        atoms, coefficient = ex.split(e) if e.sort == "int" else (e.args, 1)
        text = "*".join(self.text(a, SIGN) for a in atoms)
        if coefficient in (1, -1):
            return text if coefficient == 1 else "-" + text
        return f"{text}*{self.text(Const(coefficient))}"  # i0*64, as indices are usually written

    def divide(self, e: Expr) -> tuple[str, int]:
        a, b = e.args
        whole, words = type(e) is ex.FloorDiv, self.language
        x, y = self.text(a, SIGN), self.text(b, SIGN)
        quotient, remainder = f"{x}{words.divide}{y}", f"{x} % {y}"
        positive = proves_positive(b, self.ranges)
        if not words.choose or (positive and proves_nonneg(a, self.ranges)):
            return quotient if whole else remainder, TERM
        # the remainder has the sign of `a`: where it is not that of `b`, one step down
        wrong = f"({remainder}) < 0"
        if not positive:
            wrong = f"(({remainder}) != 0){words.both}((({remainder}) < 0) != ({y} < 0))"
        if whole:
            return f"({quotient} - {words.choose.format(wrong, 1, 0)})", ATOM
        return f"({remainder} + {words.choose.format(wrong, y, 0)})", ATOM


def to_python(e: Expr) -> str:
    """Python text, which `eval` takes with `math` and the symbols in scope."""
    return Printer(PYTHON, {}).text(e)


def to_c(e: Expr, ranges: Ranges | None = None) -> str:
    """A C expression of type int64_t (double, int for the other sorts); needs no header."""
    return Printer(C, ranges or {}).text(e)


def to_triton(e: Expr, ranges: Ranges | None = None) -> str:
    """A Triton expression over scalars or blocks of ints."""
    return Printer(TRITON, ranges or {}).text(e)
