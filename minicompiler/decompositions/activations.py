"""Activations and their gradients with the formulas of eager's kernels, named as operators."""

import math

import torch
from torch import Tensor

from .table import named_rules

SQRT_HALF, SQRT_2_OVER_PI = math.sqrt(0.5), math.sqrt(2 / math.pi)
CUBIC = 0.044715  # of the tanh form of GELU


def _gelu_inner(x: Tensor) -> Tensor:
    return torch.tanh(SQRT_2_OVER_PI * (x + CUBIC * (x * x * x)))


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        return 0.5 * x * (1 + _gelu_inner(x))
    return x * 0.5 * (1 + torch.erf(x * SQRT_HALF))


def gelu_backward(grad: Tensor, x: Tensor, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        t = _gelu_inner(x)
        slope = SQRT_2_OVER_PI * (1 + 3 * CUBIC * (x * x))
        return grad * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope)
    cdf = 0.5 * (1 + torch.erf(x * SQRT_HALF))
    pdf = torch.exp(-0.5 * (x * x)) * (0.5 * SQRT_2_OVER_PI)
    return grad * (cdf + x * pdf)


def _sigmoid(x: Tensor) -> Tensor:
    return 1 / (1 + torch.exp(-x))


def silu_backward(grad: Tensor, x: Tensor) -> Tensor:
    s = _sigmoid(x)
    return grad * s * (1 + x * (1 - s))


def mish_backward(grad: Tensor, x: Tensor) -> Tensor:
    t = torch.tanh(torch.log1p(torch.exp(x)))
    return grad * (t + x * _sigmoid(x) * (1 - t * t))


def elu(x: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    return torch.where(x > 0, x * scale, torch.expm1(x * input_scale) * (alpha * scale))


def elu_backward(
    grad: Tensor, alpha: float, scale: float, input_scale: float, is_result: bool, x: Tensor
) -> Tensor:
    low = alpha * scale
    slope = input_scale * (x + low if is_result else low * torch.exp(x * input_scale))
    return torch.where(x <= 0, grad * slope, grad * scale)


def softplus(x: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    return torch.where(x * beta > threshold, x, torch.log1p(torch.exp(x * beta)) / beta)


def softplus_backward(grad: Tensor, x: Tensor, beta: float, threshold: float) -> Tensor:
    z = torch.exp(x * beta)
    return torch.where(x * beta > threshold, grad, grad * z / (z + 1))


def log_sigmoid_forward(x: Tensor) -> tuple[Tensor, Tensor]:
    z = torch.exp(-torch.abs(x))
    return torch.clamp_max(x, 0) - torch.log1p(z), z


def log_sigmoid_backward(grad: Tensor, x: Tensor, buffer: Tensor) -> Tensor:
    z = torch.exp(-torch.abs(x))  # the buffer is empty on some devices
    return grad * torch.where(x < 0, 1 - z / (1 + z), z / (1 + z))


def _halves(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    n = x.shape[dim] // 2
    return x.narrow(dim, 0, n), x.narrow(dim, n, n)


def glu(x: Tensor, dim: int = -1) -> Tensor:
    a, b = _halves(x, dim)
    return a * torch.sigmoid(b)


def glu_backward(grad: Tensor, x: Tensor, dim: int) -> Tensor:
    a, b = _halves(x, dim)
    s = torch.sigmoid(b)
    return torch.cat([grad * s, grad * a * s * (1 - s)], dim)


def _prelu_kernel_backward(grad: Tensor, x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    return torch.where(x > 0, grad, grad * weight), torch.where(x > 0, 0, grad * x)


def softshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    return torch.where(x > lambd, x - lambd, torch.where(x < -lambd, x + lambd, x * 0))


def hardswish_backward(grad: Tensor, x: Tensor) -> Tensor:
    return torch.where(x < -3, 0.0, torch.where(x <= 3, grad * (x / 3 + 0.5), grad))


def hardtanh_backward(grad: Tensor, x: Tensor, low: float, high: float) -> Tensor:
    return torch.where((x <= low) | (x >= high), 0.0, grad)


def hardshrink_backward(value: Tensor, x: Tensor, lambd: float) -> Tensor:
    return torch.where((x >= -lambd) & (x <= lambd), 0.0, value)


def leaky_relu_backward(grad: Tensor, x: Tensor, slope: float, is_result: bool) -> Tensor:
    return torch.where(x > 0, grad, grad * slope)


silu = lambda x: x / (1 + torch.exp(-x))
sigmoid_backward = lambda grad, y: grad * (1 - y) * y
tanh_backward = lambda grad, y: grad * (1 - y * y)
mish = lambda x: x * torch.tanh(torch.log1p(torch.exp(x)))
threshold = lambda x, threshold, value: torch.where(x <= threshold, value, x)
threshold_backward = lambda grad, x, threshold: torch.where(x <= threshold, 0, grad)
relu = lambda x: torch.clamp_min(x, 0)
leaky_relu = lambda x, slope=0.01: torch.where(x > 0, x, x * slope)
_prelu_kernel = lambda x, weight: torch.where(x > 0, x, x * weight)
celu = lambda x, alpha=1.0: elu(x, alpha, 1, 1 / alpha)
hardtanh = lambda x, low=-1, high=1: torch.clamp(x, low, high)
hardswish = lambda x: x * torch.clamp(x + 3, 0, 6) / 6
hardsigmoid = lambda x: torch.clamp(x + 3, 0, 6) / 6
hardsigmoid_backward = lambda grad, x: hardtanh_backward(grad / 6, x, -3, 3)
hardshrink = lambda x, lambd=0.5: hardshrink_backward(x, x, lambd)
softshrink_backward = hardshrink_backward
native_dropout_backward = lambda grad, mask, scale: grad * mask * scale

named_rules(globals())
