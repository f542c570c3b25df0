"""What an expression can be, and what it therefore is.

`bounds` computes an interval that holds every value; `simplify` rewrites with rules that hold only
within the given ranges, each with its condition beside it. A symbol without a range is unbounded.
"""

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .expr import (
    Add,
    And,
    Ceil,
    Const,
    Eq,
    Expr,
    ExprLike,
    Floor,
    FloorDiv,
    Le,
    Lt,
    Max,
    Min,
    Mod,
    Mul,
    Ne,
    Not,
    Or,
    Sqrt,
    Symbol,
    ToFloat,
    TrueDiv,
    as_expr,
    floordiv,
    from_polynomial,
    max_,
    min_,
    mod,
    polynomial,
    rebuild,
)

INT64 = 2**63


@dataclass(frozen=True, slots=True)
class Interval:
    """All values from lo to hi, both included; an end is infinite, a number or an expression."""

    lo: int | float | Expr = -math.inf
    hi: int | float | Expr = math.inf


Ranges: TypeAlias = Mapping[Expr, Interval]
Ends: TypeAlias = tuple[int | float, int | float]
ANY: Ends = (-math.inf, math.inf)


def index_range(size: ExprLike) -> Interval:
    """Of a loop index over `size` elements."""
    last = as_expr(size) - 1
    return Interval(0, int(last) if last.is_const else last)


def bounds(e: Expr, ranges: Ranges) -> Interval:
    """An interval of numbers around every value of `e`; a bool counts as 0 or 1."""
    return Interval(*_ends(e, ranges, {}))


def fits_int64(e: Expr, ranges: Ranges) -> bool:
    """Whether `e` and all that is computed on the way stay within int64."""
    lo, hi = _ends(e, ranges, {})
    inside = e.sort != "int" or (lo >= -INT64 and hi < INT64)
    return inside and all(fits_int64(child, ranges) for child in e.children)


def _times(a: int | float, b: int | float) -> int | float:
    return 0 if a == 0 or b == 0 else a * b  # an infinite end is a bound, not a value: 0*inf is 0


def _over(a: int | float, b: int | float) -> int | float:
    if math.isinf(a):
        return a if b > 0 else -a
    if math.isinf(b):
        return 0 if a == 0 or (a > 0) == (b > 0) else -1
    return a // b


def _corners(f: Callable[[int | float, int | float], int | float], a: Ends, b: Ends) -> Ends:
    """Ends of a function that is monotone in each operand."""
    values = [f(x, y) for x, y in itertools.product(a, b)]
    return (min(values), max(values)) if not any(v != v for v in values) else ANY


def _mod_ends(a: Ends, m: Ends) -> Ends:
    if m[0] > 0:
        if m[0] == m[1] and a[0] // m[0] == a[1] // m[0]:  # nan, hence unequal, when infinite
            return a[0] % m[0], a[1] % m[0]
        return 0, min(m[1] - 1, a[1] if a[0] >= 0 else math.inf)
    return (m[0] + 1, 0) if m[1] < 0 else ANY


def _decide(cls: type[Expr], a: Ends, b: Ends) -> Ends:
    apart = a[1] < b[0] or b[1] < a[0]
    same = a[0] == a[1] == b[0] == b[1]
    yes = {Eq: same, Ne: apart, Le: a[1] <= b[0], Lt: a[1] < b[0]}[cls]
    no = {Eq: apart, Ne: same, Le: b[1] < a[0], Lt: b[1] <= a[0]}[cls]
    return int(yes), int(not no)


def _ends(e: Expr, ranges: Ranges, memo: dict[Expr, Ends]) -> Ends:
    found = memo.get(e)
    if found is None:
        found = memo[e] = _ends_of(e, ranges, memo)
    return found


def _ends_of(e: Expr, ranges: Ranges, memo: dict[Expr, Ends]) -> Ends:
    kind = type(e)
    if isinstance(e, Const):
        return e.value, e.value
    if kind is Symbol:
        r = ranges.get(e)
        if r is None:
            return (0, 1) if e.sort == "bool" else ANY
        lo = _ends(r.lo, ranges, memo)[0] if isinstance(r.lo, Expr) else r.lo
        return lo, _ends(r.hi, ranges, memo)[1] if isinstance(r.hi, Expr) else r.hi
    args = [_ends(a, ranges, memo) for a in e.args]
    if kind is Add:
        return sum(a[0] for a in args), sum(a[1] for a in args)
    if kind is Mul:
        return _product_ends(e, args)
    if kind in (Min, Max):
        f = min if kind is Min else max
        return f(a[0] for a in args), f(a[1] for a in args)
    if kind in (FloorDiv, TrueDiv):
        a, b = args
        if b[0] <= 0 <= b[1]:
            return ANY
        return _corners(_over if kind is FloorDiv else lambda x, y: x / y, a, b)
    if kind is Mod:
        return _mod_ends(args[0], args[1])
    if kind in (Eq, Ne, Le, Lt):
        return _decide(kind, args[0], args[1])
    if kind in (And, Or):
        f = min if kind is And else max
        return f(a[0] for a in args), f(a[1] for a in args)
    lo, hi = args[0]
    if kind is Not:
        return 1 - hi, 1 - lo
    # rounding is monotone, so the ends go through the very same operation
    if kind is Sqrt and lo >= 0:
        return math.sqrt(lo), math.sqrt(hi)
    if kind is ToFloat:
        return _finite(float, lo), _finite(float, hi)
    if kind in (Floor, Ceil):
        f1 = math.floor if kind is Floor else math.ceil
        return _finite(f1, lo), _finite(f1, hi)
    return ANY


def _finite(f: Callable[[int | float], int | float], x: int | float) -> int | float:
    try:
        return x if math.isinf(x) else f(x)
    except OverflowError:  # an int that no float reaches
        return math.inf if x > 0 else -math.inf


def _product_ends(e: Expr, args: list[Ends]) -> Ends:
    total: Ends = (1, 1)
    for _, group in itertools.groupby(zip(e.args, args), key=lambda pair: pair[0]):
        ends = [pair[1] for pair in group]
        power = ends[0]
        for other in ends[1:]:
            power = _corners(_times, power, other)
        if e.sort == "int" and len(ends) % 2 == 0:  # an even power of one atom
            power = max(power[0], 0), power[1]
        total = _corners(_times, total, power)
    return total


def proves_nonneg(e: Expr, ranges: Ranges) -> bool:
    """Whether e >= 0 throughout; also by ends that are expressions, such as i0 <= s0 - 1."""
    if _ends(e, ranges, {})[0] >= 0:
        return True
    terms = polynomial(e) if e.sort == "int" else {}
    for x in sorted(e.free, key=lambda s: s.key):
        r = ranges.get(x)
        if r is None or not (isinstance(r.lo, Expr) or isinstance(r.hi, Expr)):
            continue
        with_x = {m: c for m, c in terms.items() if any(x in a.free for a in m)}
        if any(m.count(x) != 1 or sum(x in a.free for a in m) != 1 for m in with_x):
            continue  # not linear in x
        slope = from_polynomial({tuple(a for a in m if a is not x): c for m, c in with_x.items()})
        lo, hi = _ends(slope, ranges, {})
        end = r.lo if lo >= 0 else r.hi if hi <= 0 else None  # where e is least
        if end is not None and not (isinstance(end, float) and math.isinf(end)):
            rest = from_polynomial({m: c for m, c in terms.items() if m not in with_x})
            return proves_nonneg(rest + slope * as_expr(end), ranges)
    return False


def proves_positive(e: Expr, ranges: Ranges) -> bool:
    return proves_nonneg(e - 1, ranges)


def proves_inside(e: Expr, size: Expr, ranges: Ranges) -> bool:
    """Whether 0 <= e < size throughout."""
    return proves_nonneg(e, ranges) and proves_positive(size - e, ranges)


def simplify(e: Expr, ranges: Ranges) -> Expr:
    """The same value wherever the symbols keep to their ranges."""
    memo: dict[Expr, Ends] = {}

    def rule(e: Expr) -> Expr:
        lo, hi = _ends(e, ranges, memo) if e.free else (0, 1)
        if lo == hi and not math.isinf(lo):
            return as_expr(bool(lo) if e.sort == "bool" else lo)
        apply = RULES.get(type(e))
        return apply(e, ranges) if apply else e

    return rebuild(e, lambda e: None, rule)


def _divided(e: Expr, ranges: Ranges) -> Expr:
    """x // d and x % d, with terms smaller than the step of the others set apart."""
    x, d = e.args
    quotient = type(e) is FloorDiv
    if proves_inside(x, d, ranges):  # 0 <= x < d
        return as_expr(0) if quotient else x
    if not d.is_const or int(d) <= 0:
        return e
    terms = polynomial(x)
    for g in sorted({math.gcd(c, int(d)) for m, c in terms.items() if m} - {1}, reverse=True):
        coarse = {m: c // g for m, c in terms.items() if c % g == 0 or not m}
        fine = x - g * from_polynomial(coarse)
        if proves_inside(fine, as_expr(g), ranges):
            # (g*y + r) // (g*n) is y // n, and % is g*(y % n) + r, as 0 <= r < g
            y, n = from_polynomial(coarse), as_expr(int(d) // g)
            return simplify(floordiv(y, n) if quotient else g * mod(y, n) + fine, ranges)
    lo, hi = _ends(x, ranges, {})
    if not quotient and not math.isinf(lo) and lo // int(d) == hi // int(d):
        return x - d * int(lo // int(d))  # all of x lies between the same multiples of d
    return e


def _extreme(e: Expr, ranges: Ranges) -> Expr:
    """Operands that another one always beats are dropped."""
    sign, build = (1, min_) if type(e) is Min else (-1, max_)
    kept = list(e.args)
    for a in e.args:
        if any(b is not a and proves_nonneg(sign * (a - b), ranges) for b in kept):
            kept.remove(a)
    return build(*kept)


def _compared(e: Expr, ranges: Ranges) -> Expr:
    """Decided by the difference, where the two sides hang together."""
    a, b = e.args
    if a.sort != "int":
        return e
    if type(e) is Le:
        if proves_nonneg(b - a, ranges):
            return as_expr(True)
        return as_expr(False) if proves_positive(a - b, ranges) else e
    apart = proves_positive(a - b, ranges) or proves_positive(b - a, ranges)
    return as_expr(type(e) is Ne) if apart else e


RULES: dict[type[Expr], Callable[[Expr, Ranges], Expr]] = {
    FloorDiv: _divided,
    Mod: _divided,
    Min: _extreme,
    Max: _extreme,
    Eq: _compared,
    Ne: _compared,
    Le: _compared,
}
