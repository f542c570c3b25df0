"""Pooling, padding and resizing, as arithmetic on strided slices and computed indices.

A window of k by k becomes k * k slices: the loop that results reads most of them from cache.
Windows above `MOST` elements stay with the library's kernel.

The rules take what ATen's schema says.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .table import Rule, aten, in_float32, rule

MOST = 32
Place = tuple[int, ...]  # in a window, from 0 along each dimension


class Windows:
    """The sliding windows over the trailing dimensions of x: sizes a dimension, in order."""

    def __init__(self, dims, x, kernel, stride, pad, dilation, ceil):
        self.dims, self.x = dims, x
        self.kernel = self._each(kernel)
        self.stride = self._each(stride) or self.kernel
        self.pad, self.dilation = self._each(pad), self._each(dilation)
        self.inputs = list(x.shape[-dims:])
        self.outputs = [self._outputs(d, ceil) for d in range(dims)]
        self.supported = math.prod(self.kernel) <= MOST and x.numel() > 0
        # before and after each dimension, the last one first, as constant_pad_nd wants it
        self.padding: list[int] = []
        for d in reversed(range(dims)):
            reach = (self.outputs[d] - 1) * self.stride[d]
            reach += self.dilation[d] * (self.kernel[d] - 1) + 1
            self.padding += [self.pad[d], max(reach - self.pad[d] - self.inputs[d], 0)]

    def _each(self, values: Any) -> Any:
        """ATen's size arguments: one number stands for all dimensions."""
        values = list(values) if isinstance(values, Sequence) else [values]
        return values * self.dims if len(values) == 1 else values

    def _outputs(self, d: int, ceil: bool) -> Any:
        n, pad, stride = self.inputs[d], self.pad[d], self.stride[d]
        free = n + 2 * pad - self.dilation[d] * (self.kernel[d] - 1) - 1
        if not ceil:
            return free // stride + 1
        out = -(-free // stride) + 1
        return out - 1 if (out - 1) * stride >= n + pad else out  # no window begins past the end

    def _slices(self, place: Place) -> Iterator[tuple[int, int, int, int]]:
        """Dimension, start, stop and step of what all windows see at `place`, in the padded x."""
        for d, p in enumerate(place):
            start, step = p * self.dilation[d], self.stride[d]
            yield d - self.dims, start, start + (self.outputs[d] - 1) * step + 1, step

    def seen(self, fill: float) -> Iterator[tuple[Place, Tensor]]:
        """For every place in the window, what all windows see there."""
        padded = aten.constant_pad_nd.default(self.x, self.padding, fill)
        for place in itertools.product(*map(range, self.kernel)):
            part = padded if any(self.padding) else self.x
            for where in self._slices(place):
                part = aten.slice.Tensor(part, *where)
            yield place, part

    def spread(self, each: Tensor) -> Any:
        """The reverse: zeros of x's size that gain, where a window sees them, its value."""
        total: Any = 0
        for place in itertools.product(*map(range, self.kernel)):
            part = each
            for d, (dim, *where) in enumerate(self._slices(place)):
                size = list(part.shape)
                size[dim] = self.inputs[d] + sum(self.padding[2 * (self.dims - 1 - d) :][:2])
                part = aten.slice_scatter.default(part.new_zeros(size), part, dim, *where)
            total = total + part
        return aten.constant_pad_nd.default(total, [-n for n in self.padding])

    def starts(self, d: int) -> Any:
        """Where each window begins in the unpadded image, along dimension d."""
        i = torch.arange(self.outputs[d], device=self.x.device)
        return i * self.stride[d] - self.pad[d]


def along(values: Tensor, d: int, dims: int) -> Tensor:
    """A vector over dimension d of an image of `dims` dimensions, against the image."""
    return values.reshape([-1] + [1] * (dims - 1 - d))


# ---------------------------------------------------------------------------------------- pooling


def _share(w: Windows, total: Any, count_padding: bool = True, divisor: int | None = None) -> Any:
    """Sums over windows to means: by `divisor`, or by how many elements a window has."""
    for d in range(0 if divisor else w.dims):
        first = w.starts(d)
        last = torch.clamp_max(first + w.kernel[d], w.inputs[d] + w.pad[d])
        if not count_padding:
            first, last = torch.clamp_min(first, 0), torch.clamp_max(last, w.inputs[d])
        whole = not any(w.padding)
        total = total / (w.kernel[d] if whole else along(last - first, d, w.dims))
    return total / divisor if divisor else total


def _avg_pool(dims, grad, x, kernel, stride=(), pad=0, ceil=False, *how):
    """Without `grad`: the forward."""
    w = Windows(dims, x, kernel, stride, pad, 1, ceil)
    if not w.supported:
        return NotImplemented
    if grad is not None:
        return w.spread(_share(w, grad, *how))
    return _share(w, sum(part for _, part in w.seen(0.0)), *how)


def _flat(w: Windows, place: Place) -> Any:
    """Where this place of each window lies, as an index into the flattened image."""
    index: Any = 0
    for d, p in enumerate(place):
        step, at = w.dilation[d], w.starts(d) + p * w.dilation[d]
        if not any(place):  # a window counts from its first element inside the image
            at = torch.where(at < 0, at + (step - 1 - at) // step * step, at)
        index = index * w.inputs[d] + along(at, d, w.dims)
    return index


def _max_pool(dims, x, kernel, stride=(), pad=0, dilation=1, ceil=False):
    w = Windows(dims, x, kernel, stride, pad, dilation, ceil)
    if not w.supported or not x.is_floating_point():
        return NotImplemented
    (first, best), *others = w.seen(-math.inf)
    where = _flat(w, first).expand(best.shape)
    for place, part in others:
        better = (part > best) | (part != part)
        best = torch.where(better, part, best)
        where = torch.where(better, _flat(w, place), where)
    return best, where


def _max_pool_backward(dims, grad, x, *settings):
    zeros, places = torch.zeros_like(x).flatten(-dims), settings[-1].flatten(-dims)
    return zeros.scatter_add(-1, places, grad.flatten(-dims)).reshape(x.shape)


def _adaptive_avg_pool2d(x, output_size):
    (h, w), (oh, ow) = x.shape[-2:], output_size
    if not oh or not ow or h % oh or w % ow or x.numel() == 0:
        return NotImplemented
    return x.reshape([*x.shape[:-2], oh, h // oh, ow, w // ow]).mean([-3, -1])


def _adaptive_avg_pool2d_backward(grad, x):
    (h, w), (oh, ow) = x.shape[-2:], grad.shape[-2:]
    if not oh or not ow or h % oh or w % ow:
        return NotImplemented
    share = (grad / ((h // oh) * (w // ow))).reshape([*grad.shape[:-2], oh, 1, ow, 1])
    return share.expand([*x.shape[:-2], oh, h // oh, ow, w // ow]).reshape(x.shape)


# ------------------------------------------------------------------------- padding and resizing


def _border(reflect, d, n, device, pad):
    before, after = pad[-2 * d - 2], pad[-2 * d - 1]
    i = torch.arange(-before, n + after, device=device)
    return (n - 1) - torch.abs((n - 1) - torch.abs(i)) if reflect else i.clamp(0, n - 1)


def _nearest(offset, d, n, device, sizes, *scales):
    i = torch.arange(sizes[d], dtype=torch.float32, device=device)
    step = 1.0 / scale if scales and (scale := scales[d]) else n / sizes[d]
    return torch.clamp_max(torch.floor((i + offset) * step), n - 1).to(torch.int64)


def _picking(dims: int, one: Callable[..., Tensor], *kind: Any) -> tuple[Rule, Rule]:
    """Each place of the result shows an element of the image, in the gradient each element gains
    what was picked from it. `one(*kind, d, n, device, ...)`: which elements, along dimension d."""

    def where(x: Tensor, shape: Sequence[int], *how: Any) -> list[Tensor | None]:
        picked = (one(*kind, d, shape[d - dims], x.device, *how) for d in range(dims))
        return [None] * (x.ndim - dims) + [along(at, d, dims) for d, at in enumerate(picked)]

    def forward(x: Tensor, *how: Any) -> Any:
        return aten.index.Tensor(x, where(x, x.shape, *how))

    def backward(grad: Tensor, first: Any, second: Any, *scales: Any) -> Any:
        # padding is given the image and the widths, resizing the new and the old sizes
        shape, how = (first.shape, second) if isinstance(first, Tensor) else (second, first)
        places = where(grad, shape, how, *scales)
        return aten.index_put.default(grad.new_zeros(shape), places, grad, True)

    return forward, backward


def _both(name: str, forward: Rule, backward: Rule) -> None:
    """Gradients add up in float32."""
    rule(name)(forward)
    rule(f"{name}_backward", half=False)(backward)


for _d in (1, 2, 3):
    if _d > 1:
        _mean, _most, _back = (partial(f, _d) for f in (_avg_pool, _max_pool, _max_pool_backward))
        _both(f"avg_pool{_d}d", in_float32(partial(_mean, None)), _mean)
        _both(f"max_pool{_d}d_with_indices", _most, _back)
    _both(f"reflection_pad{_d}d", *_picking(_d, _border, True))
    _both(f"replication_pad{_d}d", *_picking(_d, _border, False))
    _both(f"upsample_nearest{_d}d", *_picking(_d, _nearest, 0.0))
    _both(f"_upsample_nearest_exact{_d}d", *_picking(_d, _nearest, 0.5))
_both("_adaptive_avg_pool2d", _adaptive_avg_pool2d, _adaptive_avg_pool2d_backward)
