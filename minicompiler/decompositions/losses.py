"""Losses, and the gradient of the likelihood, with which that of cross entropy fuses.

`reduction`: 0 none, 1 mean, 2 sum, as ATen numbers them. The rules take what ATen's schema says.
"""

# mypy: disable-error-code="no-untyped-def"

import torch
from torch import Tensor

from .table import aten, count, named_rules

NONE, MEAN, SUM = 0, 1, 2


def _minus(x: Tensor, target: Tensor) -> Tensor:
    """A loss promotes its operands first, so that one of them may be of bool."""
    common = torch.result_type(x, target)
    return x.to(common) - target.to(common)


def _reduce(loss: Tensor, reduction: int) -> Tensor:
    if reduction == MEAN:
        return loss.sum() / count(loss, None)
    return loss.sum() if reduction == SUM else loss


def _share(x: Tensor, reduction: int) -> float:
    """What a unit of the reduced loss is worth to one element."""
    return 1 / count(x, None) if reduction == MEAN and x.numel() else 1


def mse_loss(x, target, reduction=MEAN):
    d = _minus(x, target)
    return _reduce(d * d, reduction)


def mse_loss_backward(grad, x, target, reduction):
    return (2 * _share(x, reduction)) * _minus(x, target) * grad


def smooth_l1_loss(x, target, reduction=MEAN, beta=1.0):
    z = torch.abs(_minus(x, target))
    if beta:
        z = torch.where(z < beta, 0.5 * z * z / beta, z - 0.5 * beta)
    return _reduce(z, reduction)


def smooth_l1_loss_backward(grad, x, target, reduction, beta):
    d = _minus(x, target)
    slope = torch.where(d <= -beta, -1.0, torch.where(d >= beta, 1.0, d / beta if beta else d))
    return slope * _share(x, reduction) * grad


def huber_loss(x, target, reduction=MEAN, delta=1.0):
    z = torch.abs(_minus(x, target))
    return _reduce(torch.where(z <= delta, 0.5 * z * z, delta * (z - 0.5 * delta)), reduction)


def huber_loss_backward(grad, x, target, reduction, delta):
    return torch.clamp(_minus(x, target), -delta, delta) * _share(x, reduction) * grad


def _targets(
    x: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int
) -> tuple[int, Tensor, Tensor, Tensor]:
    """The class dimension, the targets as an index along it (ignored ones at 0), which of them
    count, and the weight of each (0 where ignored)."""
    channel = 0 if x.ndim == 1 else 1
    counted = target != ignore_index
    index = torch.where(counted, target, 0)
    each: Tensor = torch.ones_like(target, dtype=x.dtype)
    if weight is not None:
        each = aten.index.Tensor(weight, [index])
    return channel, index.unsqueeze(channel), counted, torch.where(counted, each, 0)


def nll_loss_forward(x, target, weight, reduction, ignore_index):
    if x.numel() == 0:
        return NotImplemented
    channel, index, counted, each = _targets(x, target, weight, ignore_index)
    picked = torch.gather(x, channel, index).squeeze(channel)
    loss = torch.where(counted, -picked * each, 0)
    total = each.sum()
    if reduction == NONE:
        return loss, torch.zeros_like(total)
    return (loss.sum() / total if reduction == MEAN else loss.sum()), total


def nll_loss_backward(grad, x, target, weight, reduction, ignore_index, total):
    channel, index, counted, each = _targets(x, target, weight, ignore_index)
    slope = -each * (grad / total if reduction == MEAN else grad)
    classes = torch.arange(x.shape[channel], device=x.device)
    classes = classes.reshape([-1] + [1] * (x.ndim - channel - 1))
    # compared, not scattered: this form fuses with the softmax gradient that follows. `slope` of
    # what is ignored is NaN where nothing counts
    chosen = (classes == index) & counted.unsqueeze(channel)
    return torch.where(chosen, slope.unsqueeze(channel), 0)


nll_loss2d_forward, nll_loss2d_backward = nll_loss_forward, nll_loss_backward
named_rules(globals())
