"""Every op of the loop IR in C++ against the reference evaluator."""

import math

import pytest
import torch

from minicompiler.ir import ops
from minicompiler.ir.evaluate import evaluate
from minicompiler.ir.nodes import Reduction
from minicompiler.ir.ops import LEAVES, OPS
from minicompiler.symbolic.expr import as_expr
from tests.codegen.running import layout, outputs, pointwise, program
from tests.lowering.tracing import duplicate

FLOATS = (torch.float32, torch.float64)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
BY_KIND = {
    "float": FLOATS,
    "integer": INTEGERS,
    "number": FLOATS + INTEGERS,
    "bool": (torch.bool,),
    "any": FLOATS + INTEGERS + (torch.bool,),
}
SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    math.inf,
    -math.inf,
    math.nan,
    1e-40,
    1e30,
]


def values(dtype: torch.dtype, seed: int) -> torch.Tensor:
    """Special values paired with one another, then random ones."""
    torch.manual_seed(seed)
    if dtype == torch.bool:
        return torch.rand(300) > 0.5
    if dtype.is_floating_point:
        pairs = torch.tensor(SPECIAL, dtype=dtype)
        special = pairs.repeat(14) if seed else pairs.repeat_interleave(14)
        return torch.cat([special, torch.randn(104, dtype=dtype) * 3])
    info = torch.iinfo(dtype)
    ends = torch.tensor([info.min, info.max, 0, 1, 2, 7, info.max - 1], dtype=torch.int64)
    special = ends.repeat(7) if seed else ends.repeat_interleave(7)
    return torch.cat([special, torch.randint(max(info.min, -99), 100, (251,))]).to(dtype)


LIBRARY = ("pow", "lgamma", "erfc", "tan", "sinh", "cosh")  # the C library's, a few ulp apart


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, torch.bool], ids=str)
def test_ops(dtype: torch.dtype) -> None:
    """All ops that take this dtype, each in a kernel of its own."""
    names = sorted(OPS.keys() - LEAVES.keys())
    names = [name for name in names if dtype in BY_KIND[OPS[name].operands]]
    given = {f"x{k}": values(dtype, k) for k in range(3)}
    given["mask"] = values(torch.bool, 0)
    if not dtype.is_floating_point:
        given["divisor"] = torch.where(given["x1"] == 0, 3, given["x1"]).to(dtype)

    def node(name: str):
        operands = [f"x{k}" for k in range(OPS[name].arity)]
        if name == "where":
            operands[0] = "mask"
        if name in ("floordiv", "truncdiv", "remainder", "fmod") and "divisor" in given:
            operands[1] = "divisor"
        inner = lambda index: ops.call(name, *(ops.load(x, index[0]) for x in operands))
        result = torch.bool if OPS[name].result == "bool" else dtype
        return pointwise(f"out_{name}", [300], result, inner)

    nodes = list(map(node, names))
    made = program(nodes, [n.name for n in nodes], **given)
    inputs = list(given.values())
    wanted = evaluate(made, list(map(duplicate, inputs)))
    for name, a, b in zip(names, outputs(made, *inputs, fusion=False), wanted):
        assert a.dtype == b.dtype
        if not a.dtype.is_floating_point:
            assert torch.equal(a, b), [name, *(x[a != b][:5] for x in (*inputs, a, b))]
            continue
        if name in ("fmod", "remainder"):  # of a subnormal divisor torch's vectors make NaN
            a = torch.where(given["x1"].abs() < 1e-38, b, a) if dtype == torch.float32 else a
        rtol = (2e-6 if name in LIBRARY else 5e-7) if dtype == torch.float32 else 2e-15
        torch.testing.assert_close(a, b, rtol=rtol, atol=1e-45, equal_nan=True, msg=name)
        # which of two zeros maximum takes depends on the size, in eager
        zero = (a == 0) & (b == 0) & (name not in ("maximum", "minimum"))
        assert torch.equal(a[zero].signbit(), b[zero].signbit()), name


EVERY = (*FLOATS, *INTEGERS, torch.bfloat16, torch.float16, torch.bool)


@pytest.mark.parametrize("old", EVERY, ids=str)
def test_conversions(old: torch.dtype) -> None:
    """As `Tensor.to`; floats that fit no integer are left out, C and torch do not define them."""
    x = (
        values(old, 0)
        if old not in (torch.bfloat16, torch.float16)
        else values(torch.float32, 0).to(old)
    )
    if old.is_floating_point:
        x = torch.where(x.isfinite() & (x.abs() < 100), x, 7.0).to(old)
    inner = lambda new: lambda index: ops.to_dtype(ops.load("x", index[0]), new)
    nodes = [pointwise(f"out{k}", [300], new, inner(new)) for k, new in enumerate(EVERY)]
    made = program(nodes, [node.name for node in nodes], x=x)
    for got, new in zip(outputs(made, x), EVERY):
        assert torch.equal(got, x.to(new)), (old, new)


@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_constants(dtype: torch.dtype) -> None:
    if dtype == torch.bool:
        numbers: list = [True, False]
    elif dtype.is_floating_point:
        numbers = [0.0, -0.0, 1, 0.1, -1e-3, 1e4, 2.0**-20, math.inf, -math.inf, math.nan, 1 / 3]
    else:
        info = torch.iinfo(dtype)
        numbers = [0, 1, 7, info.min, info.max]
    inner = lambda number: lambda index: ops.constant(number, dtype)
    nodes = [pointwise(f"out{k}", [2], dtype, inner(n)) for k, n in enumerate(numbers)]
    made = program(nodes, [node.name for node in nodes])
    for got, number in zip(outputs(made), numbers):
        wanted = torch.full((2,), number, dtype=dtype)
        torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)
        assert dtype == torch.bool or torch.equal(got.signbit(), wanted.signbit())


def test_bitcast() -> None:
    x = torch.randn(40)
    inner = lambda index: ops.bitcast(ops.load("x", index[0]), torch.int32)
    made = program([pointwise("out", [40], torch.int32, inner)], ["out"], x=x)
    assert torch.equal(outputs(made, x)[0], x.view(torch.int32))


@pytest.mark.parametrize("kind", ["rand", "randint", "randn"])
def test_random_numbers_are_those_of_the_evaluator(kind: str) -> None:
    seed = torch.tensor([-(2**62) + 12345])
    dtype = torch.int64 if kind == "randint" else torch.float32

    def inner(index):
        return ops.random(kind, ops.load("seed", as_expr(0)), ops.index_expr(index[0], torch.int64))

    made = program([pointwise("out", [5000], dtype, inner)], ["out"], seed=seed)
    (got,), (wanted,) = outputs(made, seed), evaluate(made, [seed])
    if kind == "randn":  # logarithm and cosine of another library
        torch.testing.assert_close(got, wanted, rtol=2e-6, atol=1e-6)
    else:
        assert torch.equal(got, wanted)


KINDS = ["sum", "prod", "min", "max", "argmin", "argmax"]


@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("length", [1, 3, 31, 64, 77, 1000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32], ids=str)
def test_reductions(dtype: torch.dtype, length: int, columns: bool) -> None:
    """Along memory and across it, with ties and NaN."""
    torch.manual_seed(length)
    x = torch.randint(-3, 4, (5, length)).to(dtype)
    if dtype.is_floating_point:
        x[1] = torch.randn(length)
        x[2, length // 2] = math.nan
        x[3] = -math.inf
        x[4] = math.inf
    x = x.t().contiguous().t() if columns else x
    where = layout(x.shape, dtype, x.stride())
    size = (as_expr(5),)
    nodes = []
    for kind in KINDS:
        out = torch.int64 if kind.startswith("arg") else dtype
        inner = lambda index, folded: ops.load("x", where.index((index[0], folded[0])))
        loop = Reduction(size, (as_expr(length),), kind, inner)
        node = pointwise(kind, [5], out, lambda index: None)
        nodes.append(type(node)(kind, node.layout, loop))
    made = program(nodes, KINDS, x=x)
    for kind, got, wanted in zip(KINDS, outputs(made, x), evaluate(made, [x])):
        exact = kind not in ("sum", "prod") or not dtype.is_floating_point
        rtol = 0 if exact else 1e-5 if dtype == torch.float32 else 1e-13
        torch.testing.assert_close(got, wanted, rtol=rtol, atol=rtol * 10, equal_nan=True, msg=kind)


@pytest.mark.parametrize("kind", ["any", "all"])
def test_logic(kind: str) -> None:
    x = torch.stack([torch.zeros(77), torch.ones(77), torch.rand(77) - 0.5]) > 0
    inner = lambda index, folded: ops.load("x", index[0] * 77 + folded[0])
    node = pointwise("out", [3], torch.bool, lambda index: None)
    loop = Reduction((as_expr(3),), (as_expr(77),), kind, inner)
    made = program([type(node)("out", node.layout, loop)], ["out"], x=x)
    assert torch.equal(outputs(made, x)[0], getattr(x, kind)(1))


def test_a_long_sum_is_exact_enough() -> None:
    """Ten million floats: total rounding of a few ulp, along memory and across."""
    x = torch.rand(10_000_000)
    (total,) = outputs(lambda x: x.sum(), x)
    assert abs(total.double() / x.double().sum() - 1) < 2e-7
    x = torch.rand(100_000, 3)
    (totals,) = outputs(lambda x: x.sum(0), x)
    assert (totals.double() / x.double().sum(0) - 1).abs().max() < 3e-7
