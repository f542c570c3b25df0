"""The reference evaluator: exact values of each op, masks, checks, memory."""

import math

import pytest
import torch

from minicompiler.aot import rng
from minicompiler.errors import InternalError
from minicompiler.ir import ops
from minicompiler.ir.evaluate import evaluate
from minicompiler.ir.nodes import BufferRef, Extern
from minicompiler.ir.ops import LEAVES, OPS
from minicompiler.ir.verify import verify
from minicompiler.symbolic.expr import as_expr, max_, min_, sym
from tests.ir.programs import F32, I64, layout, loads, pointwise, program, reduction, scatter

NAN, INF = math.nan, math.inf


def run(p, *inputs):
    verify(p)
    return evaluate(p, list(inputs))


def apply(name, *tensors):
    """Op `name` on vectors, through a program."""
    n, names = len(tensors[0]), [f"x{k}" for k in range(len(tensors))]
    inputs = {m: layout(n, dtype=t.dtype) for m, t in zip(names, tensors)}
    body = lambda i: ops.call(name, *[ops.load(m, i[0]) for m in names])
    dtype = ops.result_dtype(name, *[t.dtype for t in tensors])
    return run(program(pointwise("buf0", body, n, dtype=dtype), **inputs), *tensors)[0]


# (op, operands, result), where the name does not say all
ANSWERS = [
    ("floordiv", [7, -7, 7, -7], [2, 2, -2, -2], [3, -4, -4, 3]),
    ("floordiv", [1.0, -1.0, 0.0, 5.5], [0.0, 2.0, 0.0, -2.0], [INF, -1.0, NAN, -3.0]),
    ("truncdiv", [7, -7, 7, -7], [2, 2, -2, -2], [3, -3, -3, 3]),
    ("remainder", [7, -7, 7, -7], [3, 3, -3, -3], [1, 2, -2, -1]),
    ("remainder", [5.5, -5.5, INF, -0.0], [2.0, 2.0, 2.0, 1.0], [1.5, 0.5, NAN, -0.0]),
    ("fmod", [7, -7, 7, -7], [3, 3, -3, -3], [1, -1, 1, -1]),
    ("minimum", [1.0, NAN, 1.0], [2.0, 1.0, NAN], [1.0, NAN, NAN]),
    ("maximum", [1.0, NAN, 1.0], [2.0, 1.0, NAN], [2.0, NAN, NAN]),
    ("fma", [1 + 2**-12], [1 + 2**-12], [-1 - 2**-11], [2**-24]),
    ("round", [0.5, 1.5, 2.5, -0.5], [0.0, 2.0, 2.0, -0.0]),
    ("sign", [NAN, -0.0, -3.0, INF], [0.0, 0.0, -1.0, 1.0]),
    ("copysign", [1.0, 2.0], [-0.0, 0.0], [-1.0, 2.0]),
    ("left_shift", [1, 3, 1], [3, 0, 64], [8, 3, 0]),
    ("right_shift", [-8, 8, -1], [1, 64, 64], [-4, 0, -1]),
]


@pytest.mark.parametrize("name, answer", [(n, a) for n, *a in ANSWERS])
def test_answers(name, answer):
    *operands, expected = (torch.tensor(column) for column in answer)
    got = apply(name, *operands)
    assert got.dtype == expected.dtype
    torch.testing.assert_close(got, expected, rtol=0, atol=0, equal_nan=True)
    if got.is_floating_point():
        numbers = ~expected.isnan()
        assert torch.equal(got.signbit()[numbers], expected.signbit()[numbers])


def test_narrow_integers_wrap():
    x = torch.tensor([100, -128], dtype=torch.int8)
    assert apply("add", x, x).tolist() == [-56, 0]
    assert apply("mul", x, x).tolist() == [16, 0]
    assert apply("neg", x).tolist() == [-100, -128]


SAMPLES = {
    "float": torch.tensor([0.25, 0.5, 0.75]),
    "number": torch.tensor([3, 1, 2]),
    "integer": torch.tensor([3, 1, 2]),
    "bool": torch.tensor([True, False, True]),
    "any": torch.tensor([3, 1, 2]),
}


@pytest.mark.parametrize("name", sorted(OPS.keys() - LEAVES.keys()))
def test_every_op_has_a_meaning(name):
    x = SAMPLES[OPS[name].operands]
    operands = [x] * OPS[name].arity
    if name == "where":
        operands[0] = SAMPLES["bool"]
    if name == "acosh":
        operands = [x + 1]
    result = apply(name, *operands)
    assert result.dtype == ops.result_dtype(name, *[o.dtype for o in operands])
    assert not result.isnan().any()


@pytest.mark.parametrize(
    "kind, expected",
    [("sum", 7.0), ("prod", 8.0), ("min", 1.0), ("max", 4.0), ("argmin", 0), ("argmax", 2)],
)
def test_folds(kind, expected):
    dtype = I64 if "arg" in kind else F32
    op = reduction("buf0", kind, lambda i, r: ops.load("x", r[0]), (), (3,), dtype)
    (result,) = run(program(op, x=layout(3)), torch.tensor([1.0, 2.0, 4.0]))
    assert result.item() == expected


@pytest.mark.parametrize("kind, expected", [("sum", 0), ("prod", 1), ("any", False), ("all", True)])
def test_folding_nothing_yields_the_neutral_element(kind, expected):
    dtype = torch.bool if kind in ("any", "all") else I64
    body = lambda i, r: ops.constant(True if dtype == torch.bool else 5, dtype)
    (result,) = run(program(reduction("buf0", kind, body, (2,), (0,), dtype)))
    assert result.tolist() == [expected] * 2


def test_positions_count_row_major_over_all_folded_dimensions():
    where = layout(2, 3)
    op = reduction("buf0", "argmax", lambda i, r: ops.load("x", where.index(r)), (), (2, 3), I64)
    (result,) = run(program(op, x=where), torch.tensor([[0.0, 1, 2], [9, 4, 5]]))
    assert result.item() == 3


def test_masked_loads_happen_only_under_the_mask():
    def body(i):
        inner = ops.lt(ops.index_expr(i[0], I64), ops.constant(2, I64))
        return ops.masked(inner, lambda: ops.load("x", i[0] + 1), -1.0, F32)

    (result,) = run(program(pointwise("buf0", body, 5), x=layout(3)), torch.tensor([5.0, 6, 7]))
    assert result.tolist() == [6, 7, -1, -1, -1]


def test_checks_happen_only_under_the_mask():
    def body(i):
        wanted = ops.ne(ops.load("index", i[0]), ops.constant(9, I64))
        read = lambda: ops.load("x", ops.indirect(ops.load("index", i[0]), as_expr(2)))
        return ops.masked(wanted, read, 0.0, F32)

    p = program(pointwise("buf0", body, 3), x=layout(2), index=layout(3, dtype=I64))
    x = torch.tensor([5.0, 6])
    assert run(p, x, torch.tensor([1, 9, 0]))[0].tolist() == [6, 0, 5]
    with pytest.raises(IndexError, match="index 4 is out of range for size 2"):
        run(p, x, torch.tensor([1, 9, 4]))


def test_a_load_outside_memory_is_our_fault():
    body = lambda i: ops.load("x", i[0] * i[0])
    with pytest.raises(InternalError, match="outside its memory"):
        evaluate(program(pointwise("buf0", body, 3), x=layout(3)), [torch.zeros(3)])


def test_index_expressions():
    i = sym("i0")
    for e in (i // 3, i % 3, min_(i, 2), max_(i - 2, as_expr(0)), -i // 2, (-i) % 4):
        body = lambda index, e=e: ops.index_expr(e.subs({i: index[0]}), I64)
        (result,) = run(program(pointwise("buf0", body, 7, dtype=I64)))
        assert result.tolist() == [e.evaluate({i: n}) for n in range(7)]


def test_scatter_adds_and_stores():
    target = lambda i: (ops.indirect(ops.load("index", i[0]), as_expr(3)),)
    base = pointwise("buf0", loads("x", 3), 3)
    value = lambda i: ops.constant(10.0, F32)
    x, index = torch.tensor([1.0, 2, 3]), torch.tensor([2, 0, 2])
    for mode, expected in (("add", [11, 2, 23]), ("store", [10, 2, 10])):
        put = scatter("buf1", target, value, (3,), (3,), mode, into="buf0")
        p = program(base, put, x=layout(3), index=layout(3, dtype=I64))
        assert run(p, x, index)[0].tolist() == expected


def test_a_scatter_without_base_writes_its_part():
    parts = [
        scatter(
            f"buf{k}",
            lambda i, k=k: (i[0] + 2 * k,),
            lambda i, k=k: ops.constant(k, I64),
            (2,),
            (4,),
            into=f"buf{k - 1}" if k else None,
            dtype=I64,
        )
        for k in range(2)
    ]
    assert run(program(*parts))[0].tolist() == [0, 0, 1, 1]
    biggest = torch.iinfo(I64).max  # what nobody wrote shows
    assert run(program(parts[0]))[0].tolist() == [0, 0, biggest, biggest]


def test_inputs_are_written_in_place():
    x = torch.tensor([1.0, 2, 3])
    double = pointwise(
        "buf0", lambda i: ops.add(ops.load("x", i[0]), ops.load("x", i[0])), 3, into="x"
    )
    (result,) = run(program(double, x=layout(3)), x)
    assert x.tolist() == [2, 4, 6] and result.data_ptr() == x.data_ptr()


def test_calls():
    aten = torch.ops.aten
    x = torch.arange(6.0).view(2, 3)
    turned = BufferRef("x", layout(3, 2, stride=(1, 3)))
    product = Extern(
        ("buf0",),
        (layout(3, 3),),
        aten.mm.default,
        (turned, BufferRef("x", layout(2, 3))),
        {},
        aten.mm.out,
    )
    ordered = Extern(
        ("buf1", "buf2"),
        (layout(3, 3), layout(3, 3, dtype=I64)),
        aten.sort.default,
        (BufferRef("buf0", layout(3, 3)), 0, True),
        {},
    )
    p = program(product, ordered, x=layout(2, 3))
    values, places = run(p, x)
    assert torch.equal(values, torch.sort(x.t() @ x, 0, True)[0]) and places.dtype == I64
    wrong = Extern(
        ("buf0",), (layout(3, 2),), aten.clone.default, (BufferRef("x", layout(2, 3)),), {}
    )
    with pytest.raises(InternalError, match="gave"):
        evaluate(program(wrong, x=layout(2, 3)), [x])


@pytest.mark.parametrize("kind", ["rand", "randn", "randint"])
def test_random_is_a_function_of_seed_and_offset(kind):
    dtype = I64 if kind == "randint" else F32
    seeds = torch.tensor([2**61 + 5, -7])
    body = lambda i: ops.random(kind, ops.load("seeds", as_expr(1)), ops.index_expr(i[0], I64))
    (got,) = run(
        program(pointwise("buf0", body, 100, dtype=dtype), seeds=layout(2, dtype=I64)), seeds
    )
    assert torch.equal(got, rng.random([100], seeds, 1, kind, dtype=dtype, device=seeds.device))
