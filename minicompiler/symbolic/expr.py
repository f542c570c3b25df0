"""Sizes, strides and indices as expressions.

    Expr  =  Const | Symbol | Add | Mul | FloorDiv | Mod | Min | Max

All are ints. They are kept as polynomials with integer coefficients over atoms (everything that is
neither Add, Mul nor Const), so equal polynomials are the same object whatever the order of writing.
Each node exists once per process: `==` between expressions is identity, and costs nothing. `//` and
`%` round down as in Python.

A rewrite must hold for all integers (dividing by zero is an error before and after it); what holds
only in a range is in ranges.py.
"""

import functools
import math
import operator
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, TypeAlias, Union, cast
from weakref import WeakValueDictionary

ExprLike: TypeAlias = Union["Expr", int]
Monomial: TypeAlias = tuple["Expr", ...]  # sorted atoms, repeated for powers; () is 1
Polynomial: TypeAlias = dict[Monomial, int]  # coefficients, none zero
Builder: TypeAlias = Callable[..., "Expr"]

_nodes: WeakValueDictionary[Any, "Expr"] = WeakValueDictionary()
_lock = threading.Lock()


def _operator(name: str, swapped: bool = False) -> "Callable[[Expr, ExprLike], Expr]":
    def method(self: "Expr", other: ExprLike) -> "Expr":
        build: Builder = globals()[name]
        return build(other, self) if swapped else build(self, other)

    return method


class Expr:
    """A node. `args` are its operands, `free` its symbols, `key` orders nodes for printing, and
    `payload` is a constant's value or a symbol's name."""

    __slots__ = ("args", "payload", "free", "key", "plain", "__weakref__")
    rank: ClassVar[int] = 0
    fold: ClassVar[Callable[..., int]]  # what the operation does to Python numbers
    args: "tuple[Expr, ...]"
    payload: Any
    free: "frozenset[Expr]"
    key: tuple[Any, ...]
    plain: bool  # a polynomial over symbols: ranges can simplify nothing in it

    __add__, __radd__ = _operator("add"), _operator("add", swapped=True)
    __sub__, __rsub__ = _operator("subtract"), _operator("subtract", swapped=True)
    __mul__, __rmul__ = _operator("mul"), _operator("mul", swapped=True)
    __floordiv__, __rfloordiv__ = _operator("floordiv"), _operator("floordiv", swapped=True)
    __mod__, __rmod__ = _operator("mod"), _operator("mod", swapped=True)

    def __neg__(self) -> "Expr":
        return mul(-1, self)

    def __eq__(self, other: object) -> bool:
        """Identity; a constant also equals its Python number, and hashes like it."""
        return self is other or (
            type(self) is Const and not isinstance(other, Expr) and bool(self.payload == other)
        )

    __hash__ = object.__hash__

    @property
    def is_const(self) -> bool:
        return type(self) is Const

    @property
    def const(self) -> int:
        """The value of a constant; TypeError where there are symbols."""
        if type(self) is Const:
            return cast(int, self.payload)
        raise TypeError(f"{self} is symbolic, not a constant")

    def __int__(self) -> int:
        return self.const

    __index__ = __int__

    def __bool__(self) -> bool:
        return bool(self.const)

    def subs(self, replace: Mapping["Expr", ExprLike]) -> "Expr":
        """With symbols (or whole subexpressions) replaced; canonical again."""
        return rebuild(self, {k: as_expr(v) for k, v in replace.items()}.get)

    def evaluate(self, values: Mapping[Any, int]) -> int:
        """The value under `values`, keyed by Symbol or by name."""
        if type(self) is Const:
            return self.const
        if type(self) is Symbol:
            return values[self] if self in values else values[self.payload]
        return self.fold(*[a.evaluate(values) for a in self.args])

    def __repr__(self) -> str:
        from .printing import to_python

        return to_python(self)

    def __reduce__(self) -> Any:
        return _intern, (type(self), self.args, self.payload)


def _intern(cls: type[Expr], args: tuple[Expr, ...], payload: Any = None) -> Expr:
    """The one node of this form. Callers have brought `args` into canonical form."""
    identity = (cls, args, payload)
    found = _nodes.get(identity)
    if found is not None:
        return found
    e = object.__new__(cls)
    e.args, e.payload = args, payload
    e.free = frozenset((e,)) if cls is Symbol else frozenset().union(*[a.free for a in args])
    name = (len(payload), payload) if cls is Symbol else (payload,) if cls is Const else ()
    e.key = (cls.rank, *name, *[a.key for a in args])
    e.plain = (cls.rank <= 3 or cls is Const) and all([a.plain for a in args])
    with _lock:
        return _nodes.setdefault(identity, e)


class Const(Expr):
    """An int."""

    __slots__ = ()
    rank = 9

    def __new__(cls, value: int) -> "Const":
        return cast(Const, _intern(cls, (), value))

    def __hash__(self) -> int:
        return hash(self.payload)


class Symbol(Expr):
    """A name: a size (s0), a loop index (i0), a value read at run time (tmp0)."""

    __slots__ = ()
    rank = 1

    def __new__(cls, name: str) -> "Symbol":
        return cast(Symbol, _intern(cls, (), name))

    @property
    def name(self) -> str:
        return cast(str, self.payload)


def _kind(name: str, rank: int, fold: Callable[..., int], doc: str) -> type[Expr]:
    body = {"__slots__": (), "rank": rank, "fold": staticmethod(fold), "__doc__": doc}
    body |= {"__module__": __name__, "__qualname__": name}
    return type(name, (Expr,), body)


def _folded(f: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda *xs: functools.reduce(f, xs)


Mul = _kind("Mul", 2, _folded(operator.mul), "[coefficient] * atoms")
Add = _kind("Add", 3, _folded(operator.add), "terms, constant last")
FloorDiv = _kind("FloorDiv", 4, operator.floordiv, "a // b, rounded down")
Mod = _kind("Mod", 5, operator.mod, "a % b, with the sign of b")
Min = _kind("Min", 6, min, "the smallest operand")
Max = _kind("Max", 7, max, "the largest operand")


@functools.lru_cache(1 << 10)
def _const(value: int) -> Expr:
    return Const(value)


def as_expr(x: ExprLike) -> Expr:
    """An expression as it is, an int as a constant."""
    if isinstance(x, Expr):
        return x
    if type(x) is int:
        return _const(x)
    raise TypeError(f"{x!r} of {type(x)} is no size expression: these are ints")


sym: Callable[[str], Expr] = Symbol


def rebuild(
    e: Expr, replace: Callable[[Expr], Expr | None], then: Callable[[Expr], Expr] = lambda e: e
) -> Expr:
    """`e` bottom-up through the constructors and `then`; an answer of `replace` is final."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            done = replace(e)
            if done is None:
                args = [go(a) for a in e.args]
                same = all(a is b for a, b in zip(args, e.args))
                done = then(e if same else BUILD[type(e)](*args))
            memo[e] = done
        return memo[e]

    return go(e)


# --- integer polynomials -------------------------------------------------------------------------


def _cached(f: Callable[[Expr, Expr], Expr]) -> Callable[[ExprLike, ExprLike], Expr]:
    """A binary constructor, results remembered."""
    known = functools.lru_cache(1 << 14)(f)
    return functools.wraps(f)(lambda a, b: known(as_expr(a), as_expr(b)))


def split(e: Expr) -> tuple[Monomial, int]:
    """An integer term as atoms and coefficient."""
    if type(e) is Mul:
        first = e.args[0]
        return (e.args[1:], int(first)) if type(first) is Const else (e.args, 1)
    return ((), int(e)) if type(e) is Const else ((e,), 1)


def polynomial(e: Expr) -> Polynomial:
    return {m: c for m, c in map(split, e.args if type(e) is Add else (e,)) if c}


def _order(monomial: Monomial) -> tuple[Any, ...]:
    """Degree first, then symbols by name; the constant last."""
    return (-len(monomial), *[a.key for a in monomial])


_by_key = operator.attrgetter("key")


def _times(m: Monomial, n: Monomial) -> Monomial:
    return tuple(sorted(m + n, key=_by_key)) if m and n else m or n


def _term(monomial: Monomial, coefficient: int) -> Expr:
    operands = monomial if coefficient == 1 and monomial else (_const(coefficient), *monomial)
    return operands[0] if len(operands) == 1 else _intern(Mul, operands)


def from_polynomial(terms: Polynomial) -> Expr:
    made = [_term(m, terms[m]) for m in sorted(terms, key=_order) if terms[m]]
    return _const(0) if not made else made[0] if len(made) == 1 else _intern(Add, (*made,))


@_cached
def add(a: Expr, b: Expr) -> Expr:
    terms = polynomial(a)
    for m, c in polynomial(b).items():
        terms[m] = terms.get(m, 0) + c
    if any(type(atom) is Mod for m in terms for atom in m):
        while joined := _join_quotient(terms):
            terms = joined
    return from_polynomial(terms)


def _join_quotient(terms: Polynomial) -> Polynomial | None:
    """One step of: d*(x//d)*c + (x%d)*c is x*c; and d*((x//d) % n)*c + (x%d)*c is (x % (d*n))*c."""
    mods = {
        atom for m in terms for atom in m if type(atom) is Mod and type(atom.args[1]) is not Add
    }
    for low in sorted(mods, key=_by_key):
        (x, d), whole = low.args, low.args[0] // low.args[1]
        d_atoms, d_coefficient = split(d)
        highs = [a for a in mods if a.args[0] is whole and d.is_const]
        for high, joined in [(whole, x), *((a, mod(x, d * a.args[1])) for a in highs)]:
            for m, c in terms.items():
                rest = _without(m, (low,))
                if rest is None or not c:
                    continue
                partner = _times(_times(rest, d_atoms), (high,))
                if terms.get(partner) == c * d_coefficient:
                    left = {k: v for k, v in terms.items() if k not in (m, partner)}
                    for k, v in polynomial(joined * _term(rest, c)).items():
                        left[k] = left.get(k, 0) + v
                    return left
    return None


@_cached
def mul(a: Expr, b: Expr) -> Expr:
    terms: Polynomial = {}
    for m, c in polynomial(a).items():
        for n, d in polynomial(b).items():
            both = _times(m, n)
            terms[both] = terms.get(both, 0) + c * d
    return from_polynomial(terms)


def subtract(a: ExprLike, b: ExprLike) -> Expr:
    return add(a, mul(-1, b))


def add_all(terms: Iterable[ExprLike]) -> Expr:
    return functools.reduce(add, terms, _const(0))


def product(factors: Iterable[ExprLike]) -> Expr:
    return functools.reduce(mul, factors, _const(1))


# --- division ------------------------------------------------------------------------------------


def _without(m: Monomial, factors: Monomial) -> Monomial | None:
    """m / factors, or None when it does not divide."""
    left = list(m)
    for atom in factors:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def divide(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """(q, r) with a = q*b + r for all values: r is what of `a` is no evident multiple of b."""
    if b == 0:
        raise ZeroDivisionError(f"{a} divided by 0")
    if type(b) is Add:
        # graded lexicographic long division; of use only when it leaves nothing
        lead, lead_coefficient = split(b.args[0])
        q, r = _const(0), a
        while r != 0:
            m, c = next(iter(polynomial(r).items()))
            left = _without(m, lead)
            if left is None or c % lead_coefficient:
                return _const(0), a
            step = _term(left, c // lead_coefficient)
            q, r = q + step, r - step * b
        return q, r
    atoms, d = split(b)
    quotient: Polynomial = {}
    remainder: Polynomial = {}
    for m, c in polynomial(a).items():
        left = _without(m, atoms)
        if left is not None and c % d == 0:
            quotient[left] = c // d
        elif not m and not atoms:
            quotient[()], remainder[()] = divmod(c, d)  # a constant remainder in [0, d)
        else:
            remainder[m] = c
    return from_polynomial(quotient), from_polynomial(remainder)


def _common(a: Expr, b: Expr) -> Expr:
    """A positive factor of every term of both."""
    terms = polynomial(a) | polynomial(b)
    shared: Monomial = ()
    for atom in split(b)[0] if type(b) is not Add else ():
        if all(_without(m, (*shared, atom)) is not None for m in terms):
            shared = (*shared, atom)
    return _term(shared, math.gcd(*polynomial(a).values(), *polynomial(b).values()))


@_cached
def floordiv(a: Expr, b: Expr) -> Expr:
    whole, rest = divide(a, b)  # (q*b + r) // b is q + r // b
    if rest == 0:
        return whole
    if (g := _common(rest, b)) != 1:  # (g*r) // (g*b) is r // b
        return whole + divide(rest, g)[0] // divide(b, g)[0]
    if b.is_const and int(b) > 0:
        x, m = rest.args if type(rest) in (FloorDiv, Mod) else (rest, _const(1))
        if rest.is_const:
            return whole + int(rest) // int(b)
        if type(rest) is FloorDiv:  # (x // m) // n is x // (m*n), as n > 0
            return whole + x // (m * b)
        if type(rest) is Mod and m.is_const and int(m) > 0 and int(m) % int(b) == 0:
            return whole + (x // b) % (m // b)  # (x % m) // n, as n divides m > 0
    return whole + _intern(FloorDiv, (rest, b))


@_cached
def mod(a: Expr, b: Expr) -> Expr:
    rest = divide(a, b)[1]  # (q*b + r) % b is r % b
    if rest == 0 or (rest.is_const and b.is_const):
        return rest if rest == 0 else as_expr(int(rest) % int(b))
    if (g := _common(rest, b)) != 1:  # (g*r) % (g*b) is g * (r % b)
        return g * (divide(rest, g)[0] % divide(b, g)[0])
    if type(rest) is Mod and divide(rest.args[1], b)[1] == 0:  # (x % (k*m)) % m is x % m
        return rest.args[0] % b
    return _intern(Mod, (rest, b))


# --- minimum and maximum -------------------------------------------------------------------------


def _extreme(cls: type[Expr], beats: Callable[[int, int], bool], *operands: ExprLike) -> Expr:
    args = [a for e in map(as_expr, operands) for a in (e.args if type(e) is cls else (e,))]
    kept: list[Expr] = []
    for a in args:
        # of two operands with a constant distance one always wins
        gaps = [(k, a - k) for k in kept]
        if all(not gap.is_const or beats(int(gap), 0) for _, gap in gaps):
            kept = [k for k, gap in gaps if not gap.is_const] + [a]
    return kept[0] if len(kept) == 1 else _intern(cls, tuple(sorted(kept, key=_by_key)))


min_: Builder = functools.partial(_extreme, Min, operator.lt)
max_: Builder = functools.partial(_extreme, Max, operator.gt)

BUILD: dict[type[Expr], Builder] = {Add: _folded(add), Mul: _folded(mul), FloorDiv: floordiv}
BUILD |= {Mod: mod, Min: min_, Max: max_}
