"""Views as index functions.

A view answers two questions: where in its source an element lies (`at`), and what strides show it
without a copy (`layout`, None where no strides do). `then` joins a view with a following one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..ir.nodes import Index, Layout
from ..symbolic.expr import Expr, as_expr, product
from ..symbolic.shapes import contiguous_strides

ZERO, ONE = as_expr(0), as_expr(1)
Size = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class View:
    """Any index function: element `i` of the view is element `at(i)` of the source."""

    size: Size
    at: Callable[[Index], Index]

    def layout(self, source: Layout) -> Layout | None:
        return None

    def then(self, view: "View") -> "View | None":
        return None


@dataclass(frozen=True, slots=True)
class Affine(View):
    """A view that moves along its source in fixed steps, so strides always show it."""

    def layout(self, source: Layout) -> Layout:
        dims = range(len(self.size))
        start = source.index(self.at(tuple(ZERO for _ in dims)))
        steps = (self.at(tuple(ONE if e == d else ZERO for e in dims)) for d in dims)
        stride = tuple(source.index(step) - start for step in steps)
        return replace(source, size=self.size, stride=stride, offset=start)


def permute(size: Size, order: Sequence[int]) -> View:
    place = [order.index(d) for d in range(len(order))]
    return Affine(tuple(size[d] for d in order), lambda i: tuple(i[p] for p in place))


def expand(size: Size, target: Size) -> View:
    return Affine(target, lambda i: broadcast_index(i, size))


def broadcast_index(index: Index, size: Size) -> Index:
    """Where element `index` of a broadcast tensor lies in its source of `size`."""
    own = index[len(index) - len(size) :]
    return tuple(ZERO if n == 1 else i for i, n in zip(own, size))


def slice_(size: Size, dim: int, start: Expr, step: Expr, length: Expr) -> View:
    return Affine(
        (*size[:dim], length, *size[dim + 1 :]),
        lambda i: (*i[:dim], start + i[dim] * step, *i[dim + 1 :]),
    )


def select(size: Size, dim: int, at: Expr) -> View:
    return Affine((*size[:dim], *size[dim + 1 :]), lambda i: (*i[:dim], at, *i[dim:]))


def diagonal(size: Size, dim1: int, dim2: int, offset: Expr, length: Expr) -> View:
    """The diagonal becomes the last dimension; `offset` counts columns to the right, or rows down
    where it is negative."""
    down, right = (-offset, ZERO) if int(offset) < 0 else (ZERO, offset)
    kept = [d for d in range(len(size)) if d not in (dim1, dim2)]

    def source(i: Index) -> Index:
        full = dict(zip(kept, i)) | {dim1: i[-1] + down, dim2: i[-1] + right}
        return tuple(full[d] for d in range(len(size)))

    return Affine((*(size[d] for d in kept), length), source)


def unfold(size: Size, dim: int, window: Expr, step: Expr, length: Expr) -> View:
    return Affine(
        (*size[:dim], length, *size[dim + 1 :], window),
        lambda i: (*i[:dim], i[dim] * step + i[-1], *i[dim + 1 : -1]),
    )


# ----------------------------------------------------------------------------------------- reshape


@dataclass(frozen=True, slots=True)
class Reshape(View):
    """The same elements in the same row-major order, as another size.

    `groups` pairs runs of old dimensions with runs of new ones that hold the same number of
    elements, each as short as can be, so that indices mix only where they must.
    """

    old: Size
    groups: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]

    def layout(self, source: Layout) -> Layout | None:
        if any(n == 0 for n in self.size):
            return replace(source, size=self.size, stride=contiguous_strides(self.size))
        stride = [ONE] * len(self.size)  # of dimensions of size 1, which may be anything
        for old, new in self.groups:
            for outer, inner in zip(old, old[1:]):
                if source.stride[outer] != source.stride[inner] * self.old[inner]:
                    return None
            step = source.stride[old[-1]] if old else ONE
            for d in reversed(new):
                stride[d] = step
                step = step * self.size[d]
        return replace(source, size=self.size, stride=tuple(stride))

    def then(self, view: View) -> View | None:
        return reshape(self.old, view.size) if isinstance(view, Reshape) else None


def reshape(old: Size, new: Size) -> View:
    if old == new:
        return Affine(new, lambda i: i)
    empty = any(n == 0 for n in (*old, *new))  # then nobody asks for an element
    groups = () if empty else _groups(old, new)

    def source(index: Index) -> Index:
        at = [ZERO] * len(old)
        for olds, news in groups:
            sizes = [new[d] for d in news]
            linear = sum((index[d] * s for d, s in zip(news, contiguous_strides(sizes))), ZERO)
            for d in reversed(olds[1:]):
                at[d], linear = linear % old[d], linear // old[d]
            if olds:
                at[olds[0]] = linear
        return tuple(at)

    return Reshape(new, source, old, groups)


def _groups(old: Size, new: Size) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    # dimensions of size 1 belong to no group: their index is 0
    olds = [d for d, n in enumerate(old) if n != 1]
    news = [d for d, n in enumerate(new) if n != 1]
    groups = []
    while olds or news:
        a, b = [olds.pop(0)] if olds else [], [news.pop(0)] if news else []
        while (have := product(old[d] for d in a)) != (want := product(new[d] for d in b)):
            if olds and (not news or _divides(have, want)):
                a.append(olds.pop(0))
            elif news:
                b.append(news.pop(0))
            else:
                break  # symbols under different names: the sizes agree at run time
        groups.append((tuple(a), tuple(b)))
    return tuple(groups)


def _divides(a: Expr, b: Expr) -> bool:
    """Whether the smaller product is `a`, as far as can be seen."""
    if a.is_const and b.is_const:
        return int(a) < int(b)
    return a.is_const or (b % a) == 0
