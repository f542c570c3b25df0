"""Tensors from nothing."""

import pytest
import torch
from torch import fx

from minicompiler.aot import rng
from minicompiler.ir.evaluate import evaluate
from minicompiler.ir.verify import verify
from minicompiler.lowering import lower
from minicompiler.symbolic.shapes import spec_of
from tests.lowering.tensors import DTYPES
from tests.lowering.tracing import check, loops


@pytest.mark.parametrize("dtype", DTYPES)
def test_constants(dtype):
    x = torch.zeros(2, 3)
    check(lambda x: torch.full((2, 3), 3, dtype=dtype), x)
    check(lambda x: torch.full_like(x, 1.5, dtype=dtype), x)
    check(lambda x: x.new_full((2,), 0.1, dtype=dtype), x)
    check(lambda x: (torch.zeros(2, dtype=dtype), torch.ones_like(x, dtype=dtype)), x)
    check(lambda x: (x.new_zeros(0, 3), x.new_ones(()), torch.scalar_tensor(2, dtype=dtype)), x)


@pytest.mark.parametrize(
    "args", [(5,), (2, 9), (0, 10, 3), (9, 2, -2), (0.5, 4), (0, 1, 0.1), (3, 3), (1.0, -1.0, -0.3)]
)
@pytest.mark.parametrize("dtype", [None, torch.float32, torch.float64, torch.bfloat16, torch.int32])
def test_arange(args, dtype):
    floats = any(isinstance(a, float) for a in args)
    fallbacks = int(floats and dtype == torch.int32)
    f = lambda x: torch.arange(*args, dtype=dtype)
    check(f, torch.zeros(1), rtol=1e-15, atol=1e-15, fallbacks=fallbacks)


def test_fill():
    x = torch.rand(2, 3).t()
    check(lambda x: torch.fill(x, 2.5), x)
    check(lambda x, v: torch.fill(x, v), x, torch.tensor(7))


def test_constants_cost_no_loop_of_their_own():
    program = check(lambda x: x * torch.full_like(x, 2) + torch.arange(3), torch.rand(2, 3))
    assert len(loops(program)) == 1


def test_tensors_in_the_graph():
    table = torch.rand(3)
    program = check(lambda x: x * table, torch.rand(2, 3))
    assert len(program.constants) == 1


@pytest.mark.parametrize("kind", ["rand", "randn", "randint"])
def test_random_numbers_are_those_of_the_library(kind):
    dtype = torch.int64 if kind == "randint" else torch.float32
    seeds = torch.tensor([5, -(2**62) + 12345, 2**40 + 7])
    args = ([3, 5], seeds, 1, kind)
    where = {"dtype": dtype, "device": torch.device("cpu")}
    expected = rng.random(*args, **where)
    graph = fx.Graph()
    given = graph.placeholder("seeds")
    given.meta["val"] = spec_of(seeds)
    node = graph.call_function(rng.random, ([3, 5], given, 1, kind), where)
    node.meta["val"] = spec_of(expected)
    graph.output((node,))
    program = lower(fx.GraphModule({}, graph))
    verify(program)
    (result,) = evaluate(program, [seeds])
    assert torch.equal(result, expected)
