"""Shape rules for the operators whose shapes ATen computes only together with their values.

A rule gets the device of the result, then the operator's own arguments with meta tensors in them,
and returns meta tensors. Most name another operator, one with a structured kernel, that loops over
the same elements in the same order. `Stop` hands a rare case to the meta kernel.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..errors import Unsupported
from .kernels import META, RULES, Rule, Stop, from_aten, plan

aten = torch.ops.aten
Tensor = torch.Tensor


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers a rule for overloads, each by its exact name."""

    def register(f: Rule) -> Rule:
        if twice := RULES.keys() & {*names}:
            raise AssertionError(f"a second rule for {twice}")
        RULES.update(dict.fromkeys(names, f))
        return f

    return register


def call(op: Any, *args: Any, **kwargs: Any) -> Any:
    return plan(op).run(args, kwargs, META)


def new(size: Sequence[Any], dtype: torch.dtype, stride: Sequence[Any] | None = None) -> Tensor:
    if stride is None:
        return torch.empty(size, dtype=dtype, device=META)
    return torch.empty_strided(size, stride, dtype=dtype, device=META)


def like(x: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """As eager's empty_like: the strides of `x` when it is dense, else packed in its order."""
    out: Tensor = call(aten.empty_like.default, x, dtype=dtype or x.dtype)
    return out


def loop(dtype: torch.dtype, *operands: Any) -> Tensor:
    """What a pointwise loop over one to three operands allocates; numbers count as 0-d."""

    def neutral(x: Any) -> Any:
        return new(x.shape, torch.float32, x.stride()) if isinstance(x, Tensor) else float(x)

    kernel = {1: aten.neg.default, 2: aten.atan2.default, 3: aten.addcmul.default}[len(operands)]
    out = call(kernel, *map(neutral, operands))
    return new(out.shape, dtype, out.stride())


def default_float(dtype: torch.dtype) -> torch.dtype:
    return dtype if dtype.is_floating_point else torch.get_default_dtype()


# --- pointwise -----------------------------------------------------------------------------------


@rule("relu", "abs", "hardtanh", "hardswish")
def same(device: Any, x: Tensor, *_: Any, **__: Any) -> Tensor:
    if x.is_complex():
        raise Stop
    return loop(x.dtype, x)


@rule("hardtanh_backward", "hardswish_backward", "native_dropout_backward")
def backward(device: Any, grad: Tensor, x: Tensor, *_: Any) -> Tensor:
    return loop(grad.dtype, grad, x)


@rule("logical_and", "logical_or", "logical_xor")
def logical(device: Any, a: Tensor, b: Tensor) -> Tensor:
    return loop(torch.bool, a, b)


@rule("logical_not")
def logical_not(device: Any, x: Tensor) -> Tensor:
    return loop(torch.bool, x)


@rule("isnan")
def isnan(device: Any, x: Tensor) -> Tensor:
    return loop(torch.bool, x, x)  # eager compares x != x


@rule("where.self")
def where(device: Any, condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return loop(torch.result_type(a, b), condition, a, b)


@rule("floor_divide")
def floor_divide(device: Any, a: Tensor, b: Any) -> Any:
    return call(aten.div.Tensor_mode, a, b, rounding_mode="floor")


@rule("rsub.Tensor")
def rsub(device: Any, a: Tensor, b: Any, alpha: Any = 1) -> Any:
    return call(aten.sub.Tensor, b, a, alpha=alpha)


@rule("native_dropout")
def native_dropout(device: Any, x: Tensor, p: float, train: bool | None) -> Any:
    return like(x), like(x, torch.bool)


# --- reductions ----------------------------------------------------------------------------------


@rule("max", "min", "dot", "vdot", "trace")
def to_scalar(device: Any, x: Tensor, *_: Any) -> Tensor:
    return new((), x.dtype)


@rule("prod", "nansum")
def total(device: Any, x: Tensor, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return call(aten.sum.dim_IntList, x, dim, keepdim, dtype=dtype)


@rule("std.correction", "var.correction", "logsumexp")
def spread(device: Any, x: Tensor, dim: Any = None, keepdim: bool = False, **_: Any) -> Any:
    if x.is_complex():
        raise Stop
    return call(aten.mean.dim, x, dim, keepdim, dtype=default_float(x.dtype))


@rule("std_mean.correction", "var_mean.correction")
def spread_mean(device: Any, x: Tensor, *args: Any, **kwargs: Any) -> Any:
    return spread(device, x, *args, **kwargs), spread(device, x, *args, **kwargs)


@rule("mse_loss_backward", "binary_cross_entropy_backward")
def loss_backward(device: Any, grad: Tensor, x: Tensor, *_: Any) -> Tensor:
    return new(x.shape, x.dtype)


@rule("binary_cross_entropy")
def loss(device: Any, x: Tensor, y: Tensor, weight: Any = None, reduction: int = 1) -> Tensor:
    return like(x) if reduction == 0 else new((), x.dtype)


# --- indexing, factories -------------------------------------------------------------------------


@rule("arange", "arange.start", "arange.start_step")
def arange(device: Any, *numbers: Any, dtype: Any = None, **_: Any) -> Tensor:
    start, end, step = [0, *numbers, 1] if len(numbers) == 1 else [*numbers, 1][:3]
    ints = all(isinstance(n, int) for n in numbers)
    count = -((start - end) // step) if ints else math.ceil((end - start) / step)
    return new((count,), dtype or (torch.int64 if ints else torch.get_default_dtype()))


@rule("index.Tensor")
def index(device: Any, x: Tensor, indices: Sequence[Any]) -> Any:
    if any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in indices):
        raise Unsupported("indexing with a mask: the size depends on data", "use torch.where")
    return from_aten(aten.index.Tensor)((x, indices), {}, device)


@rule("index_select")
def index_select(device: Any, x: Tensor, dim: int, i: Tensor) -> Tensor:
    size = list(x.shape)
    if size:
        size[dim] = i.numel()
    return new(size, x.dtype)


@rule("flip")
def flip(device: Any, x: Tensor, dims: Any) -> Tensor:
    return like(x)


@rule("roll")
def roll(device: Any, x: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    return new(x.shape, x.dtype)


@rule("embedding_dense_backward")
def embedding_backward(device: Any, grad: Tensor, i: Tensor, rows: Any, *_: Any) -> Tensor:
    return new((rows, grad.shape[-1]), grad.dtype)


# --- normalisation, convolution ------------------------------------------------------------------


def statistics_dtype(device: torch.device, x: Tensor, weight: Tensor | None) -> torch.dtype:
    """The GPU keeps them in float32; the CPU in the dtype of the weight, or else of `x`."""
    if device.type == "cpu":
        return weight.dtype if weight is not None else x.dtype
    return torch.float64 if x.dtype == torch.float64 else torch.float32


@rule("native_layer_norm")
def layer_norm(device: Any, x: Tensor, shape: Any, w: Any, b: Any, eps: float) -> Any:
    outer = x.shape[: x.ndim - len(shape)]
    size, dtype = (*outer, *[1] * len(shape)), statistics_dtype(device, x, w)
    return new(x.shape, x.dtype), new(size, dtype), new(size, dtype)


@rule("native_layer_norm_backward")
def layer_norm_backward(
    device: Any, grad: Any, x: Tensor, shape: Any, mean: Any, rstd: Any, w: Any, b: Any, mask: Any
) -> Any:
    shapes = x.shape, shape, shape
    dtypes = x.dtype, *[x.dtype if t is None else t.dtype for t in (w, b)]
    return tuple(new(s, d) if m else None for s, d, m in zip(shapes, dtypes, mask))
