"""C text compiled and run, Triton text evaluated with C's division, against the value."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from minicompiler.symbolic import expr as ex
from minicompiler.symbolic.expr import Expr, as_expr, sym
from minicompiler.symbolic.printing import to_c, to_triton
from minicompiler.symbolic.ranges import Interval

i0, i1, s0 = map(sym, ["i0", "i1", "s0"])
RANGES = {i0: Interval(0, 30), i1: Interval(-9, 9), s0: Interval(2, 12)}
POINTS = [(a, b, c) for a in (0, 1, 7, 30) for b in (-9, -4, -1, 0, 3, 9) for c in (2, 3, 12)]
SAMPLES: list[Expr] = [
    x
    for a in (i0, i1, i1 * 3 - i0, i0 * s0 + i1)
    for d in (as_expr(4), as_expr(-3), s0, i1 * 2 + 1)
    for x in (a // d, a % d, ex.min_(a, d, 5), ex.max_(a // d, i1), (a // d) * 3 - (a % d) * i1)
]
SAMPLES += [
    i0 * 2**35 + i1,
    -i1 - 2**40,
]


def test_c_text_compiled(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    texts = [to_c(e, RANGES) for e in SAMPLES]
    lines = "\n".join(f"  out[{k}] = {t};" for k, t in enumerate(texts))
    # the only declaration that generated kernels bring along
    source = "typedef long long int64_t;\n"
    source += f"void f(int64_t i0, int64_t i1, int64_t s0, int64_t* out) {{\n{lines}\n}}\n"
    (tmp_path / "f.c").write_text(source)
    library = tmp_path / "f.so"
    command = [compiler, "-Wall", "-Wno-parentheses", "-Werror", "-shared", "-fPIC"]
    subprocess.run([*command, "-o", library, tmp_path / "f.c", "-lm"], check=True)
    f = ctypes.CDLL(str(library)).f
    out = (ctypes.c_longlong * len(SAMPLES))()
    for point in POINTS:
        f(*map(ctypes.c_longlong, point), out)
        expected = [int(e.evaluate(dict(zip(["i0", "i1", "s0"], point)))) for e in SAMPLES]
        assert list(out) == expected, texts


class Truncating(int):
    """An int that divides as C and Triton do."""

    def __floordiv__(self, other: Any) -> "Truncating":
        quotient = abs(int(self)) // abs(int(other))
        return Truncating(quotient if (self < 0) == (other < 0) else -quotient)

    def __mod__(self, other: Any) -> "Truncating":
        return Truncating(int(self) - int(self // other) * int(other))


def _wrap(name: str) -> Any:
    plain = getattr(int, name)
    return lambda self, other: Truncating(plain(int(self), int(other)))


for name in ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__"):
    setattr(Truncating, name, _wrap(name))
Truncating.__neg__ = lambda self: Truncating(-int(self))  # type: ignore[method-assign]


class tl:
    minimum, maximum = staticmethod(min), staticmethod(max)
    where = staticmethod(lambda c, a, b: Truncating(a if c else b))


@pytest.mark.parametrize("ranges", [RANGES, {}], ids=["known signs", "unknown signs"])
def test_triton_text_with_truncating_division(ranges: Any) -> None:
    for e in SAMPLES:
        text = to_triton(e, ranges)
        for point in POINTS:
            numbers = dict(zip(["i0", "i1", "s0"], point))
            names = {k: Truncating(n) for k, n in numbers.items()}
            assert eval(text, {"tl": tl}, names) == e.evaluate(numbers), (text, point)


def test_bare_division_only_where_signs_are_known() -> None:
    assert to_c(i0 // 4, RANGES) == "i0 / 4"
    assert to_c(i0 % s0, RANGES) == "i0 % s0"
    assert to_triton(i0 // 4, RANGES) == "i0 // 4"
    assert "?" in to_c(i1 // 4, RANGES) and "?" in to_c(i0 // 4)
    assert to_c(i0 * 2**40, RANGES) == "i0*1099511627776LL"


@settings(max_examples=50, deadline=None)
@given(st.integers(-(2**62), 2**62))
def test_constants(n: int) -> None:
    assert eval(to_c(as_expr(n)).replace("LL", "")) == n == eval(to_triton(as_expr(n)))
