"""Arithmetic, factories, views and their gradients, indexing, and the foreach family."""

import math
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

from .table import Rule, in_float32, overloads, rule, wide

aten = torch.ops.aten


def add(names: str, f: Rule) -> None:
    rule(*overloads(aten, names))(f)


def add_wide(names: str, f: Rule) -> None:
    rule(*overloads(aten, names))(in_float32(f))


# ---------------------------------------------------------------------------------- arithmetic


def _nan_to_num(x: Tensor, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Tensor:
    if not x.is_floating_point():
        return x.clone()
    limits = torch.finfo(x.dtype)
    low = torch.where(x == -math.inf, limits.min if neginf is None else neginf, x)
    high = torch.where(x == math.inf, limits.max if posinf is None else posinf, low)
    return torch.where(x != x, 0.0 if nan is None else nan, high)


def _xlogy(x: Any, y: Any, log: Rule = torch.log) -> Tensor:
    if not isinstance(y, Tensor):
        y = torch.full((), y, dtype=x.dtype if x.is_floating_point() else None, device=x.device)
    product = torch.where(torch.eq(y, y) & (x == 0), 0.0, x * log(y))
    return torch.where(y != y, math.nan, product)


def _logaddexp(x: Tensor, y: Tensor) -> Any:
    if x.is_complex() or y.is_complex():
        return NotImplemented
    top = torch.maximum(x, y)
    total = top + torch.log1p(torch.exp(-torch.abs(x - y)))
    return torch.where((torch.abs(top) == math.inf) & (x == y), x, total)


def _addr(x: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    outer = a.unsqueeze(1) * b * alpha
    return outer if beta == 0 else torch.add(outer, x * beta)


def _addmv(x: Tensor, a: Tensor, v: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    product = (a * v).sum(1) * alpha
    return product if beta == 0 else torch.add(product, x * beta)


def _dot(x: Tensor, y: Tensor, *, dim: int = 0) -> Any:
    return NotImplemented if x.is_complex() else (wide(x) * wide(y)).sum(dim)


def _extreme(value: Rule, place: Rule) -> Rule:
    def f(x: Tensor, dim: int, keepdim: bool = False) -> Any:
        if x.dtype == torch.bool:
            return NotImplemented
        return value(x, dim, keepdim), place(x, dim, keepdim)

    return f


def _aminmax(x: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    dims = [] if dim is None else [dim]
    return torch.amin(x, dims, keepdim), torch.amax(x, dims, keepdim)


add("frac", lambda x: x - torch.trunc(x))
add("isposinf", lambda x: x == math.inf)
add("isneginf", lambda x: x == -math.inf)
add("heaviside", lambda x, at_zero: torch.where(x == 0, at_zero, (x > 0).to(x.dtype)))
add("nan_to_num", _nan_to_num)
add("aminmax", _aminmax)
add("max.dim", _extreme(torch.amax, torch.argmax))
add("min.dim", _extreme(torch.amin, torch.argmin))
add("count_nonzero count_nonzero.dim_IntList", lambda x, dim=None: torch.ne(x, 0).sum(dim))
add_wide("deg2rad", lambda x: x * (math.pi / 180))
add_wide("rad2deg", lambda x: x * (180 / math.pi))
add_wide("logaddexp", _logaddexp)
add_wide("xlogy.Tensor xlogy.Scalar_Other xlogy.Scalar_Self", _xlogy)
add_wide("special_xlog1py", lambda x, y: _xlogy(x, y, torch.log1p))
add_wide("addr", _addr)
add_wide("addmv", _addmv)
add("nansum", lambda x, *rest, **kw: torch.where(x != x, 0, x).sum(*rest, **kw))
add("dot vdot", _dot)
add("mv", lambda a, v: _dot(a, v, dim=1))
add("trace", lambda x: x.diagonal().sum())


# ----------------------------------------------------------------------------------- factories


def _zeros(size: list[int], like: Tensor) -> Tensor:
    return torch.full(size, 0, dtype=like.dtype, device=like.device)


def _linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, **where: Any) -> Any:
    dtype = dtype or torch.get_default_dtype()
    if dtype not in (torch.float32, torch.float64):
        return NotImplemented
    i = torch.arange(steps, dtype=dtype, device=where.get("device"))
    step = (end - start) / max(steps - 1, 1)
    # from both ends, so that both are exact
    return torch.where(i < (steps + 1) // 2, start + i * step, end - (steps - 1 - i) * step)


def _triangle(lower: bool) -> Rule:
    def f(x: Tensor, diagonal: int = 0) -> Tensor:
        row = torch.arange(x.shape[-2], device=x.device).unsqueeze(1)
        above = torch.arange(x.shape[-1], device=x.device) - row
        return torch.where(above <= diagonal if lower else above >= diagonal, x, 0)

    return f


def _eye(n: int, m: int | None = None, **where: Any) -> Tensor:
    device = where.get("device")
    columns = torch.arange(n if m is None else m, device=device)
    return torch.arange(n, device=device).unsqueeze(1) == columns


add("linspace", _linspace)
add("eye eye.m", _eye)
add("tril", _triangle(lower=True))
add("triu", _triangle(lower=False))


# --------------------------------------------------------- views, their gradients, rearranging


def _roll(x: Tensor, shifts: list[int], dims: list[int] | None = None) -> Tensor:
    if not dims:
        return _roll(x.reshape(-1), shifts, [0]).reshape(x.shape)
    for shift, d in zip(shifts, dims):
        n = x.shape[d]
        if n:
            keep = n - shift % n
            x = torch.cat([x.narrow(d, keep, n - keep), x.narrow(d, 0, keep)], d)
    return x


def _repeat(x: Tensor, repeats: list[int]) -> Tensor:
    shape = [1] * (len(repeats) - x.ndim) + list(x.shape)
    spread = x.reshape([d for s in shape for d in (1, s)])
    spread = spread.expand([d for r, s in zip(repeats, shape) for d in (r, s)])
    return spread.reshape([r * s for r, s in zip(repeats, shape)])


def _pixel_shuffle(x: Tensor, r: int) -> Tensor:
    *batch, c, h, w = x.shape
    n = math.prod(batch)
    x = x.reshape([n, c // (r * r), r, r, h, w]).permute([0, 1, 4, 2, 5, 3])
    return x.reshape([*batch, c // (r * r), h * r, w * r])


def _pixel_unshuffle(x: Tensor, r: int) -> Tensor:
    *batch, c, h, w = x.shape
    n = math.prod(batch)
    x = x.reshape([n, c, h // r, r, w // r, r]).permute([0, 1, 3, 5, 2, 4])
    return x.reshape([*batch, c * r * r, h // r, w // r])


def _diagonal_scatter(
    x: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    if source.numel() == 0:
        return x
    x = x.movedim((dim1, dim2), (-2, -1))
    row = torch.arange(x.shape[-2], device=x.device).unsqueeze(1)
    column = torch.arange(x.shape[-1], device=x.device)
    along = (row if offset >= 0 else column).clamp_max(source.shape[-1] - 1)
    picked = source[..., along.reshape(-1)].unsqueeze(-1 if offset >= 0 else -2)
    return torch.where(column - row == offset, picked, x).movedim((-2, -1), (dim1, dim2))


def _diag_embed(x: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    n = x.shape[-1] + abs(offset)
    zeros = _zeros([*x.shape[:-1], n, n], x).movedim((-2, -1), (dim1, dim2))
    return _diagonal_scatter(zeros, x, offset, dim1, dim2)


def _channel_shuffle(x: Tensor, groups: int) -> Tensor:
    n, c, *image = x.shape
    return x.reshape([n, groups, c // groups, *image]).transpose(1, 2).reshape(x.shape)


def _into_zeros(scatter: Rule) -> Rule:
    """The gradient of a view: zeros with the gradient written where the view looked."""
    return lambda grad, size, *where: scatter(_zeros(size, grad), grad, *where)


add("stack", lambda xs, dim=0: torch.cat([x.unsqueeze(dim) for x in xs], dim))
add("roll", _roll)
add("repeat", _repeat)
add("pixel_shuffle", _pixel_shuffle)
add("pixel_unshuffle", _pixel_unshuffle)
add("select_backward", _into_zeros(torch.select_scatter))
add("slice_backward", _into_zeros(torch.slice_scatter))
add("diagonal_backward", _into_zeros(torch.diagonal_scatter))
add("diagonal_scatter", _diagonal_scatter)
add("diag_embed", _diag_embed)
add("channel_shuffle native_channel_shuffle", _channel_shuffle)


# ------------------------------------------------------------------------------------ indexing


def _index_fill(x: Tensor, dim: int, index: Tensor, value: Any) -> Any:
    if x.ndim == 0:
        return NotImplemented
    value = value.to(x.dtype) if isinstance(value, Tensor) else _zeros([], x) + value
    return aten.index_put.default(x, [*[None] * (dim % x.ndim), index], value)


def _embedding_backward(
    grad: Tensor, indices: Tensor, rows: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    if padding_idx >= 0:
        grad = torch.where((indices == padding_idx).unsqueeze(-1), 0, grad)
    if scale_grad_by_freq:
        ones = torch.ones_like(indices, dtype=grad.dtype)
        times = aten.index_put.default(_zeros([rows], grad), [indices], ones, True)
        grad = grad / aten.index.Tensor(times, [indices]).unsqueeze(-1)
    return aten.index_put.default(_zeros([rows, grad.shape[-1]], grad), [indices], grad, True)


add("index_fill.int_Scalar index_fill.int_Tensor", _index_fill)
add("take", lambda x, index: aten.index.Tensor(x.reshape(-1), [index]))
add_wide("embedding_dense_backward", _embedding_backward)


# ------------------------------------------------------------------------------------- foreach


def _scaled(op: Rule) -> Rule:
    """addcmul, addcdiv: x + value * op(a, b), where value may be a tensor as well."""
    return in_float32(lambda x, a, b, value=1: torch.add(x, op(a, b) * value))


def _bound(of_tensors: Rule, by_number: Rule) -> Rule:
    return lambda x, y: (of_tensors if isinstance(y, Tensor) else by_number)(x, y)


_EACH: dict[str, Rule] = {
    "addcdiv": _scaled(torch.div),
    "addcmul": _scaled(torch.mul),
    "copy": lambda x, source, non_blocking=False: aten.copy.default(x, source),
    "maximum": _bound(torch.maximum, torch.clamp_min),
    "minimum": _bound(torch.minimum, torch.clamp_max),
    "norm": lambda x, ord=2, dtype=None: torch.linalg.vector_norm(x, ord, dtype=dtype),
    "zero": torch.zeros_like,
}
_LIKE_TORCH = """abs acos add asin atan ceil clamp_max clamp_min cos cosh div erf erfc exp expm1
    floor frac lerp lgamma log log10 log1p log2 max mul neg pow reciprocal round rsqrt sigmoid sign
    sin sinh sqrt sub tan tanh trunc"""


def _foreach(op: OpOverload, each: Rule) -> Rule:
    """One call a tensor; an argument that is a list goes along, any other goes to every call."""
    lists = [str(a.type).startswith("List[") for a in op._schema.arguments]

    def f(*args: Any, **kwargs: Any) -> list[Any]:
        n = next(len(a) for a, many in zip(args, lists) if many)
        columns = [a if many else [a] * n for a, many in zip(args, lists)]
        if len(args) == 4 and isinstance(args[3], Tensor):  # a tensor of one scale a call
            columns[3] = args[3].unbind(0)
        return [each(*row, **kwargs) for row in zip(*columns)]

    return f


for _name in [*_EACH, *_LIKE_TORCH.split()]:
    _packet = getattr(aten, f"_foreach_{_name}")
    for _op in (getattr(_packet, overload) for overload in _packet.overloads()):
        if not _op._schema.is_mutable:
            rule(_op)(_foreach(_op, _EACH.get(_name) or getattr(torch, _name)))
