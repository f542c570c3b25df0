"""What a tensor is while its graph is lowered: a loop not yet run, or memory, seen through views.

A `Box` begins as a loop. While it stays one, whoever reads it runs its body inline; `realise` turns
it into a buffer that one operation of the program fills. A `Lazy` is a box behind views (transpose,
slice, reshape...), which are index functions: reading through them copies nothing.

A reader takes `loader()` when it is made and keeps it: what is realised later does not change the
bodies that exist, whose operations may come earlier in the program.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import torch
from torch import fx

from ..ir import nodes as ir, ops
from ..report.record import current as record
from ..symbolic.expr import product
from ..symbolic.ranges import simplify
from ..symbolic.shapes import contiguous_strides
from .views import Size, View, broadcast_index, points, reshape

Loader: TypeAlias = Callable[[ir.Index], ir.Value]
Origins: TypeAlias = dict[fx.Node, None]  # an ordered set

# Computing something of this price again costs more than storing it and reading it back. The
# price is in plain arithmetic operations for one element.
COSTLY = 8
# A body beyond this is cut in two: compilers slow down and registers run out.
LONG, MANY_READS = 160, 16


@dataclass(eq=False, slots=True)
class Box:
    """A value of one size: `loop` until `ref` says where it is stored.

    `layout`: what its buffer shall look like. `reads`: the buffers that the body loads.
    `weight`: the price of one element. `epilogue`: can be computed where a reduction ends, as it
    reads what that gave. `origins`: the graph nodes computed in the body.
    """

    layout: ir.Layout
    loop: ir.Loop | None = None
    ref: ir.BufferRef | None = None
    reads: frozenset[str] = frozenset()
    weight: int = 0
    epilogue: bool = False
    origins: Origins = field(default_factory=dict)

    @property
    def inlines(self) -> bool:
        """Whether a reader runs the body instead of loading a buffer."""
        return self.ref is None and isinstance(self.loop, ir.Pointwise)


@dataclass(frozen=True, slots=True, eq=False)
class Lazy:
    """`box` seen through `views`, first to last. `stride`: eager's strides of this very tensor."""

    box: Box
    size: Size
    views: tuple[View, ...] = ()
    stride: Size | None = None

    @property
    def dtype(self) -> torch.dtype:
        return self.box.layout.dtype

    @property
    def device(self) -> torch.device:
        return self.box.layout.device

    @property
    def ndim(self) -> int:
        return len(self.size)

    @property
    def layout(self) -> ir.Layout:
        """Of a copy."""
        return ir.Layout(
            self.device, self.dtype, self.size, self.stride or contiguous_strides(self.size)
        )

    def through(self, view: View) -> "Lazy":
        """This tensor behind one more view."""
        before = self.views
        if view.old and before and (old := before[-1].old):
            view, before = reshape(old, view.size), before[:-1]
        return Lazy(self.box, view.size, (*before, view))

    def place(self, index: ir.Index) -> ir.Index:
        """Where in the box element `index` lies."""
        for view in reversed(self.views):
            index = view.at(index)
        return index

    def strided(self) -> ir.BufferRef | None:
        """This tensor as strides over its buffer; None without a buffer or such strides."""
        ref = self.box.ref
        if ref is None or not self.views:
            return ref
        symbols, known = points(self.size)
        place = simplify(ref.layout.index(self.place(symbols)), known)
        stride = tuple(place.subs({symbol: symbol + 1}) - place for symbol in symbols)
        if any(not step.free.isdisjoint(symbols) for step in stride):
            return None
        start = place.subs(dict.fromkeys(symbols, 0))
        layout = replace(ref.layout, size=self.size, stride=stride, offset=start)
        return ir.BufferRef(ref.name, layout)

    def loader(self, size: Size | None = None) -> Loader:
        """How to read an element, as things are now; with `size`, broadcast to that."""
        box = self.box
        # elements that many read are computed once, if that pays: always next to a reduction
        worth = box.weight >= (1 if box.epilogue else COSTLY)
        if not box.inlines or (worth and more(size or self.size, box.layout.size)):
            building().realise(box)
        load = self._load()
        own = self.size
        if size is None or size == own:
            return load
        return lambda index: load(broadcast_index(index, own))

    def _load(self) -> Loader:
        if ref := self.strided():
            name, layout = ref.name, ref.layout
            return lambda index: ops.load(name, layout.index(index))
        if self.box.ref is not None:
            base = Lazy(self.box, self.box.layout.size)._load()
        else:
            assert isinstance(self.box.loop, ir.Pointwise)
            base = self.box.loop.inner
        return lambda index: base(self.place(index))


def in_memory(ref: ir.BufferRef, stride: Size | None = None) -> Lazy:
    return Lazy(Box(ref.layout, ref=ref), ref.layout.size, (), stride)


def more(size: Size, than: Size) -> bool:
    """Whether `size` holds more elements, or may."""
    a, b = product(size), product(than)
    return a != b and not (a.is_const and b.is_const and int(a) < int(b))


# ----------------------------------------------------------------------------- the program, growing


class Building:
    """The program so far, and the node being lowered."""

    def __init__(self, name: str) -> None:
        self.program = ir.Program(name, {})
        self.node: fx.Node | None = None
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"buf{self.count - 1}"

    def emit(self, operation: ir.Operation, origins: Origins | None = None) -> None:
        """Append an operation that computes `origins`, by default the node being lowered."""
        self.program.operations.append(operation)
        origins = origins if origins is not None else {self.node: None} if self.node else {}
        if isinstance(operation, ir.Computed):
            record().count("loops")
        names = [node.name for node in origins]
        lines = dict.fromkeys(node.meta.get("stack") or "" for node in origins)
        for name in ir.defined(operation):
            self.program.origins[name] = names + [line for line in lines if line]

    def realise(self, box: Box) -> ir.BufferRef:
        """The buffer of `box`, which from here on it is."""
        if box.ref is None:
            assert box.loop is not None
            box.ref = ir.BufferRef(self.fresh(), box.layout)
            self.emit(ir.Computed(box.ref.name, box.layout, box.loop), box.origins)
        return box.ref


_building: ContextVar[Building] = ContextVar("minicompiler_building")


def building_program(name: str) -> AbstractContextManager[Building]:
    return ops.during(_building, Building(name))


def building() -> Building:
    """The program that this thread is lowering to."""
    return _building.get()


def spec() -> Any:
    """The TensorSpec of what the node being lowered returns, or a tuple of them."""
    node = building().node
    assert node is not None
    return node.meta["val"]


# ------------------------------------------------------------------------------- making new values


def loop_box(loop: ir.Loop, layout: ir.Layout, inputs: Sequence[Lazy], weight: int) -> Box:
    """A box for a loop that reads `inputs`, whose loaders were taken before."""
    made = Box(layout, loop, weight=weight)
    for box in (x.box for x in inputs):
        if box.ref is not None:
            made.reads |= {box.ref.name}
        else:
            made.reads |= box.reads
            made.weight += box.weight
            made.origins |= box.origins
        after = box.epilogue or isinstance(box.loop, ir.Reduction)
        made.epilogue |= after and box.layout.numel == layout.numel
    if (node := building().node) is not None:
        made.origins[node] = None
    return made


Like: TypeAlias = Lazy | ir.Layout | None  # by default what the node returns


def each(body: Callable[..., ir.Value], *inputs: Lazy, like: Like = None, weight: int = 1) -> Lazy:
    """out[i] = body(*values of inputs at i), each broadcast to the size of `like`, in its dtype
    and its place in memory."""
    like = like or spec()
    loaders = [x.loader(like.size) for x in inputs]
    inner = lambda index: body(*[load(index) for load in loaders])
    return made(inner, *inputs, like=like, weight=weight)


def made(inner: Loader, *inputs: Lazy, like: Like = None, weight: int = 1) -> Lazy:
    """out[i] = inner(i); `inputs` are what `inner` reads, by loaders taken before."""
    layout = (like or spec()).layout
    return Lazy(loop_box(ir.Pointwise(layout.size, inner), layout, inputs, weight), layout.size)


def written(loop: ir.Scatter, layout: ir.Layout, older: ir.BufferRef | None, reads: Any) -> Any:
    """A BufferRef: `loop`, which reads the tensors `reads`, run into the memory of `older`, or into
    fresh memory."""
    ref = ir.BufferRef(building().fresh(), layout)
    origins = loop_box(loop, layout, reads, 0).origins
    building().emit(ir.Computed(ref.name, layout, loop, older.name if older else None), origins)
    return ref
