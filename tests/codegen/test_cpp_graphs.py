"""Whole graphs in C++ kernels against eager: values, and how many kernels it takes."""

import math

import pytest
import torch
from hypothesis import given, settings, strategies as st

from tests.codegen.running import body, check, generated, outputs, planned

aten = torch.ops.aten
randn = torch.randn


def softmax(x, dim):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)


def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    scale = ((centred * centred).mean(-1, keepdim=True) + 1e-5).rsqrt()
    return centred * scale * weight + bias


def batch_norm(x):
    centred = x - x.mean((0, 2, 3), keepdim=True)
    return centred * ((centred * centred).mean((0, 2, 3), keepdim=True) + 1e-5).rsqrt()


def group_norm(x):
    n, c, h, w = x.shape
    grouped = x.reshape(n, 2, c // 2 * h * w)
    centred = grouped - grouped.mean(-1, keepdim=True)
    scaled = centred * ((centred * centred).mean(-1, keepdim=True) + 1e-5).rsqrt()
    return scaled.reshape(n, c, h, w) * 2 + 1


def layer_norm_backward(g, x, mean, rstd, weight):
    normal = (x - mean) * rstd
    wg = g * weight
    a, b = wg.mean(-1, keepdim=True), (wg * normal).mean(-1, keepdim=True)
    return (wg - a - normal * b) * rstd, (g * normal).sum(0), g.sum(0)


# name: function, inputs, launches
GRAPHS = {
    "chain": (lambda x: torch.relu(x * 2 + 1).sigmoid(), [randn(33, 65)], 1),
    "bias": (lambda x, b: aten.gelu(x + b), [randn(33, 65), randn(65)], 1),
    "softmax": (lambda x: softmax(x, -1), [randn(9, 100)], 1),
    "softmax of columns": (lambda x: softmax(x, 1), [randn(3, 70, 90)], 1),
    "softmax of 3": (lambda x: softmax(x, -1), [randn(50, 3)], 1),
    "softmax of inf": (lambda x: softmax(x, -1), [torch.tensor([[-math.inf, 1.0], [2, 3]])], 1),
    "layer norm": (layer_norm, [randn(9, 200), randn(200), randn(200)], 1),
    "layer norm of a batch": (layer_norm, [randn(2, 5, 64), randn(64), randn(64)], 1),
    "layer norm backward": (
        layer_norm_backward,
        [randn(70, 96), randn(70, 96), randn(70, 1), torch.rand(70, 1), randn(96)],
        1,
    ),
    "batch norm": (batch_norm, [randn(4, 5, 6, 7)], 1),
    "batch norm, channels last": (
        batch_norm,
        [randn(4, 5, 6, 7).to(memory_format=torch.channels_last)],
        1,
    ),
    "group norm": (group_norm, [randn(3, 4, 5, 6)], 1),
    "mean of the middle": (lambda x: x.mean(1), [randn(7, 33, 65)], 1),
    "variance of the middle": (lambda x: x.var(1), [randn(7, 33, 65)], 1),
    "two sums of one": (lambda x: (x.sum(1), (x * x).sum(1)), [randn(33, 65)], 1),
    "sums both ways": (lambda x: (x.sum(1), x.sum(0)), [randn(33, 65)], 1),
    "siblings": (lambda x: (x + 1, x * 2), [randn(33, 65)], 1),
    "strangers": (lambda x, y: (x + 1, y * 2), [randn(33, 65), randn(33, 65)], 2),
    "transposed": (lambda x, y: x + y.t(), [randn(130, 70), randn(70, 130)], 1),
    "large sum": (lambda x: (x * x).sum() + 1, [randn(400, 500)], 2),
    "argmax": (lambda x: (x.argmax(0), x.argmax(1), x.argmin()), [randn(33, 65)], 3),
    "bfloat16": (lambda x: torch.relu(x * 2 + 1), [randn(33, 65).bfloat16()], 1),
    "float16 sum": (lambda x: x.sum(1), [randn(33, 65).half()], 1),
    "embedding": (lambda w, i: aten.embedding(w, i), [randn(9, 5), torch.tensor([[1, 8, 0]])], 1),
    "cat": (lambda x, y: torch.cat([x, y * 2], 1), [randn(3, 4), randn(3, 5)], 1),
    "pad": (lambda x: aten.constant_pad_nd(x, [1, 2, 3, 4], 7.0), [randn(5, 33)], 1),
    "scatter": (
        lambda x, i, y: x.scatter_add(1, i, y),
        [randn(10, 5), torch.randint(0, 5, (10, 7)), randn(10, 7)],
        2,
    ),
    "rows added": (
        lambda x, i, y: x.index_add(0, i, y),
        [randn(10, 200), torch.randint(0, 10, (700,)), randn(700, 200)],
        2,
    ),
    "write to an input": (lambda x, y: x.copy_(x * 2 + y), [randn(5, 33), randn(5, 33)], 1),
    "0-d": (lambda x: x * 2 + x.sum(), [randn(())], 1),
    "empty": (lambda x: (x + 1, x.sum(), x.sum(1)), [randn(4, 0)], 2),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_graph(name: str) -> None:
    f, inputs, launches = GRAPHS[name]
    torch.manual_seed(0)
    check(f, *inputs, rtol=2e-5, atol=2e-5, kernels=launches)


SIZES = st.sampled_from([1, 1, 2, 3, 5, 8, 17, 33, 64, 70])


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(SIZES, min_size=2, max_size=4), st.data())
def test_norms_of_any_shape(shape: list[int], data: st.DataObject) -> None:
    """Over any dimensions of any strided tensor, with a pointwise part before and after."""
    dims = data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
    order = data.draw(st.permutations(range(len(shape))))
    step = data.draw(st.integers(1, 2))
    torch.manual_seed(0)
    x = randn([shape[d] * (step if d == 0 else 1) for d in order]).permute(
        [order.index(d) for d in range(len(shape))]
    )

    def f(x):
        y = x * 2 + 1
        centred = y - y.mean(tuple(dims), keepdim=True)
        scale = (centred * centred).sum(tuple(dims), keepdim=True)
        return centred / (scale + 1), y.amax(tuple(dims)), torch.sigmoid(y)

    check(f, x, rtol=1e-4, atol=1e-4)


def test_an_index_out_of_range_is_an_error() -> None:
    gather = lambda x, i: x[i]
    plan = planned(gather, randn(5, 3), torch.tensor([0, 4, -5]))
    sources, run = generated(plan)
    x = randn(5, 3)
    torch.testing.assert_close(run([x, torch.tensor([0, 4, -5])])[0], x[[0, 4, -5]])
    for bad in (5, -6, 2**40):
        with pytest.raises(IndexError, match="size 5"):
            run([x, torch.tensor([0, bad, 1])])
    assert "failed" in body(sources[0])


@pytest.mark.parametrize("f", [aten.floor_divide, aten.remainder, aten.fmod])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_an_integer_divided_by_zero_is_an_error_not_a_trap(f, dtype: torch.dtype) -> None:
    x, y = torch.arange(20, dtype=dtype), torch.arange(20, dtype=dtype)
    _, run = generated(planned(f, x, y + 1))
    with pytest.raises(IndexError):  # eager, run after it, says what it says
        run([x, y])
    assert torch.equal(run([x, y + 1])[0], f(x, y + 1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_square_root_as_a_power(dtype: torch.dtype) -> None:
    x = torch.tensor([-math.inf, -0.0, 0.0, 2.0, math.inf, -1.0, math.nan] * 3, dtype=dtype)
    for exponent in (0.5, torch.tensor(0.5, dtype=dtype), torch.full_like(x, 0.5)):
        inputs = [x, exponent] if isinstance(exponent, torch.Tensor) else [x]
        f = aten.pow if len(inputs) == 2 else lambda x: aten.pow(x, 0.5)
        (got,), wanted = outputs(f, *inputs), f(*inputs)
        torch.testing.assert_close(got, wanted, equal_nan=True)


def test_the_text_is_written_once_for_equal_layers() -> None:
    def f(x, w):
        for _ in range(6):
            x = aten.mm(layer_norm(aten.gelu(x), w[0], w[1]), w)
        return x

    sources, _ = generated(planned(f, randn(16, 32), randn(32, 32)))
    assert len(sources) <= 2


def test_what_a_row_needs_again_stays_in_a_row() -> None:
    (source,) = check(lambda x: softmax(x, -1), randn(64, 768), kernels=1)
    text = body(source)
    assert text.count("exp(") == 1 and "row" in text
    assert "#pragma omp parallel for" in text
    assert "#pragma omp parallel" not in body(check(lambda x: x + 1, randn(10))[0])


def test_threads_change_nothing() -> None:
    f = lambda x: (x.sum(), x.sum(0), softmax(x, -1), x.mean())
    x = randn(700, 900)
    once = outputs(f, x)
    torch.set_num_threads(2)
    try:
        again = outputs(f, x)
    finally:
        torch.set_num_threads(1)
    assert all(torch.equal(a, b) for a, b in zip(once, again))
