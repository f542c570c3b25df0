"""Every rule against eager and float64: float32, bfloat16, float64, 0-d, empty, special values."""

import math
from typing import Any

import pytest
import torch

from tests.decompositions.check import check

torch.set_num_threads(1)
aten = torch.ops.aten
DTYPES = (torch.float32, torch.bfloat16, torch.float64)


def rand(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


SPECIAL = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -3.0, 6.0, 20.5, -30.0, math.inf, math.nan])

# name -> arguments after x
UNARY: dict[str, tuple[Any, ...]] = {
    "gelu": (),
    "silu": (),
    "mish": (),
    "threshold": (0.1, 20.0),
    "leaky_relu": (0.02,),
    "elu": (1.5, 1.1, 0.9),
    "celu": (1.3,),
    "softplus": (1.3, 19.0),
    "hardtanh": (-0.7, 0.8),
    "hardswish": (),
    "hardsigmoid": (),
    "softshrink": (0.4,),
    "hardshrink": (0.4,),
    "log_sigmoid_forward": (),
    "frac": (),
    "nan_to_num": (),
    "isposinf": (),
    "isneginf": (),
    "deg2rad": (),
    "rad2deg": (),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype):
    op = getattr(aten, name).default
    for x in (rand(5, 7, dtype=dtype), rand(dtype=dtype), rand(0, 3, dtype=dtype)):
        check(op, x, *UNARY[name])
    check(op, rand(4, 6, dtype=dtype).t(), *UNARY[name])
    limits = name == "nan_to_num"  # those of the dtype, not of float64
    check(op, SPECIAL.to(dtype), *UNARY[name], against_eager=limits)


# name -> arguments after (grad, x)
BACKWARD: dict[str, tuple[Any, ...]] = {
    "silu_backward": (),
    "sigmoid_backward": (),
    "tanh_backward": (),
    "mish_backward": (),
    "gelu_backward": (),
    "threshold_backward": (0.1,),
    "leaky_relu_backward": (0.02, False),
    "softplus_backward": (1.3, 19.0),
    "hardtanh_backward": (-0.7, 0.8),
    "hardswish_backward": (),
    "hardsigmoid_backward": (),
    "softshrink_backward": (0.4,),
    "hardshrink_backward": (0.4,),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BACKWARD)
def test_gradients_of_activations(name, dtype):
    op = getattr(aten, name).default
    g, x = rand(5, 7, dtype=dtype, seed=1), rand(5, 7, dtype=dtype)
    # eager's sixth has the precision of float32
    rough = 1e-7 if name == "hardsigmoid_backward" and dtype == torch.float64 else None
    check(op, g, x, *BACKWARD[name], tolerance=rough)
    check(op, g[0, 0], x[0, 0], *BACKWARD[name], tolerance=rough)
    check(op, g[:0], x[:0], *BACKWARD[name])


@pytest.mark.parametrize("dtype", DTYPES)
def test_other_activations(dtype):
    g, x = rand(5, 6, dtype=dtype, seed=1), rand(5, 6, dtype=dtype)
    check(aten.gelu.default, x, approximate="tanh")
    check(aten.gelu_backward.default, g, x, approximate="tanh")
    for is_result in (False, True):
        y = aten.elu(x, 1.5, 1.1, 0.9) if is_result else x
        check(aten.elu_backward.default, g, 1.5, 1.1, 0.9, is_result, y)
    check(aten.log_sigmoid_backward.default, g, x, aten.log_sigmoid_forward(x)[1])
    check(aten.glu.default, x, 1)
    check(aten.glu_backward.default, g[:, :3].contiguous(), x, 1)
    w = rand(6, dtype=dtype, seed=2)
    check(aten._prelu_kernel.default, x, w)
    check(aten._prelu_kernel_backward.default, g, x, w.expand(5, 6))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax(dtype, dim):
    for x in (rand(5, 7, dtype=dtype) * 3, rand(0, 3, dtype=dtype), rand(3, 4, dtype=dtype).t()):
        for name in ("_softmax", "_log_softmax"):
            check(getattr(aten, name).default, x, dim, False)
            y = getattr(aten, name)(x, dim, False)
            g = rand(*x.shape, dtype=dtype, seed=1)
            check(getattr(aten, f"{name}_backward_data").default, g, y, dim, dtype)
    check(aten._softmax.default, torch.tensor(2.0, dtype=dtype), 0, False)


def test_softmax_of_infinities():
    x = torch.tensor([[-math.inf, -math.inf], [math.inf, 0.0], [-math.inf, 1.0]])
    check(aten._softmax.default, x, 1, False)
    check(aten._log_softmax.default, x, 1, False)
    check(aten._safe_softmax.default, x, 1)
    check(aten.logsumexp.default, x, [1])
    check(aten.logsumexp.default, x, [0, 1], True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(dtype):
    x = rand(3, 4, 5, dtype=dtype) + 2
    check(aten.logsumexp.default, x, [2])
    for name in ("var", "std", "var_mean", "std_mean"):
        op = getattr(aten, name).correction
        check(op, x)
        check(op, x, [1], correction=0)
        check(op, x, [0, 2], correction=1, keepdim=True)
        check(op, x, [1], correction=2.5)
        check(op, x[:, :1], [1], correction=1)
    for p in (0, 1, 2, 3.0, 0.5, math.inf, -math.inf):
        check(aten.linalg_vector_norm.default, x, p, [1], True)
        check(aten.linalg_vector_norm.default, x, p)
    check(aten.max.dim, x, 1)
    check(aten.min.dim, x, 0, True)
    check(aten.count_nonzero.default, x)
    check(aten.count_nonzero.dim_IntList, x, [1])
    check(aten.trace.default, x[0])
    check(aten.norm.ScalarOpt_dim, x, 3.0, [1], True)
    check(aten.nansum.default, torch.where(x > 2, math.nan, x), [1])


def test_variance_of_large_values():
    check(aten.var.correction, rand(1000) + 1e4, [0], correction=1, tolerance=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm(dtype, affine):
    x, shape = rand(3, 4, 5, dtype=dtype) + 1, [4, 5]
    w, b = (rand(4, 5, dtype=dtype, seed=i) if affine else None for i in (1, 2))
    check(aten.native_layer_norm.default, x, shape, w, b, 1e-5)
    _, mean, rstd = aten.native_layer_norm(x, shape, w, b, 1e-5)
    g = rand(3, 4, 5, dtype=dtype, seed=3)
    mask = [True, affine, affine]
    check(
        aten.native_layer_norm_backward.default,
        g,
        x,
        shape,
        mean,
        rstd,
        w,
        b,
        mask,
        tolerance=2e-2 if dtype == torch.bfloat16 else None,
    )


def test_layer_norm_of_mixed_types():
    x, w, b = rand(3, 5, dtype=torch.bfloat16), rand(5), rand(5, seed=1)
    check(aten.native_layer_norm.default, x, [5], w, b, 1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_batch_norm(dtype):
    x, g = rand(4, 3, 5, dtype=dtype) + 1, rand(4, 3, 5, dtype=dtype, seed=9)
    w, b, mean = (rand(3, dtype=dtype, seed=i) for i in (1, 2, 3))
    var = rand(3, dtype=dtype, seed=4).abs() + 0.5
    loose = 2e-2 if dtype == torch.bfloat16 else None
    for training in (True, False):
        args = (x, w, b, mean, var, training, 0.1, 1e-5)
        check(aten._native_batch_norm_legit_functional.default, *args)
        y, save, rstd, *_ = aten._native_batch_norm_legit_functional(*args)
        check(
            aten.native_batch_norm_backward.default,
            g,
            x,
            w,
            mean,
            var,
            save,
            rstd,
            training,
            1e-5,
            [True] * 3,
            tolerance=loose,
        )
    check(aten.native_batch_norm.default, x, w, b, mean, var, False, 0.1, 1e-5)
    check(aten.native_batch_norm.default, x, w, b, None, None, True, 0.1, 1e-5)
    check(aten._native_batch_norm_legit.no_stats, x, w, b, True, 0.1, 1e-5)
    channels_last = rand(2, 3, 4, 5, dtype=dtype).to(memory_format=torch.channels_last)
    check(aten.native_batch_norm.default, channels_last, w, b, mean, var, False, 0.1, 1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("affine", [True, False])
def test_group_norm(dtype, affine):
    x, g = rand(2, 6, 4, dtype=dtype) + 1, rand(2, 6, 4, dtype=dtype, seed=9)
    w, b = (rand(6, dtype=dtype, seed=i) if affine else None for i in (1, 2))
    check(aten.native_group_norm.default, x, w, b, 2, 6, 4, 3, 1e-5)
    _, mean, rstd = aten.native_group_norm(x, w, b, 2, 6, 4, 3, 1e-5)
    mask = [True, affine, affine]
    check(
        aten.native_group_norm_backward.default,
        g,
        x,
        mean,
        rstd,
        w,
        2,
        6,
        4,
        3,
        mask,
        tolerance=3e-2 if dtype == torch.bfloat16 else None,
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_losses(dtype, reduction):
    x, t = rand(5, 7, dtype=dtype), rand(5, 7, dtype=dtype, seed=1)
    g = rand(5, 7, dtype=dtype, seed=2) if reduction == 0 else rand(dtype=dtype, seed=2)
    loose = {torch.bfloat16: 1e-2}.get(dtype)
    for name, extra in (("mse_loss", ()), ("smooth_l1_loss", (0.7,)), ("huber_loss", (0.8,))):
        check(getattr(aten, name).default, x, t, reduction, *extra, tolerance=loose)
        check(getattr(aten, f"{name}_backward").default, g, x, t, reduction, *extra)
    p, q, w = x.sigmoid(), t.sigmoid(), rand(7, dtype=dtype, seed=3).abs()
    check(aten.binary_cross_entropy.default, p, q, w, reduction, tolerance=loose)
    check(aten.binary_cross_entropy_backward.default, g, p, q, w, reduction)
    logits = aten.binary_cross_entropy_with_logits.default
    check(logits, x, q, w, None, reduction, tolerance=2e-2 if dtype == torch.bfloat16 else None)
    check(logits, x, q, None, w, reduction, tolerance=2e-2 if dtype == torch.bfloat16 else None)


@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss", "huber_loss"])
@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float64])
def test_losses_promote_first(name, dtype):
    x, t = rand(5, 7), rand(5, 7, seed=1).to(dtype)
    extra = () if name == "mse_loss" else (0.7,)
    check(getattr(aten, name).default, x, t, 1, *extra)
    if name != "huber_loss":  # which refuses that in eager
        check(getattr(aten, name).default, t, x, 1, *extra)
    if dtype == torch.bool and name != "huber_loss":  # whose gradient refuses in eager
        check(getattr(aten, f"{name}_backward").default, rand(5, 7), x, t, 0, *extra)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("weighted", [True, False])
def test_nll_loss(dtype, reduction, weighted):
    x, target = rand(5, 4, dtype=dtype).log_softmax(1), torch.tensor([0, 3, -100, 1, 2])
    w = rand(4, dtype=dtype, seed=1).abs() if weighted else None
    loose = 1e-2 if dtype == torch.bfloat16 else None
    check(aten.nll_loss_forward.default, x, target, w, reduction, -100, tolerance=loose)
    out, total = aten.nll_loss_forward(x, target, w, reduction, -100)
    g = rand(*out.shape, dtype=dtype, seed=2)
    check(aten.nll_loss_backward.default, g, x, target, w, reduction, -100, total)
    x, target = rand(2, 4, 3, 2, dtype=dtype), torch.randint(4, (2, 3, 2))
    target[0, 0, 0] = -100
    check(aten.nll_loss2d_forward.default, x, target, w, reduction, -100, tolerance=loose)
    out, total = aten.nll_loss2d_forward(x, target, w, reduction, -100)
    g = rand(*out.shape, dtype=dtype, seed=2)
    check(aten.nll_loss2d_backward.default, g, x, target, w, reduction, -100, total)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arithmetic(dtype):
    x, y, z = (rand(4, 5, dtype=dtype, seed=i) for i in range(3))
    check(aten.heaviside.default, x.round(), y)
    check(aten.logaddexp.default, x, y)
    check(aten.xlogy.Tensor, x.round(), y.abs())
    check(aten.xlogy.Scalar_Other, x, 2.0)
    check(aten.native_dropout_backward.default, x, y > 0, 2.0)
    check(
        aten.embedding_dense_backward.default,
        x,
        torch.tensor([0, 2, 0, 1]),
        3,
        -1,
        False,
        tolerance=2e-2 if dtype == torch.bfloat16 else None,
    )
    check(aten.embedding_dense_backward.default, x, torch.tensor([0, 2, 0, 1]), 3, 2, True)


def test_special_values():
    inf, nan = math.inf, math.nan
    x = torch.tensor([inf, -inf, nan, 0.0, -0.0, 1.0])
    y = torch.tensor([inf, -inf, 1.0, nan, 0.0, -inf])
    check(aten.logaddexp.default, x, y)
    check(aten.xlogy.Tensor, x, y)
    check(aten.max.dim, x.view(2, 3), 1)


def test_integers():
    i = torch.tensor([[3, -1, 2], [0, 7, -5]])
    check(aten.max.dim, i, 1)
    check(aten.deg2rad.default, i)
    check(aten.nan_to_num.default, i)
    check(aten.tril.default, i)
    check(aten.linalg_vector_norm.default, i.float(), 2)


def test_triangles():
    x = rand(3, 4)
    check(aten.tril.default, x, -1)
    check(aten.triu.default, rand(2, 4, 3), 1)


def test_moving_elements():
    x = rand(3, 4, 6)
    check(aten.stack.default, [x, x * 2], 1)
    check(aten.roll.default, x, [1, -2], [0, 2])
    check(aten.roll.default, x, [5])
    check(aten.repeat.default, x, [2, 1, 2, 3])
    check(aten.repeat.default, rand(), [3])
    check(aten.pixel_shuffle.default, rand(2, 8, 3, 5), 2)
    check(aten.select_backward.default, rand(3, 6), [3, 4, 6], 1, 2)
    check(aten.slice_backward.default, rand(3, 2, 6), [3, 4, 6], 1, 0, 4, 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_indexing(dtype):
    x = (rand(4, 5) * 9).to(dtype)
    check(aten.take.default, x, torch.tensor([[3, 19], [0, -1]]))


def test_foreach():
    xs, ys = [rand(3), rand(2, 2)], [rand(3, seed=1), rand(2, 2, seed=2).abs()]
    check(aten._foreach_add.Scalar, xs, 2.0)
    check(aten._foreach_add.List, xs, ys, alpha=0.5)
    check(aten._foreach_add.ScalarList, xs, [1.0, 2.0])
    check(aten._foreach_add.Tensor, xs, torch.tensor(2.0), alpha=2)
    check(aten._foreach_mul.List, xs, ys)
    check(aten._foreach_div.Scalar, xs, 3.0)
    check(aten._foreach_addcmul.Scalar, xs, ys, ys, 0.5)
    whole = [torch.tensor([3, -5]), torch.tensor([7], dtype=torch.int8)]
    check(aten._foreach_addcmul.Scalar, whole, whole, whole, 2.7)
    check(aten._foreach_addcdiv.ScalarList, xs, ys, ys, [0.5, 2.0])
    check(aten._foreach_addcdiv.Tensor, xs, ys, ys, torch.tensor([0.5, 2.0]))
    check(aten._foreach_lerp.Scalar, xs, ys, 0.3)
    check(aten._foreach_lerp.List, xs, ys, ys)
    check(aten._foreach_sqrt.default, ys)
    check(aten._foreach_neg.default, xs)
    check(aten._foreach_norm.Scalar, xs, 2)
    check(aten._foreach_maximum.List, xs, ys)
    check(aten._foreach_clamp_min.Scalar, xs, 0.1)
    check(aten._foreach_zero.default, xs)
    check(aten._foreach_copy.default, xs, ys)
    check(aten._foreach_pow.Scalar, ys, 2)
    check(aten._foreach_pow.ScalarAndTensor, 2.0, ys)


@pytest.mark.parametrize("dtype", DTYPES)
def test_pooling(dtype):
    x = rand(2, 3, 9, 8, dtype=dtype)
    for args in (
        ([2, 2],),
        ([3], [2], [1]),
        ([3, 2], [2, 1], [1, 0], True, False),
        ([3, 3], [2, 2], [1, 1], True, True),
        ([2, 2], [2, 2], [0, 0], False, True, 3),
    ):
        check(aten.avg_pool2d.default, x, *args)
    for args in (
        ([2, 2],),
        ([3, 3], [2, 2], [1, 1]),
        ([3, 2], [2, 1], [1, 0], [2, 1], True),
        ([3, 3], [3, 3], [1, 1], [1, 1], True),
    ):
        check(aten.max_pool2d_with_indices.default, x, *args)
        y, where = aten.max_pool2d_with_indices(x, *args)
        stride, pad, dilation, ceil = (*args[1:], *([[], [0], [1], False])[len(args) - 1 :])
        check(
            aten.max_pool2d_with_indices_backward.default,
            rand(*y.shape, dtype=dtype, seed=1),
            x,
            args[0],
            stride,
            pad,
            dilation,
            ceil,
            where,
            tolerance=2e-2 if dtype == torch.bfloat16 else None,
        )
    check(aten._adaptive_avg_pool2d.default, rand(2, 3, 8, 6, dtype=dtype), [4, 2])
    check(
        aten._adaptive_avg_pool2d_backward.default,
        rand(2, 3, 4, 2, dtype=dtype),
        rand(2, 3, 8, 6, dtype=dtype),
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_of_average_pooling(dtype):
    x = rand(2, 3, 9, 8, dtype=dtype)
    for args in (
        ([2, 2], [], [0, 0], False, True, None),
        ([3, 3], [2, 2], [1, 1], False, True, None),
        ([3, 2], [2, 1], [1, 0], True, False, None),
        ([3, 3], [3, 3], [0, 0], True, True, 5),
    ):
        g = rand(*aten.avg_pool2d(x, *args).shape, dtype=dtype, seed=1)
        loose = 3e-2 if dtype == torch.bfloat16 else None
        check(aten.avg_pool2d_backward.default, g, x, *args, tolerance=loose)


def test_pooling_in_three_dimensions():
    x, windows = rand(1, 2, 4, 5, 6), ([2, 2, 3], [1, 2, 3], [1, 0, 1])
    check(aten.avg_pool3d.default, x, *windows)
    check(aten.max_pool3d_with_indices.default, x, *windows)


def test_max_pool_of_infinities_and_nan():
    x = torch.full((1, 1, 4, 4), -math.inf)
    x[0, 0, 3, 3] = math.nan
    check(aten.max_pool2d_with_indices.default, x, [3, 3], [2, 2], [1, 1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_padding(dtype):
    for kind in ("reflection", "replication"):
        for d in (1, 2, 3):
            x = (
                rand(2, 3, 4, 5, 6, dtype=dtype)[:, :, 0, 0]
                if d == 1
                else rand(2, 3, 4, 5, 6, dtype=dtype)[:, :, 0]
                if d == 2
                else rand(2, 3, 4, 5, 6, dtype=dtype)
            )
            x = x.contiguous()
            pad = [1, 2, 3, 1, 0, 2][: 2 * d]
            check(getattr(aten, f"{kind}_pad{d}d").default, x, pad)
            y = getattr(aten, f"{kind}_pad{d}d")(x, pad)
            g = rand(*y.shape, dtype=dtype, seed=1)
            check(
                getattr(aten, f"{kind}_pad{d}d_backward").default,
                g,
                x,
                pad,
                tolerance=5e-2 if dtype == torch.bfloat16 else None,
            )


@pytest.mark.parametrize("scales", [(None, None), (2.0, 2.0)])
def test_gradients_of_nearest_resizing(scales):
    for name in ("upsample_nearest2d", "_upsample_nearest_exact2d"):
        for size in ([10, 8], [7, 3]):
            g = rand(2, 3, *size)
            check(getattr(aten, f"{name}_backward").default, g, size, [2, 3, 5, 4], *scales)


@pytest.mark.parametrize("dtype", DTYPES)
def test_resizing(dtype):
    x = rand(2, 3, 5, 4, dtype=dtype)
    for size, scales in (([10, 8], (None, None)), ([7, 3], (None, None)), ([11, 9], (2.3, 2.3))):
        check(aten.upsample_nearest2d.default, x, size, *scales)
        check(aten._upsample_nearest_exact2d.default, x, size, *scales)
    check(aten.upsample_nearest1d.default, x[:, :, 0].contiguous(), [9], None)
