"""What an expression can be, and what it therefore is.

`bounds` computes an interval that holds every value; `simplify` rewrites with rules that hold only
within the given ranges, each with its condition beside it. A symbol without a range is unbounded.
"""

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from . import expr as ex
from .expr import Const, Expr, ExprLike, Symbol, as_expr, from_polynomial, polynomial

Number: TypeAlias = int | float
Ends: TypeAlias = tuple[Number, Number]
ANY: Ends = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Interval:
    """All values from lo to hi, both included; an end is infinite, a number or an expression."""

    lo: Number | Expr = -math.inf
    hi: Number | Expr = math.inf


Ranges: TypeAlias = Mapping[Expr, Interval]


def index_range(size: ExprLike) -> Interval:
    """Of a loop index over `size` elements."""
    last = as_expr(size) - 1
    return Interval(0, int(last) if last.is_const else last)


def within(symbols: Sequence[Expr], sizes: Sequence[Expr]) -> dict[Expr, Interval]:
    """What is known of an index into `sizes`, and of these: 0 and 1 are never symbols."""
    known = {s: Interval(2) for n in sizes for s in n.free}
    return known | dict(zip(symbols, map(index_range, sizes)))


def unflattened(place: Expr, sizes: Sequence[Expr], ranges: Ranges) -> tuple[Expr, ...]:
    """The index along each of `sizes` (none is 0) of a row-major place within them."""
    index: list[Expr] = []
    for n in reversed(sizes[1:]):
        index.append(simplify(place % n, ranges))
        place = simplify(place // n, ranges)
    return (place, *reversed(index))[: len(sizes)]


def bounds(e: Expr, ranges: Ranges) -> Interval:
    """An interval of numbers around every value of `e`."""
    return Interval(*_ends(e, ranges, {}))


def _ends(e: Expr, ranges: Ranges, memo: dict[Expr, Ends]) -> Ends:
    if e in memo:
        return memo[e]
    if isinstance(e, Const):
        return e.const, e.const
    if isinstance(e, Symbol):
        r = ranges.get(e, Interval())
        lo = _ends(r.lo, ranges, memo)[0] if isinstance(r.lo, Expr) else r.lo
        found = lo, _ends(r.hi, ranges, memo)[1] if isinstance(r.hi, Expr) else r.hi
    else:
        found = ENDS[type(e)](*[_ends(a, ranges, memo) for a in e.args])
    memo[e] = found
    return found


def _times(a: Number, b: Number) -> Number:
    return 0 if a == 0 or b == 0 else a * b  # an infinite end is a bound, not a value: 0*inf is 0


def _over(a: Number, b: Number) -> Number:
    if math.isinf(a):
        return a if b > 0 else -a
    return a // b if not math.isinf(b) else 0 if a == 0 or (a > 0) == (b > 0) else -1


def _corners(f: Callable[[Number, Number], Number], a: Ends, b: Ends) -> Ends:
    """Of an operation that is monotone in each operand."""
    values = [f(x, y) for x, y in itertools.product(a, b)]
    return (min(values), max(values)) if all(v == v for v in values) else ANY


def _quotient(f: Callable[[Number, Number], Number]) -> Callable[[Ends, Ends], Ends]:
    return lambda a, b: ANY if b[0] <= 0 <= b[1] else _corners(f, a, b)


def _mod_ends(a: Ends, m: Ends) -> Ends:
    if m[0] <= 0:
        return (m[0] + 1, 0) if m[1] < 0 else ANY
    if m[0] == m[1] and a[0] // m[0] == a[1] // m[0]:  # nan, hence unequal, when infinite
        return a[0] % m[0], a[1] % m[0]
    return 0, min(m[1] - 1, a[1] if a[0] >= 0 else math.inf)


ENDS: dict[type[Expr], Callable[..., Ends]] = {
    ex.Add: lambda *args: (sum(a[0] for a in args), sum(a[1] for a in args)),
    ex.Mul: lambda *args: functools.reduce(functools.partial(_corners, _times), args),
    ex.FloorDiv: _quotient(_over),
    ex.Mod: _mod_ends,
    ex.Min: lambda *args: (min(a[0] for a in args), min(a[1] for a in args)),
    ex.Max: lambda *args: (max(a[0] for a in args), max(a[1] for a in args)),
}


def proves_nonneg(e: Expr, ranges: Ranges) -> bool:
    """Whether e >= 0 throughout; also by ends that are expressions, such as i0 <= s0 - 1."""
    if _ends(e, ranges, {})[0] >= 0:
        return True
    terms = polynomial(e)
    for x in sorted(e.free & ranges.keys(), key=lambda s: s.key):
        r = ranges[x]
        if not (isinstance(r.lo, Expr) or isinstance(r.hi, Expr)):
            continue
        with_x = {m: c for m, c in terms.items() if any(x in a.free for a in m)}
        if any(m.count(x) != 1 or sum(x in a.free for a in m) != 1 for m in with_x):
            continue  # not linear in x
        slope = from_polynomial({tuple(a for a in m if a is not x): c for m, c in with_x.items()})
        lo, hi = _ends(slope, ranges, {})
        end: Any = r.lo if lo >= 0 else r.hi if hi <= 0 else math.inf  # where e is least
        if isinstance(end, Expr) or math.isfinite(end):
            return proves_nonneg(e - slope * x + slope * end, ranges)
    return False


def proves_positive(e: Expr, ranges: Ranges) -> bool:
    return proves_nonneg(e - 1, ranges)


def proves_inside(e: Expr, size: Expr, ranges: Ranges) -> bool:
    """Whether 0 <= e < size throughout."""
    return proves_nonneg(e, ranges) and proves_positive(size - e, ranges)


def simplify(e: Expr, ranges: Ranges) -> Expr:
    """The same value wherever the symbols keep to their ranges."""
    return _simplified(e, frozenset(ranges.items())) if e.free else e


@functools.lru_cache(1 << 14)
def _simplified(e: Expr, items: frozenset[tuple[Expr, Interval]]) -> Expr:
    ranges = dict(items)
    points: dict[Expr, Any] = {s: r.lo for s, r in items if s in e.free and r.lo == r.hi}
    memo: dict[Expr, Ends] = {}

    def rule(e: Expr) -> Expr:
        if type(e) not in RULES:
            return e
        lo, hi = _ends(e, ranges, memo)
        if lo == hi and math.isfinite(lo):
            return as_expr(int(lo))
        return RULES[type(e)](e, ranges)

    return ex.rebuild(e.subs(points) if points else e, lambda e: e if e.plain else None, rule)


def _divided(e: Expr, ranges: Ranges) -> Expr:
    """x // d and x % d, with terms smaller than the step of the others set apart."""
    x, d = e.args
    quotient = type(e) is ex.FloorDiv
    if proves_inside(x, d, ranges):  # 0 <= x < d
        return as_expr(0) if quotient else x
    if not d.is_const or int(d) <= 0:
        return e
    terms = polynomial(x)
    for g in sorted({math.gcd(c, int(d)) for m, c in terms.items() if m} - {1}, reverse=True):
        y = from_polynomial({m: c // g for m, c in terms.items() if c % g == 0 or not m})
        fine = x - g * y
        if proves_inside(fine, as_expr(g), ranges):
            # (g*y + r) // (g*n) is y // n, and % is g*(y % n) + r, as 0 <= r < g
            n = int(d) // g
            return simplify(y // n if quotient else g * (y % n) + fine, ranges)
    lo, hi = _ends(x, ranges, {})
    if not quotient and math.isfinite(lo) and lo // int(d) == hi // int(d):
        return x - d * int(lo // int(d))  # all of x lies between the same multiples of d
    return e


def _extreme(e: Expr, ranges: Ranges) -> Expr:
    """Operands that another one always beats are dropped."""
    sign, build = (1, ex.min_) if type(e) is ex.Min else (-1, ex.max_)
    kept = list(e.args)
    for a in e.args:
        if any(b is not a and proves_nonneg(sign * (a - b), ranges) for b in kept):
            kept.remove(a)
    return build(*kept)


RULES: dict[type[Expr], Callable[[Expr, Ranges], Expr]] = {
    **dict.fromkeys((ex.FloorDiv, ex.Mod), _divided),
    **dict.fromkeys((ex.Min, ex.Max), _extreme),
}
