"""Reductions against eager: dims, keepdim, dtypes, empty and 0-d tensors, NaN, ties."""

import pytest
import torch
from hypothesis import given, settings, strategies as st

from minicompiler.ir.nodes import Reduction
from tests.lowering.tensors import DTYPES, tensors
from tests.lowering.tracing import check, loops

TOLERANCE = {torch.bfloat16: 1e-2, torch.float16: 2e-3, torch.float32: 2e-6, torch.float64: 1e-12}
quick = settings(max_examples=30, deadline=None, derandomize=True)


@st.composite
def reductions(draw, dtypes=DTYPES, edges=False):
    """A tensor, the dims to fold (None: all), keepdim."""
    x = draw(tensors(dtypes, edges=edges))
    if x.ndim == 0 or draw(st.booleans()):
        return x, None, False
    dims = draw(st.lists(st.integers(-x.ndim, x.ndim - 1), min_size=1, max_size=x.ndim))
    dims = list({d % x.ndim: d for d in dims}.values())
    return x, dims, draw(st.booleans())


def closeness(dtype):
    return {"rtol": TOLERANCE.get(dtype, 0), "atol": TOLERANCE.get(dtype, 0)}


@pytest.mark.parametrize("name", ["sum", "mean"])
@quick
@given(case=reductions(), dtype=st.sampled_from([None, None, torch.float32, torch.float64]))
def test_sums(name, case, dtype):
    x, dims, keepdim = case
    if name == "mean" and not x.is_floating_point() and dtype is None:
        return
    f = lambda x: getattr(torch, name)(x, dims, keepdim, dtype=dtype)
    check(f, x, **closeness(f(x).dtype))


@quick
@given(case=reductions(), dtype=st.sampled_from([None, torch.int32, torch.float32]))
def test_products(case, dtype):
    x, dims, keepdim = case
    if dtype == torch.int32 and x.is_floating_point():
        return
    if dims is None:
        f = lambda x: torch.prod(x, dtype=dtype)
    else:
        f = lambda x: torch.prod(x, dims[0], keepdim, dtype=dtype)
    tolerance = 10 * TOLERANCE.get(f(x).dtype, 0)
    check(f, x, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["amax", "amin"])
@quick
@given(case=reductions(edges=True))
def test_extremes(name, case):
    x, dims, keepdim = case
    folded = range(x.ndim) if dims is None else dims
    if any(x.shape[d] == 0 for d in folded):
        return
    check(lambda x: getattr(torch, name)(x, dims or (), keepdim), x, rtol=1e-30)


@pytest.mark.parametrize("name", ["any", "all"])
@quick
@given(case=reductions(edges=True))
def test_logic(name, case):
    x, dims, keepdim = case
    f = getattr(torch, name)
    check(f, x)
    if dims is not None:
        check(lambda x: f(x, dims, keepdim), x)
        check(lambda x: f(x, dims[0], keepdim), x)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@quick
@given(case=reductions([d for d in DTYPES if d != torch.bool], edges=True))
def test_positions(name, case):
    x, dims, keepdim = case
    dim = None if dims is None else dims[0]
    if x.numel():
        check(lambda x: getattr(torch, name)(x, dim, keepdim), x)


def test_extremes_of_everything():
    x = torch.tensor([[2, 7], [9, -3]], dtype=torch.int8)
    check(lambda x: (torch.max(x), torch.min(x)), x)


def test_the_first_of_equal_elements_wins_and_nan_before_all():
    ties = torch.tensor([[1.0, 3, 3], [2, 2, 2], [float("nan"), 9, float("nan")]])
    check(lambda x: torch.argmax(x, 1), ties)
    check(lambda x: torch.argmin(x, 1), ties)
    check(lambda x: torch.argmax(x), ties)


def test_half_precision_accumulates_in_float32():
    x = torch.full((4000,), 1.0, dtype=torch.bfloat16)
    program = check(lambda x: x.sum(), x)
    first, last = loops(program)
    assert isinstance(first.loop, Reduction) and first.layout.dtype == torch.float32
    assert last.layout.dtype == torch.bfloat16


def test_a_reduction_reads_pointwise_operators_inline():
    program = check(lambda x: (torch.relu(x) * 2).sum(0), torch.rand(3, 4), rtol=1e-6)
    assert len(loops(program)) == 1


def test_what_follows_a_reduction_is_computed_once_a_row():
    def normalised(x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)

    program = check(normalised, torch.rand(5, 7), rtol=1e-6)
    assert [op.layout.size for op in loops(program)] == [(5,), (5, 1), (5, 7)]
