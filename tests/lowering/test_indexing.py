"""Indexing and scattering against eager; out-of-range indices raise where eager raises."""

import pytest
import torch
from hypothesis import given, settings, strategies as st

import minicompiler
from minicompiler.ir.evaluate import evaluate
from minicompiler.ir.nodes import Scatter
from tests.lowering.tensors import DTYPES, build
from tests.lowering.tracing import check, duplicate, loops, lowered

quick = settings(max_examples=40, deadline=None, derandomize=True)
aten = torch.ops.aten
FORMS = st.sampled_from(["contiguous", "transposed", "sliced", "expanded"])


def rejects(f, *inputs):
    """Eager raises; so does the evaluator, with the program traced on indices that are in range."""
    with pytest.raises((IndexError, RuntimeError)):
        f(*inputs)
    harmless = [x if x.is_floating_point() else torch.zeros_like(x) for x in inputs]
    program = lowered(f, *harmless)
    with pytest.raises(IndexError):
        evaluate(program, list(map(duplicate, inputs)))


@st.composite
def indexed(draw, dtypes=DTYPES):
    """A tensor and index tensors (or None) for its dimensions."""
    size = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    x = build(
        tuple(size), draw(st.sampled_from(dtypes)), draw(st.integers(0, 9)), draw(FORMS), True
    )
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=2)))
    indices = []
    for n in size[: draw(st.integers(1, len(size)))]:
        if draw(st.integers(0, 3)) == 0:
            indices.append(None)
            continue
        own = shape[draw(st.integers(0, len(shape))) :]
        own = tuple(1 if draw(st.booleans()) else m for m in own)
        generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
        dtype = draw(st.sampled_from([torch.int64, torch.int32]))
        indices.append(torch.randint(-n, n, own, generator=generator).to(dtype))
    return x, indices


def apart(indices):
    """The tensors among the indices, and a function that puts them back in their places."""
    tensors = [i for i in indices if i is not None]

    def together(given):
        given = iter(given)
        return [None if i is None else next(given) for i in indices]

    return tensors, together


@quick
@given(case=indexed())
def test_index(case):
    x, indices = case
    tensors, together = apart(indices)
    if tensors:
        check(lambda x, *i: aten.index.Tensor(x, together(i)), x, *tensors)
        check(lambda x, *i: aten.index.Tensor(x.logical_not(), together(i)), x, *tensors)


@quick
@given(case=indexed([torch.float32, torch.int64, torch.bfloat16, torch.int8]), add=st.booleans())
def test_index_put(case, add):
    x, indices = case
    tensors, together = apart(indices)
    if not tensors:
        return
    like = aten.index.Tensor(x, indices)
    values = build(tuple(like.shape), x.dtype, 3, "contiguous", False)
    f = lambda x, v, *i: aten.index_put.default(x, together(i), v, add)
    if not add:  # with equal indices any value may win: write what lies there already
        values = like
    tolerance = {torch.bfloat16: 5e-2}.get(x.dtype, 1e-6)
    check(f, x, values, *tensors, rtol=tolerance, atol=tolerance)
    if values.ndim:
        part = values[..., :1] if add else values
        check(f, x, part, *tensors, rtol=tolerance, atol=tolerance)


def test_a_mask_with_one_value_is_a_choice():
    x, mask = torch.rand(3, 4), torch.tensor([True, False, True])
    f = lambda x, m, v: aten.index_put.default(x, [m], v)
    program = check(f, x, mask, torch.tensor(7.0))
    assert not any(isinstance(op.loop, Scatter) for op in loops(program))
    check(f, x, x > 0.5, torch.tensor(7.0))


@st.composite
def along(draw):
    """A tensor, a dimension, an index tensor and a source of its size, for gather and scatter."""
    size = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    d = draw(st.integers(-len(size), len(size) - 1))
    own = [draw(st.integers(0, n)) for n in size]
    own[d] = draw(st.integers(0, 5))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    index = torch.randint(0, size[d], own, generator=generator)
    x = build(tuple(size), torch.float32, 1, draw(FORMS), False)
    return x, d, index, build(tuple(n + 1 for n in own), torch.float32, 2, "contiguous", False)


@quick
@given(case=along())
def test_gather_and_scatter(case):
    x, d, index, source = case
    check(lambda x, i: torch.gather(x, d, i), x, index)
    check(lambda x, i: torch.gather(x.double() * 2, d, i), x, index)
    check(lambda x, i: torch.scatter(x, d, i, 3.5), x, index)
    check(lambda x, i, y: torch.scatter_add(x, d, i, y), x, index, source, rtol=1e-5, atol=1e-5)
    order = torch.argsort(torch.rand(x.shape), d)[tuple(slice(n) for n in index.shape)]
    part = source[tuple(slice(n) for n in order.shape)]
    if all(a >= b for a, b in zip(part.shape, order.shape)):
        check(lambda x, i, y: torch.scatter(x, d, i, y), x, order, part)


@quick
@given(n=st.integers(1, 5), rows=st.lists(st.integers(0, 4), max_size=6), d=st.integers(0, 1))
def test_whole_slices(n, rows, d):
    x = torch.rand(n, n).t()
    index = torch.tensor([r % n for r in rows], dtype=torch.int64)
    source = torch.rand(len(rows), n) if d == 0 else torch.rand(n, len(rows))
    check(lambda x, i: torch.index_select(x, d, i), x, index)
    check(lambda x, i, y: torch.index_add(x, d, i, y), x, index, source, rtol=1e-6)
    unique = torch.unique(index)
    part = source.narrow(d, 0, len(unique))
    check(lambda x, i, y: torch.index_copy(x, d, i, y), x, unique, part)


def test_embedding():
    weight, words = torch.rand(7, 3), torch.tensor([[0, 6, 2], [2, 2, 1]])
    check(torch.embedding, weight, words)
    check(lambda w, i: torch.embedding(w.to(torch.bfloat16), i.int()), weight, words)


@pytest.mark.parametrize("bad", [3, -4])
def test_indices_that_wrap_are_checked(bad):
    x, index = torch.rand(3, 2), torch.tensor([0, bad])
    rejects(lambda x, i: x[i], x, index)
    rejects(lambda x, i: aten.index_put.default(x, [i], torch.ones_like(x[:2]), True), x, index)


@pytest.mark.parametrize("bad", [3, -1])
def test_indices_that_do_not_wrap_are_checked(bad):
    x, index = torch.rand(3, 3), torch.tensor([0, bad])
    square = index.repeat(2, 1)
    rejects(lambda x, i: torch.index_select(x, 0, i), x, index)
    rejects(torch.embedding, x, index)
    rejects(lambda x, i: torch.gather(x, 0, i), x, square)
    rejects(lambda x, i: torch.scatter(x, 0, i, 1.0), x, square)
    rejects(lambda x, i: torch.scatter_add(x, 0, i, x), x, square)
    rejects(lambda x, i: torch.index_add(x, 0, i, x[:2]), x, index)
    rejects(lambda x, i: torch.index_copy(x, 0, i, x[:2]), x, index)


def test_a_wrong_index_writes_nothing():
    x, index = torch.zeros(3), torch.tensor([0, 9])

    def put(x, i):
        x.copy_(aten.index_put.default(x, [i], torch.ones(2)))
        return x.new_zeros(())

    program = lowered(put, x, torch.tensor([0, 1]))
    with pytest.raises(IndexError):
        evaluate(program, [x, index])
    assert x.tolist() == [0, 0, 0]


def test_sums_in_half_precision_round_once():
    x = torch.zeros(1, dtype=torch.bfloat16)
    index = torch.zeros(1000, dtype=torch.int64)
    program = lowered(
        lambda x, i, y: torch.scatter_add(x, 0, i, y), x, index, torch.ones(1000).bfloat16()
    )
    (result,) = evaluate(program, [x, index, torch.ones(1000, dtype=torch.bfloat16)])
    assert result.item() == 1000  # adding one by one would stop at 256


def test_what_is_taken_many_times_is_computed_once():
    program = check(
        lambda x, i: torch.exp(x)[i], torch.rand(3, 2), torch.tensor([0, 1, 1, 2]), rtol=1e-6
    )
    assert [op.layout.size for op in loops(program)] == [(3, 2), (4, 2)]


def test_an_empty_index_may_have_any_rank():
    f = lambda x, i: torch.gather(x, 0, i).sum() + x.sum()
    compiled = minicompiler.compile(f, options={"verify": True})
    x, i = torch.rand(2, 3, requires_grad=True), torch.zeros(0, dtype=torch.int64)
    (expected,) = torch.autograd.grad(f(x, i), x)
    (found,) = torch.autograd.grad(compiled(x, i), x)
    assert torch.equal(found, expected)


@pytest.mark.parametrize("n", range(6))
def test_a_power_as_an_index_is_not_taken_for_known(n):
    x = torch.tensor([True, False, True])
    f = lambda x: x[x**n]
    assert torch.equal(minicompiler.compile(f, options={"verify": True})(x), f(x))
