"""Recorded calls to a functional graph: no operator writes, no two values share memory.

Memory is what the calls know as a storage. It has a root, the tensor that was created or came in
first, and a current value, the node that holds it now. Every other tensor in that memory is a view:
a chain of steps from the root, replayed on the current value when the view is read. Writing to a
view computes the new root, step by step backwards, and makes it current, so that all other views
see it. Calls are pushed one by one, and nothing looks ahead.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor, fx
from torch._ops import OpOverload

from ..errors import InternalError, Unsupported
from ..ir.signature import Argument, Input, Step, Storage
from ..symbolic.emitter import Emitter
from ..symbolic.expr import Const
from ..symbolic.fake import Fake, aten, overlaps_itself, storage, substitute, tensors
from .recorder import Call
from .schema import Form

Chain: TypeAlias = tuple[Step, ...]


@dataclass(slots=True)
class Memory:
    """What one storage holds. `argument`: the placeholder's number if it came from outside;
    `whole`: all of the storage did."""

    root: Fake
    node: fx.Node
    argument: int | None = None
    version: int = 0  # how often it was written
    whole: bool = False


# ------------------------------------------------------------------------- writing through a view

Inverse: TypeAlias = Callable[[Emitter, fx.Node, fx.Node, Step], Any]


def _scatter(op: OpOverload) -> Inverse:
    return lambda e, base, new, step: e.call(op, base, new, *step.args, **step.kwargs)


def _again(e: Emitter, base: fx.Node, new: fx.Node, step: Step) -> Any:
    """Transpositions are their own inverse."""
    return e.call(step.op, new, *step.args, **step.kwargs)


def _permute_back(e: Emitter, base: fx.Node, new: fx.Node, step: Step) -> Any:
    order = [d % e.fake(base).ndim for d in step.args[0]]
    return e.call(aten.permute.default, new, sorted(range(len(order)), key=order.__getitem__))


def _reshape_back(e: Emitter, base: fx.Node, new: fx.Node, step: Step) -> Any:
    return e.call(aten.reshape.default, new, list(e.fake(base).shape))


INVERSE: dict[OpOverload, Inverse] = {
    aten.slice.Tensor: _scatter(aten.slice_scatter.default),
    aten.select.int: _scatter(aten.select_scatter.default),
    aten.diagonal.default: _scatter(aten.diagonal_scatter.default),
    aten.as_strided.default: _scatter(aten.as_strided_scatter.default),
    **dict.fromkeys((aten.t.default, aten.transpose.int), _again),
    aten.permute.default: _permute_back,
    **dict.fromkeys((aten.view.default, aten.expand.default), _reshape_back),
    **dict.fromkeys((aten.unsqueeze.default, aten.squeeze.default), _reshape_back),
    **dict.fromkeys((aten.squeeze.dim, aten.squeeze.dims), _reshape_back),
    aten.view.dtype: lambda e, base, new, _: e.call(aten.view.dtype, new, e.fake(base).dtype),
    aten.view_as_real.default: lambda e, base, new, _: e.call(aten.view_as_complex.default, new),
    aten.view_as_complex.default: lambda e, base, new, _: e.call(aten.view_as_real.default, new),
}

SAME = {aten.alias.default, aten.detach.default, aten.lift.default, aten.lift_fresh.default}
SPLITS = {"split", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes"}


class Functionalizer:
    """Push the recorded calls, then read what is wanted."""

    def __init__(self, constants: Sequence[tuple[Tensor, Fake]]) -> None:
        self.emit = Emitter()
        self.constants: dict[str, Tensor] = {}  # by the name of their get_attr node
        self._real = constants
        self._home: dict[int, tuple[Memory, Chain]] = {}  # by id of the fake's meta tensor
        self._base: dict[int, Fake] = {}  # of a view, what its last step looks at
        self._cache: dict[int, tuple[int, fx.Node]] = {}  # -> version of the memory, node

    # ------------------------------------------------------------------------------ what comes in

    def start(self, inputs: Sequence[Any], written: set[int]) -> tuple[Argument, ...]:
        """Placeholders for the inputs; `written`: the storages that the calls write to. Inputs
        that share such a storage become views of one argument, the storage itself."""
        arguments: list[Argument] = []
        sharing: dict[int, list[int]] = {}
        for i, x in enumerate(inputs):
            if isinstance(x, Fake):
                sharing.setdefault(storage(x), []).append(i)
        for i, x in enumerate(inputs):
            if not isinstance(x, Fake):
                node = self.emit.graph.placeholder(f"primals_{len(arguments) + 1}")
                node.meta = {"val": x}
                arguments.append(Input(i))
                continue
            group = sharing[storage(x)]
            if len(group) == 1 or storage(x) not in written:
                self.place(f"primals_{len(arguments) + 1}", x, len(arguments))
                arguments.append(Input(i))
            elif i == group[0]:
                arguments.append(self._shared(len(arguments), i, [inputs[j] for j in group]))
        return tuple(arguments)

    def _shared(self, number: int, index: int, members: list[Fake]) -> Argument:
        if len({x.dtype for x in members}) > 1 or any(x.requires_grad for x in members):
            raise Unsupported(
                "inputs that share memory are written to, and require grad or differ in dtype",
                "clone() one of them",
            )
        memory = members[0].meta.untyped_storage()
        numel = memory.nbytes() // members[0].element_size()
        flat = torch.empty(0, dtype=members[0].dtype, device="meta")
        root = Fake(flat.set_(memory, 0, (numel,), (1,)), members[0].device)
        home = self.place(f"primals_{number + 1}", root, number)
        home.whole = True
        for x in members:
            place = (list(x.shape), list(x.stride()), x.storage_offset())
            self._look(x, root, home, (Step(aten.as_strided.default, place),))
        return Storage(index, numel)

    def place(self, name: str, x: Fake, argument: int | None = None) -> Memory:
        """A placeholder, described as if its first element were the first of its memory."""
        graph, spec = self.emit.graph, dataclasses.replace(x.spec, offset=Const(0))
        first = next((n for n in graph.nodes if n.op != "placeholder"), None)
        with graph.inserting_before(first) if first else contextlib.nullcontext():
            seen = self.emit.mode.fake(spec) if x.storage_offset() else x
            node = self.emit.describe(graph.placeholder(name), seen)
        return self.bind(x, node, argument)

    def bind(self, x: Fake, node: fx.Node, argument: int | None = None) -> Memory:
        """`x` is the root of memory that holds `node`."""
        memory = Memory(x, node, argument)
        self._home[id(x.meta)] = memory, ()
        return memory

    def home(self, x: Fake) -> tuple[Memory, Chain]:
        if id(x.meta) not in self._home:
            self._constant(x)
        return self._home[id(x.meta)]

    def _constant(self, x: Fake) -> None:
        real = next((t for t, fake in self._real if fake.meta is x.meta), None)
        if real is None:
            raise InternalError(f"aot: {x} was made outside of what was recorded")
        if real.numel() == 1 and not real.is_complex():
            spec = x.spec
            node = self.emit.call(aten.full.default, spec.numbers[0], real.item(), **spec.options)
        else:
            name = f"constant_{len(self.constants)}"
            self.constants[name] = real
            node = self.emit.describe(self.emit.graph.get_attr(name), x)
        self.bind(x, node)

    # -------------------------------------------------------------------------------- reading

    def read(self, x: Fake) -> fx.Node:
        """The node that holds the present value of `x`."""
        memory, chain = self.home(x)
        if not chain:
            return memory.node
        version, node = self._cache.get(id(x.meta), (-1, memory.node))
        if version != memory.version:
            base = self._base[id(x.meta)]
            node, step = self.read(base), chain[-1]
            if len(self.home(base)[1]) < len(chain):
                # memory keeps its root's strides, so the view looks as it did when it was made
                known = None if memory.root.storage_offset() else x
                node = self.emit.call(step.op, node, *step.args, outs=known, **step.kwargs)
            self._cache[id(x.meta)] = memory.version, node
        return node

    def _look(self, x: Fake, base: Fake, memory: Memory, chain: Chain) -> None:
        """`x` is what the last step of `chain` makes of `base`; without a step, the same."""
        self._home[id(x.meta)], self._base[id(x.meta)] = (memory, chain), base

    def reading(self, x: Any) -> Any:
        return substitute(x, Tensor, self.read)

    # ------------------------------------------------------------------------------ pushing a call

    def push(self, call: Call) -> None:
        self.emit.marks = {"stack": call.stack, "phase": call.phase}
        if (form := call.form) is not None:
            self._mutate(call, form)
            return
        outs = tensors(call.outs)
        operands = {storage(x) for x in tensors([call.args, list(call.kwargs.values())])}
        aliases = [storage(out) in operands for out in outs]
        if outs and all(aliases):
            for i, out in enumerate(outs):
                self._view(call, out, i)
        elif any(aliases):
            raise Unsupported(f"{call.op} returns some of its operands")
        else:
            args, kwargs = self.reading(call.args), self.reading(call.kwargs)
            nodes = self.emit.call(call.op, *args, outs=call.outs, effect=call.effect, **kwargs)
            for out, node in zip(outs, tensors([nodes])):
                self.bind(out, node)

    def _view(self, call: Call, out: Fake, i: int) -> None:
        """`out` is a view of the first operand. Nothing is emitted before it is read."""
        base, *rest = call.args
        if tensors([rest, list(call.kwargs.values())]):
            raise Unsupported(f"{call.op} makes a view with tensors as its arguments")
        memory, chain = self.home(base)
        op, args, kwargs = call.op, tuple(rest), call.kwargs
        if op in SAME:
            self._look(out, base, memory, chain)
            return
        if op._schema.name.removeprefix("aten::") in SPLITS:
            dim = kwargs.get("dim", args[1] if len(args) > 1 else 0)
            start = sum(part.shape[dim] for part in call.outs[:i])
            op, args, kwargs = aten.slice.Tensor, (dim, start, start + out.shape[dim]), {}
        elif op is aten.unbind.int:
            dim = kwargs.get("dim", args[0] if args else 0)
            op, args, kwargs = aten.select.int, (dim, i), {}
        elif op in (aten._unsafe_view.default, aten._reshape_alias.default):
            op, args, kwargs = aten.view.default, (list(out.shape),), {}
        elif op is aten.as_strided.default:  # places in memory: what led here does not matter
            if memory.argument is not None and not memory.whole:
                raise Unsupported("as_strided of an input, which may begin anywhere in its memory")
            place = out.storage_offset() - memory.root.storage_offset()
            base, chain = memory.root, ()
            args, kwargs = (list(out.shape), list(out.stride()), place), {}
        elif isinstance(call.outs, list | tuple):
            raise Unsupported(f"{op} makes several views at once")
        self._look(out, base, memory, (*chain, Step(op, args, kwargs)))

    def _mutate(self, call: Call, form: Form) -> None:
        targets = call.written
        fresh = [out for out in tensors([call.outs]) if not any(out is t for t in targets)]
        args = self.reading(call.args)
        kwargs = self.reading({k: v for k, v in call.kwargs.items() if k not in form.out_names})
        known = (*fresh, *targets) if form.alike else None
        if known is not None and len(form.op._schema.returns) == 1:
            known = known[0]
        args = form.arguments(args, kwargs)
        nodes = tensors([self.emit.call(form.op, *args, outs=known, **kwargs)])
        for out, node in zip(fresh, nodes):
            self.bind(out, node)
        for target, node in zip(targets, nodes[len(fresh) :], strict=True):
            if form.out_names and self.emit.fake(node).dtype != target.dtype:
                raise Unsupported(f"{call.op} computes in the dtype of its output")
            self.write(target, node)

    def write(self, x: Fake, new: fx.Node) -> None:
        """From here on `x`, and all that shares its memory, sees `new`."""
        memory, chain = self.home(x)
        emit = self.emit
        if memory.argument is not None and emit.marks.get("phase") == "backward":
            raise Unsupported("an input is written to during backward")
        if emit.fake(new).dtype != x.dtype:  # float32.add_(float64) rounds back
            if not torch.can_cast(emit.fake(new).dtype, x.dtype):
                raise Unsupported("what is written does not fit the dtype of its place")
            new = emit.call(aten._to_copy.default, new, dtype=x.dtype)
        if emit.fake(new).shape != x.shape:
            new = emit.call(aten.expand.default, new, list(x.shape))
        bases = [memory.node]
        for step in chain[:-1]:
            bases.append(emit.call(step.op, bases[-1], *step.args, **step.kwargs))
        seen = x
        while self.home(seen)[1]:
            seen = self._base[id(seen.meta)]
            if overlaps_itself(seen):
                raise Unsupported("a write to part of what overlaps itself", "clone() it first")
        whole = new
        for step, base in zip(reversed(chain), reversed(bases)):
            if step.op not in INVERSE:
                raise Unsupported(f"a write through {step.op}", "clone() the tensor first")
            whole = INVERSE[step.op](emit, base, whole, step)
        # views that are replayed, and outputs, rely on the root's strides
        memory.node = emit.layout(whole, memory.root.spec)
        memory.version += 1
        if emit.fake(new).stride() == x.stride():
            self._cache[id(x.meta)] = memory.version, new
