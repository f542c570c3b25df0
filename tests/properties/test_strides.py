"""What a compiled function returns lies in memory as eager's result does, whatever the layout of
what it is given; along dimensions of size 1 too."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import minicompiler

Operators = dict[str, Callable[[torch.Tensor], Any]]


def layouts(dtype: torch.dtype) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)

    def made(*size: int) -> torch.Tensor:
        return torch.randn(*size, dtype=dtype, generator=generator)

    last = torch.channels_last
    return {
        "contiguous": made(2, 4, 6, 6),
        "channels_last": made(2, 4, 6, 6).to(memory_format=last),
        "one image": made(1, 4, 6, 6).to(memory_format=last),
        "transposed": made(2, 4, 6, 6).transpose(1, 2),
        "inner transposed": made(2, 4, 6, 6).mT,
        "sliced": made(2, 4, 6, 12)[..., ::2],
        "sliced channels": made(2, 8, 6, 6).to(memory_format=last)[:, ::2],
        "expanded": made(1, 4, 1, 6).expand(2, 4, 6, 6),
        "one row": made(2, 4, 1, 6),
    }


def named(module: Any, names: str, **options: Any) -> Operators:
    return {n: lambda x, f=getattr(module, n): f(x, **options) for n in names.split()}  # type: ignore[misc]


ZEROS = torch.tensor([0, 0, 0])
REAL: Operators = {
    "pad": lambda x: F.pad(x, (2, 1, 1, 1)),
    "pad replicate": lambda x: F.pad(x, (1, 2, 3, 0), "replicate"),
    "pad reflect": lambda x: F.pad(x, (2, 1, 0, 0), "reflect"),
    "pad circular": lambda x: F.pad(x, (2, 1, 1, 1), "circular"),
    "nearest": lambda x: F.interpolate(x, scale_factor=1.7),
    "bilinear": lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"),
    "area": lambda x: F.interpolate(x, scale_factor=1.7, mode="area"),
    "max_pool": lambda x: F.max_pool2d(x, 2, 1, 1),
    "avg_pool": lambda x: F.avg_pool2d(x, 2, 1, 1),
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, 3),
    "adaptive one": lambda x: F.adaptive_avg_pool2d(x, 1),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "group_norm": lambda x: F.group_norm(x, 1),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "pixel_unshuffle": lambda x: F.pixel_unshuffle(x, 1),
    **named(F, "relu gelu silu elu leaky_relu mish softplus hardswish logsigmoid rrelu"),
    **named(torch, "softmax log_softmax", dim=1),
    **named(torch, "exp abs sign floor isnan signbit square angle logical_not"),
    "add": lambda x: x + x.flip(0),
    "mul": lambda x: x * x[:, :1],
    "atan2": lambda x: torch.atan2(x, x.sin()),
    "where": lambda x: torch.where(x > 0, x, x * 2),
    "clamp": lambda x: x.clamp(-0.5, 0.5),
    "huber": lambda x: F.huber_loss(x, x * 2, reduction="none"),
    "cumsum": lambda x: x.cumsum(1),
    "sum": lambda x: x.sum(1, keepdim=True),
    "sort": lambda x: x.sort(1).values,
    "index": lambda x: x[:, ZEROS],
    "gather": lambda x: x.gather(1, torch.zeros_like(x, dtype=torch.int64)),
    "scatter_add": lambda x: x.scatter_add(1, torch.zeros_like(x, dtype=torch.int64), x),
    "roll": lambda x: x.roll(1, 2),
    "roll two": lambda x: x.roll((1, 2), (1, 2)),
    "cat": lambda x: torch.cat([x, x * 2], 1),
    "stack": lambda x: torch.stack([x, x.sin()], 1),
    "conv": lambda x: F.conv2d(x, torch.ones_like(x[:1, :, :1, :1])),
    "matmul": lambda x: x @ x.mT,
    "prelu": lambda x: F.prelu(x, x[0, :1, 0, 0].abs()),
}
COMPLEX: Operators = {
    **named(torch, "angle abs exp neg square sgn clone"),
    "add": lambda x: x + x.flip(0),
    "scale": lambda x: x * 2.5,
    "cat": lambda x: torch.cat([x, x], 1),
    "roll": lambda x: x.roll(1, 2),
    "where": lambda x: torch.where(x.real > 0, x, x * 2),
}


@pytest.mark.filterwarnings("error:minicompiler")  # that it runs eagerly
@pytest.mark.parametrize("layout", layouts(torch.float32))
@pytest.mark.parametrize("operators", [REAL, COMPLEX], ids=["real", "complex"])
def test_eager_strides(operators: Operators, layout: str) -> None:
    x = layouts(torch.float32 if operators is REAL else torch.complex64)[layout]

    def together(x: torch.Tensor) -> list[torch.Tensor]:
        return [f(x) for f in operators.values()]

    minicompiler.reset()
    found, expected = minicompiler.compile(together)(x), together(x)
    assert minicompiler.stats()["graphs"] >= 1
    for name, a, b in zip(operators, found, expected, strict=True):
        assert a.stride() == b.stride(), f"{name}: {a.stride()}, in eager {b.stride()}"
        torch.testing.assert_close(a, b, equal_nan=True, msg=lambda m, n=name: f"{n}: {m}")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mode", ["mean", "sum", "max"])
def test_embedding_bags_train(mode: str) -> None:
    i, w = torch.arange(12).view(3, 4) % 7, torch.randn(10, 5, requires_grad=True)

    def f(i: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return F.embedding_bag(i, w, mode=mode)

    found, expected = minicompiler.compile(f)(i, w), f(i, w)
    torch.testing.assert_close(found, expected)
    grads = [torch.autograd.grad(y.square().sum(), w)[0] for y in (found, expected)]
    torch.testing.assert_close(*grads)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("step", [1, 2])
def test_gelu_of_negative_zero(dtype: torch.dtype, step: int) -> None:
    x = torch.full((12,), -0.0, dtype=dtype)[::step]
    found = minicompiler.compile(lambda x: F.gelu(x))(x)
    assert torch.equal(found.signbit(), F.gelu(x).signbit())
