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
# how tightly the outermost operator of a text binds
WEAK, COMPARE, SUM, TERM, SIGN, ATOM = range(6)
COMPARISONS = {ex.Eq: "==", ex.Ne: "!=", ex.Le: "<=", ex.Lt: "<"}
# Python, C, Triton; a template for two is applied again and again to more
CALLS: dict[type[Expr], tuple[str, str, str]] = {
    ex.Min: ("min({}, {})", "({0} < {1} ? {0} : {1})", "tl.minimum({}, {})"),
    ex.Max: ("max({}, {})", "({0} > {1} ? {0} : {1})", "tl.maximum({}, {})"),
    ex.ToFloat: ("float({})", "(double)({})", "tl.cast({}, tl.float64)"),
    ex.Floor: ("math.floor({})", "(int64_t)__builtin_floor({})", "tl.cast(tl.floor({}), tl.int64)"),
    ex.Ceil: ("math.ceil({})", "(int64_t)__builtin_ceil({})", "tl.cast(tl.ceil({}), tl.int64)"),
    ex.Sqrt: ("math.sqrt({})", "__builtin_sqrt({})", "tl.sqrt({})"),
    ex.Pow: ("pow({}, {})", "__builtin_pow({}, {})", "libdevice.pow({}, {})"),
    # Triton's & and | bind more tightly than comparisons, hence operands in parentheses
    ex.And: ("{} and {}", "{} && {}", "{} & {}"),
    ex.Or: ("{} or {}", "{} || {}", "{} | {}"),
    ex.Not: ("not {}", "!{}", "~{}"),
}
DIVIDE = ("{}//{}", "{} / {}", "{} // {}")
CHOOSE = ("{1} if {0} else {2}", "({} ? {} : {})", "tl.where({}, {}, {})")


@dataclass(frozen=True)
class Printer:
    language: int
    ranges: Ranges

    def text(self, e: Expr, level: int = WEAK) -> str:
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
        if kind is ex.TrueDiv:
            return " / ".join(self.text(a, SIGN) for a in e.args), TERM
        if kind in COMPARISONS:
            return f" {COMPARISONS[kind]} ".join(self.text(a, SUM) for a in e.args), COMPARE
        logic = kind in (ex.And, ex.Or, ex.Not)
        template = CALLS[kind][self.language]
        operands = [self.text(a, ATOM if logic else SUM) for a in e.args]
        operands = operands if operands[1:] else [template.format(*operands)]
        return functools.reduce(template.format, operands), WEAK if logic else ATOM

    def constant(self, e: Const) -> tuple[str, int]:
        text = repr(int(e.value) if self.language == C and e.sort == "bool" else e.value)
        wide = self.language == C and e.sort == "int" and abs(e.value) >= 2**31
        return text + "LL" * wide, SIGN if text[0] == "-" else ATOM

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
        (a, b), whole = e.args, type(e) is ex.FloorDiv
        x, y = self.text(a, SIGN), self.text(b, SIGN)
        quotient, remainder = DIVIDE[self.language].format(x, y), f"{x} % {y}"
        positive = proves_positive(b, self.ranges)
        if self.language == PYTHON or (positive and proves_nonneg(a, self.ranges)):
            return quotient if whole else remainder, TERM
        # the remainder has the sign of `a`: where it is not that of `b`, one step down
        wrong = f"({remainder}) < 0"
        if not positive:
            both = CALLS[ex.And][self.language]
            wrong = both.format(f"(({remainder}) != 0)", f"((({remainder}) < 0) != ({y} < 0))")
        correction = CHOOSE[self.language].format(wrong, 1 if whole else y, 0)
        return f"({quotient} - {correction})" if whole else f"({remainder} + {correction})", ATOM


def to_python(e: Expr) -> str:
    """Python text, which `eval` takes with `math` and the symbols in scope."""
    return Printer(PYTHON, {}).text(e)


def to_c(e: Expr, ranges: Ranges | None = None) -> str:
    """A C expression of type int64_t (double, int for the other sorts); needs no header."""
    return Printer(C, ranges or {}).text(e)


def to_triton(e: Expr, ranges: Ranges | None = None) -> str:
    """A Triton expression over scalars or blocks of ints."""
    return Printer(TRITON, ranges or {}).text(e)
