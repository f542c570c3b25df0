"""Activations and their gradients with the formulas of eager's kernels, named as operators."""

import math

import torch
from torch import Tensor

from .table import named_rules, rule, wide

# oneDNN makes 0.0 of -0.0, if it has code for this processor
_DROPS_SIGN = not torch.nn.functional.gelu(torch.full((16,), -0.0)).signbit().any()


@rule("gelu")
def _gelu(narrow: Tensor, approximate: str = "none") -> Tensor:
    x: Tensor = wide(narrow)
    if approximate == "tanh":
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))
    half, erf = 0.5 * x, torch.erf(x * math.sqrt(0.5))
    library = narrow.is_cpu and narrow.is_contiguous() and narrow.dtype == torch.float32
    return half + half * erf if library and _DROPS_SIGN else half * (1 + erf)


def softshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    return torch.where(x > lambd, x - lambd, torch.where(x < -lambd, x + lambd, x * 0))


def hardshrink_backward(grad: Tensor, x: Tensor, lambd: float) -> Tensor:
    return torch.where((x >= -lambd) & (x <= lambd), 0.0, grad)


silu = lambda x: x / (1 + torch.exp(-x))
softshrink_backward = hardshrink_backward
native_dropout_backward = lambda grad, mask, scale: grad * mask * scale

named_rules(globals())
