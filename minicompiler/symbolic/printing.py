"""Expressions as Python, C and Triton text.

All round division down, as Python does. C and Triton divide toward zero, so a bare `/` or `%` is
printed only where the signs are proven; elsewhere the correction is written out.
"""

import functools
from dataclasses import dataclass

from . import expr as ex
from .expr import Const, Expr, Symbol
from .ranges import Ranges, proves_nonneg, proves_positive

PYTHON, C, TRITON = range(3)
SUM, TERM, SIGN, ATOM = range(4)  # how tightly the outermost operator of a text binds
# Python, C, Triton; applied again and again to more than two operands
CALLS: dict[type[Expr], tuple[str, str, str]] = {
    ex.Min: ("min({}, {})", "({0} < {1} ? {0} : {1})", "tl.minimum({}, {})"),
    ex.Max: ("max({}, {})", "({0} > {1} ? {0} : {1})", "tl.maximum({}, {})"),
}
DIVIDE = ("{}//{}", "{} / {}", "{} // {}")
CHOOSE = ("{1} if {0} else {2}", "({} ? {} : {})", "tl.where({}, {}, {})")


@dataclass(frozen=True)
class Printer:
    language: int
    ranges: Ranges

    def text(self, e: Expr, level: int = SUM) -> str:
        """`e`, in parentheses when it binds less tightly than `level`."""
        text, own = self.parts(e)
        return f"({text})" if own < level else text

    def parts(self, e: Expr) -> tuple[str, int]:
        kind = type(e)
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
        both = CALLS[kind][self.language].format
        return functools.reduce(both, map(self.text, e.args)), ATOM

    def constant(self, e: Const) -> tuple[str, int]:
        text, wide = repr(e.const), self.language == C and abs(e.const) >= 2**31
        return text + "LL" * wide, SIGN if text[0] == "-" else ATOM

    def sum(self, e: Expr) -> str:
        text = self.text(e.args[0], SUM)
        for term in e.args[1:]:
            negative = ex.split(term)[1] < 0
            text += f" - {self.text(-term, TERM)}" if negative else f" + {self.text(term, TERM)}"
        return text

    def mul(self, e: Expr) -> str:
        atoms, coefficient = ex.split(e)
        text = "*".join(self.text(a, SIGN) for a in atoms)
        if coefficient in (1, -1):
            return text if coefficient == 1 else "-" + text
        return f"{text}*{self.text(Const(coefficient))}"  # i0*64, as indices are usually written

    def divide(self, e: Expr) -> tuple[str, int]:
        (a, b), whole = e.args, type(e) is ex.FloorDiv
        x, y = self.text(a, SIGN), self.text(b, SIGN)
        quotient, remainder = DIVIDE[self.language].format(x, y), f"{x} % {y}"
        positive = proves_positive(b, self.ranges)
        if self.language == PYTHON or (positive and proves_nonneg(a, self.ranges)):
            return quotient if whole else remainder, TERM
        # the remainder has the sign of `a`: where it is not that of `b`, one step down
        wrong = f"({remainder}) < 0"
        if not positive:
            wrong = f"(({remainder}) != 0) & ((({remainder}) < 0) != ({y} < 0))"
        correction = CHOOSE[self.language].format(wrong, 1 if whole else y, 0)
        return f"({quotient} - {correction})" if whole else f"({remainder} + {correction})", ATOM


def to_python(e: Expr) -> str:
    """Python text, which `eval` takes with the symbols in scope."""
    return Printer(PYTHON, {}).text(e)


def to_c(e: Expr, ranges: Ranges | None = None) -> str:
    """A C expression of type int64_t; needs no header."""
    return Printer(C, ranges or {}).text(e)


def to_triton(e: Expr, ranges: Ranges | None = None) -> str:
    """A Triton expression over scalars or blocks of ints."""
    return Printer(TRITON, ranges or {}).text(e)
