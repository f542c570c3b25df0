"""Expressions against sympy and against Python's own arithmetic."""

import copy
import itertools
import pickle
import threading
from typing import Any

import hypothesis.strategies as st
import pytest
import sympy
from hypothesis import given, settings

from minicompiler.symbolic import expr as ex
from minicompiler.symbolic.expr import Const, Expr, as_expr, sym
from minicompiler.symbolic.ranges import Interval, bounds, index_range, proves_nonneg, simplify

quick = settings(max_examples=120, deadline=None)
NAMES = ["i0", "i1", "s0"]
i0, i1, s0 = map(sym, NAMES)
values = st.fixed_dictionaries({n: st.integers(-20, 20) for n in NAMES})
atoms = st.sampled_from([i0, i1, s0]) | st.integers(-8, 8).map(as_expr)


def ints(children: Any = atoms) -> Any:
    """Trees of (how it is written): the expression beside a function of plain Python ints."""
    leaf = children.map(lambda e: (e, e.evaluate))

    def node(op: Any) -> Any:
        def apply(p: Any) -> Any:
            (a, fa), (b, fb) = p
            return BUILD[op](a, b), lambda v: PLAIN[op](fa(v), fb(v))

        return apply

    def extend(inner: Any) -> Any:
        pair = st.tuples(inner, inner)
        divisor = st.integers(-6, 6).filter(bool).map(lambda n: (as_expr(n), lambda v: n))
        one = st.one_of(*[pair.map(node(op)) for op in ("+", "-", "*", "min", "max")])
        two = st.one_of(*[st.tuples(inner, divisor).map(node(op)) for op in ("//", "%")])
        return one | two | two

    return st.recursive(leaf, extend, max_leaves=8)


BUILD: dict[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "min": ex.min_,
    "max": ex.max_,
}
PLAIN: dict[str, Any] = {**BUILD, "min": min, "max": max}


@quick
@given(ints(), values)
def test_constructors_keep_the_value(tree: Any, v: dict[str, int]) -> None:
    e, plain = tree
    assert e.evaluate(v) == plain(v)


@quick
@given(ints(), values)
def test_python_text_evaluates_to_the_value(tree: Any, v: dict[str, int]) -> None:
    e, plain = tree
    assert eval(repr(e), {}, dict(v)) == plain(v)


@quick
@given(ints(), values, st.data())
def test_substitution_is_evaluation(tree: Any, v: dict[str, int], data: Any) -> None:
    e, plain = tree
    some = data.draw(st.sets(st.sampled_from(NAMES)))
    partly = e.subs({sym(n): v[n] for n in some})
    assert not {sym(n) for n in some} & partly.free
    assert partly.evaluate(v) == plain(v)


@quick
@given(
    ints(),
    st.dictionaries(st.sampled_from(NAMES), st.tuples(st.integers(-9, 9), st.integers(0, 9))),
    st.data(),
)
def test_simplify_and_bounds_within_ranges(tree: Any, lows: Any, data: Any) -> None:
    e, plain = tree
    ranges = {sym(n): Interval(lo, lo + width) for n, (lo, width) in lows.items()}
    v = {
        n: data.draw(
            st.integers(*lows[n] and (lows[n][0], sum(lows[n])))
            if n in lows
            else st.integers(-99, 99)
        )
        for n in NAMES
    }
    box = bounds(e, ranges)
    assert box.lo <= plain(v) <= box.hi
    assert simplify(e, ranges).evaluate(v) == plain(v)


@quick
@given(
    *[st.integers(1, 5)] * 2,
    *[st.integers(-4, 8)] * 3,
    st.integers(1, 9),
    st.sampled_from(["//", "%", "min", "max"]),
)
def test_simplify_at_every_place_of_a_small_space(
    n: int, m: int, k: int, l: int, c: int, d: int, how: str
) -> None:
    """Indices end exactly where a size begins, which drawn values seldom do."""
    ranges = {i0: index_range(n), i1: index_range(m)}
    e = BUILD[how](i0 * k + i1 * l + c, as_expr(d))
    simple, box = simplify(e, ranges), bounds(e, ranges)
    for i, j in itertools.product(range(n), range(m)):
        wanted = PLAIN[how](i * k + j * l + c, d)
        assert simple.evaluate({"i0": i, "i1": j}) == wanted
        assert box.lo <= wanted <= box.hi


polynomials = st.recursive(
    atoms.map(lambda e: (e, sympy.sympify(str(e)))),
    lambda inner: st.one_of(
        *[
            st.tuples(inner, inner).map(lambda p, f=f: (f(p[0][0], p[1][0]), f(p[0][1], p[1][1])))
            for f in (BUILD["+"], BUILD["-"], BUILD["*"])
        ]
    ),
    max_leaves=10,
)


@quick
@given(polynomials, polynomials)
def test_polynomials_are_canonical_as_in_sympy(a: Any, b: Any) -> None:
    """The same object exactly when sympy finds them equal."""
    assert (a[0] is b[0]) == (sympy.expand(a[1] - b[1]) == 0)
    assert sympy.expand(sympy.sympify(str(a[0])) - a[1]) == 0


@quick
@given(polynomials, polynomials)
def test_exact_quotients_are_found(a: Any, b: Any) -> None:
    if b[0] != 0:
        assert (a[0] * b[0]) // b[0] is a[0]
        assert (a[0] * b[0]) % b[0] == 0


TABLE = [
    # written, canonical text
    (i1 + i0 * 4, "i0*4 + i1"),
    ((i0 * 4 + i1) // 4, "i0 + i1//4"),
    ((i0 * 4 + i1) % 4, "i1 % 4"),
    ((i0 // 4) * 4 + i0 % 4, "i0"),
    ((i0 // 4) % 8 * 4 + i0 % 4, "i0 % 32"),
    ((i0 % 32) // 4 * 4 + i0 % 4, "i0 % 32"),
    ((i0 // s0) * s0 + i0 % s0, "i0"),
    (i0 // 4 // 8, "i0//32"),
    ((i0 % 8) // 8, "0"),
    (i0 % 8 % 4, "i0 % 4"),
    ((i0 % -2) // 2, "(i0 % -2)//2"),
    ((i0 * 6) // 4, "(i0*3)//2"),
    ((i0 + 5) // 4, "(i0 + 1)//4 + 1"),
    ((s0 * i0 + i1) // s0, "i0 + i1//s0"),
    (((s0 + 1) * (s0 - 3)) // (s0 + 1), "s0 - 3"),
    (ex.min_(i0 + 1, i0), "i0"),
    (ex.max_(i0, i1, 3, i0 + 2), "max(max(i1, i0 + 2), 3)"),
    (-(-s0 // 4), "-((-s0)//4)"),
    (i0 - (i1 - 3), "i0 - i1 + 3"),
]


@pytest.mark.parametrize("e, text", TABLE, ids=[text for _, text in TABLE])
def test_canonical_forms(e: Expr, text: str) -> None:
    assert repr(e) == text


IN_RANGE = [
    ((i0 * 4 + i1) // 4, "i0"),
    ((i0 * 4 + i1) % 4, "i1"),
    ((i0 * 64 + i1) // 128, "i0//2"),
    ((i0 * 64 + i1) % 128, "i1 + (i0 % 2)*64"),
    (i1 % 4, "i1"),
    (ex.min_(i1, 7), "i1"),
    (ex.max_(i1 - 9, 0), "0"),
    ((i1 + 8) % 4, "i1"),
]


@pytest.mark.parametrize("e, text", IN_RANGE, ids=[text for _, text in IN_RANGE])
def test_forms_within_ranges(e: Expr, text: str) -> None:
    assert repr(simplify(e, {i0: Interval(0, 9), i1: Interval(0, 3)})) == text


def test_symbolic_ends() -> None:
    s1 = sym("s1")
    ranges = {i0: index_range(s0), i1: index_range(s1), s0: Interval(2), s1: Interval(2)}
    assert simplify((i0 * s1 + i1) // s1, ranges) is i0
    assert simplify((i0 * s1 + i1) % s1, ranges) is i1
    assert proves_nonneg(s0 * s1 - i0 * s1 - i1 - 1, ranges)
    assert not proves_nonneg(s0 - i1 - 1, ranges)


def test_constants_are_numbers() -> None:
    assert Const(4) == 4 and 4 == Const(4) and hash(Const(4)) == hash(4) and Const(4) != 5
    assert {Const(4): "x"}[4] == "x"
    assert int(Const(4)) == 4 and range(Const(4)) == range(4) and bool(Const(1)) and not Const(0)
    assert i0 != 4 and i0 != i1 and i0 == sym("i0") and i0 - i0 == 0
    with pytest.raises(TypeError, match="symbolic"):
        int(i0)
    with pytest.raises(TypeError, match="symbolic"):
        bool(i0 - 3)
    with pytest.raises(TypeError):
        as_expr("i0")  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        i0 // 0
    with pytest.raises(ZeroDivisionError):
        i0 % 0
    with pytest.raises(TypeError, match="ints"):
        i0 * 0.5


def test_copies_are_the_same_node() -> None:
    e = ex.min_(i0 * 4 + i1 // 3, s0) % 7
    assert pickle.loads(pickle.dumps(e)) is e
    assert copy.deepcopy([e])[0] is e and copy.copy(e) is e
    assert eval(repr(e), {"min": ex.min_, **{n: sym(n) for n in NAMES}}) is e


def test_interning_from_many_threads() -> None:
    made: list[list[Expr]] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        made.append([sym(f"t{n}") * 3 + sym(f"t{n + 1}") // 5 for n in range(300)])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(a is b for other in made for a, b in zip(made[0], other))
