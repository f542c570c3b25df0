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
from .fake import Fake
from .kernels import META, RULES, Rule, Stop, cast_operands, from_aten, plan

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

    cast = cast_operands(operands, dtype) or operands
    kernel = {1: aten.neg.default, 2: aten.add.Tensor, 3: aten.addcmul.default}[len(operands)]
    out = call(kernel, *map(neutral, cast))
    return new(out.shape, dtype, out.stride())


def default_float(dtype: torch.dtype) -> torch.dtype:
    return dtype if dtype.is_floating_point else torch.get_default_dtype()


# --- pointwise -----------------------------------------------------------------------------------


@rule("hardtanh")
def packed(device: Any, x: Tensor, *_: Any) -> Tensor:
    return like(x)


@rule("relu", "abs", "hardswish")
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
    dtype = torch.result_type(a, b)  # to which eager casts beforehand, on all devices
    return loop(dtype, condition, *(x if x.dtype == dtype else like(x, dtype) for x in (a, b)))


@rule("floor_divide")
def floor_divide(device: Any, a: Tensor, b: Any) -> Any:
    return call(aten.div.Tensor_mode, a, b, rounding_mode="floor")


@rule("remainder.Scalar", "fmod.Scalar")
@rule("bitwise_and.Scalar", "bitwise_or.Scalar", "bitwise_xor.Scalar")
def with_number(device: Any, x: Tensor, number: Any) -> Tensor:
    return loop(torch.result_type(x, number), x, number)


@rule("remainder.Scalar_Tensor", "bitwise_left_shift.Scalar_Tensor")
@rule("bitwise_right_shift.Scalar_Tensor")
def number_with(device: Any, number: Any, x: Tensor) -> Tensor:
    return loop(torch.result_type(x, number), x, number)


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


@rule("mse_loss", "smooth_l1_loss", "huber_loss")
def loss(device: Any, x: Tensor, y: Tensor, reduction: int = 1, *_: Any) -> Tensor:
    dtype = torch.result_type(x, y)
    return loop(dtype, x, y) if reduction == 0 else new((), dtype)


@rule("binary_cross_entropy")
def cross_entropy(device: Any, x: Tensor, y: Tensor, w: Any = None, reduction: int = 1) -> Tensor:
    return like(x) if reduction == 0 else new((), x.dtype)


@rule("mse_loss_backward")
def contiguous_gradient(device: Any, grad: Tensor, x: Tensor, *_: Any) -> Tensor:
    return new(x.shape, x.dtype)


@rule("binary_cross_entropy_backward")
def gradient_like(device: Any, grad: Tensor, x: Tensor, *_: Any) -> Tensor:
    return like(x)


# --- indexing, factories -------------------------------------------------------------------------


@rule("arange", "arange.start", "arange.start_step")
def arange(device: Any, /, *numbers: Any, dtype: Any = None, **_: Any) -> Tensor:
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


@rule("repeat")
def repeat(device: Any, x: Tensor, times: Sequence[Any]) -> Tensor:
    size = [1] * (len(times) - x.dim()) + list(x.shape)
    return new([n * t for n, t in zip(size, times)], x.dtype)


@rule("roll")
def roll(device: Any, x: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    return new(x.shape, x.dtype) if x.numel() else like(x)


@rule("embedding_dense_backward")
def embedding_backward(device: Any, grad: Tensor, i: Tensor, rows: Any, *_: Any) -> Tensor:
    return new((rows, grad.shape[-1]), grad.dtype)


# --- normalisation -------------------------------------------------------------------------------


def statistics_dtype(device: torch.device, x: Tensor, weight: Tensor | None) -> torch.dtype:
    """The CPU keeps them in the dtype of `x` unless the weight's differs; others in float32."""
    if x.dtype == torch.float64:
        return x.dtype
    alone = device.type == "cpu" and (weight is None or weight.dtype == x.dtype)
    return x.dtype if alone else torch.float32


def image_format(x: Tensor) -> torch.memory_format:
    formats = [torch.channels_last, torch.channels_last_3d]
    found = [
        f for f, n in zip(formats, (4, 5)) if x.dim() == n and x.is_contiguous(memory_format=f)
    ]
    return found[0] if found and not x.is_contiguous() else torch.contiguous_format


def image(x: Tensor) -> Tensor:
    return torch.empty(x.shape, dtype=x.dtype, device=META, memory_format=image_format(x))


@rule("native_layer_norm")
def layer_norm(device: Any, x: Tensor, shape: Any, w: Any, b: Any, eps: float) -> Any:
    outer = x.shape[: x.dim() - len(shape)]
    size, dtype = (*outer, *[1] * len(shape)), statistics_dtype(device, x, w)
    return new(x.shape, x.dtype), new(size, dtype), new(size, dtype)


@rule("native_group_norm")
def group_norm(device: Any, x: Tensor, w: Any, b: Any, n: Any, *sizes: Any) -> Any:
    size, dtype = (n, sizes[2]), statistics_dtype(device, x, w)
    return image(x), new(size, dtype), new(size, dtype)


@rule("native_batch_norm")
def batch_norm(
    device: Any, x: Tensor, w: Any, b: Any, mean: Any, var: Any, training: bool, *_: Any
) -> Any:
    size, dtype = (x.shape[1] if training else 0,), statistics_dtype(device, x, w)
    return image(x), new(size, dtype), new(size, dtype)


def norm_gradients(x: Tensor, image: Tensor, affine: Sequence[Any], shape: Any, mask: Any) -> Any:
    others = [new(shape, x.dtype if t is None else t.dtype) for t in affine]
    return tuple(t if m else None for t, m in zip((image, *others), mask))


@rule("native_layer_norm_backward")
def layer_norm_backward(
    device: Any, grad: Any, x: Tensor, shape: Any, mean: Any, rstd: Any, w: Any, b: Any, mask: Any
) -> Any:
    return norm_gradients(x, new(x.shape, x.dtype), (w, b), shape, mask)


# --- convolution ---------------------------------------------------------------------------------


class Convolution:
    """Its operands in two or three dimensions: one over one dimension has a first one of size 1."""

    def __init__(self, device: Any, x: Tensor, w: Tensor, bias: Any, *options: Any) -> None:
        stride, padding, dilation, self.transposed, extra, self.groups = options
        if x.numel() == 0 or x.dim() != w.dim():
            raise Stop
        flat, n = x.dim() == 3, max(x.dim() - 2, 2)

        def sides(values: Any, first: int) -> list[Any]:
            return [first, *values] if flat else list(values) * (n // len(values))

        self.stride, self.dilation = sides(stride, 1), sides(dilation, 1)
        self.padding, self.extra = sides(padding, 0), sides(extra, 0)
        self.x = new(x.shape, x.dtype).unsqueeze(2) if flat else x
        self.w = w.unsqueeze(2) if flat else w
        x, w = Fake(self.x, device), Fake(self.w, device)
        b = None if bias is None else Fake(bias, device)
        rest = self.transposed, self.extra, self.groups
        # meta kernels do not ask for the layout in which the device's own kernel would answer
        backend = torch._C._select_conv_backend(
            x, w, b, self.stride, self.padding, self.dilation, *rest
        )
        self.format = torch._C._conv_determine_backend_memory_format(x, w, backend)

    def new(self, size: Sequence[Any], like: Tensor) -> Tensor:
        made = torch.empty(size, dtype=like.dtype, device=META, memory_format=self.format)
        return made.squeeze(2) if like.dim() == 3 else made


@rule("convolution")
def convolution(device: Any, x: Tensor, w: Tensor, *options: Any) -> Tensor:
    c = Convolution(device, x, w, *options)
    along = zip(c.x.shape[2:], c.w.shape[2:], c.stride, c.padding, c.dilation, c.extra)
    if c.transposed:
        space = [(n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, k, s, p, d, e in along]
        return c.new((x.shape[0], w.shape[1] * c.groups, *space), x)
    space = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d, _ in along]
    return c.new((x.shape[0], w.shape[0], *space), x)


@rule("convolution_backward")
def convolution_backward(
    device: Any, grad: Tensor, x: Tensor, w: Tensor, bias_size: Any, *options: Any
) -> Any:
    c = Convolution(device, x, w, None, *options[:-1])
    bias = new((grad.shape[1],), x.dtype)
    made = c.new(c.x.shape, x), c.new(c.w.shape, w), bias
    return tuple(t if m else None for t, m in zip(made, options[-1]))
