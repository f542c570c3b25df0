"""Softmax, statistics, the normalizations and their gradients.

Statistics take two passes (mean, then squared distances from it), which is as accurate as eager's
Welford. Gradients all have one shape: with y = (x - mean) * rstd and g the gradient of y,
dx = rstd * (g - mean(g) - y * mean(g * y)), means over what was normalized together.

Rules take what ATen's schema says, so their operands are not typed again; functions named as an
operator are its rule (see the last line).
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .table import count, fold, in_float32, named_rules, rule, wide


def _softmax(x, dim, half_to_float):
    if x.numel() == 0:
        return torch.empty_like(x)
    e = torch.exp(x - torch.amax(x, dim, keepdim=True))
    return torch.div(e, e.sum(dim, keepdim=True))


def _log_softmax(x, dim, half_to_float):
    if x.numel() == 0:
        return torch.empty_like(x)
    shifted = x - torch.amax(x, dim, keepdim=True)
    return shifted - torch.log(torch.exp(shifted).sum(dim, keepdim=True))


def _softmax_backward_data(grad, y, dim, input_dtype):
    return (grad - (grad * y).sum(dim, keepdim=True)) * y


# -------------------------------------------------------------------------------------- statistics


def _moments(x: Tensor, dims: list[int], correction: float = 0) -> tuple[Tensor, Tensor, Tensor]:
    """x - mean, variance, mean; the last two with the folded dimensions kept at 1."""
    n = count(x, dims)
    average = x.sum(dims, keepdim=True) / n
    centred = x - average
    return centred, (centred * centred).sum(dims, keepdim=True) / max(n - correction, 0), average


@rule("var_mean.correction", half=False)
def _var_mean(x, dim=None, *, correction=None, keepdim=False):
    """Torch's own rules make std of it."""
    dims = sorted(d % max(x.ndim, 1) for d in dim or range(max(x.ndim, 1)))
    if x.is_complex() or count(x, dims) == 0:
        return NotImplemented
    centred, _, average = _moments(x.reshape(1) if x.ndim == 0 else x, dims)
    # again: the mean was rounded, by as much as the deviations are where it is large
    _, var, off = _moments(centred, dims, 1 if correction is None else correction)
    shape = [1 if i in dims else s for i, s in enumerate(x.shape) if keepdim or i not in dims]
    return var.reshape(shape), (average + off).reshape(shape)


rule("var.correction", half=False)(lambda *args, **kwargs: torch.var_mean(*args, **kwargs)[0])


@rule("linalg_vector_norm")
def _vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    if x.is_complex() or x.numel() == 0:
        return NotImplemented
    x = wide(x if dtype is None else x.to(dtype))
    if ord == 0:
        return (x != 0).to(x.dtype).sum(dim, keepdim=keepdim)
    if ord == 2:
        return torch.sqrt((x * x).sum(dim, keepdim=keepdim))
    size = torch.abs(x)
    if ord == 1:
        return size.sum(dim, keepdim=keepdim)
    if math.isinf(ord):
        return (torch.amax if ord > 0 else torch.amin)(size, dim or [], keepdim)
    return torch.pow(torch.pow(size, ord).sum(dim, keepdim=keepdim), 1 / ord)


# ----------------------------------------------------------------------------------- normalizations


def _as(x: Any, shape: Sequence[int]) -> Any:
    return None if x is None else x.reshape(shape)


def _affine(y: Any, weight: Any, bias: Any) -> Any:
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def _normalized(x: Tensor, dims: list[int], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """y, mean and rstd, the last two with `dims` kept at 1."""
    centred, var, average = _moments(x, dims)
    rstd = torch.rsqrt(var + eps)
    return centred * rstd, average, rstd


def _gradients(grad, x, average, rstd, weight, dims, others, mask):
    """Of x, weight and bias, where `mask` asks for them; all operands lie against x. `dims` were
    normalized together (none: by constants; without `average` no mean was taken off), `others` are
    those along which weight and bias repeat."""
    y, g = (x if average is None else x - average) * rstd, grad if weight is None else grad * weight
    inner = g
    if dims and average is not None:
        inner = inner - g.sum(dims, keepdim=True) / count(x, dims)
    if dims:
        inner = inner - y * ((g * y).sum(dims, keepdim=True) / count(x, dims))
    return (
        rstd * inner if mask[0] else None,
        fold(grad * y, others) if mask[1] else None,
        fold(grad, others) if mask[2] else None,
    )


def _trailing(x: Tensor, shape: list[int]) -> tuple[list[int], list[int]]:
    """The dimensions before those of `shape`, and these."""
    outer = x.ndim - len(shape)
    return list(range(outer)), list(range(outer, x.ndim))


def native_layer_norm(x, shape, weight, bias, eps):
    y, average, rstd = _normalized(x, _trailing(x, shape)[1], eps)
    return _affine(y, weight, bias), average, rstd


def native_layer_norm_backward(grad, x, shape, average, rstd, weight, bias, mask):
    outer, inner = _trailing(x, shape)
    wanted = mask[0], mask[1] and weight is not None, mask[2] and bias is not None
    return _gradients(grad, x, average, rstd, weight, inner, outer, wanted)


def _fused_rms_norm(x, shape, weight, eps):
    inner = _trailing(x, shape)[1]
    mean_square = (x * x).sum(inner, keepdim=True) / count(x, inner)
    rstd = torch.rsqrt(mean_square + (torch.finfo(x.dtype).eps if eps is None else eps))
    return _affine(x * rstd, weight, None), rstd


def _fused_rms_norm_backward(grad, x, shape, rstd, weight, mask):
    outer, inner = _trailing(x, shape)
    wanted = mask[0], mask[1] and weight is not None, False
    return _gradients(grad, x, None, rstd, weight, inner, outer, wanted)[:2]


def _channels(x: Tensor) -> tuple[list[int], list[int]]:
    """All dimensions but the channels, and the shape of a per-channel vector against x."""
    return [d for d in range(x.ndim) if d != 1], [1, -1] + [1] * (x.ndim - 2)


@in_float32
def _batch_norm(x, weight, bias, mean, var, training, momentum, eps):
    """-> y, mean and rstd of this batch (empty unless training), new running mean and variance.
    On a CPU rounded where ATen's kernel rounds: what is near zero stays on its side of a ReLU."""
    dims, shape = _channels(x)
    wide = torch.float64 if x.device.type == "cpu" else x.dtype
    if training:
        n = count(x, dims)
        average = (x.sum(dims, keepdim=True, dtype=wide) / n).to(x.dtype)
        off = x - average
        batch_var = (off * off).sum(dims, keepdim=True, dtype=wide).to(x.dtype) / n
    else:
        average, batch_var = mean.reshape(shape), var.reshape(shape)
    rstd = torch.rsqrt(batch_var.to(wide) + eps).to(x.dtype)
    saved = (average.reshape(-1), rstd.reshape(-1)) if training else (x.new_empty(0),) * 2
    if training and mean is not None:
        mean = momentum * saved[0] + (1 - momentum) * mean
        unbiased = batch_var.reshape(-1) * (n / max(n - 1, 1))
        var = momentum * unbiased + (1 - momentum) * var
    if x.device.type != "cpu":
        y = _affine((x - average) * rstd, _as(weight, shape), _as(bias, shape))
        return y, *saved, mean, var
    alpha = rstd if weight is None else rstd * _as(weight, shape)
    beta = torch.zeros_like(alpha) if bias is None else _as(bias, shape)
    return torch.addcmul(torch.addcmul(beta, average, -alpha), x, alpha), *saved, mean, var


# arguments: x, weight, bias, running mean and variance, then training where the form has it
rule("_native_batch_norm_legit_functional")(_batch_norm)
rule("_native_batch_norm_legit.no_stats")(
    lambda x, weight, bias, *rest: _batch_norm(x, weight, bias, None, None, *rest)[:3]
)
rule("native_batch_norm")(  # in training it would write the running statistics
    lambda *a: NotImplemented if a[5] and a[3] is not None else _batch_norm(*a)[:3]
)


def native_batch_norm_backward(grad, x, weight, mean, var, average, rstd, training, eps, mask):
    dims, shape = _channels(x)
    if not training:
        average, rstd = mean, torch.rsqrt(var + eps)  # the running ones
    average, rstd, weight = (_as(t, shape) for t in (average, rstd, weight))
    return _gradients(grad, x, average, rstd, weight, dims if training else [], dims, mask)


def native_group_norm(x, weight, bias, N, C, HxW, groups, eps):
    if x.numel() == 0:
        return NotImplemented
    y, average, rstd = _normalized(x.reshape(N, groups, -1), [2], eps)
    shape = _channels(x)[1]
    y = _affine(y.reshape(x.shape), _as(weight, shape), _as(bias, shape))
    return y, average.reshape(N, groups), rstd.reshape(N, groups)


def native_group_norm_backward(grad, x, average, rstd, weight, N, C, HxW, groups, mask):
    if x.numel() == 0:
        return NotImplemented
    split, stats, affine = (N, groups, C // groups, HxW), (N, groups, 1, 1), (1, groups, -1, 1)
    of = grad.reshape(split), x.reshape(split)
    average, rstd, weight = map(_as, (average, rstd, weight), (stats, stats, affine))
    made = _gradients(*of, average, rstd, weight, [2, 3], [0, 3], mask)
    return tuple(map(_as, made, (x.shape, (C,), (C,))))


named_rules(globals())
