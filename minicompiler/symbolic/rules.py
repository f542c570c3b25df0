"""Shape rules for the operators whose shapes ATen computes only together with their values.

A rule gets the device of the result, then the operator's own arguments with meta tensors in them,
and returns meta tensors. Most name another operator, one with a structured kernel, that loops over
the same elements in the same order. `Stop` hands a rare case to the meta kernel. What ATen's schema
says of a rule's operands is not said again.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from ..errors import Unsupported
from .fake import CPU, Fake, aten
from .kernels import META, RULES, Stop, cast_operands, from_aten, plan

Tensor = torch.Tensor


def call(op: Any, *args: Any, **kwargs: Any) -> Any:
    return plan(op).run(args, kwargs, META)


def new(size: Sequence[Any], dtype: torch.dtype, format: Any = None) -> Tensor:
    return torch.empty(size, dtype=dtype, device=META, memory_format=format)


def like(x: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """As eager's empty_like: the strides of `x` when it is dense, else packed in its order."""
    out: Tensor = call(aten.empty_like.default, x, dtype=dtype or x.dtype)
    return out


LIKE = "hardtanh _prelu_kernel zeros_like ones_like full_like".split()


# --- pointwise -----------------------------------------------------------------------------------


def loop(dtype: torch.dtype, *operands: Any) -> Tensor:
    """What a pointwise loop over one to three operands allocates; numbers count as 0-d."""
    if dtype.is_complex:
        raise Stop
    cast = cast_operands(operands, dtype) or operands
    neutral = [
        torch.empty_strided(x.shape, x.stride(), device=META) if isinstance(x, Tensor) else float(x)
        for x in cast
    ]
    kernel = {1: aten.neg.default, 2: aten.add.Tensor, 3: aten.addcmul.default}[len(operands)]
    out = call(kernel, *neutral)
    return torch.empty_strided(out.shape, out.stride(), dtype=dtype, device=META)


def common(device, a, b):
    return loop(torch.result_type(a, b), *((a, b) if isinstance(a, Tensor) else (b, a)))


def where(device, condition, a, b):
    dtype = torch.result_type(a, b)  # to which eager casts beforehand, on all devices
    return loop(dtype, condition, *(x if x.dtype == dtype else like(x, dtype) for x in (a, b)))


def packed(device, x, *_):
    return new(x.shape, x.dtype)


def logical(device, *operands):
    return loop(torch.bool, *operands)


def gradient(device, grad, x, *_):
    return loop(grad.dtype, grad, x)


def log_sigmoid(device, x):
    if device.type != "cpu":
        return like(x), new((0,), x.dtype)
    return new(x.shape, x.dtype), new(x.shape, x.dtype)


def dropout(device, x, p, train):
    mask = like(x, torch.bool)
    return loop(x.dtype, x, mask), mask


RULES |= {
    **dict.fromkeys(("relu", "hardswish"), lambda device, x: loop(x.dtype, x)),
    **dict.fromkeys(LIKE, lambda on, /, x, *_, **how: call(aten.empty_like.default, x, **how)),
    **dict.fromkeys(("hardtanh_backward", "hardswish_backward"), gradient),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor", "logical_not"), logical),
    **dict.fromkeys(("rrelu_with_noise", "_logcumsumexp"), packed),
    "abs": lambda device, x: like(x, x.dtype.to_real()) if x.is_complex() else loop(x.dtype, x),
    "angle": lambda _, x: packed(_, x.real) if x.is_complex() else call(aten.sin.default, x),
    "isnan": lambda device, x: loop(torch.bool, x, x),  # eager compares x != x
    "where.self": where,
    **dict.fromkeys(("remainder.Scalar", "remainder.Scalar_Tensor", "fmod.Scalar"), common),
    **dict.fromkeys(("bitwise_and.Scalar", "bitwise_or.Scalar", "bitwise_xor.Scalar"), common),
    **{f"bitwise_{way}_shift.Scalar_Tensor": common for way in ("left", "right")},
    "floor_divide": lambda device, a, b: call(aten.div.Tensor_mode, a, b, rounding_mode="floor"),
    "rsub.Tensor": lambda device, a, b, alpha=1: call(aten.sub.Tensor, b, a, alpha=alpha),
    "log_sigmoid_forward": log_sigmoid,
    "log_sigmoid_backward": lambda device, grad, x, *_: (
        like(grad) if device.type == "cpu" else loop(grad.dtype, grad, x)
    ),
    "native_dropout": dropout,
    "native_dropout_backward": gradient,
}

# --- reductions ----------------------------------------------------------------------------------


def spread(device, x, dim=None, keepdim=False, **_):
    if x.is_complex():
        raise Stop
    dtype = x.dtype if x.is_floating_point() else torch.get_default_dtype()
    return call(aten.mean.dim, x, dim, keepdim, dtype=dtype)


def dot(device, x, y):
    if x.shape != y.shape:  # torch's own shape rule lets it pass
        raise RuntimeError(f"dot of {x.shape[0]} and {y.shape[0]} numbers")
    return new((), x.dtype)


def alike(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Of losses whose kernels promote in part, and raise in backward at the latest."""
    if x.dtype != y.dtype:
        raise RuntimeError(f"a loss of {x.dtype} and {y.dtype}")
    return x, y


def cross_entropy(device, x, y, w=None, reduction=1):
    return like(x) if reduction == 0 else new((), x.dtype)


RULES |= {
    **dict.fromkeys(("dot", "vdot"), dot),
    **dict.fromkeys(("std.correction", "var.correction", "logsumexp"), spread),
    **dict.fromkeys(
        ("std_mean.correction", "var_mean.correction"),
        lambda *args, **kwargs: (spread(*args, **kwargs), spread(*args, **kwargs)),
    ),
    "huber_loss": lambda device, x, y, how=1, *_: cross_entropy(device, *alike(x, y), None, how),
    "huber_loss_backward": lambda device, grad, x, y, *_: loop(alike(x, y)[0].dtype, grad, x, y),
    "binary_cross_entropy": lambda device, x, y, *rest: cross_entropy(device, *alike(x, y), *rest),
    "mse_loss_backward": lambda device, grad, x, *_: packed(device, x),
    "smooth_l1_loss_backward": lambda device, grad, x, *_: packed(device, x),
    "binary_cross_entropy_backward": lambda device, grad, x, y, *_: like(alike(x, y)[0]),
}

# --- indexing, factories -------------------------------------------------------------------------


def arange(device, /, *numbers, dtype=None, **_):
    start, end, step = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    ints = all(isinstance(n, int) for n in numbers)
    count = -((start - end) // step) if ints else math.ceil((end - start) / step)
    return new((count,), dtype or (torch.int64 if ints else torch.get_default_dtype()))


def index(device, x, indices):
    if any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in indices):
        raise Unsupported("indexing with a mask: the size depends on data", "use torch.where")
    return from_aten(aten.index.Tensor)((x, indices), {}, device)


def flip(device, x, dims):
    for d in dims:
        in_range(x, d)
    return like(x)


def roll(device, x, shifts, dims=()):
    if x.numel() == 0:
        return like(x)
    for d in dims:
        in_range(x, d, scalars=False)
    for shift, d in zip(shifts, dims):  # one after the other
        start, n = -shift % x.shape[d], x.shape[d]
        parts = x.narrow(d, start, n - start), x.narrow(d, 0, start)
        x = call(aten.cat.default, parts, d) if start else new(x.shape, x.dtype)
    return x if dims else new(x.shape, x.dtype)


def in_range(x: Tensor, dim: int, scalars: bool = True) -> None:
    """Raises eager's IndexError; with `scalars` a 0-d tensor counts as having one dimension."""
    n = max(x.dim(), scalars)
    if not -n <= dim < n:
        raise IndexError(f"dimension {dim} of a tensor with {x.dim()}")


def repeat(device, x, times):
    size = [1] * (len(times) - x.dim()) + list(x.shape)
    return new([n * t for n, t in zip(size, times)], x.dtype)


def _embedding_bag(device, w, i, starts, *how):
    """Which parts of what a backward needs are filled depends on the kernel that the CPU takes."""
    _, mode, _, each, last, skip = how + (False, 0, False, None, False, -1)[len(how) :]
    if device.type != "cpu":
        raise Stop
    fast = mode == 0 and skip < 0 and w.dtype != torch.float64 and w.stride(1) == 1
    bags, keeps = starts.shape[0] - last, (0,) if fast and each is None else i.shape
    out = new((bags, w.shape[1]), w.dtype)
    kept = [new(n, starts.dtype) for n in (keeps, (bags,), out.shape if mode == 2 else (bags,))]
    return out, *kept


RULES |= {
    **dict.fromkeys(("arange", "arange.start", "arange.start_step"), arange),
    "index.Tensor": index,
    **{f.__name__: f for f in (repeat, flip, roll, _embedding_bag)},
    "max_unpool2d": lambda device, x, i, size: image(x, (*x.shape[:-2], *size)),
}

# --- normalisation -------------------------------------------------------------------------------


def statistics(device: Any, x: Tensor, weight: Any, size: Sequence[Any]) -> list[Tensor]:
    """The CPU keeps them in the dtype of `x` unless the weight's differs; others in float32."""
    alone = device.type == "cpu" and (weight is None or weight.dtype == x.dtype)
    dtype = x.dtype if alone or x.dtype == torch.float64 else torch.float32
    return [new(size, dtype), new(size, dtype)]


def image(x: Tensor, size: Sequence[Any] | None = None) -> Tensor:
    """In the memory format that ATen suggests: channels stay innermost where they are."""
    format = torch.channels_last if x.dim() == 4 else torch.channels_last_3d
    last = call(aten.cat.default, [x]).stride() != new(x.shape, x.dtype).stride()
    return new(x.shape if size is None else size, x.dtype, format if last else None)


PADS = [f"{how}_pad{d}d" for how in ("reflection", "replication") for d in (2, 3)]


def on_cpu(op: Any, device: Any, *args: Any) -> Tensor:
    """Its kernel for the CPU keeps the memory format, others and the shape rule do not."""
    made: Tensor = from_aten(op)(args, {}, device)
    return image(args[0], made.shape) if device.type == "cpu" else made


def layer_norm(device, x, shape, w, b, eps):
    size = (*x.shape[: x.dim() - len(shape)], *[1] * len(shape))
    return new(x.shape, x.dtype), *statistics(device, x, w, size)


def group_norm(device, x, w, b, *sizes):
    n, _c, _hw, groups, _eps = sizes
    return image(x), *statistics(CPU, x, w, (n, groups))  # here the GPU follows the CPU


def batch_norm(tail, trains, device, x, w, b, mean, var, *how):
    """`trains` where the operator's name says it. The tail: the "bytes" a library reserves, of
    which a CPU has none, and the "new" running statistics."""
    cpu, train = device.type == "cpu", how[0] if trains is None else trains
    if "bytes" in tail and not cpu:
        raise Stop
    other = [t for t in (w, b, mean, var) if t is not None and t.dtype != x.dtype]
    size = (0,) if cpu and not train else x.shape[1:2]
    kept = statistics(device, x, other[0] if other else w, size)
    kept += [new((0,), torch.uint8)] if "bytes" in tail else []
    kept += [like(mean), like(var)] if "new" in tail else []
    return image(packed(device, x) if x.is_contiguous() else x) if cpu else like(x), *kept


def cudnn_norm(device, x, w, b, mean, var, train, *_):
    kept = [new(w.shape if train else (0,), w.dtype) for _ in range(2)]
    return image(x), *kept, new((0,), torch.uint8)  # cuDNN alone knows how much it reserves


def gradients(x: Tensor, affine: Sequence[Any], shape: Any, mask: Sequence[bool]) -> Any:
    """Of the input, the weight and the bias, where `mask` asks for them."""
    made = [x, *[new(shape, x.dtype if t is None else t.dtype) for t in affine]]
    return tuple(t if m else None for t, m in zip(made, mask))


RULES |= {
    "native_layer_norm": layer_norm,
    "native_layer_norm_backward": lambda device, grad, x, shape, mean, rstd, w, b, mask: gradients(
        new(x.shape, x.dtype), (w, b), shape, mask
    ),
    "native_group_norm": group_norm,
    "native_group_norm_backward": lambda device, grad, x, mean, rstd, w, n, c, *rest: gradients(
        new(x.shape, x.dtype), (w, w), (c,), rest[-1]
    ),
    "native_batch_norm": partial(batch_norm, "", None),
    "_native_batch_norm_legit": partial(batch_norm, "", None),
    "_native_batch_norm_legit.no_stats": lambda device, x, w, b, train, *_: batch_norm(
        "", train, device, x, w, b, None, None
    ),
    "_native_batch_norm_legit_functional": partial(batch_norm, "new", None),
    "_batch_norm_with_update": partial(batch_norm, "bytes", True),
    "_batch_norm_with_update_functional": partial(batch_norm, "bytes new", True),
    "_batch_norm_no_update": partial(batch_norm, "bytes", False),
    "native_batch_norm_backward": lambda device, grad, x, w, *rest: gradients(
        image(x) if device.type == "cpu" else like(x), (w, w), x.shape[1:2], rest[-1]
    ),
    "cudnn_batch_norm": cudnn_norm,
    "cudnn_batch_norm_backward": lambda device, x, grad, w, *_: gradients(
        image(x), (w, w), w.shape, (True, True, True)
    ),
    "_adaptive_avg_pool2d": lambda device, x, size: image(x, (*x.shape[:-2], *size)),
    "_adaptive_avg_pool2d_backward": lambda device, grad, x: image(x),
}
for _name in ("pixel_shuffle", "pixel_unshuffle", *PADS):
    RULES[_name] = partial(on_cpu, getattr(aten, _name).default)

# --- attention -----------------------------------------------------------------------------------
# queries, keys and values come as (batch, heads, length, width)


def attention_cpu(device, q, k, v, *_, **__):
    batch, heads, length, _width = q.shape
    dtype = torch.float64 if q.dtype == torch.float64 else torch.float32
    return like(q), new((batch, length, heads), dtype).transpose(1, 2)


def attention_flash(device, q, k, v, *_, **__):
    if q.shape[-1] % 8:
        raise Stop
    sums, random = new(q.shape[:3], torch.float32), new((2,), torch.uint64)
    unused, mask = new((), torch.uint64), new((0,), q.dtype)
    return like(q), sums, None, None, q.shape[2], k.shape[2], random, unused, mask


def attention_efficient(device, q, k, v, bias, keep_sums, *_, **__):
    batch, heads, length, _width = q.shape
    out = new((batch, length, heads, v.shape[-1]), q.dtype).transpose(1, 2)
    sums = new((batch, heads, -(-length // 32) * 32 if keep_sums else 0), torch.float32)
    seed, offset = (Fake(new((), torch.int64), CPU) for _ in range(2))
    return out, sums, seed, offset


RULES |= {
    "_scaled_dot_product_flash_attention_for_cpu": attention_cpu,
    "_scaled_dot_product_flash_attention": attention_flash,
    "_scaled_dot_product_flash_attention_backward": lambda device, grad, q, k, v, *_, **__: tuple(
        map(like, (q, k, v))
    ),
    "_scaled_dot_product_efficient_attention": attention_efficient,
    "_thnn_fused_lstm_cell": lambda device, gates, h, c, *_: tuple(
        new(x.shape, x.dtype) for x in (c, c, gates)
    ),
}

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
        fakes = [None if t is None else Fake(t, device) for t in (self.x, self.w, bias)]
        choose: Any = torch._C._select_conv_backend
        rest = self.dilation, self.transposed, self.extra, self.groups
        # meta kernels do not ask for the layout in which the device's own kernel would answer
        backend = choose(*fakes, self.stride, self.padding, *rest)
        determine: Any = torch._C._conv_determine_backend_memory_format
        self.format = determine(fakes[0], fakes[1], backend)

    def new(self, size: Sequence[Any], like: Tensor) -> Tensor:
        made = new(size, like.dtype, self.format)
        return made.squeeze(2) if like.dim() == 3 else made


def convolution(device, x, w, *options):
    c = Convolution(device, x, w, *options)
    along = zip(c.x.shape[2:], c.w.shape[2:], c.stride, c.padding, c.dilation, c.extra)
    if c.transposed:
        space = [(n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, k, s, p, d, e in along]
        return c.new((x.shape[0], w.shape[1] * c.groups, *space), x)
    space = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d, _ in along]
    return c.new((x.shape[0], w.shape[0], *space), x)


def convolution_backward(device, grad, x, w, bias_size, *options):
    c = Convolution(device, x, w, None, *options[:-1])
    made = c.new(c.x.shape, x), c.new(c.w.shape, w), new((grad.shape[1],), x.dtype)
    return tuple(t if m else None for t, m in zip(made, options[-1]))


RULES |= {"convolution": convolution, "convolution_backward": convolution_backward}
