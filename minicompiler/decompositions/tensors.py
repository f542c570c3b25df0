"""Arithmetic, triangles, moved elements, the gradient of embeddings, the foreach family.

The rules take what ATen's schema says.
"""

# mypy: disable-error-code="no-untyped-def"

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

from .table import RULES, Rule, aten, in_float32, rule


def _nan_to_num(x, nan=None, posinf=None, neginf=None):
    if not x.is_floating_point():
        return x.clone()
    limits = torch.finfo(x.dtype)
    low = torch.where(x == -math.inf, limits.min if neginf is None else neginf, x)
    high = torch.where(x == math.inf, limits.max if posinf is None else posinf, low)
    return torch.where(x != x, 0.0 if nan is None else nan, high)


def _xlogy(x, y):
    if not isinstance(y, Tensor):
        y = torch.full((), y, dtype=x.dtype if x.is_floating_point() else None, device=x.device)
    product = torch.where(torch.eq(y, y) & (x == 0), 0.0, x * torch.log(y))
    return torch.where(y != y, math.nan, product)


def _extreme(value, place, x, dim, keepdim=False):
    if x.dtype == torch.bool:
        return NotImplemented
    return value(x, dim, keepdim), place(x, dim, keepdim)


rule("nan_to_num")(_nan_to_num)
rule("xlogy.Tensor xlogy.Scalar_Other xlogy.Scalar_Self", half=False)(_xlogy)
rule("trace")(lambda x: x.diagonal().sum())
rule("max.dim")(partial(_extreme, torch.amax, torch.argmax))
rule("min.dim")(partial(_extreme, torch.amin, torch.argmin))


def _triangle(kept, x, diagonal=0):
    row = torch.arange(x.shape[-2], device=x.device).unsqueeze(1)
    above = torch.arange(x.shape[-1], device=x.device) - row
    return torch.where(kept(above, diagonal), x, 0)


rule("tril")(partial(_triangle, torch.le))
rule("triu")(partial(_triangle, torch.ge))


def _repeat(x, repeats):
    shape = [1] * (len(repeats) - x.ndim) + list(x.shape)
    spread = x.reshape([d for s in shape for d in (1, s)])
    spread = spread.expand([d for r, s in zip(repeats, shape) for d in (r, s)])
    return spread.reshape([r * s for r, s in zip(repeats, shape)])


def _pixel_shuffle(x, r):
    *batch, c, h, w = x.shape
    x = x.reshape([math.prod(batch), c // (r * r), r, r, h, w]).permute([0, 1, 4, 2, 5, 3])
    return x.reshape([*batch, c // (r * r), h * r, w * r])


rule("stack")(lambda xs, dim=0: torch.cat([x.unsqueeze(dim) for x in xs], dim))
rule("repeat")(_repeat)
rule("pixel_shuffle")(_pixel_shuffle)


def _embedding_backward(grad, indices, rows, padding_idx, scale_grad_by_freq):
    if padding_idx >= 0:
        grad = torch.where((indices == padding_idx).unsqueeze(-1), 0, grad)
    if scale_grad_by_freq:
        ones = torch.ones_like(indices, dtype=grad.dtype)
        times = aten.index_put.default(grad.new_zeros([rows]), [indices], ones, True)
        grad = grad / aten.index.Tensor(times, [indices]).unsqueeze(-1)
    return aten.index_put.default(grad.new_zeros([rows, grad.shape[-1]]), [indices], grad, True)


rule("embedding_dense_backward", half=False)(_embedding_backward)


# ------------------------------------------------------------------------------------- foreach


def _scaled(op: Rule) -> Rule:
    """addcmul, addcdiv: x + value * op(a, b), where value may be a tensor as well."""
    fit: Rule = lambda x, value: value if x.is_floating_point() or x.is_complex() else int(value)
    return in_float32(lambda x, a, b, value=1: torch.add(x, op(a, b) * fit(x, value)))


_EACH: dict[str, Rule] = {
    "addcdiv": _scaled(torch.div),
    "addcmul": _scaled(torch.mul),
    "copy": lambda x, source, non_blocking=False: aten.copy.default(x, source),
    "maximum": torch.clamp_min,
    "minimum": torch.clamp_max,
    "norm": lambda x, ord=2, dtype=None: torch.linalg.vector_norm(x, ord, dtype=dtype),
    "zero": torch.zeros_like,
}


def _foreach(op: OpOverload, each: Rule, *args: Any, **kwargs: Any) -> list[Any]:
    """One call a tensor; an argument that is a list goes along, any other goes to every call."""
    lists = [str(a.type).startswith("List[") for a in op._schema.arguments]
    n = next(len(a) for a, many in zip(args, lists) if many)
    columns = [a if many else [a] * n for a, many in zip(args, lists)]
    if len(args) == 4 and isinstance(args[3], Tensor):  # a tensor of one scale a call
        columns[3] = [args[3][i] for i in range(n)]
    return [each(*row, **kwargs) for row in zip(*columns)]


for _name in sorted({n.rstrip("_") for n in dir(torch) if n.startswith("_foreach_")}):
    _one = _name.removeprefix("_foreach_")
    _packet, _each = getattr(aten, _name), _EACH.get(_one) or getattr(torch, _one, None)
    for _op in (getattr(_packet, overload) for overload in _packet.overloads()):
        if _each and not _op._schema.is_mutable:
            RULES[_op] = partial(_foreach, _op, _each)
