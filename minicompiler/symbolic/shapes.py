"""What a tensor looks like: dtype, device, and sizes, strides and offset as expressions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .expr import Const, Expr, ExprLike, as_expr, max_, product

Sizes = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A strided tensor without its memory. Sizes, strides and offset count elements."""

    dtype: torch.dtype
    device: torch.device
    size: Sizes
    stride: Sizes
    offset: Expr = Const(0)
    requires_grad: bool = False

    @property
    def ndim(self) -> int:
        return len(self.size)

    @property
    def numel(self) -> Expr:
        return product(self.size)

    @property
    def nbytes(self) -> Expr:
        """Of the elements, not of the storage."""
        return self.numel * self.dtype.itemsize

    def __repr__(self) -> str:
        name = str(self.dtype).removeprefix("torch.")
        layout = "" if self.stride == contiguous_strides(self.size) else f" stride {self.stride}"
        offset = "" if self.offset == 0 else f" offset {self.offset}"
        grad = " requires_grad" if self.requires_grad else ""
        return f"{name}{list(self.size)} {self.device}{layout}{offset}{grad}"


def size_expr(n: Any) -> Expr:
    """An int, a SymInt or an expression as expression."""
    return as_expr(n.node.expr if isinstance(n, torch.SymInt) else n)


def sizes(numbers: Sequence[Any]) -> Sizes:
    return tuple(map(size_expr, numbers))


def spec_of(t: torch.Tensor) -> TensorSpec:
    offset = size_expr(t.storage_offset())
    size, stride = sizes(t.size()), sizes(t.stride())
    return TensorSpec(t.dtype, t.device, size, stride, offset, t.requires_grad)


def _packed(size: Sequence[ExprLike], order: Sequence[int]) -> Sizes:
    """Strides without gaps when `order` names the dimensions from the innermost outwards."""
    strides: list[Expr] = [Const(1)] * len(size)
    step: Expr = Const(1)
    for d in order:
        strides[d] = step
        n = as_expr(size[d])
        # a symbolic size is at least 2, as 0 and 1 specialise
        step = step * (max_(n, 1) if n.is_const else n)
    return tuple(strides)


def contiguous_strides(size: Sequence[ExprLike]) -> Sizes:
    return _packed(size, range(len(size) - 1, -1, -1))


def channels_last_strides(size: Sequence[ExprLike]) -> Sizes:
    """Of (batch, channels, *space), channels innermost."""
    return _packed(size, [1, *range(len(size) - 1, 1, -1), 0])


def _same_places(spec: TensorSpec, strides: Sizes) -> bool:
    """Whether these strides reach the same elements: those of a size-1 dimension do not count."""
    own = zip(spec.size, spec.stride, strides)
    return spec.numel == 0 or all(n == 1 or a == b for n, a, b in own)


def is_contiguous(spec: TensorSpec) -> bool:
    return _same_places(spec, contiguous_strides(spec.size))


def is_channels_last(spec: TensorSpec) -> bool:
    return spec.ndim in (4, 5) and _same_places(spec, channels_last_strides(spec.size))


def stride_order(spec: TensorSpec) -> tuple[int, ...] | None:
    """Dimensions from the innermost outwards, when together they fill memory without gaps or
    overlap (those of size 1 first); None otherwise."""
    order = [d for d in range(spec.ndim) if spec.size[d] == 1]
    step: Expr = Const(1)
    while len(order) < spec.ndim:
        found = [d for d in range(spec.ndim) if d not in order and spec.stride[d] == step]
        if not found:
            return None
        order.append(found[-1])
        step = step * spec.size[found[-1]]
    return tuple(order)


def is_dense(spec: TensorSpec) -> bool:
    """No gaps and no overlap between the elements."""
    return spec.numel == 0 or stride_order(spec) is not None


def broadcast_shapes(*shapes: Sequence[ExprLike]) -> Sizes:
    """The common shape, by structure; RuntimeError where two sizes are not evidently the same."""
    result: list[Expr] = [Const(1)] * max(map(len, shapes), default=0)
    for shape in shapes:
        for d, n in enumerate(map(as_expr, shape), len(result) - len(shape)):
            if n != 1 and result[d] not in (1, n):
                raise RuntimeError(
                    f"The size of tensor a ({result[d]}) must match the size of tensor b ({n}) "
                    f"at non-singleton dimension {d}"
                )
            result[d] = result[d] if n == 1 else n
    return tuple(result)
