"""Torch-level programs, forward and backward, replayed exactly against eager."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from minicompiler.settings import overriding
from tests.aot.check import run_both

torch.set_num_threads(1)
PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[[], list[Any]]]] = {}


def program(*inputs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Inputs: a shape is a float tensor that requires grad, anything else is itself."""

    def make() -> list[Any]:
        torch.manual_seed(0)
        return [torch.randn(x).requires_grad_() if isinstance(x, tuple) else x for x in inputs]

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[fn.__name__] = fn, make
        return fn

    return register


def of_module(module: nn.Module, x: torch.Tensor, parameters: tuple[torch.Tensor, ...]) -> Any:
    names = [name for name, _ in module.named_parameters()]
    return torch.func.functional_call(module, dict(zip(names, parameters)), (x,))


def shapes(module: nn.Module) -> list[tuple[int, ...]]:
    return [tuple(p.shape) for p in module.parameters()]


MLP = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2))
ENCODER = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
LSTM = nn.LSTM(4, 5, batch_first=True)


@program((3, 4), *shapes(MLP))
def mlp(x, *p):
    return of_module(MLP, x, p)


def batch_norm(x, w, b, mean, var):
    return F.batch_norm(x, mean, var, w, b, training=True)


@program((2, 3, 8, 8), (6, 3, 3, 3), (6,), (6,), torch.zeros(6), torch.ones(6))
def conv_bn_relu(x, w, g, b, mean, var):
    return F.relu_(batch_norm(F.conv2d(x, w, padding=1), g, b, mean, var))


@program((2, 3, 8, 8), (6, 3, 3, 3))
def channels_last_conv(x, w):
    return F.conv2d(x.to(memory_format=torch.channels_last), w).relu()


@program((2, 5, 8), (8, 24), (8, 8))
def attention(x, w, o):
    B, T, C = x.shape
    q, k, v = (x @ w).view(B, T, 3, 2, C // 2).permute(2, 0, 3, 1, 4)
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return y.transpose(1, 2).reshape(B, T, C) @ o


@program((2, 2, 5, 8), (2, 2, 5, 8), (2, 2, 5, 8), torch.linspace(-1, 1, 50).view(2, 1, 5, 5))
def attention_mask(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, mask)


@program((2, 5, 8), *shapes(ENCODER))
def encoder_layer(x, *p):
    return of_module(ENCODER, x, p)


@program(torch.tensor([[0, 1], [2, 1]]), (5, 4))
def embedding(i, w):
    return F.embedding(i, w).sum(1)


@program((3, 4))
def relu_in_place(x):
    return (x * 2).relu_() + 1


@program((3, 4))
def write_to_slice(x):
    y = x * 2
    y[:, 1:].add_(1)
    return y.sin()


@program((3, 4))
def write_through_transpose(x):
    y = x * 2
    v = y.t()[1:]
    v.mul_(3)
    return y.exp() + v.sum()


@program((4, 3), (2, 3))
def index_put(x, v):
    y = x.clone()
    y.index_put_((torch.tensor([0, 2]),), v, accumulate=True)
    return y.tanh()


@program((4, 3, 5), (3,), (3,), torch.zeros(3), torch.ones(3))
def batch_norm_training(x, w, b, mean, var):
    return batch_norm(x, w, b, mean, var)


@program((4, 3, 5), (3,), (3,), torch.zeros(3), torch.ones(3))
def batch_norm_eval(x, w, b, mean, var):
    return F.batch_norm(x, mean, var, w, b)


@program((3, 4))
def without_grad_inside(x):
    with torch.no_grad():
        s = x.sum(0) * 2
    return x * s + x.detach()


@program((3, 4), (5, 4))
def autocast(x, w):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return F.linear(x, w).float().sum(1)


class DoubledGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * 2


@program((3, 4))
def custom_function(x):
    return DoubledGradient.apply(x.sin())


class DoublesInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


@program((3, 4))
def custom_function_in_place(x):
    return DoublesInPlace.apply(x * 1).sin()


class ReversedGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -g


@program((3, 4))
def gradient_reversal(x):
    return ReversedGradient.apply(x * 2).sin()


@program((3, 4), (4, 4))
def checkpointed(x, w):
    return checkpoint(lambda x: F.gelu(x @ w).sin(), x, use_reentrant=False) * 2


@program((3, 4), (4, 4))
def checkpointed_reentrant(x, w):
    return checkpoint(lambda x, w: F.gelu(x @ w).sin(), x, w, use_reentrant=True) * 2


@program(torch.arange(12.0).view(3, 4), torch.arange(20.0).view(5, 4))
def inference(x, w):
    with torch.inference_mode():
        return F.linear(x, w).clone()


@program((3, 4))
def factories(x):
    y = x + torch.arange(x.shape[1], device=x.device) + torch.zeros(x.shape[1])
    return (
        y
        + torch.tensor(3.0)
        + x.new_ones(3, 4)
        + torch.full((4,), 2.0)
        + torch.tensor([1, 2, 3, 4])
    )


@program((3, 4))
def conversions(x):
    y = x.to(torch.float64).to(torch.bfloat16).float()
    return y + x.to(torch.float32) + x.double().to(x.dtype)


@program((2, 3, 4), *shapes(LSTM))
def lstm(x, *p):
    zeros = torch.zeros(1, x.shape[0], 5)
    with torch.backends.mkldnn.flags(enabled=False):
        return torch.lstm(x, (zeros, zeros), list(p), True, 1, 0.0, True, False, True)[0]


@program((3, 4), torch.tensor([0, 1, 3]))
def cross_entropy(x, y):
    return F.cross_entropy(x, y)


@program((2, 3, 8, 8))
def pooling(x):
    y = F.max_pool2d(x, 2) + F.adaptive_avg_pool2d(x, 4)
    return y + F.interpolate(F.avg_pool2d(x, 4), scale_factor=2, mode="bilinear")


@program((2, 3, 4), (2, 4, 5))
def einsum(a, b):
    return torch.einsum("bij,bjk->ki", a, b)


@program((3, 4))
def split_and_cat(x):
    return torch.cat([c.sin() for c in x.chunk(2, 1)][::-1], 1)


@program((2, 4, 3), (4,), (4,))
def group_norm(x, w, b):
    return F.group_norm(x, 2, w, b)


@program((3, 4))
def sorting(x):
    return x.topk(2)[0] + x.sort(-1)[0][:, :2] + x.cumsum(1)[:, 1:3]


@program((3, 8))
def complex_numbers(x):
    return torch.fft.rfft(x).abs()


@program((3, 4), (3, 4))
def several_outputs(x, y):
    return x * y, x.t(), x, (x + y)[0], 3, None


@program((3, 4), (3, 4))
def foreach(x, y):
    return torch._foreach_add(torch._foreach_mul([x, y], 2.0), [y, x])[0]


@program((3, 4))
def gradient_inside(x):
    return torch.autograd.grad((x**3).sum(), x, create_graph=True)[0].sin()


@program((3, 4))
def tensor_hook(x):
    y = x * 2
    y.register_hook(lambda g: g.clamp(-0.1, 0.1))
    return y.exp()


@program((3, 4), (3, 4))
def unused_input(x, y):
    return x.sin()


@program(torch.randn(3, 4))
def nothing_requires_grad(x):
    return x.sin(), x[0], x


RANDOM = {}


def random_program(fn):
    RANDOM[fn.__name__] = fn
    return fn


@random_program
def dropout(x):
    return F.dropout(x, 0.5).sin()


@random_program
def everything_random(x):
    y = F.dropout(x, 0.5) + torch.rand(4) + torch.randn_like(x) + torch.bernoulli(torch.sigmoid(x))
    z = torch.empty(3, 4).uniform_(1, 2) + torch.empty(3, 4).normal_() + torch.randint(5, (3, 4))
    return (
        y * z + torch.empty(3, 4).exponential_() + torch.randperm(4) + torch.empty(3, 4).random_(3)
    )


@random_program
def checkpointed_dropout(x):
    y = checkpoint(lambda x: F.dropout(x.sin(), 0.5).cos(), x, use_reentrant=False)
    z = F.dropout(y, 0.5)
    return checkpoint(
        lambda z: F.dropout(z.exp(), 0.3).sin() * torch.rand_like(z), z, use_reentrant=False
    )


@pytest.mark.parametrize("nonleaf", [False, True], ids=["leaf", "nonleaf"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, nonleaf):
    fn, inputs = PROGRAMS[name]
    # views of an input are made around the graph: the engine adds their gradients in another order
    run_both(fn, inputs(), nonleaf=nonleaf, exact=name != "several_outputs")


@pytest.mark.parametrize("name", RANDOM)
def test_random_operators_can_give_eagers_numbers(name):
    torch.manual_seed(0)
    with overriding({"fallback_random": True}):
        run_both(RANDOM[name], [torch.randn(3, 4, requires_grad=True)])
