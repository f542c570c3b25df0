"""What a tensor looks like: dtype, device, and sizes, strides and offset as expressions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .expr import Const, Expr, ExprLike, add_all, as_expr, product

Sizes = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the elements of a tensor lie: all counts are of elements, `offset` from the beginning
    of the memory."""

    device: torch.device
    dtype: torch.dtype
    size: Sizes
    stride: Sizes
    offset: Expr = Const(0)

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

    @property
    def numbers(self) -> tuple[list[int], list[int]]:
        """Size and stride, where they are constants."""
        return [*map(int, self.size)], [*map(int, self.stride)]

    @property
    def options(self) -> dict[str, Any]:
        """What a factory is told besides."""
        return {"dtype": self.dtype, "device": self.device}

    @property
    def layout(self) -> "Layout":
        """The same where the memory begins with the first element: at the data pointer."""
        return Layout(self.device, self.dtype, self.size, self.stride)

    def index(self, index: Sequence[Expr]) -> Expr:
        """The linear position of element `index`, from the beginning of the memory."""
        return add_all([self.offset, *(i * s for i, s in zip(index, self.stride))])

    @property
    def span(self) -> int | None:
        """From the beginning to past the last element; None where sizes are symbols."""
        if not all(e.is_const for e in (*self.size, *self.stride, self.offset)):
            return None
        return 0 if 0 in self.size else int(self.index([n - 1 for n in self.size])) + 1

    def __repr__(self) -> str:
        """float32[2, 3], with strides and offset where the elements are not simply in a row."""
        text = f"{str(self.dtype).removeprefix('torch.')}[{', '.join(map(str, self.size))}]"
        if is_contiguous(self) and self.offset == 0:
            return text
        offset = "" if self.offset == 0 else f", offset={self.offset}"
        return f"{text}.strided({', '.join(map(str, self.stride))}{offset})"


@dataclass(frozen=True, slots=True)
class TensorSpec(Layout):
    """A strided tensor without its memory, which is its storage."""

    requires_grad: bool = False

    def __repr__(self) -> str:
        grad = " requires_grad" if self.requires_grad else ""
        return f"{Layout.__repr__(self)} {self.device}{grad}"


def spec_of(t: torch.Tensor) -> TensorSpec:
    size, stride = (tuple(as_expr(int(n)) for n in ns) for ns in (t.size(), t.stride()))
    offset = as_expr(int(t.storage_offset()))
    return TensorSpec(t.device, t.dtype, size, stride, offset, t.requires_grad)


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


def is_contiguous(spec: Layout) -> bool:
    return same_places(spec.size, spec.stride, contiguous_strides(spec.size))


def is_dense(spec: Layout) -> bool:
    """No gaps and no overlap: from the innermost outwards, each dimension begins where the one
    within it ends."""
    step: Expr = Const(1)
    left = [(n, stride) for n, stride in zip(spec.size, spec.stride) if n != 1]
    while found := next((pair for pair in left if pair[1] == step), None):
        left.remove(found)
        step = step * found[0]
    return spec.numel == 0 or not left


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
