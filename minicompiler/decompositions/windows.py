"""Pooling, padding and resizing, as arithmetic on strided slices and computed indices.

A window of k by k becomes k * k slices: the loop that results reads most of them from cache.
Windows above `MOST` elements stay with the library's kernel.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from .table import Rule, in_float32, overloads, rule, wide

aten = torch.ops.aten

MOST = 32


class Windows:
    """The sliding windows over the trailing dimensions of x: sizes a dimension, in order."""

    def __init__(
        self, x: Tensor, kernel: Any, stride: Any, pad: Any, dilation: Any, ceil: bool
    ) -> None:
        self.x, self.kernel = x, list(kernel)
        self.dims = len(self.kernel)
        self.stride = self._each(stride) or self.kernel
        self.pad, self.dilation = self._each(pad), self._each(dilation)
        self.inputs = list(x.shape[-self.dims :])
        self.outputs = [self._outputs(d, ceil) for d in range(self.dims)]

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

    def supported(self) -> bool:
        return math.prod(self.kernel) <= MOST and self.x.numel() > 0

    def places(self, fill: float) -> Iterator[tuple[tuple[int, ...], Tensor]]:
        """For every place in the window: the place, and what all windows see there."""
        amounts: list[int] = []
        for d in reversed(range(self.dims)):
            reach = (self.outputs[d] - 1) * self.stride[d]
            reach += self.dilation[d] * (self.kernel[d] - 1) + 1
            amounts += [self.pad[d], max(reach - self.pad[d] - self.inputs[d], 0)]
        padded = aten.constant_pad_nd.default(self.x, amounts, fill) if any(amounts) else self.x
        for place in itertools.product(*map(range, self.kernel)):
            seen = padded
            for d, p in enumerate(place):
                start, stride = p * self.dilation[d], self.stride[d]
                stop = start + (self.outputs[d] - 1) * stride + 1
                seen = aten.slice.Tensor(seen, d - self.dims, start, stop, stride)
            yield place, seen

    def starts(self, d: int) -> Any:
        """Where each window begins in the unpadded image, along dimension d."""
        i = torch.arange(self.outputs[d], device=self.x.device)
        return i * self.stride[d] - self.pad[d]

    def along(self, values: Tensor, d: int) -> Tensor:
        return values.reshape([-1] + [1] * (self.dims - 1 - d))


def _avg_pool(dims: int) -> Rule:
    @in_float32
    def f(
        x: Any, kernel: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None
    ) -> Any:  # fmt: skip
        kernel = list(kernel) * dims if len(kernel) == 1 else kernel
        w = Windows(x, kernel, stride, padding, 1, ceil_mode)
        if not w.supported():
            return NotImplemented
        total: Any = sum(seen for _, seen in w.places(0.0))
        if divisor_override or not (ceil_mode or any(w.pad)):
            return total / (divisor_override or math.prod(w.kernel))
        for d in range(dims):
            first = w.starts(d)
            last = torch.clamp_max(first + w.kernel[d], w.inputs[d] + w.pad[d])
            if not count_include_pad:
                first, last = torch.clamp_min(first, 0), torch.clamp_max(last, w.inputs[d])
            total = total / w.along(last - first, d)
        return total

    return f


def _max_pool(dims: int) -> Rule:
    def f(
        x: Any, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False
    ) -> Any:  # fmt: skip
        kernel = list(kernel) * dims if len(kernel) == 1 else kernel
        w = Windows(x, kernel, stride, padding, dilation, ceil_mode)
        if not w.supported() or not x.is_floating_point():
            return NotImplemented

        def flat(place: tuple[int, ...]) -> Tensor:
            """Where this place of each window lies, as an index into the flattened image."""
            index: Any = 0
            for d, p in enumerate(place):
                step, at = w.dilation[d], w.starts(d) + p * w.dilation[d]
                if not any(place):  # a window counts from its first element inside the image
                    at = torch.where(at < 0, at + (step - 1 - at) // step * step, at)
                index = index * w.inputs[d] + w.along(at, d)
            return torch.as_tensor(index)

        best: Any = None
        for place, seen in w.places(-math.inf):
            if best is None:
                best, where = seen, flat(place).expand(seen.shape)
                continue
            better = (seen > best) | (seen != seen)
            best, where = torch.where(better, seen, best), torch.where(better, flat(place), where)
        return best, where

    return f


def _max_pool_backward(dims: int) -> Rule:
    def f(grad: Tensor, x: Tensor, *settings: Any) -> Any:
        places = settings[-1].flatten(-dims)
        zeros = torch.zeros_like(wide(x)).flatten(-dims)
        return zeros.scatter_add(-1, places, wide(grad).flatten(-dims)).reshape(x.shape)

    return f


def _adaptive_avg_pool2d(x: Tensor, output_size: list[int]) -> Any:
    (h, w), (oh, ow) = x.shape[-2:], output_size
    if not oh or not ow or h % oh or w % ow or x.numel() == 0:
        return NotImplemented
    return x.reshape([*x.shape[:-2], oh, h // oh, ow, w // ow]).mean([-3, -1])


@in_float32
def _adaptive_avg_pool2d_backward(grad: Tensor, x: Tensor) -> Any:
    (h, w), (oh, ow) = x.shape[-2:], grad.shape[-2:]
    if not oh or not ow or h % oh or w % ow:
        return NotImplemented
    share = (grad / ((h // oh) * (w // ow))).reshape([*grad.shape[:-2], oh, 1, ow, 1])
    return share.expand([*x.shape[:-2], oh, h // oh, ow, w // ow]).reshape(x.shape)


# ------------------------------------------------------------------------- padding and resizing


def _border(pad: list[int], x: Tensor, reflect: bool) -> list[Tensor]:
    """For each padded dimension: which element of x stands at each place of the result."""
    dims, where = len(pad) // 2, []
    for d in range(dims):
        n = x.shape[d - dims]
        before, after = pad[2 * (dims - 1 - d)], pad[2 * (dims - 1 - d) + 1]
        i = torch.arange(-before, n + after, device=x.device)
        inside = (n - 1) - torch.abs((n - 1) - torch.abs(i)) if reflect else i.clamp(0, n - 1)
        where.append(inside.reshape([-1] + [1] * (dims - 1 - d)))
    return where


def _pick(x: Tensor, where: list[Tensor]) -> Tensor:
    index: list[Tensor | None] = [*[None] * (x.ndim - len(where)), *where]
    result: Tensor = aten.index.Tensor(x, index)
    return result


def _pad(reflect: bool) -> Rule:
    return lambda x, pad: _pick(x, _border(pad, x, reflect))


def _pad_backward(reflect: bool) -> Rule:
    @in_float32
    def f(grad: Tensor, x: Tensor, pad: list[int]) -> Any:
        where = _border(pad, x, reflect)
        index = [*[None] * (x.ndim - len(where)), *where]
        return aten.index_put.default(torch.zeros_like(x), index, grad, True)

    return f


def _nearest(offset: float) -> Rule:
    """upsample_nearest (offset 0) and its exact form (0.5), in any number of dimensions."""

    def f(x: Tensor, sizes: list[int], *scales: float | None) -> Tensor:
        where = []
        for d, (out, scale) in enumerate(zip(sizes, scales or [None] * len(sizes))):
            n = x.shape[d - len(sizes)]
            ratio = 1.0 / scale if scale else n / out
            i = torch.arange(out, dtype=torch.float32, device=x.device)
            source = torch.clamp_max(torch.floor((i + offset) * ratio), n - 1)
            where.append(source.to(torch.int64).reshape([-1] + [1] * (len(sizes) - 1 - d)))
        return _pick(x, where)

    return f


@in_float32
def _linear(x: Tensor, sizes: list[int], align_corners: bool, *scales: float | None) -> Tensor:
    """Linear, bilinear and trilinear resizing: one dimension after the other, the last first."""
    for d in reversed(range(len(sizes))):
        dim, out, scale = x.ndim - len(sizes) + d, sizes[d], scales[d] if scales else None
        n = x.shape[dim]
        i = torch.arange(out, dtype=torch.float32, device=x.device)
        if align_corners:
            at = i * ((n - 1) / (out - 1) if out > 1 else 0.0)
        else:
            at = torch.clamp_min((i + 0.5) * (1.0 / scale if scale else n / out) - 0.5, 0)
        low = torch.clamp_max(at.to(torch.int64), n - 1)
        high = torch.clamp_max(low + 1, n - 1)
        part = (at - low).reshape([-1] + [1] * (x.ndim - 1 - dim)).to(x.dtype)
        x = torch.index_select(x, dim, low) * (1 - part) + torch.index_select(x, dim, high) * part
    return x


rule(aten.avg_pool2d.default)(_avg_pool(2))
rule(aten.avg_pool3d.default)(_avg_pool(3))
rule(aten.max_pool2d_with_indices.default)(_max_pool(2))
rule(aten.max_pool2d_with_indices_backward.default)(_max_pool_backward(2))
rule(aten.max_pool3d_with_indices.default)(_max_pool(3))
rule(aten.max_pool3d_with_indices_backward.default)(_max_pool_backward(3))
rule(aten._adaptive_avg_pool2d.default)(_adaptive_avg_pool2d)
rule(aten._adaptive_avg_pool2d_backward.default)(_adaptive_avg_pool2d_backward)
for _d in (1, 2, 3):
    for _name, _reflect in (("reflection", True), ("replication", False)):
        rule(*overloads(aten, f"{_name}_pad{_d}d"))(_pad(_reflect))
        rule(*overloads(aten, f"{_name}_pad{_d}d_backward"))(_pad_backward(_reflect))
    rule(*overloads(aten, f"upsample_nearest{_d}d"))(_nearest(0.0))
    rule(*overloads(aten, f"_upsample_nearest_exact{_d}d"))(_nearest(0.5))
rule(aten.upsample_linear1d.default)(_linear)
rule(aten.upsample_bilinear2d.default)(_linear)
rule(aten.upsample_trilinear3d.default)(_linear)
