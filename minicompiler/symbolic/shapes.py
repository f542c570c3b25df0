"""What a tensor looks like: dtype, device, and sizes, strides and offset as expressions."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from .expr import Const, Expr, ExprLike, add_all, as_expr, product

Sizes = tuple[Expr, ...]


class Sized:
    """What follows from a size."""

    __slots__ = ()
    size: Sizes
    dtype: torch.dtype

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


@dataclass(frozen=True, slots=True)
class TensorSpec(Sized):
    """A strided tensor without its memory. Sizes, strides and offset count elements."""

    dtype: torch.dtype
    device: torch.device
    size: Sizes
    stride: Sizes
    offset: Expr = Const(0)
    requires_grad: bool = False

    def __repr__(self) -> str:
        name = str(self.dtype).removeprefix("torch.")
        layout = "" if self.stride == contiguous_strides(self.size) else f" stride {self.stride}"
        offset = "" if self.offset == 0 else f" offset {self.offset}"
        grad = " requires_grad" if self.requires_grad else ""
        return f"{name}{list(self.size)} {self.device}{layout}{offset}{grad}"


def spec_of(t: torch.Tensor) -> TensorSpec:
    size, stride = (tuple(as_expr(int(n)) for n in ns) for ns in (t.size(), t.stride()))
    offset = as_expr(int(t.storage_offset()))
    return TensorSpec(t.dtype, t.device, size, stride, offset, t.requires_grad)


def contiguous_strides(size: Sequence[ExprLike]) -> Sizes:
    strides: list[Expr] = []
    step: Expr = Const(1)
    for n in map(as_expr, reversed(size)):
        strides.append(step)
        step = step if n == 0 else step * n
    return tuple(reversed(strides))


def row_major(index: Sequence[ExprLike], size: Sequence[ExprLike]) -> Expr:
    """The position of element `index` among those of a contiguous tensor."""
    return add_all(i * s for i, s in zip(index, contiguous_strides(size)))


def same_places(size: Sizes, stride: Sequence[ExprLike], other: Sequence[ExprLike]) -> bool:
    """Whether both strides reach the same elements; that of a dimension of size 1 is free."""
    return 0 in size or all(n == 1 or a == b for n, a, b in zip(size, stride, other))


def is_contiguous(spec: TensorSpec) -> bool:
    return same_places(spec.size, spec.stride, contiguous_strides(spec.size))


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
