"""Activations and their gradients with the formulas of eager's kernels, named as operators."""

import math

import torch
from torch import Tensor

from .table import named_rules, rule, wide

SQRT_HALF, SQRT_2_OVER_PI = math.sqrt(0.5), math.sqrt(2 / math.pi)
CUBIC = 0.044715  # of the tanh form of GELU


def _gelu_inner(x: Tensor) -> Tensor:
    return torch.tanh(SQRT_2_OVER_PI * (x + CUBIC * (x * x * x)))


@rule("gelu")
def _gelu(narrow: Tensor, approximate: str = "none") -> Tensor:
    x: Tensor = wide(narrow)
    if approximate == "tanh":
        return 0.5 * x * (1 + _gelu_inner(x))
    half, erf = 0.5 * x, torch.erf(x * SQRT_HALF)
    library = narrow.is_cpu and narrow.is_contiguous() and narrow.dtype == torch.float32
    return half + half * erf if library else half * (1 + erf)  # oneDNN makes 0.0 of -0.0


def gelu_backward(grad: Tensor, x: Tensor, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        t = _gelu_inner(x)
        slope = SQRT_2_OVER_PI * (1 + 3 * CUBIC * (x * x))
        return grad * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope)
    cdf = 0.5 * (1 + torch.erf(x * SQRT_HALF))
    pdf = torch.exp(-0.5 * (x * x)) * (0.5 * SQRT_2_OVER_PI)
    return grad * (cdf + x * pdf)


def elu(x: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    return torch.where(x > 0, x * scale, torch.expm1(x * input_scale) * (alpha * scale))


def glu(x: Tensor, dim: int = -1) -> Tensor:
    a, b = x.chunk(2, dim)
    return a * torch.sigmoid(b)


def softshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    return torch.where(x > lambd, x - lambd, torch.where(x < -lambd, x + lambd, x * 0))


def hardshrink_backward(grad: Tensor, x: Tensor, lambd: float) -> Tensor:
    return torch.where((x >= -lambd) & (x <= lambd), 0.0, grad)


silu = lambda x: x / (1 + torch.exp(-x))
softshrink_backward = hardshrink_backward
native_dropout_backward = lambda grad, mask, scale: grad * mask * scale

named_rules(globals())
